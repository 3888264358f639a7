"""The executor on a real cluster on this machine: worker processes, killed at random."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

from difftest import (  # noqa: E402
    FindingConfirmed,
    HuntOptions,
    Limits,
    Solver,
    Stage,
    TestDone,
    WorkerNotice,
    hunt,
)
from difftest.campaign.dask_executor import DaskExecutor  # noqa: E402
from difftest.campaign.schedule import Schedule  # noqa: E402
from difftest.campaign.state import CampaignState  # noqa: E402
from difftest.campaign.stored import read_campaign  # noqa: E402
from difftest.campaign.tasks import Result, RunResult, RunTask, TestName  # noqa: E402
from generator import Library, SkeletonStrategy  # noqa: E402
from generator.strategy import GeneratedTest  # noqa: E402
from solvers.errors import EnvironmentProblem  # noqa: E402
from tests.difftest.hunts import of, summary_of  # noqa: E402
from tests.generator.small import library_of  # noqa: E402
from tests.sizes import size  # noqa: E402

QUICK = (Stage(20.0, 1.0),)
TESTS = size(40, 80)
WORKERS = size(2, 3)
KILLS = size(2, 4)
"""About how many workers are killed: each takes seconds to be started again."""
TEXT = "(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"
Fake = Callable[..., Solver]
Make = Callable[..., GeneratedTest]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as made:
        yield made


@pytest.fixture
def library() -> Library:
    terms = [f"(> x {number})" for number in range(40)]
    return library_of(["(or (hole 0) (hole 1))"], [("(declare-const x Int)", term, 1) for term in terms])


def kill_one(cluster: Any, chance: random.Random) -> bool:
    """Kill a worker process that lives."""
    pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
    if not pids:
        return False
    try:
        os.kill(chance.choice(pids), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.thorough
def test_a_cluster_loses_and_repeats_nothing_when_its_workers_are_killed(
    cluster: Any, fake: Fake, make_test: Make, tmp_path: Path, assert_gone: Callable[[str], None]
) -> None:
    honest = fake("say('sat')", "honest")
    liar = fake("say('unsat' if 'bad' in text else 'sat')", "liar")
    tests = [make_test((f"; bad {n}\n" if n % 10 == 3 else "") + TEXT, n) for n in range(TESTS)]
    chance = random.Random(1)
    killed = 0
    events = []
    with DaskExecutor(cluster.scheduler_address, [honest, liar]) as executor:
        assert not executor.makes_tests
        options = HuntOptions(tmp_path / "out", stages=QUICK, reduction=0)
        for event in hunt(tests, [honest, liar], options, executor=executor):
            events.append(event)
            if isinstance(event, TestDone) and chance.random() < KILLS / TESTS:
                killed += kill_one(cluster, chance)
    summary = summary_of(events)
    assert killed
    assert Counter(event.index for event in of(TestDone, events)) == Counter(range(TESTS))
    assert (summary.tests, summary.decided, len(summary.findings)) == (TESTS, TESTS, 1)
    assert (summary.duplicates, summary.unconfirmed) == (TESTS // 10 - 1, 0)
    (folder,) = (tmp_path / "out" / "findings").iterdir()
    assert str(honest.argv[-1]) in (folder / "command.txt").read_text()
    assert_gone(str(honest.argv[-1]))
    assert_gone(str(liar.argv[-1]))


@pytest.mark.thorough
def test_a_driver_that_is_started_again_resumes(
    cluster: Any, fake: Fake, library: Library, tmp_path: Path
) -> None:
    solvers = [fake("say('sat')", "yes"), fake("say('unsat')", "no")]
    seen: Counter[int] = Counter()
    found = []
    for limit in (10, 40):
        strategy = SkeletonStrategy(library, 1)
        with (
            CampaignState.open(tmp_path, {"seed": 1}, "dask") as state,
            DaskExecutor(cluster.scheduler_address, solvers, [strategy]) as executor,
        ):
            assert executor.makes_tests
            schedule = Schedule([strategy], 1, False, 40, state.loaded)
            options = HuntOptions(tmp_path, stages=QUICK, reduction=0)
            events = hunt(schedule, solvers, options, state=state, executor=executor)
            for event in events:
                if isinstance(event, TestDone):
                    seen[event.index] += 1
                elif isinstance(event, FindingConfirmed):
                    found.append(event.record.id)
                    if limit == 10:
                        break  # what runs is not waited for; tests/exhume/test_dask_hunt.py kills a driver
            events.close()  # type: ignore[attr-defined]
    assert set(seen) == set(range(40))
    assert len(found) == 1
    reported = read_campaign(tmp_path)
    assert reported.tests == 40
    assert [row.id for row in reported.findings] == found
    assert 0 < reported.findings[0].duplicates < 40


def test_workers_without_the_solver_are_reported_once_and_stop_the_hunt_when_there_are_no_others(
    cluster: Any, fake: Fake, make_test: Make, tmp_path: Path
) -> None:
    there = fake("say('sat')", "there")
    gone = Solver("gone=no-such-program", "gone", "other", ("/no/such/program",))
    reported: list[str] = []
    tests = [make_test(TEXT, n) for n in range(9)]
    with DaskExecutor(cluster.scheduler_address, [there, gone]) as executor:
        events = hunt(tests, [there, gone], HuntOptions(tmp_path, stages=QUICK), executor=executor)
        with pytest.raises(EnvironmentProblem, match=r"no worker can run the solvers.*no program"):
            reported.extend(event.text for event in events if isinstance(event, WorkerNotice))
    assert len(reported) == len(set(reported)) <= 4


def test_a_worker_with_another_version_gets_no_tests(cluster: Any, fake: Fake) -> None:
    solver = fake("say('sat')", "aged")
    assert solver.version() == "fake 1.0"
    script = Path(solver.argv[-1])
    script.write_text(script.read_text().replace("fake 1.0", "fake 2.0"))
    with DaskExecutor(cluster.scheduler_address, [solver]) as executor:
        executor.submit(RunTask(TestName("s", "", 0), 0, Limits(), GeneratedTest(0, TEXT, "s")))
        with pytest.raises(EnvironmentProblem, match=r"is 'fake 2.0' there, not 'fake 1.0'"):
            for _ in range(100):
                executor.next_result(0.5)


@pytest.mark.thorough
def test_what_never_comes_back_is_sent_again(
    cluster: Any, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("difftest.campaign.dask_executor._OVERDUE_SECONDS", 0.2)
    monkeypatch.setattr("difftest.campaign.dask_executor._OVERDUE_FACTOR", 0.0)
    monkeypatch.setattr("difftest.campaign.dask_executor._WORKERS_SECONDS", 0.1)
    slow = fake("time.sleep(1.5); say('sat')", "slow")
    with DaskExecutor(cluster.scheduler_address, [slow]) as executor:
        executor.submit(RunTask(TestName("s", "", 0), 0, Limits(), GeneratedTest(0, TEXT, "s")))
        deadline = time.monotonic() + 60
        results: list[Result] = []
        copies = 0
        while time.monotonic() < deadline and len(results) < 1:
            if result := executor.next_result(0.3):
                results.append(result)
            elif executor._sent:
                copies = max(copies, len(executor._sent[1].futures))
        assert isinstance(results[0], RunResult)
        assert executor._numbers == 1
        assert copies > 1
        # Copies that come later count for nothing.
        assert executor.next_result(2.0) is None


@pytest.mark.thorough
def test_no_scheduler_is_reported(monkeypatch: pytest.MonkeyPatch, fake: Fake) -> None:
    monkeypatch.setattr("difftest.campaign.dask_executor._CONNECT_SECONDS", 0.5)
    with pytest.raises(EnvironmentProblem, match=r"no dask scheduler at tcp://127.0.0.1:9"):
        DaskExecutor("tcp://127.0.0.1:9", [fake("say('sat')")])
