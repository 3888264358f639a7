"""Many questions in one forked process: what crashes, hangs or eats memory costs one of them."""

from __future__ import annotations

import os
import pickle
import signal
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from solvers.errors import EnvironmentProblem, RunnerLost
from solvers.running.tasks import NoAnswer, TaskProcess

# A task that crashes, hangs, exits, talks or eats memory as the question tells it to.
TROUBLED = """
import os, sys, time
from solvers.running.tasks import answering
seen = []
def task(text):
    seen.append(text)
    if text == "abort":
        os.write(2, b"Fatal failure in foo.cpp:42"); os.abort()
    if text == "hang": time.sleep(60)
    if text == "spin":
        while True: pass
    if text == "exit": os._exit(3)
    if text == "real-time": os.kill(os.getpid(), 40)
    if text == "fragile" and len(seen) > 2: os.abort()
    if text == "eat": eaten = b"x" * (192 << 20); time.sleep(1)
    if text == "too much": raise MemoryError
    if text == "bug": 1 / 0
    if text == "talk": print("noise " * 100000, flush=True)
    if text == "write":
        with open("file", "w") as file: file.write("x")
    return [text, os.getppid()]
def prepare(arguments):
    if arguments: raise ImportError(arguments[0])
    return answering(task)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("task")
    (made / "troubled.py").write_text(textwrap.dedent(TROUBLED))
    return made


@pytest.fixture
def troubled(folder: Path) -> Iterator[TaskProcess]:
    with TaskProcess("troubled", [], 0.8, 128 << 20, folder) as made:
        yield made


def answers(process: TaskProcess, *questions: str) -> list[Any]:
    return [a if isinstance(a, NoAnswer) else a[0] for a in process.ask(questions)]


def test_a_crash_or_a_hang_costs_one_question(troubled: TaskProcess) -> None:
    asked = [
        "good",
        "abort",
        "hang",
        "spin",
        "fragile",
        "exit",
        "real-time",
        "eat",
        "too much",
        "talk",
        "good",
    ]
    late = NoAnswer("timeout", "no answer in 0.8 s")
    full = NoAnswer("memory", "out of memory")
    assert answers(troubled, *asked) == [
        *("good", NoAnswer("crash", "SIGABRT: Fatal failure in foo.cpp:42"), late, late, "fragile"),
        *(NoAnswer("crash", "exit status 3"), NoAnswer("crash", "signal 40"), full, full, "talk", "good"),
    ]


def test_a_crash_that_others_caused_is_tried_alone(troubled: TaskProcess) -> None:
    asked = ["good", "good", "good", "fragile", "good"]
    assert answers(troubled, *asked) == asked


def test_a_bug_of_a_task_says_so(troubled: TaskProcess) -> None:
    [answer] = answers(troubled, "bug")
    assert answer.cause == "crash" and "ZeroDivisionError" in answer.detail


def test_no_file_is_written(troubled: TaskProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    [answer] = answers(troubled, "write")
    assert "File too large" in answer.detail
    assert list(tmp_path.iterdir()) == []


def test_many_long_questions_are_answered_in_order(troubled: TaskProcess) -> None:
    asked = [f"{i}{'x' * 5000}" for i in range(1000)]
    assert answers(troubled, *asked) == asked
    assert answers(troubled) == []


def test_a_module_that_cannot_be_loaded_says_why(folder: Path) -> None:
    with (
        TaskProcess("troubled", ["no such library"], folder=folder) as process,
        pytest.raises(EnvironmentProblem, match="no such library"),
    ):
        process.ask(["good"])


def test_a_killed_process_is_started_again(troubled: TaskProcess) -> None:
    [[_, supervisor]] = troubled.ask(["good"])
    os.kill(supervisor, signal.SIGKILL)
    [[answer, other]] = troubled.ask(["good"])
    assert (answer, other != supervisor) == ("good", True)


def test_close_ends_a_question_under_way_with_its_process(folder: Path) -> None:
    process = TaskProcess("troubled", [], 60.0, folder=folder)
    [[_, supervisor]] = process.ask(["good"])
    errors: list[Exception] = []

    def ask() -> None:
        try:
            process.ask(["hang"])
        except RunnerLost as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    deadline = time.monotonic() + 10
    while not (children := psutil.Process(supervisor).children()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.close()
    thread.join(10)
    assert len(errors) == 1
    psutil.wait_procs(children, 10)
    assert not any(child.is_running() for child in children)


def test_a_copy_elsewhere_has_a_process_of_its_own(troubled: TaskProcess) -> None:
    [[_, supervisor]] = troubled.ask(["good"])
    travelled: TaskProcess = pickle.loads(pickle.dumps(troubled))
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        [[_, own]] = troubled.ask(["good"])
        troubled.close()
        os.write(write_end, str(own).encode())
        os._exit(0)
    os.waitpid(child, 0)
    of_the_fork = int(os.read(read_end, 100))
    os.close(read_end)
    os.close(write_end)
    with travelled:
        [[_, of_the_copy]] = travelled.ask(["good"])
    assert len({supervisor, of_the_fork, of_the_copy}) == 3
    assert troubled.ask(["good"]) == [["good", supervisor]]
