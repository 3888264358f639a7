"""A campaign from the command line's side: its settings, its state, its hunt."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftest import (
    Event,
    Executor,
    FindingConfirmed,
    FindingRecord,
    HuntFinished,
    HuntOptions,
    HuntSummary,
    Progress,
    Solver,
    hunt,
)
from difftest.campaign.events import WorkersTold
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.store_findings import Recorder
from difftest.campaign.stored import NoCampaign, read_campaign
from difftest.triage.folders import read_findings
from exhume.screens.console import say
from exhume.screens.hunt import HuntScreen
from generator import GeneratedTest, Strategy


@dataclass(frozen=True, slots=True)
class HuntEnd:
    """How a hunt ended. ``error`` is what stopped it on its way; the summary is of what was done by then."""

    summary: HuntSummary
    error: Exception | None = None


def resumed_settings(out: Path) -> Mapping[str, Any]:
    """The command line's settings of the campaign in ``out``; NoCampaign if there is none."""
    given = read_campaign(out).settings.get("given")
    if not isinstance(given, dict):
        raise NoCampaign(f"{out}: the campaign there was not begun by 'exhume hunt'")
    return given


def run_campaign(
    strategies: Sequence[Strategy],
    solvers: Sequence[Solver],
    options: HuntOptions,
    state: CampaignState,
    bandit: bool,
    screen: HuntScreen,
    corpus: Path | None = None,
    executor: Executor | None = None,
) -> HuntEnd:
    """Begin or go on with the campaign that ``state`` holds; its findings go into ``corpus`` as they come."""
    schedule = Schedule(strategies, options.seed, bandit, options.tests, state.loaded)
    by_name = {strategy.name: strategy for strategy in strategies}
    recorder = Recorder(corpus, by_name, options.seed, solvers) if corpus else None
    if recorder:
        for record in _not_stored(options.out, state):
            recorder.add(record)
    with stop_on_interrupt() as stop:
        try:
            with screen:
                events = hunt(schedule, solvers, options, stop, state=state, executor=executor)
                end = _follow(events, screen, state, recorder)
        finally:
            if recorder:
                recorder.close()
    if recorder:
        with contextlib.suppress(OSError):
            state.mark_stored(recorder.take_stored())
        if recorder.left:
            say(
                f"exhume: {recorder.left} findings are not in the corpus yet: {recorder.problem};"
                " the next run of the same campaign stores them"
            )
    return end


def _follow(
    events: Iterator[Event],
    screen: HuntScreen,
    state: CampaignState,
    recorder: Recorder | None,
) -> HuntEnd:
    summary: HuntSummary | None = None
    try:
        for event in events:
            if isinstance(event, FindingConfirmed):
                screen.found(event.record)
                if recorder and not event.record.known:
                    recorder.add(event.record)
            elif isinstance(event, WorkersTold):
                screen.told(event.text)
            elif isinstance(event, Progress):
                screen.update(event)
                if recorder and (stored := recorder.take_stored()):
                    state.mark_stored(stored)
            elif isinstance(event, HuntFinished):
                summary = event.summary
    except KeyboardInterrupt:
        if summary is None:
            raise
    except Exception as error:
        if summary is None:
            raise
        return HuntEnd(summary, error)
    assert summary is not None, "a hunt ends with its summary"
    return HuntEnd(summary)


def _not_stored(out: Path, state: CampaignState) -> Iterator[FindingRecord]:
    """The campaign's findings of earlier runs that the corpus does not have."""
    if len(state.loaded.runs) > 1:
        stored = {found.id for found in state.loaded.findings if found.stored or found.earlier}
        yield from (record for record in read_findings(out / "findings") if record.id not in stored)


def run_plain(
    tests: Iterator[GeneratedTest], solvers: Sequence[Solver], options: HuntOptions, screen: HuntScreen
) -> tuple[HuntSummary, list[FindingRecord]]:
    """A hunt without a campaign's state: the summary, and the findings that are new."""
    new: list[FindingRecord] = []
    summary = None
    with stop_on_interrupt() as stop, screen:
        for event in hunt(tests, solvers, options, stop):
            if isinstance(event, FindingConfirmed):
                screen.found(event.record)
                if not event.record.known:
                    new.append(event.record)
            elif isinstance(event, Progress):
                screen.update(event)
            elif isinstance(event, HuntFinished):
                summary = event.summary
    assert summary is not None, "a hunt ends with its summary"
    return summary, new


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C (or SIGTERM) sets; the second one interrupts as usual."""
    stop = threading.Event()

    def handle(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        say("finishing what runs; Ctrl-C again stops at once")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
