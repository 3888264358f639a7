"""Recorded campaigns are replayed by the hunt's own schedule; the script reports what it promises."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from unittest.mock import patch

from difftest.campaign.state import CampaignState
from difftest.campaign.stored import SPENT, Changes, FindingState
from tests.scripts import run_script

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench_bandit"


def record(out: Path, strategy: str, causes: dict[int, str], seconds: int = 40) -> str:
    """A campaign of one test a second, half of them decided, with findings in these seconds."""
    with CampaignState.open(out, {}) as state:
        for second in range(seconds):
            changes = Changes(tests=1)
            for what, count in (("making", 200_000), ("running", 800_000), ("tests", 1)):
                changes.outcomes[SPENT, strategy, "", what] = count
            changes.outcomes[SPENT, strategy, "", "decided"] = second % 2
            if second in causes:
                key = f"crash|z3|{causes[second]}"
                row = (f"{strategy}{second}", "crash", "z3", key, "folder", strategy, second, 1)
                changes.new.append(FindingState(*row, 1000.0 + second))
            with patch("time.time", return_value=1000.0 + second):
                state.commit(changes, float(second))
    return str(out)


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_script("bench_bandit", *arguments)


def test_policies_are_compared_with_what_was_recorded(tmp_path: Path) -> None:
    rich = record(tmp_path / "a", "rich", {second: f"a{second}.cpp:1" for second in range(1, 40, 4)})
    # What the other one has in its third second, the first one has later.
    poor = record(tmp_path / "b", "poor", {2: "a37.cpp:1"})
    got = bench(rich, poor, "--seeds", "3", "--policies", "hunt,uniform", "--json")
    assert got.returncode == 0, got.stderr
    figures = json.loads(got.stdout)
    assert figures["causes"] == 10
    assert {name: row["alone"][-1] for name, row in figures["streams"].items()} == {"rich": 10, "poor": 1}
    assert figures["streams"]["rich"] | {"alone": None} == {
        "seconds": 40,
        "tests": 40,
        "decided": 20,
        "causes": 10,
        "alone": None,
    }
    # Nine in 37 seconds of the one, and the tenth in 3 of the other: no more than the one alone in its 40.
    assert figures["best alone"][-1] == figures["foresight"][-1] == 10
    for row in figures["policies"].values():
        assert 5 <= row["range"][0] <= row["median"][-1] <= row["range"][1] <= 10
        assert row["regret to best"] == 10 - row["median"][-1]
        assert abs(sum(row["shares"].values()) - 1) < 0.01
    assert figures["policies"]["hunt"]["shares"]["rich"] > figures["policies"]["uniform"]["shares"]["rich"]
    # In half of the time the one has five, and the other its own.
    assert figures["policies"]["uniform"]["median"][-1] == 6


def test_a_campaign_that_does_not_say_what_it_spent_is_an_error(tmp_path: Path) -> None:
    with CampaignState.open(tmp_path, {}) as state:
        state.commit(Changes(tests=1), 1.0)
    got = bench(str(tmp_path))
    assert got.returncode == 2
    assert "record them again" in got.stderr
