"""Reduction: the smallest formula that still shows a finding.

Our own passes come first (they are typed and their checks are forked solvers, so they make ddSMT's work
cheap), then ddSMT with the same check, then our passes again. The original is never touched: what is reached
so far stands in ``reduced.smt2`` after every step, and a second reduction goes on from there. Tests of the
strategy ``storm`` go through its own minimisation before all that. A finding that takes the formula which it
was made from is reduced with it: see ``difftest.reduction.pairs``.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from difftest.errors import BadOutput
from difftest.files import put_json, put_text
from difftest.reduction._ddsmt import is_installed, reduce_with_ddsmt
from difftest.reduction._passes import Passes
from difftest.reduction.conclusions import conclude
from difftest.reduction.needed import needed_options, with_options
from difftest.running.script import Script
from difftest.solvers import Solver
from difftest.triage.confirm import Confirmer
from difftest.triage.expectation import (
    Expectation,
    NotShown,
    expectation_of_finding,
    observe,
    read_finding,
    read_formula,
)
from difftest.triage.findings import FindingClass
from difftest.triage.folders import FORMULA, record_runs
from difftest.triage.reading import REDUCED
from difftest.triage.reports import rewrite_report
from generator import GenerationError
from generator.storm import minimise
from smtlib import ReadError, check_script, print_command, read_script
from smtlib.labels import theories_in

REDUCED_PARENT = "reduced-parent.smt2"
# The share of the time that our passes may take before ddSMT gets its turn.
_OWN_SHARE = 0.5
# The share of the time that STORM's minimisation may take, for tests of that strategy.
_STORM_SHARE = 0.25
# The share of what is left then that ddSMT gets; the rest is for our passes on its result.
_DDSMT_SHARE = 0.9
_CHECK_SLACK = 5.0


@dataclass(frozen=True, slots=True)
class Step:
    """One stage: ``tool`` is ``storm``, ``passes`` or ``ddsmt``, ``size`` the bytes that it ended with."""

    tool: str
    size: int
    checks: int
    seconds: float
    finished: bool

    def to_json(self) -> dict[str, Any]:
        """The object in a report's list."""
        return {
            "tool": self.tool,
            "size": self.size,
            "checks": self.checks,
            "seconds": round(self.seconds, 3),
            "finished": self.finished,
        }


