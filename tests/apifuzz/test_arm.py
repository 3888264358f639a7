"""API fuzzing as an arm of a hunt: one bandit, one state, one list of findings, one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apifuzz.engines import EngineMissing
from apifuzz.running.strategy import CallsStrategy, strategy_for
from difftest import HuntOptions, HuntSummary, Solver, Stage, hunt
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import read_campaign
from difftest.triage.folder import FindingFolder
from difftest.triage.overview import overview
from difftest.triage.store import findings_of, folders_of
from exhume.pages.report import write_page
from generator.strategy import GeneratedTest
from tests.apifuzz.test_runs import DRAWING, bare, double
from tests.difftest.hunts import summary_of

Fake = Callable[..., Solver]
TEXT = "(declare-const x Int)\n(assert (> (div x 2) {n}))\n(check-sat)\n"


class Formulas:
    """A strategy of formulas."""

    name = "formulas"
    fingerprint = "f"

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        return (GeneratedTest(n, TEXT.format(n=n), self.name) for n in range(start, min(stop, 1 << 20)))


def calls(out: Path, *names: str) -> CallsStrategy:
    setups = tuple(double(name) for name in names)
    return CallsStrategy(setups, 1, DRAWING, leaks=0, quick=10.0, describe=bare, unconfirmed=out / "lost")


def run(out: Path, solver: Solver, tests: int, bandit: bool = True) -> HuntSummary:
    strategies = [Formulas(), calls(out, "crashes_at_first_pop")]
    options = HuntOptions(out, 1, 1, tests, stages=(Stage(5.0, 1.0),))
    with CampaignState.open(out, {"seed": 1}) as state:
        schedule = Schedule(strategies, 1, bandit, tests, state.loaded)
        return summary_of(hunt(schedule, [solver], options, state=state))


@pytest.mark.thorough
@pytest.mark.parametrize("bandit", [False, True])
def test_both_kinds_are_found_in_one_campaign(fake: Fake, tmp_path: Path, bandit: bool) -> None:
    solver = fake("os.abort() if 'div x 2) 3)' in text else print('sat')")
    summary = run(tmp_path, solver, 60, bandit)
    found = {FindingFolder.read(record.path).kind: record for record in summary.findings}
    assert set(found) == {"formula", "calls"}
    assert found["calls"].key == "crash|smtlib|pop: SIGSEGV"
    campaign = read_campaign(tmp_path)
    assert {arm.strategy for arm in campaign.arms} == {"formulas", "api"}
    assert sum(arm.tests for arm in campaign.arms) == summary.tests == 60
    assert {row.strategy for row in campaign.findings} == {"formulas", "api"}
    assert campaign.statistics["calls"]["calls"] > 0
    rows, _ = overview(folders_of(tmp_path))
    assert {row["kind"] for row in rows} == {"formula", "calls"}
    page = write_page(tmp_path, findings_of(tmp_path), tmp_path / "report.html")
    text = page.path.read_text()
    assert all(words in text for words in ("Terms by theory", "Over time", "formulas", "api"))
    # Resumed, it knows both.
    again = run(tmp_path, solver, 80, bandit)
    assert again.tests == 80
    assert [record.known for record in again.findings] == [True, True]


def test_the_arm_takes_the_solvers_of_the_hunt(tmp_path: Path) -> None:
    strategy = strategy_for(["z3", "z3==4.8.5", "cvc5"], 7, tmp_path)
    assert strategy.classes == ["z3", "cvc5", "z3+cvc5"]
    looked = [strategy.class_of(index) for index in range(450) if strategy.looks_for_leaks(index)]
    assert Counter(looked) == {"z3": 3, "cvc5": 3, "z3+cvc5": 3}
    assert [strategy.class_of(index) for index in (0, 4, 5)] == ["z3", "cvc5", "z3+cvc5"]
    assert {entry.cause.solver for entry in strategy.known if entry.cause} == {"z3", "cvc5"}
    with pytest.raises(EngineMissing, match="name one with --solver, without a release") as caught:
        strategy_for(["mine=solver", "smtlib", "z3==4.8.5"], 1, tmp_path)
    assert "smtlib" not in str(caught.value)
