"""Conversations with a process: answers however they arrive, limits, and nothing left of it."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import time
from pathlib import Path

import pytest

from solvers.running.conversation import Conversation, Ended, NoAnswer


def talk(program: str, seconds: float = 10.0, cpu_seconds: int | None = None) -> Conversation:
    return Conversation([sys.executable, "-I", "-c", textwrap.dedent(program)], seconds, cpu_seconds)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        (
            ("; a comment (\n", '(a "b ) ""c"', " |d ( e|", "\n (f))", "\n"),
            '(a "b ) ""c" |d ( e|\n (f))',
        ),
        (('"a', '"', '"b', '"', "\n"), '"a""b"'),
    ],
    ids=["list", "string"],
)
def test_answers_are_s_expressions_however_they_arrive(parts: tuple[str, ...], answer: str) -> None:
    conversation = talk(
        f"""
        import sys, time
        for line in sys.stdin:
            for part in {parts}:
                print(part, end="", flush=True)
                time.sleep(0.02)
        """
    )
    assert conversation.ask("(x)") == answer
    assert conversation.ask("(x)") == answer
    conversation.close()


@pytest.mark.parametrize(
    ("answer", "reported"), [("success", "success"), ("", "success"), ('(error "no")', '(error "no")')]
)
def test_what_is_not_always_answered_is_not_waited_for(answer: str, reported: str) -> None:
    conversation = talk(
        f"""
        import sys
        for line in sys.stdin:
            print({answer!r} if line == "(reset)\\n" else "exhume" if "echo" in line else "next", flush=True)
        """
    )
    assert conversation.ask_perhaps("(reset)") == reported
    assert conversation.ask("(push 1)") == "next"
    conversation.close()


def test_time_that_is_over_while_writing_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="no answer within"):
        talk("import time; time.sleep(60)", 0.5).ask("x" * 200_000)


def test_a_processor_is_used_for_a_number_of_seconds_only() -> None:
    conversation = talk("input()\nwhile True: pass", 60.0, 1)
    with pytest.raises(Ended) as ended:
        conversation.ask("(check-sat)")
    assert ended.value.signal in (signal.SIGXCPU, signal.SIGKILL)


def test_long_commands_and_answers_do_not_block_each_other() -> None:
    conversation = talk("import sys\nfor line in sys.stdin: print('|' + line.strip() * 2 + '|', flush=True)")
    long = "x" * 500_000
    assert conversation.ask(long) == f"|{long * 2}|"
    conversation.close()


def test_how_a_solver_ended_is_reported() -> None:
    with pytest.raises(Ended, match=r"exit status 3\): oh no") as caught:
        talk("import sys; input(); print('oh no', file=sys.stderr); sys.exit(3)").ask("(x)")
    assert caught.value.signal is None
    with pytest.raises(Ended, match="SIGABRT") as caught:
        talk("import os; input(); os.abort()").ask("(x)")
    assert caught.value.signal == 6
    # A real-time signal, which has no name.
    with pytest.raises(Ended, match="signal 40") as caught:
        talk("import os; input(); os.kill(os.getpid(), 40)").ask("(x)")
    assert caught.value.signal == 40


def test_a_solver_that_is_silent_or_floods_is_killed() -> None:
    silent = talk("import time; time.sleep(60)", seconds=0.3)
    started = time.monotonic()
    with pytest.raises(NoAnswer, match=r"within 0\.3 seconds"):
        silent.ask("(x)")
    assert time.monotonic() - started < 10
    with pytest.raises(NoAnswer, match="an answer of more than"):
        talk("import sys\nwhile True: sys.stdout.write('(' + 'x ' * 10000)").ask("(x)")


def test_a_solver_that_closed_its_output_and_does_not_read_is_not_written_to() -> None:
    deaf = talk("import os, time; os.close(1); time.sleep(60)", seconds=5.0)
    used = time.process_time()
    with pytest.raises(Ended):
        deaf.ask("x" * 500_000)
    assert time.process_time() - used < 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_nothing_of_a_solver_is_left() -> None:
    conversation = talk(
        """
        import os, subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        for line in sys.stdin: print(os.getpid(), flush=True)
        """
    )
    own = int(conversation.ask("(x)"))
    assert _group(own) == own != _group(os.getpid())
    group = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and _group(int(p.name)) == own]
    assert len(group) == 2
    conversation.close()
    deadline = time.monotonic() + 5
    while any(map(is_alive, group)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_alive, group))


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return -1
