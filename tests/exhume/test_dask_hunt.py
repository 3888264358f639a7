"""A hunt on a real cluster of this machine from the command line: its driver is killed and started again."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from difftest.campaign.stored import NoCampaign, read_campaign
from solvers.running._supervisor import descendants
from tests.conftest import HUNT

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

TESTS = 40
# Crashes in one of seven places, after a while.
CRASHES = """
place = sum(text.encode()) % 7
time.sleep(0.1)
print(f'ASSERTION VIOLATION\\nFile: a.cpp\\nLine: {place}', flush=True)
os.kill(os.getpid(), signal.SIGABRT)
"""


@pytest.fixture
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as made:
        yield made


def counted(out: Path) -> int:
    """The tests that the campaign in ``out`` has counted."""
    with contextlib.suppress(NoCampaign):
        return read_campaign(out).tests
    return 0


def below(cluster: Any) -> set[int]:
    """The processes that the workers started."""
    return {pid for nanny in cluster.workers.values() for pid in descendants(nanny.pid)}


@pytest.mark.thorough
def test_a_driver_that_is_killed_and_resumed_loses_and_repeats_nothing(
    cluster: Any,
    start: Callable[..., subprocess.Popen[str]],
    exhume: Any,
    corpus: Path,
    fake: Callable[[str, str], str],
    tmp_path: Path,
    assert_gone: Callable[[str], None],
) -> None:
    out, spec = tmp_path / "h", fake("crashes", CRASHES)
    before = below(cluster)
    on_cluster = ("--executor", "dask", "--scheduler", cluster.scheduler_address, "--out", out, "--json")
    driver = start(
        *(*HUNT, "--corpus", corpus, "--solver", spec, "--tests", TESTS, "--first-limit", 20),
        *on_cluster,
    )
    deadline = time.monotonic() + 120
    while not (counted(out) and list(out.glob("findings/crash-*"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    driver.kill()
    driver.communicate()
    assert 0 < counted(out) < TESTS
    reported = {found.id for found in read_campaign(out).findings}
    document = exhume("hunt", "--resume", *on_cluster).json

    assert document["tests"] == document["outcomes"]["crashes"]["crash"] == TESTS
    campaign = read_campaign(out)
    assert [run.ending for run in campaign.runs] == [None, "finished"]
    assert counted(out) == TESTS
    # Every test is that of a finding or shows one again, and no test is two of these.
    findings = [json.loads(file.read_text()) for file in out.glob("findings/*/finding.json")]
    shown = Counter(finding["test"]["index"] for finding in findings)
    for file in out.glob("findings/*/duplicates.txt"):
        shown.update(map(int, file.read_text().split()))
    assert shown == Counter(range(TESTS))
    assert sum(found.duplicates for found in campaign.findings) == TESTS - len(findings)
    # No finding is there twice, and none that was reported before is gone, here or in the corpus.
    assert len({finding["key"] for finding in findings}) == len(findings) > 1
    assert reported <= {found.id for found in campaign.findings} == {finding["id"] for finding in findings}
    (stored,) = exhume("query", "select count(*) as n from finding", "--corpus", corpus, "--json").json
    assert stored["n"] == len(findings)
    # Neither hunt left a process in the workers.
    assert_gone(spec.split()[-1])
    assert below(cluster) == before
