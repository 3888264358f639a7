"""How hunts end, what oracles see without one, releases to compare, and a bug in exhume or a full disk that
hunts meet.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from difftest import Candidate, Event, HuntFinished, HuntOptions, HuntSummary, Limits, Solver, Stage, hunt
from difftest.campaign import worker
from difftest.oracles.base import Observation
from difftest.triage.examine import examine
from generator.strategy import GeneratedTest
from solvers.running.runner import Runner
from solvers.running.script import Script

NEW, OLD = (Solver(f"z3=={number}", f"z3-{number}", "z3", ("z3",)) for number in ("5.4.0", "4.8.5"))
OTHER = Solver("other=x", "other", "other", ("x",))


def release(solver: Solver, number: str) -> Solver:
    """A fake as a release of z3."""
    return replace(solver, spec=f"z3=={number}", name=f"z3-{number}", family="z3")


def no_room(*_: object) -> None:
    """Stands for what writes to a full disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def of(kind: type, events: Iterable[Event]) -> list[Any]:
    """The events of this kind."""
    return [event for event in events if isinstance(event, kind)]


def summary_of(events: Iterable[Event]) -> HuntSummary:
    """The summary of a hunt, which comes last."""
    *_, last = events
    assert isinstance(last, HuntFinished)
    return last.summary


def found_by(out: Path, test: GeneratedTest, *solvers: Solver, **options: Any) -> Path:
    """The folder of the only finding of a test, which is not reduced unless the ``options`` say so."""
    given = HuntOptions(out, **{"stages": (Stage(2.0, 1.0),), "reduction": 0.0, **options})
    (record,) = summary_of(hunt([test], solvers, given)).findings
    return record.path


def looked_at(
    solver: Solver, text: str, *oracles: str, claims: int = 3, seconds: float = 20.0, warm: bool = False
) -> tuple[list[Candidate], Observation]:
    """What these oracles find wrong with one solver on a text, and what they saw."""
    limits = Limits(seconds)
    with Runner(warm=warm) as runner:
        verdict = runner.judge(solver, Script.of(text), limits)
        seen = Observation(text, [solver], {solver.name: verdict}, claims=claims)
        found, seen, _ = examine(seen, oracles, runner, limits)
    return found, seen


def fail_on(monkeypatch: pytest.MonkeyPatch, has_bug: Callable[[str], bool], bug: Exception) -> None:
    """Let exhume raise ``bug`` when it looks at what solvers did on such a text."""
    examine = worker.examine

    def fail(seen: Observation, *rest: Any) -> Any:
        if has_bug(seen.text):
            raise bug
        return examine(seen, *rest)

    monkeypatch.setattr(worker, "examine", fail)
