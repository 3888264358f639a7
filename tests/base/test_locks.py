from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from base.locks import folder_locked, lock_folder, locked

_ROOT = Path(__file__).parents[2]
_HOLD = """
import sys, time; from pathlib import Path; from base.locks import lock_folder, locked
handle = lock_folder(Path(sys.argv[1]))
print('held', flush=True)
time.sleep(60)
"""
_APPEND = """
import sys, time; from pathlib import Path; from base.locks import locked
for _ in range(20):
    with locked(Path(sys.argv[1])) as file:
        file.write('(')
        file.flush()
        time.sleep(0.001)
        file.write(')')
"""


def test_a_folder_is_locked_by_one_process_and_free_again_when_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLD, str(tmp_path)]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError):
            lock_folder(tmp_path)
        holder.kill()
        holder.wait()
    os.close(lock_folder(tmp_path))
    assert [left.name for left in tmp_path.iterdir()] == []


def test_a_folder_that_is_not_there_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lock_folder(tmp_path / "missing")


def test_without_locks_nothing_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("base.locks.fcntl.flock", none)
    with locked(tmp_path / "file") as file, folder_locked(tmp_path):
        file.write("!")
    os.close(lock_folder(tmp_path))
    assert (tmp_path / "file").read_text() == "!"


def test_what_processes_append_under_a_lock_does_not_mix(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    started = [subprocess.Popen([sys.executable, "-c", _APPEND, str(file)], cwd=_ROOT) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert file.read_text() == "()" * 60
    with locked(file) as again:
        again.write("!")
    assert file.read_text().endswith("()!")