@dataclass(frozen=True, slots=True)
class ReductionReport:
    """What a reduction came to; sizes in bytes.

    ``complete``: it ended by itself, not for lack of time. ``options`` are those per solver that it still
    takes to show the finding. ``confirmed``: seen once more in fresh processes. ``shown`` is in how many of
    ``tries`` runs the result showed it; None where there was to be one only.
    """

    original: Path
    reduced: Path
    finding_class: FindingClass
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

    def to_json(self) -> dict[str, Any]:
        """The document that ``reduce --json`` prints."""
        return {
            "original": str(self.original),
            "reduced": str(self.reduced),
            "class": str(self.finding_class),
            "size_before": self.size_before,
            "size_after": self.size_after,
            "commands_before": self.commands_before,
            "commands_after": self.commands_after,
            "seconds": round(self.seconds, 3),
            "complete": self.complete,
            "confirmed": self.confirmed,
            "ddsmt": self.with_ddsmt,
            "tries": self.tries,
            "shown": self.shown,
            "options": {name: list(options) for name, options in self.options.items()},
            "theories": list(theories_in(self.text)),
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
) -> ReductionReport:
    """Reduce a finding (its folder), or what is wrong with ``solvers`` on a file.

    Writes ``reduced.smt2`` into the folder, or ``NAME.reduced.smt2`` beside the file (or ``out``), and brings
    a finding's ``report.md`` and ``finding.json`` up to date. ``ddsmt=None`` uses ddSMT where it is
    installed. ``tries``: what is a matter of chance has to show in two of so many runs (None: in the first,
    or as an earlier reduction of the finding said). Raises NotShown if the original does not show what it
    should.
    """
    source = target / FORMULA if target.is_dir() else target
    if target.is_dir():
        expected = expectation_of_finding(target)
        text = read_formula(source)
        result = out or target / REDUCED
    else:
        text = read_formula(source)
        expected = _observed(text, solvers, tries or 1)
        result = out or target.with_name(f"{target.stem}.reduced.smt2")
    expected = replace(expected, tries=tries or expected.tries)
    if result.exists() and result.samefile(source):
        raise NotShown(f"{result}: the result would overwrite the original")
    # ddSMT changes terms, and of a pair only whole commands can go.
    use_ddsmt = expected.pair is None and is_installed() and ddsmt is not False
    with Confirmer(expected) as confirmer:
        if not (confirmer(text) and confirmer.fresh(text)):
            raise NotShown(
                f"{source}: does not show the {expected.finding_class} again{_hint(expected.tries)}"
            )
        work = _Work(text, confirmer, result, time.monotonic() + seconds, on_step)
        work.resume()
        if passes and made_by_storm(target, text):
            work.storm()
        if passes:
            work.own_passes(_OWN_SHARE if use_ddsmt else 1.0)
        if use_ddsmt:
            work.ddsmt()
            if passes:
                work.own_passes(1.0)
        work.tidy()
        confirmed = confirmer.fresh(work.text)
        by_chance = confirmed and expected.tries > 1
        shown = confirmer.times_shown(work.text, expected.tries) if by_chance else None
    options = needed_options(expected, work.text)
    report = ReductionReport(
        source,
        result,
        expected.finding_class,
        work.text,
        len(text.encode("utf-8", "surrogateescape")),
        len(work.text.encode("utf-8", "surrogateescape")),
        len(Script(text.encode("utf-8", "surrogateescape")).commands),
        len(Script(work.text.encode("utf-8", "surrogateescape")).commands),
        tuple(work.steps),
        options,
        all(step.finished for step in work.steps),
        confirmed,
        use_ddsmt,
        expected.tries,
        shown,
    )
    work.save(work.text)
    if expected.pair is not None:
        (target / REDUCED_PARENT).write_text(
            expected.pair.parent_of(work.text) or "", "utf-8", "surrogateescape"
        )
    if target.is_dir():
        _update_finding(target, report, expected)
    return report


def _observed(text: str, solvers: Sequence[Solver], tries: int) -> Expectation:
    """What is wrong with ``solvers`` on ``text``, seen in one of so many tries."""
    for _ in range(tries - 1):
        with contextlib.suppress(NotShown):
            return observe(text, solvers)
    try:
        return observe(text, solvers)
    except NotShown as problem:
        raise NotShown(f"{problem}{_hint(tries)}") from problem


def _hint(tries: int) -> str:
    return "" if tries > 1 else "; where that is a matter of chance (threads, time), try --tries 5"


