"""What holds for all tests."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import settings

from base.steps import unseen
from corpus import schema, store
from corpus.store import Corpus
from difftest import Solver, find_solver
from exhume.cli import run
from exhume.screens.console import Pace
from miner import starter as starter_tracker
from solvers.running.runner import Runner
from tests.once import made_once
from tests.shell import quick_spec
from tests.sizes import size
from tests.stored import Command, Ended

# Workers hold hundreds of megabytes; a search for cycles after every 700 objects takes a tenth of their time.
gc.set_threshold(20_000, 20, 20)

# Typer builds the whole command line again for each one it runs: 35 ms, a thousand times.
typer.main.get_command = functools.cache(typer.main.get_command)

_create = store._create
_empty: dict[tuple[Path, int], bytes] = {}


def copy_empty(path: Path) -> None:
    """Create an empty corpus: the first of this process as exhume does, later ones as its copies.

    DuckDB takes 60 ms for the tables of one, and tests make many hundreds.
    """
    schemas = (schema.MIGRATIONS, len(schema.migrations()))
    draft = path.with_name(f".{path.name}.copied")
    is_new = not path.exists()
    if is_new and schemas in _empty:
        with contextlib.suppress(OSError):
            draft.write_bytes(_empty[schemas])
            os.link(draft, path)
        with contextlib.suppress(OSError):
            draft.unlink()
    _create(path)
    if is_new:
        _empty.setdefault(schemas, path.read_bytes())


store._create = copy_empty

# Nor do lines of progress belong to what a command prints on a slow machine.
Pace.FIRST = 600.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--thorough``: everything at full size, the way to run before a release (about half an hour)."""
    parser.addoption("--thorough", action="store_true", help="run all sizes and cases (half an hour)")


def pytest_configure(config: pytest.Config) -> None:
    """Say how thorough the run is, before test modules are imported (``tests.sizes``)."""
    if config.getoption("--thorough"):
        os.environ["EXHUME_THOROUGH"] = "1"
    # How long an example takes is the machine's affair, not a property: speed is what the scripts measure.
    settings.register_profile("untimed", deadline=None, max_examples=size(40, 100))
    settings.load_profile("untimed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only thorough runs do; pytest counts it as deselected."""
    if config.getoption("--thorough"):
        return
    of_function: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("thorough"):
            of_function[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    for cases in of_function.values():
        few = cases[0].get_closest_marker("few")
        count = min(few.args[0], len(cases)) if few else len(cases)
        kept.update(cases[number * len(cases) // count] for number in range(count))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


# Seconds of processor time in which a test is watched line by line.
_WATCHED = 0.1


def _stop_watching(*_: object) -> None:
    sys.settrace(None)
    threading.settrace(None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Measure coverage where it pays: at the beginning of each test.

    Watching lines makes a test half as slow again, and most time is spent in tests that repeat something.

    pytest-cov's own ``no_cover`` cannot stop it in the workers of pytest-xdist: there it stops one of two
    tracers, and the other continues.
    """
    tracer, of_threads = sys.gettrace(), threading.gettrace()
    if tracer is None:
        return (yield)
    before = signal.signal(signal.SIGVTALRM, _stop_watching)
    signal.setitimer(signal.ITIMER_VIRTUAL, _WATCHED)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        sys.settrace(tracer)
        threading.settrace(of_threads)


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of the starter tracker, learned and shown to z3 and cvc5; not to be written to."""
    return made_once(tmp_path_factory, "starter", make_starter) / "starter.duckdb"


def make_starter(folder: Path) -> None:
    """Make ``starter.duckdb`` in ``folder``."""
    with Corpus.open(folder / "starter.duckdb", write=True) as corpus:
        starter_tracker.make_starter(corpus, unseen)


def commands_running(marker: str) -> list[str]:
    """The command lines on this machine that hold ``marker``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if marker in line:
                found.append(line)
    return found


@pytest.fixture
def assert_gone() -> Callable[[str], None]:
    """Assert that no process whose command line holds a marker is left (within ten seconds)."""

    def check(marker: str) -> None:
        deadline = time.monotonic() + 10
        while (left := commands_running(marker)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert left == []

    return check


@pytest.fixture
def exhume(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in this process."""

    def call(*arguments: object) -> Ended:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Ended(int(code), printed.out, printed.err)

    return call


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    where = tmp_path / "disk"
    where.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("needs root to mount a small file system")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=6m", "tmpfs", where], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small file system: {done.stderr.strip()}")
    yield where
    if where.is_mount():
        subprocess.run(["umount", "-l", where], check=True)


HUNT = ("hunt", "--strategy=skeletons")
"""A hunt of one strategy: all, the default, take longer to be made than most tests."""


@pytest.fixture
def fake(tmp_path: Path) -> Callable[..., Solver]:
    """Make a solver from the body of a Python script; ``text`` holds the formula it was given. A shell script
    takes its place where it will do (``tests.shell``).
    """

    def make(body: str, name: str = "fake") -> Solver:
        return find_solver(quick_spec(tmp_path, name, body))

    return make


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made
