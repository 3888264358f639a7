"""Counts of a hunt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from difftest.campaign.events import cpu_seconds
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import read_campaign
from difftest.campaign.tally import Tally
from difftest.triage.newness import NOT_NEW, REFUSED_FILES, REFUSED_TESTS


def test_a_run_of_days_does_not_name_every_test() -> None:
    tally = Tally(["z3"])
    for number in range(2000):
        for kind in (REFUSED_TESTS, REFUSED_FILES, NOT_NEW):
            tally.add(kind, {str(number): 1})
    assert [len(tally.statistics[kind]) for kind in (REFUSED_TESTS, REFUSED_FILES, NOT_NEW)] == [
        1000,
        2000,
        2000,
    ]
    assert len(tally.take().counted) == 5000


def test_processor_time_includes_children_and_adds_up_over_runs(tmp_path: Path) -> None:
    work = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
    for run in (1, 2):
        with CampaignState.open(tmp_path, {}) as state:
            tally = Tally([], state.loaded)
            process = subprocess.Popen(
                [sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert process.stdout and process.stdout.readline()
            tally.measure()  # it runs
            process.communicate(b"\n")
            tally.measure()  # it ended, and is not counted again
            tally.measure()
            assert 0.5 * run <= cpu_seconds(tally.statistics) < 0.5 * run + 1.5
            state.commit(tally.take(), 1.0)
    assert cpu_seconds(read_campaign(tmp_path).statistics) == cpu_seconds(tally.statistics)
