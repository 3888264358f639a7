"""How hunts end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from difftest import Event, HuntFinished, HuntOptions, HuntSummary, Solver, Stage, hunt
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
