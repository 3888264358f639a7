"""How hunts end, and a bug in exhume that they meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from difftest import Event, HuntFinished, HuntOptions, HuntSummary, Solver, Stage, hunt
from difftest.campaign import executor
from difftest.oracles.base import Observation
from generator.strategy import GeneratedTest


def summary_of(events: Iterable[Event]) -> HuntSummary:
    """The summary of a hunt, which comes last."""
    *_, last = events
    assert isinstance(last, HuntFinished)
    return last.summary


def found_by(out: Path, test: GeneratedTest, *solvers: Solver) -> Path:
    """The folder of the only finding of a test, as it is."""
    options = HuntOptions(out, stages=(Stage(2.0, 1.0),), reduction=0)
    (record,) = summary_of(hunt([test], solvers, options)).findings
    return record.path


def fail_on(monkeypatch: pytest.MonkeyPatch, has_bug: Callable[[str], bool], bug: Exception) -> None:
    """Let exhume raise ``bug`` when it looks at what solvers did on such a text."""
    examine = executor.examine

    def fail(seen: Observation, *rest: Any) -> Any:
        if has_bug(seen.text):
            raise bug
        return examine(seen, *rest)

    monkeypatch.setattr(executor, "examine", fail)
