from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from base.files import append_lines, name_full_folder, new_file, put_bytes, put_json, put_text, read_at_most


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    put_json(file, {"a": 1})
    with file.open() as before:
        put_json(file, {"a": 2})
        assert json.load(before) == {"a": 1}, "who has the old file open reads the old file"
    assert json.loads(file.read_text()) == {"a": 2}
    assert [left.name for left in tmp_path.iterdir()] == ["a.json"]


def test_text_with_surrogates_is_written_as_the_bytes_it_was_read_from(tmp_path: Path) -> None:
    put_text(tmp_path / "a", b"\xff \xc3\xa4".decode("utf-8", "surrogateescape"))
    assert (tmp_path / "a").read_bytes() == b"\xff \xc3\xa4"


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a"
    put_bytes(file, b"old")
    with pytest.raises(KeyError), new_file(file) as draft:
        draft.write_bytes(b"half of")
        raise KeyError
    assert file.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["a"]


def test_devices_and_pipes_are_written_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A link, as /dev/stdout is.
    (tmp_path / "link").symlink_to(tmp_path / "file")
    monkeypatch.setattr("base.files._DEVICES", tmp_path)
    put_bytes(tmp_path / "link", b"written")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"written"
    monkeypatch.undo()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        put_bytes(pipe, b"written")
        assert read.result(10) == b"written"
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError):
        put_bytes(tmp_path, b"")


def test_a_block_that_writes_nothing_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), new_file(tmp_path / "a"):
        pass


def test_what_a_killed_process_left_is_overwritten_by_the_next_with_that_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.duckdb"
    program = (
        "import os, signal, sys; from pathlib import Path; from base.files import new_file\n"
        "with new_file(Path(sys.argv[1]), 'part') as draft:\n"
        "    draft.write_bytes(b'no database')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(file)], cwd=Path(__file__).parents[2], check=False)
    assert [left.name for left in tmp_path.iterdir()] == [".a.duckdb.part"]
    with new_file(file, "part") as draft, duckdb.connect(str(draft)) as made:
        made.execute("create table t (i integer)")
    assert [left.name for left in tmp_path.iterdir()] == ["a.duckdb"]


def test_lines_are_added_after_one_that_a_kill_cut_short(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    append_lines(file, "one\ntwo")
    append_lines(file, "three")
    assert file.read_text() == "one\ntwo\nthree\n"
    file.write_text("one\ntw")
    append_lines(file, "three \udcff")
    assert file.read_text() == "one\ntw\nthree \\udcff\n"


def test_the_error_of_a_full_disk_gets_the_folder_for_its_file_name() -> None:
    full = OSError(errno.ENOSPC, "no space")
    name_full_folder(full, "here")
    assert full.filename == "here"
    other = OSError(errno.EIO, "broken")
    name_full_folder(other, "here")
    assert other.filename is None
    named = OSError(errno.ENOSPC, "no space", "there")
    name_full_folder(named, "here")
    assert named.filename == "there"


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    assert read_at_most(file, 5) == b"12345"
    assert read_at_most(file, 4) is None
    with pytest.raises(FileNotFoundError):
        read_at_most(tmp_path / "b", 5)
