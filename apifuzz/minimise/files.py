"""Traces in files and in the folders of findings: read, minimised, and the results written beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from apifuzz.engines.text import script_of
from apifuzz.minimise.session import Minimised, minimise
from apifuzz.running.describing import describe
from apifuzz.running.folder import FORMULA, MINIMISED, REDUCED, TRACE, CallsFolder
from apifuzz.running.runs import Runner
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, TraceError, load_trace
from base.errors import ExhumeError
from base.files import put_text
from difftest import Limits, find_solvers
from difftest.errors import NotShown
from difftest.triage.folder import FindingFolder, read_document
from difftest.triage.reduce import ReductionReport, reduce
from difftest.triage.store import update_finding
from difftest.triage.transcribe import transcribe

_SCRIPT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A trace with the ``file`` it is in; ``folder`` if that is the folder of a finding."""

    trace: Trace
    file: Path
    folder: Path | None = None

    @classmethod
    def read(cls, path: Path) -> Self:
        """The trace in a file, or in the folder of a finding. Raises TraceError."""
        folder = path if path.is_dir() else None
        file = path / TRACE if folder else path
        if folder and not file.exists():
            raise TraceError(
                f"{path}: no {TRACE} there: name a trace, or the folder of a finding of API fuzzing"
            )
        try:
            return cls(load_trace(file), file, folder)
        except OSError as problem:
            raise TraceError(f"{file}: cannot be read: {problem.strerror or problem}") from problem
        except TraceError as error:
            raise TraceError(f"{file}: {error}") from None

    @property
    def kind(self) -> str:
        """The kind of the error of the finding; empty for a file. DifftestError if it cannot be read."""
        return str((read_document(self.folder).get("fault") or {}).get("kind")) if self.folder else ""

    @property
    def setup(self) -> Setup | None:
        """The solvers that the finding names; None for a file. DifftestError if it cannot be read."""
        found = FindingFolder.read(self.folder) if self.folder else None
        return found.setup if isinstance(found, CallsFolder) else None

    @property
    def result(self) -> Path:
        """Where the minimised trace goes."""
        return self.folder / MINIMISED if self.folder else self.file.with_name(f"{self.file.stem}.min.trace")

    @property
    def scripts(self) -> tuple[Path, Path]:
        """Where the minimised trace goes as an SMT-LIB script, and that script reduced."""
        if self.folder:
            return self.folder / FORMULA, self.folder / REDUCED
        return self.result.with_suffix(".smt2"), self.result.with_suffix(".reduced.smt2")


@dataclass(frozen=True, slots=True)
class MinimisingOptions:
    """How long (``seconds``), with how many processes, and under which limits for each run; ``older``: ask
    older releases, too.
    """

    seconds: float
    limits: Limits
    jobs: int = 1
    older: bool = True


def minimise_file(
    source: TraceFile, setup: Setup, options: MinimisingOptions, on_step: Callable[[Trace, int], None]
) -> tuple[Minimised, Path | None]:
    """Minimise a trace, write the result beside it, and bring the finding's folder up to date.

    Returns the report, and the file of the reduced SMT-LIB script if that shows the error, too. ``on_step``
    gets each smaller trace with the number of checks. Raises TraceError if the result would overwrite the
    trace.
    """
    if source.result.exists() and source.result.samefile(source.file):
        raise TraceError(f"{source.result}: the result would overwrite the original")
    try:
        report = minimise(
            source.trace,
            setup,
            source.kind,
            jobs=options.jobs,
            seconds=options.seconds,
            limits=options.limits,
            result=source.result,
            on_step=on_step,
        )
    except NotShown as error:
        raise NotShown(f"{source.file}: {error}") from None
    script = _write_script(source, report, setup, min(options.seconds, _SCRIPT_SECONDS))
    if source.folder:
        with Runner(setup) as runner:
            found = describe(runner, report.trace, report.fault, options.older)
        changes = {**found.facts, "lines": list(report.lines), "complete": report.complete}
        update_finding(source.folder, changes, found.files)
        transcribe(source.folder)
    return report, script


def _write_script(source: TraceFile, report: Minimised, setup: Setup, seconds: float) -> Path | None:
    """The minimised calls as a reduced SMT-LIB script; None where that does not show the error."""
    script = script_of(report.trace)
    if script is None:
        return None
    formula, reduced = source.scripts
    put_text(formula, script)
    if _reduce_script(formula, setup, seconds, reduced) is None:
        if source.folder is None:
            formula.unlink()
        return None
    return reduced


def _reduce_script(formula: Path, setup: Setup, seconds: float, result: Path) -> ReductionReport | None:
    """Reduce a script that says a trace's calls for at most ``seconds``; what is left goes to ``result``.

    None where the solver, given the text, does not go wrong: then the error needs the interface. A solver
    that is only compared with the first one takes part.
    """
    try:
        return reduce(formula, find_solvers(setup.specs), seconds, out=result)
    except ExhumeError:
        return None
