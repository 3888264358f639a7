"""kill -9 of the driver, its supervisors and solvers, a hundred times over the runs of one campaign."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from difftest.campaign.state import CampaignState
from difftest.campaign.stored import read_campaign
from solvers.running._supervisor import descendants
from solvers.running.orphans import NAME
from tests.sizes import size

ROOT = Path(__file__).parents[2]
KILLS = size(5, 100)
CAUSES = 6

# Crashes in one of six places, lies now and then, and leaves a process of its own behind.
SOLVER = f"""
import sys
if sys.argv[-1] == "--version": print("fake 1.0"); sys.exit()
text = open(sys.argv[-1]).read()
number = int(text.split("number ")[1].split()[0])
if number % 7 == 0:
    import subprocess  # as rarely as it is used: it takes longer than all else
    subprocess.Popen(["sleep", "300"], start_new_session=True)
if number % 4 == 1:
    print("Fatal failure within f() at /b/place%d.cpp:3" % (number // 4 % {CAUSES}), file=sys.stderr)
    sys.exit(1)
print("sat")
"""

DRIVER = """
import sys
from pathlib import Path
from difftest import HuntOptions, FindingConfirmed, HuntFinished, Stage, TestDone, find_solvers, hunt
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from generator.strategy import GeneratedTest

class Numbered:
    fingerprint = "none"
    def __init__(self, name):
        self.name = name
    def generate(self, start, stop):
        for n in range(start, stop):
            yield GeneratedTest(n, f"; number {n}\\n(check-sat)\\n", self.name)

out, spec, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
strategies = [Numbered("a"), Numbered("b")]
with CampaignState.open(out, {"seed": 1}) as state:
    options = HuntOptions(out, 2, 1, limit, None, (Stage(20.0, 1.0),))
    schedule = Schedule(strategies, 1, True, limit, state.loaded)
    print("up", flush=True)
    for event in hunt(schedule, find_solvers([spec]), options, state=state):
        if isinstance(event, FindingConfirmed) and not event.record.known:
            print("found", event.record.id, event.record.key, flush=True)
        elif isinstance(event, TestDone):
            print("done", flush=True)
        elif isinstance(event, HuntFinished):
            print("finished", event.summary.tests, flush=True)
"""


def marked() -> list[int]:
    """Processes below some supervisor that were started by a driver of this test."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if b"KILL_TEST=" + MARK.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


MARK = uuid.uuid4().hex


class Campaign:
    """A campaign whose driver is started again and again."""

    def __init__(self, out: Path, spec: str) -> None:
        self.out, self.spec = out, spec
        self.reported: list[tuple[str, str]] = []
        self.log = out.with_suffix(".log")

    def start(self, tests: int) -> subprocess.Popen[bytes]:
        """Start the driver; back when it is at work."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "KILL_TEST": MARK}
        command = [sys.executable, "-c", textwrap.dedent(DRIVER), str(self.out), self.spec, str(tests)]
        with self.log.open("wb") as log:
            process = subprocess.Popen(command, stdout=log, env=environment)
        deadline = time.monotonic() + 60
        while not self.log.read_bytes().startswith(b"up") and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return process

    def wait(self, driver: subprocess.Popen[bytes], lines: int) -> None:
        """Wait until the driver has printed this many more lines, but not for long."""
        before = self.log.read_bytes().count(b"\n")
        deadline = time.monotonic() + 2
        while driver.poll() is None and time.monotonic() < deadline:
            if self.log.read_bytes().count(b"\n") >= before + lines:
                return
            time.sleep(0.01)

    def ended(self) -> str:
        """Read what the driver reported before it ended; its last line."""
        lines = self.log.read_text().splitlines()
        for line in lines:
            if line.startswith("found "):
                _, identity, key = line.split(" ", 2)
                self.reported.append((identity, key))
        return lines[-1] if lines else ""


@pytest.mark.slow
def test_a_hundred_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    script = tmp_path / "solver.py"
    script.write_text(SOLVER)
    campaign = Campaign(tmp_path / "out", f"breaks={sys.executable} -I -S {script}")
    chance = random.Random(7)
    kills = {"driver": 0, "supervisor": 0, "solver": 0}

    def is_enough() -> bool:
        return sum(kills.values()) >= KILLS and min(kills.values()) >= max(1, KILLS // 10)

    while not is_enough():
        driver = campaign.start(1_000_000)
        while driver.poll() is None and not is_enough():
            campaign.wait(driver, chance.randrange(6))
            time.sleep(chance.uniform(0, 0.05))
            below = list(descendants(driver.pid))
            kind = chance.choices(["driver", "supervisor", "solver"], [1, 3, 3])[0]
            victims = [pid for pid in below if is_supervisor(pid) == (kind == "supervisor")]
            victim = driver.pid if kind == "driver" else chance.choice(victims or [0])
            if victim:
                kill(victim)
                kills[kind] += 1
                if kind == "driver":
                    driver.wait()
        if driver.poll() is None:
            kill(driver.pid)
            driver.wait()
        campaign.ended()

    assert campaign.reported
    done = read_campaign(campaign.out).tests
    driver = campaign.start(done + 30)
    assert driver.wait(120) == 0
    assert campaign.ended().startswith("finished ")
    check(campaign)


def check(campaign: Campaign) -> None:
    """Each finding reported is there, once; every test counted once; nothing left behind."""
    identities = [identity for identity, _ in campaign.reported]
    keys = [key for _, key in campaign.reported]
    assert len(set(identities)) == len(identities)
    assert len(set(keys)) == len(keys)
    folders = list((campaign.out / "findings").iterdir())
    stored = [json.loads((folder / "finding.json").read_text()) for folder in folders]
    assert {finding["key"] for finding in stored} == {f"crash|breaks|place{n}.cpp:3" for n in range(CAUSES)}
    assert len(stored) == CAUSES
    assert set(identities) <= {finding["id"] for finding in stored}
    state = read_campaign(campaign.out)
    assert {row.id for row in state.findings} == {finding["id"] for finding in stored}
    assert state.open == ()
    assert state.tests == sum(arm.next_index for arm in state.arms)
    assert sum(row.count for row in state.outcomes if row.kind == "strategy") == state.tests
    with CampaignState.open(campaign.out, {"seed": 1}):
        pass
    deadline = time.monotonic() + 10
    while marked() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked() == []


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def is_supervisor(pid: int) -> bool:
    try:
        return b"_supervisor.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_what_a_killed_supervisor_leaves_is_ended_by_the_next_run(
    tmp_path: Path, runner: object, fake: Callable[..., object]
) -> None:
    """Driver and supervisor are killed at once; the solver had started a process in a session of its own."""
    mark = uuid.uuid4().hex
    code = """
    import os, subprocess, sys, time
    from solvers.running.process import Limits, Supervisor
    with Supervisor() as supervisor:
        body = "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True); print(1)"
        body += "; import time; time.sleep(300)"
        supervisor.execute([sys.executable, "-c", body], Limits(seconds=300))
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KILL_TEST": mark}
    driver = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment)
    deadline = time.monotonic() + 30
    while not any(is_sleep(pid) for pid in descendants(driver.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    below = descendants(driver.pid)
    (left,) = [pid for pid in below if is_sleep(pid)]
    supervisor = next(pid for pid in below if is_supervisor(pid))
    os.kill(driver.pid, signal.SIGSTOP)
    kill(supervisor)
    kill(driver.pid)
    driver.wait()
    assert NAME.encode() in Path(f"/proc/{left}/environ").read_bytes()
    from solvers.running.orphans import kill_orphans

    deadline = time.monotonic() + 10
    while Path(f"/proc/{left}").exists() and time.monotonic() < deadline:
        kill_orphans()
        time.sleep(0.02)
    assert not Path(f"/proc/{left}").exists()


def is_sleep(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep")
    except OSError:
        return False
