"""What people read of a bug: its title, the command line that shows it, its strip over all releases."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from difftest.bugs.records import Bug, Seen
from difftest.bugs.symptoms import Symptom
from difftest.triage.facts import logic_name
from difftest.triage.kinds import State
from solvers.errors import UnknownSolver
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome
from solvers.running.script import Script
from solvers.solver import Solver
from solvers.specs import parse_spec

_LONGEST_PLACE = 80


def title_of(bug: Bug) -> str:
    """A line that says what is wrong: ``z3 4.8.6: sat for unsat on QF_LIA``."""
    what = bug.direction or bug.finding_class.replace("-", " ")
    if bug.finding_class == "crash":
        bad = bug.seen(bug.last_bad)
        place = (bad.location or bad.shape or bad.detail)[:_LONGEST_PLACE]
        what = f"crash at {place}" if bad.location else f"crash, {place}" if place else "crash"
    return f"{bug.solver} {bug.last_bad}: {what} on {logic_name(bug.theories)}"


def command_of(bug: Bug, file: str) -> str:
    """The command line that shows the bug, with the plain name of the solver's program."""
    try:
        spec = parse_spec(bug.spec(bug.last_bad))
        profile = PROFILES[spec.family]
    except (UnknownSolver, KeyError):
        return f"{bug.spec(bug.last_bad)} {file}"
    checks = (*(profile.prefix + option for option in spec.options), *profile.checks)
    solver = Solver(spec.text, spec.name, spec.family, (profile.program,), checks, None, spec.options)
    return solver.shown(Script.of(bug.text), file)


def releases_of(bugs: Iterable[Bug]) -> dict[str, list[str]]:
    """Per solver the releases that ran any of the bugs, from the oldest."""
    found: dict[str, set[str]] = {}
    for bug in bugs:
        found.setdefault(bug.solver, set()).update(seen.release for seen in bug.strip)
    return {solver: sorted(releases, key=by_age) for solver, releases in sorted(found.items())}


@functools.cache
def by_age(release: str) -> tuple[Version, str]:
    """Sorts releases; what is no version comes first."""
    try:
        return Version(release), release
    except InvalidVersion:
        return Version("0"), release


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive releases that did the same with a bug."""

    releases: tuple[str, ...]
    state: State
    seen: Seen


def states_of(bug: Bug, releases: Mapping[str, Sequence[str]]) -> list[tuple[str, State | None]]:
    """What each release of the bug's solver says of it, from the oldest; None where it was not run."""
    states = {seen.release: state for seen, state in strip_of(bug)}
    return [(release, states.get(release)) for release in releases[bug.solver]]


def strip_of(bug: Bug) -> list[tuple[Seen, State]]:
    """What each release that ran says of the bug, from the oldest.

    Records have no times, so that a run counts as slow where it ran out of time, and at the bad end of the
    pair.
    """
    symptom = Symptom.of(bug)
    if bug.finding_class != "slowdown":
        return [(seen, symptom.state(seen)) for seen in bug.strip]
    return [(seen, _slowness(bug, seen)) for seen in bug.strip]


def _slowness(bug: Bug, seen: Seen) -> State:
    if seen.release == bug.last_bad or seen.outcome == Outcome.TIMEOUT:
        return State.AFFECTED
    return State.FREE if seen.verdict.is_decided else State.SKIPPED


def spans_of(bug: Bug) -> list[Span]:
    """The releases that ran, from the oldest, joined where outcome, answers and detail are the same."""
    spans: list[Span] = []
    for seen, state in strip_of(bug):
        last = spans[-1] if spans else None
        if last is not None and last.state is state and _alike(last.seen, seen):
            spans[-1] = Span((*last.releases, seen.release), state, last.seen)
        else:
            spans.append(Span((seen.release,), state, seen))
    return spans


def _alike(one: Seen, other: Seen) -> bool:
    return (one.outcome, one.answers, one.detail) == (other.outcome, other.answers, other.detail)
