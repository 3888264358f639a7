from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from base import cache


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_environment_names_the_folder_else_the_platform_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache.cache_folder() == folder
    # Solvers run in folders of their own.
    monkeypatch.setenv("EXHUME_CACHE", "here")
    assert cache.cache_folder() == Path.cwd() / "here"
    monkeypatch.setenv("EXHUME_CACHE", "~/here")
    assert cache.cache_folder() == Path.home() / "here"
    monkeypatch.delenv("EXHUME_CACHE")
    assert "exhume" in cache.cache_folder().parts


def test_a_document_comes_back_as_it_was_kept(folder: Path) -> None:
    file = folder / "deep" / "a.json"
    assert cache.load_cached(file) is None
    cache.keep_cached(file, {"a": [1, "ä"]})
    assert cache.load_cached(file) == {"a": [1, "ä"]}
    assert [left.name for left in file.parent.iterdir()] == ["a.json"]


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"[1]", b"\xff", b"[" * 100_000])
def test_what_is_no_document_counts_as_not_there(folder: Path, content: bytes) -> None:
    folder.mkdir()
    (folder / "a.json").write_bytes(content)
    assert cache.load_cached(folder / "a.json") is None


def test_what_is_too_long_counts_as_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MAX_SIZE", 10)
    folder.mkdir()
    # The size of a pipe is 0, whatever is read from it.
    os.mkfifo(folder / "a.json")
    writer = Thread(target=(folder / "a.json").write_bytes, args=(b'{"a": 1234567}',))
    writer.start()
    assert cache.load_cached(folder / "a.json") is None
    writer.join()


def test_a_cache_that_cannot_be_written_is_not_used(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    cache.keep_cached(folder / "a.json", {})
    assert cache.load_cached(folder / "a.json") is None
