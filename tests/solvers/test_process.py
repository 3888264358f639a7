"""Runs under limits: every way a program can end or refuse to, and nothing left after any of them."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from difftest import EnvironmentProblem, Limits, Solver, find_solver
from solvers import z3
from solvers.errors import RunnerLost
from solvers.running._supervisor import descendants
from solvers.running.process import Supervisor, clean_environment, run
from solvers.running.runner import Runner
from solvers.running.script import Script
from tests.conftest import commands_running

PYTHON = [sys.executable, "-I", "-S", "-c"]
SHORT = Limits(seconds=0.4)
LONG = Limits(seconds=20)


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Supervisor]:
    with Supervisor() as made:
        yield made


def test_output_and_exit_status_come_back(supervisor: Supervisor) -> None:
    got = supervisor.execute(
        [*PYTHON, "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"], LONG
    )
    assert (got.ended, got.code, got.signal, got.stdout, got.stderr) == ("exit", 3, None, "a\n", "b\n")


def test_a_limit_may_be_of_months(supervisor: Supervisor) -> None:
    assert supervisor.execute(["true"], Limits(seconds=3e6)).ended == "exit"


def test_odd_bytes_in_the_output_are_replaced(supervisor: Supervisor) -> None:
    got = supervisor.execute([*PYTHON, "import os; os.write(1, b'a\\xff\\xfeb')"], LONG)
    assert got.stdout == "a\ufffd\ufffdb"


def test_death_by_signal_is_reported(supervisor: Supervisor) -> None:
    got = supervisor.execute([*PYTHON, "import os; os.kill(os.getpid(), 11)"], LONG)
    assert (got.ended, got.code, got.signal) == ("exit", None, signal.SIGSEGV)


def test_a_hanging_program_is_ended_in_time(supervisor: Supervisor) -> None:
    started = time.monotonic()
    got = supervisor.execute(["sleep", "60"], SHORT)
    assert got.ended == "timeout"
    assert 0.35 < got.seconds < 10
    assert time.monotonic() - started < 20


def test_a_program_that_ignores_signals_is_ended_in_time(
    supervisor: Supervisor, assert_gone: Callable[[str], None]
) -> None:
    marker = uuid.uuid4().hex
    code = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(60)"
    code += f" # {marker}"
    assert supervisor.execute([*PYTHON, code], SHORT).ended == "timeout"
    assert_gone(marker)


@pytest.mark.parametrize("detach", ["", "os.setsid();", "os.setpgid(0, 0);"])
@pytest.mark.parametrize("parent", ["time.sleep(60)", "pass"])
def test_children_die_with_the_run_wherever_they_went(
    supervisor: Supervisor, assert_gone: Callable[[str], None], detach: str, parent: str
) -> None:
    marker = uuid.uuid4().hex
    code = f"""
    import os, time
    if os.fork() == 0:
        {detach}
        if os.fork() == 0:
            {detach}
            os.execvp("sh", ["sh", "-c", "sleep 61 # {marker}; true"])
        time.sleep(60)
    time.sleep(0.1)
    {parent}
    """
    hangs = "sleep" in parent
    got = supervisor.execute([*PYTHON, textwrap.dedent(code)], Limits(seconds=0.6) if hangs else LONG)
    assert got.ended == ("timeout" if hangs else "exit")
    assert_gone(marker)


def test_a_flood_of_output_is_cut_and_ended(supervisor: Supervisor) -> None:
    got = supervisor.execute(["yes"], Limits(seconds=20, output=10_000))
    assert (got.ended, len(got.stdout)) == ("output", 10_000)


def test_a_flood_on_standard_error_is_cut_too(supervisor: Supervisor) -> None:
    got = supervisor.execute(["sh", "-c", "yes >&2"], Limits(seconds=20, output=10_000))
    assert (got.ended, len(got.stderr)) == ("output", 10_000)


def test_output_larger_than_a_pipe_comes_whole(supervisor: Supervisor) -> None:
    got = supervisor.execute([*PYTHON, "print('x' * 1_000_000)"], LONG)
    assert len(got.stdout) == 1_000_001


def test_eating_memory_ends_the_run(supervisor: Supervisor) -> None:
    code = "import time\nkept = []\nwhile True: kept.append(bytearray(b'x' * (8 << 20))); time.sleep(0.005)"
    got = supervisor.execute([*PYTHON, code], Limits(seconds=20, memory=200 << 20))
    assert got.ended == "memory"


def test_memory_of_children_counts(supervisor: Supervisor) -> None:
    code = "import os, time\nfor _ in range(4):\n if os.fork() == 0: break\n"
    code += "x = b'x' * (80 << 20); time.sleep(30)"
    got = supervisor.execute([*PYTHON, code], Limits(seconds=20, memory=200 << 20))
    assert got.ended == "memory"


NASTY = {
    "hangs with its output closed": ("os.close(1); os.close(2); time.sleep(60)", {"timeout"}),
    "says on standard error for ever that it is still there": (
        "while True: os.write(2, b'still here'); time.sleep(0.01)",
        {"timeout"},
    ),
    "fills both pipes": ("while True: os.write(1, b'x' * 65536); os.write(2, b'y' * 65536)", {"output"}),
    "stops itself": ("os.kill(os.getpid(), signal.SIGSTOP); time.sleep(60)", {"timeout"}),
    "ignores signals and leaves children that do": (
        "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 13, 15)]\n"
        "for _ in range(20):\n if os.fork() == 0: os.setsid(); time.sleep(60)\n"
        "time.sleep(60)",
        {"timeout"},
    ),
    "leaves children and ends": (
        "for _ in range(20):\n if os.fork() == 0: os.setsid(); time.sleep(60)",
        {"exit"},
    ),
    "has its children fork on": (
        "for _ in range(4): os.fork()\n"
        "end = time.monotonic() + 60\n"
        "while time.monotonic() < end:\n"
        " time.sleep(0.05)\n"
        " if os.fork(): os._exit(0)",
        {"exit", "timeout"},
    ),
    "eats memory in a child of another session": (
        "if os.fork() == 0:\n"
        " os.setsid()\n"
        " kept = []\n"
        " while True: kept.append(bytearray(b'x' * (8 << 20)))\n"
        "time.sleep(60)",
        {"memory", "timeout"},
    ),
}


@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.few(4)
def test_nothing_is_left_of_a_program_that(kind: str, supervisor: Supervisor) -> None:
    code, endings = NASTY[kind]
    program = f"import os, signal, time\n{code}"
    got = supervisor.execute([*PYTHON, program], Limits(seconds=1.0, memory=300 << 20, output=1 << 20))
    assert got.ended in endings
    assert len(got.stdout) + len(got.stderr) <= 1 << 20
    assert supervisor._process is not None
    # The supervisor adopts whatever a program leaves, so what is left would be below it.
    assert descendants(supervisor._process.pid) == {}
    assert supervisor.execute(["true"], LONG).code == 0


def test_a_missing_program_is_reported_and_harms_nothing(supervisor: Supervisor) -> None:
    got = supervisor.execute(["/nowhere/solver"], LONG)
    assert got.code == 127
    assert "cannot start /nowhere/solver: No such file" in got.stderr


def test_a_program_gets_nothing_to_read_unless_given(supervisor: Supervisor, tmp_path: Path) -> None:
    assert supervisor.execute(["cat"], LONG).stdout == ""
    file = tmp_path / "f"
    file.write_text("formula")
    assert supervisor.execute(["cat"], LONG, stdin=file).stdout == "formula"


def test_a_file_to_read_that_is_missing_is_not_our_end(supervisor: Supervisor, tmp_path: Path) -> None:
    got = supervisor.execute(["cat"], LONG, stdin=tmp_path / "none")
    assert got.code == 127
    assert supervisor.execute(["true"], LONG).code == 0


def test_it_runs_in_the_folder_given(supervisor: Supervisor, tmp_path: Path) -> None:
    assert supervisor.execute(["pwd", "-P"], LONG, cwd=tmp_path).stdout == f"{tmp_path.resolve()}\n"


def test_tokens_are_kept_from_solvers() -> None:
    given = {
        "PATH": "/bin",
        "GITHUB_TOKEN": "x",
        "MY_PASSWORD": "x",
        "AWS_ACCESS_KEY_ID": "x",
        "PIP_INDEX_URL": "https://user:word@index.example/simple",
        "ASAN_OPTIONS": "abort_on_error=1",
    }
    assert set(clean_environment(given)) == {"PATH", "ASAN_OPTIONS"}


def test_the_environment_is_clean_where_the_solver_runs(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hush-hush")
    monkeypatch.setenv("EXHUME_CACHE", "here")
    environment = supervisor.execute(["env"], LONG).stdout
    assert "hush-hush" not in environment
    assert f"EXHUME_CACHE={Path.cwd()}/here\n" in environment


def test_warm_processes_have_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hush-hush")
    with Supervisor() as made:
        parent = made.execute(["sh", "-c", "tr '\\0' '\\n' < /proc/$PPID/environ"], LONG).stdout
    assert "PATH=" in parent
    assert "hush-hush" not in parent


def test_no_core_file_is_written() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        assert run(["sh", "-c", "ulimit -c"], LONG).stdout == "0\n"
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def test_no_file_grows_without_end(supervisor: Supervisor) -> None:
    assert supervisor.execute(["sh", "-c", "ulimit -f"], LONG).stdout != "unlimited\n"


def test_closing_from_another_thread_ends_what_runs(assert_gone: Callable[[str], None]) -> None:
    marker = uuid.uuid4().hex
    supervisor = Supervisor()
    threading.Timer(0.5, supervisor.close).start()
    started = time.monotonic()
    got = supervisor.execute(["sh", "-c", f"sleep 60 # {marker}; true"], Limits(seconds=60))
    assert got.ended == "cancelled"
    assert time.monotonic() - started < 10
    assert_gone(marker)


def test_closing_a_runner_ends_what_runs_within_it_and_lets_nothing_begin(
    fake: Callable[..., Solver], assert_gone: Callable[[str], None]
) -> None:
    sleepy = fake("time.sleep(60)", "sleepy" + uuid.uuid4().hex)
    started = time.monotonic()
    with Runner() as outer, Runner(within=outer) as inner:
        threading.Timer(0.5, outer.close).start()
        runs = [inner.run(sleepy, Script(b"(check-sat)"), Limits(seconds=60))]
        with Runner(within=outer) as later:
            for runner in (outer, inner, later):
                runs += [
                    runner.run(s, Script(b"(check-sat)"), Limits(60)) for s in (sleepy, find_solver("z3"))
                ]
    assert {run.ended for run in runs} == {"cancelled"}
    assert time.monotonic() - started < 10
    assert_gone(sleepy.name)


def test_a_process_with_many_open_files_can_run_solvers() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("may not open as many files")
    opened = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    try:
        while not opened or opened[-1] < 1024:
            opened.append(os.open(os.devnull, os.O_RDONLY))
        assert run(["true"], LONG).code == 0
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_test_that_kills_its_supervisor_is_reported_and_the_next_one_runs() -> None:
    with Supervisor() as supervisor:
        with pytest.raises(RunnerLost):
            supervisor.execute([*PYTHON, "import os; os.kill(os.getppid(), 9)"], LONG)
        assert supervisor.execute(["true"], LONG).code == 0


def test_an_engine_that_cannot_be_loaded_says_why() -> None:
    with (
        Supervisor([str(Path(z3.__file__).parent), "engine", "/nowhere/libz3.so"]) as supervisor,
        pytest.raises(EnvironmentProblem, match="libz3"),
    ):
        supervisor.evaluate(b"(check-sat)", LONG)


def test_any_module_can_be_an_engine(tmp_path: Path) -> None:
    code = """
    import os
    loaded = [os.getpid()]
    def prepare(arguments):
        def run(head, body):
            loaded.append(0)
            forked = os.getppid() == loaded[0]
            print(*arguments, head["options"], body.decode(), len(loaded), forked, flush=True)
            return 7
        return run
    """
    (tmp_path / "odd_engine.py").write_text(textwrap.dedent(code))
    with Supervisor([str(tmp_path), "odd_engine", "a", "b"]) as supervisor:
        runs = [supervisor.evaluate(b"text", LONG, options=["x"]) for _ in range(2)]
    # Loaded once, and each run in a fork that leaves nothing behind for the next one.
    assert [(run.code, run.stdout) for run in runs] == [(7, "a b ['x'] text 2 True\n")] * 2


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_survives_the_death_of_exhume_itself(
    number: signal.Signals, assert_gone: Callable[[str], None], tmp_path: Path
) -> None:
    marker = uuid.uuid4().hex
    code = f"""
    from solvers.running.process import Limits, run
    print("up", flush=True)
    run(["sh", "-c", "setsid sleep 62 & echo; sleep 63 # {marker}; true"], Limits(seconds=60))
    """
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=root,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    deadline = time.monotonic() + 30
    while not any(line.startswith("sh\0") for line in commands_running(marker)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert list(tmp_path.iterdir()) != []
    process.send_signal(number)
    process.wait()
    process.stdout.close()
    assert_gone(marker)
    while list(tmp_path.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_one_run_alone_needs_no_supervisor_of_the_callers() -> None:
    assert run(["true"]).code == 0


def test_file_descriptors_do_not_pile_up(supervisor: Supervisor) -> None:
    supervisor.execute(["true"], LONG)
    before = len(list(Path("/proc/self/fd").iterdir()))
    children = {supervisor.execute(["sh", "-c", "ls /proc/$PPID/fd | wc -l"], LONG).stdout for _ in range(5)}
    assert len(children) == 1
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# Each makes a solver write a file, by an option, a parameter of a tactic or a command.
WRITING = {
    "z3": (
        '(set-option :sat.drat.file "PATH")(declare-const a Bool)(assert a)(check-sat-using sat)',
        "(declare-const a Bool)(assert (or a (not a)))(apply (using-params sat :drat.file |PATH|))",
        "(set-option :produce-proofs true)(assert false)(check-sat)(get-proof-graph)",
    ),
    "cvc5": ("(set-option :partitions-out PATH)(set-logic QF_LIA)(assert true)(check-sat)",),
}


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "fresh"])
@pytest.mark.parametrize("family", WRITING)
def test_a_script_writes_no_file_of_the_user(
    warm: bool, family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept"
    kept.write_text("mine")
    with Runner(warm) as runner:
        for text in WRITING[family]:
            for path in (str(kept), "kept", "../kept"):
                script = Script(text.replace("PATH", path).encode())
                runner.judge(find_solver(family), script, LONG)
                runner.judge_file(find_solver(family), script, "a.smt2", LONG)
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]
    assert kept.read_text() == "mine"


def test_what_a_run_leaves_is_gone_before_the_next(supervisor: Supervisor) -> None:
    left = "mkdir a && touch b a/c && ln -s /dev/null d && ls"
    assert supervisor.execute(["sh", "-c", left], LONG).stdout == "a\nb\nd\n"
    assert supervisor.execute(["ls", "-a"], LONG).stdout == ".\n..\n"
    folder = supervisor.folder
    with Supervisor() as other:
        assert other.folder != folder