class _Work:
    """The state of one reduction: the smallest text so far, saved whenever it gets smaller."""

    def __init__(
        self, text: str, confirmer: Confirmer, result: Path, deadline: float, on_step: Callable[[Step], None]
    ) -> None:
        self.text = text
        self.steps: list[Step] = []
        self._confirmer = confirmer
        self._result = result
        self._deadline = deadline
        self._on_step = on_step
        self._well_sorted = _is_well_sorted(text)

    def resume(self) -> None:
        """Go on from an earlier result if that still shows the finding."""
        try:
            text = self._result.read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return
        if text.strip() and _ink(text) < _ink(self.text):
            self._check(text)

    def save(self, text: str) -> None:
        """Put ``text`` where the result goes, whole or not at all."""
        try:
            put_text(self._result, text)
        except OSError as problem:
            raise BadOutput(f"cannot write {self._result}: {problem.strerror or problem}") from problem

    def own_passes(self, share: float) -> None:
        """Our passes for at most this share of the time that is left."""
        started = time.monotonic()
        passes = Passes(self.text, self._check, started + share * max(0.0, self._deadline - started))
        finished = passes.run()
        self._take(Step("passes", 0, passes.checks, time.monotonic() - started, finished), passes.text)

    def storm(self) -> None:
        """STORM's own minimisation: what it makes is right by construction, whatever is reduced after it."""
        started = time.monotonic()
        over = started + _STORM_SHARE * max(0.0, self._deadline - started)
        try:
            found = minimise(self.text, self._check, lambda: time.monotonic() > over)
        except GenerationError:
            return  # what cannot be valued is left to the others
        step = Step("storm", 0, found.checks, time.monotonic() - started, found.finished)
        self._take(step, found.text)

    def ddsmt(self) -> None:
        """ddSMT for the time that is left."""
        started = time.monotonic()
        expected = self._confirmer.expected
        per_check = 2 * expected.tries * expected.seconds * (len(expected.solvers) + 2) + _CHECK_SLACK
        left = _DDSMT_SHARE * max(0.0, self._deadline - started)
        text, checks, finished = reduce_with_ddsmt(self.text, self._check_sorts_too, left, per_check)
        self._take(Step("ddsmt", 0, checks, time.monotonic() - started, finished), text)

    def tidy(self) -> None:
        """A command per line, in the standard's own spelling where that still shows it."""
        for text in _laid_out(self.text):
            if text == self.text:
                return
            if self._confirmer(text) and self._confirmer.fresh(text):
                self.text = text
                return

    def _check(self, text: str) -> bool:
        """Shown by a forked solver, and, since that is not quite what a report shows, by a fresh one."""
        if not (self._confirmer(text) and self._confirmer.fresh(text)):
            return False
        if _ink(text) < _ink(self.text):
            self.text = text
            self.save(text)
        return True

    def _check_sorts_too(self, text: str) -> bool:
        """The same for ddSMT, which knows little of sorts: no ill-sorted script comes out of a sound one."""
        return (not self._well_sorted or _is_well_sorted(text)) and self._check(text)

    def _take(self, step: Step, text: str) -> None:
        if _ink(text) <= _ink(self.text):
            self.text = text
        step = replace(step, size=len(self.text.encode("utf-8", "surrogateescape")))
        self.steps.append(step)
        self._on_step(step)


def _laid_out(text: str) -> Iterator[str]:
    """The script with a command per line: as our printer writes it, else as it is."""
    try:
        checked = check_script(read_script(text))
        if checked.is_well_sorted:
            yield "".join(print_command(command) + "\n" for command in checked.commands)
    except (ReadError, RecursionError):
        pass
    raw = Script(text.encode("utf-8", "surrogateescape"))
    lines = [raw.data[command.start : command.end] for command in raw.commands]
    yield (b"\n".join(lines) + b"\n").decode("utf-8", "surrogateescape")


def made_by_storm(target: Path, text: str) -> bool:
    """Whether a finding, or a test by its header, is of the strategy ``storm``."""
    if target.is_dir():
        test = read_finding(target).get("test")
        return isinstance(test, dict) and test.get("strategy") == "storm"
    first = text.split("\n", 1)[0]
    return first.startswith("; exhume ") and first.endswith(" strategy storm")


def _ink(text: str) -> int:
    """The size without white space, so that a line per command costs nothing."""
    return sum(map(len, text.split()))


def _is_well_sorted(text: str) -> bool:
    try:
        return check_script(read_script(text)).is_well_sorted
    except (ReadError, RecursionError):
        return False


def _update_finding(folder: Path, report: ReductionReport, expected: Expectation) -> None:
    """Note what came of the reduction in ``finding.json``, and make ``report.md`` anew."""
    data = read_finding(folder)
    left = replace(expected, solvers=tuple(with_options(expected, report.options)))
    data["reduced"] = {
        "file": REDUCED,
        "size_before": report.size_before,
        "size_after": report.size_after,
        "commands_before": report.commands_before,
        "commands_after": report.commands_after,
        "complete": report.complete,
        "confirmed": report.confirmed,
        "tries": report.tries,
        "shown": report.shown,
        "theories": list(theories_in(report.text)),
        "options": {name: list(options) for name, options in report.options.items()},
        "runs": record_runs(
            folder, REDUCED, left.solvers, expected.seconds, expected.tries, left.is_shown_by
        ),
    }
    if report.confirmed:
        data["reduced"] |= conclude(str(data["key"]), left, report.text)
    put_json(folder / "finding.json", data)
    rewrite_report(folder)
