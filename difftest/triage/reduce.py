"""Reduction: a smaller formula that still shows a finding.

The original is never changed. ``reduced.smt2`` holds the smallest formula after every step, and a second
reduction resumes from it. A finding that needs the formula that it was made from is reduced together with it:
see ``difftest.reduction.pairs``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from base.files import put_text
from difftest.errors import NotShown, writing
from difftest.reduction.ddsmt import is_installed
from difftest.reduction.text import Plan, Step, reduce_text
from difftest.triage.classes import class_of
from difftest.triage.classes.base import Expectation
from difftest.triage.conclusions import conclude
from difftest.triage.confirm import Confirmer
from difftest.triage.evidence import WITH_MODEL
from difftest.triage.expectation import expectation_of_finding, hurried, observe_file, read_formula
from difftest.triage.folder import ORIGINAL, REDUCED, FindingFolder, read_document
from difftest.triage.options import options_of, with_needed_options
from difftest.triage.store import ending, update_finding
from difftest.triage.transcribe import transcribe
from smtlib.mentions import theories_in
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

REDUCED_PARENT = "reduced-parent.smt2"
_CHECK_SLACK = 5.0
# What documents say of a reduction as it is, in this order.
_SAID = "size_before size_after commands_before commands_after complete confirmed tries shown".split()


@dataclass(frozen=True, slots=True)
class ReductionReport:
    """What a reduction came to; sizes in bytes.

    ``complete``: it ended by itself, not for lack of time. ``options`` are those per solver that it still
    takes to show the finding. ``confirmed``: seen once more in fresh processes. ``shown`` is in how many of
    ``tries`` runs the result showed it; None where there was to be one only.
    """

    original: Path
    reduced: Path
    finding_class: str
    text: str
    size_before: int
    size_after: int
    commands_before: int
    commands_after: int
    steps: tuple[Step, ...]
    options: dict[str, tuple[str, ...]]
    complete: bool
    confirmed: bool
    with_ddsmt: bool
    tries: int = 1
    shown: int | None = None

    @property
    def seconds(self) -> float:
        """The time it took."""
        return sum(step.seconds for step in self.steps)

    def sizes(self) -> dict[str, Any]:
        """What ``finding.json`` and ``reduce --json`` both say of it."""
        return {
            **{name: getattr(self, name) for name in _SAID},
            "theories": list(theories_in(self.text)),
            "options": {name: list(options) for name, options in self.options.items()},
        }

    def to_json(self) -> dict[str, Any]:
        """The document that ``reduce --json`` prints."""
        return {
            "original": str(self.original),
            "reduced": str(self.reduced),
            "class": self.finding_class,
            **self.sizes(),
            "seconds": round(self.seconds, 3),
            "ddsmt": self.with_ddsmt,
            "steps": [step.to_json() for step in self.steps],
        }


def reduce(
    target: Path,
    solvers: Sequence[Solver] = (),
    seconds: float = 300.0,
    ddsmt: bool | None = None,
    out: Path | None = None,
    passes: bool = True,
    tries: int | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    within: Runner | None = None,
) -> ReductionReport:
    """Reduce a finding (its folder), or what is wrong with ``solvers`` on a file.

    Writes ``reduced.smt2`` into the folder, or ``NAME.reduced.smt2`` beside the file (for a file: ``out``),
    and brings a finding's ``report.md`` and ``finding.json`` up to date. ``ddsmt=None`` uses ddSMT where it
    is installed. ``tries``: a flaky finding has to show in two of N runs (None: in the first, or as an
    earlier reduction of the finding said). Raises NotShown if the original does not show what it
    should. ``within`` is the runner of a hunt: closing it cuts the reduction short, and runs get less time.
    """
    source = target / ORIGINAL if target.is_dir() else target
    text = read_formula(source)
    if target.is_dir():
        expected = expectation_of_finding(target)
    else:
        expected = _observed(source, text, solvers, tries or 1)
    expected = replace(expected, tries=tries or expected.tries)
    if within is not None:
        expected = hurried(expected)
    result = target / REDUCED if target.is_dir() else out or target.with_name(f"{target.stem}.reduced.smt2")
    if result.exists() and result.samefile(source):
        raise NotShown(f"{result}: the result would overwrite the original")
    # ddSMT changes terms, and of a pair only whole commands can go.
    use_ddsmt = expected.pair is None and is_installed() and ddsmt is not False
    per_check = 2 * expected.tries * expected.seconds * (len(expected.solvers) + 2) + _CHECK_SLACK
    plan = Plan(seconds, _made_by_storm(target, text), passes, per_check if use_ddsmt else None)
    with Confirmer(expected, within=within) as confirmer:

        def shows(trial: str) -> bool:
            # A forked solver is not quite what a report shows: a fresh one has to show it, too.
            return confirmer(trial) and (not confirmer.is_fast or confirmer.fresh(trial))

        if not confirmer.start_from(text):
            raise NotShown(
                f"{source}: does not show the {expected.finding_class} again{_hint(expected.tries)}"
            )
        left, steps = reduce_text(text, shows, plan, _earlier(result), partial(_save, result), on_step)
        confirmed = confirmer.fresh(left)
        by_chance = confirmed and expected.tries > 1
        shown = confirmer.times_shown(left, expected.tries) if by_chance else None
    lean = with_needed_options(expected, left) if confirmed else expected.solvers
    report = ReductionReport(
        *(source, result, expected.finding_class, left, _size(text), _size(left)),
        *(len(Script.of(text).commands), len(Script.of(left).commands)),
        steps,
        {solver.name: options_of(solver) for solver in lean},
        all(step.finished for step in steps),
        confirmed,
        use_ddsmt,
        expected.tries,
        shown,
    )
    _save(result, left)
    if target.is_dir():
        # Command lines of the user's stay as they are.
        pairs = zip(expected.solvers, lean, strict=True)
        solvers = tuple(own if own.family == "other" else less for own, less in pairs)
        beside = {f"reduced-{name}": script for name, script in confirmer.beside.items()}
        _update(target, report, replace(expected, solvers=solvers), beside)
        if confirmed and within is None:
            # A hunt has no time for that.
            transcribe(target)
    return report


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _earlier(result: Path) -> str:
    """What an earlier reduction came to; empty where there was none."""
    return read_formula(result) if result.is_file() else ""


def _save(result: Path, text: str) -> None:
    with writing(result):
        put_text(result, text)


def _observed(file: Path, text: str, solvers: Sequence[Solver], tries: int) -> Expectation:
    """What is wrong with ``solvers`` on the ``text`` of a file, seen in one of ``tries`` runs."""
    for _ in range(tries - 1):
        with contextlib.suppress(NotShown):
            return observe_file(file, text, solvers)
    try:
        return observe_file(file, text, solvers)
    except NotShown as problem:
        raise NotShown(f"{problem}{_hint(tries)}") from problem


def _hint(tries: int) -> str:
    return "" if tries > 1 else "; if it is flaky (threads, time), try --tries 5"


def _made_by_storm(target: Path, text: str) -> bool:
    """Whether a finding, or a test by its header, is of the strategy ``storm``."""
    if target.is_dir():
        return FindingFolder.read(target).test.get("strategy") == "storm"
    first = text.split("\n", 1)[0]
    return first.startswith("; exhume ") and first.endswith(" strategy storm")


def _update(folder: Path, report: ReductionReport, expected: Expectation, beside: dict[str, str]) -> None:
    """Note what came of the reduction in the finding's folder, with the texts ``beside`` it; ``expected`` has
    the options that it takes.
    """
    key = str(read_document(folder)["key"])
    reduced = {"file": REDUCED, **report.sizes()}
    if report.confirmed:
        reduced |= {"runs": _record_runs(folder, expected), **conclude(key, expected, report.text)}
    files = dict(beside)
    if with_model := reduced.pop("with_model", ""):
        files[f"reduced-{WITH_MODEL}"] = with_model
    if expected.pair is not None:
        files[REDUCED_PARENT] = expected.pair.parent_of(report.text) or ""
    update_finding(folder, {"reduced": reduced}, files)


def _record_runs(folder: Path, expected: Expectation) -> dict[str, dict[str, Any]]:
    """Run the solvers on the reduced formula in fresh processes and keep what they print beside it, as
    ``NAME.reduced.stdout`` and ``.stderr``; for each the command line as typed, the file that it was given
    (another one where it is asked by a tactic), and how it ended. Of several tries the first run is kept that
    shows it, else the last.
    """
    runs: dict[str, dict[str, Any]] = {}
    script = Script((folder / REDUCED).read_bytes())
    finding_class = class_of(expected.finding_class)
    with Runner() as runner:
        for solver in expected.solvers:
            given = solver.given_file(script, REDUCED)
            if given != REDUCED:
                (folder / given).write_bytes(solver.given(script).data)
            for _ in range(expected.tries):
                verdict, run = runner.judge_file(solver, script, REDUCED, Limits(seconds=expected.seconds))
                if finding_class.is_shown_by(expected, solver, verdict):
                    break
            (folder / f"{solver.name}.reduced.stdout").write_text(run.stdout, "utf-8", "replace")
            (folder / f"{solver.name}.reduced.stderr").write_text(run.stderr, "utf-8", "replace")
            runs[solver.name] = {
                "shown": solver.shown(script, REDUCED),
                "file": given,
                "ending": ending(run),
                "seconds": round(run.seconds, 3),
            }
    return runs
