"""Existing formulas, such as triggers that another fuzzer found, as the tests of a hunt."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from difftest.replay import MAX_FILE_BYTES
from generator.strategy import GeneratedTest
from solvers.running.script import Script

STRATEGY = "files"
_LOOKED_AT = 1 << 12


class FileTests:
    """The ``.smt2`` files below folders, and files that are named, in the order of their names.

    ``skipped`` counts those that are no tests, by reason: links are not followed, and what is larger than 64
    MB, binary or not to be read is passed over.
    """

    name = STRATEGY

    def __init__(self, paths: Iterable[Path]) -> None:
        self.skipped: Counter[str] = Counter()
        self._files = [file for path in paths for file in self._below(path)]

    def __len__(self) -> int:
        return len(self._files)

    @property
    def fingerprint(self) -> str:
        """Names the files."""
        return hashlib.sha256("\0".join(self._files).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """The tests of the files with these numbers; one that has gone has no commands."""
        for index in range(start, min(stop, len(self._files))):
            text = self._text(self._files[index])
            known = Script.of(text).expected
            yield GeneratedTest(index, text, self.name, known=known, origin=self._files[index])

    def _below(self, path: Path) -> Iterator[str]:
        if not path.is_dir():
            yield from self._usable([str(path.absolute())])
            return
        for folder, inner, names in os.walk(path.absolute(), onerror=self._unreadable):
            inner.sort()
            self.skipped["links"] += sum(Path(folder, name).is_symlink() for name in inner)
            found = sorted(name for name in names if name.endswith(".smt2"))
            yield from self._usable(os.path.join(folder, name) for name in found)  # noqa: PTH118 (a million)

    def _unreadable(self, error: OSError) -> None:
        self.skipped["folders that cannot be read"] += 1

    def _usable(self, files: Iterable[str]) -> Iterator[str]:
        for file in files:
            reason = _why_not(file)
            if reason:
                self.skipped[reason] += 1
            else:
                yield file

    def _text(self, file: str) -> str:
        try:
            return Path(file).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            self.skipped["files that cannot be read"] += 1
            return ""


def _why_not(file: str) -> str:
    """Why a file is no test; empty if it may be one."""
    try:
        found = os.lstat(file)
        if stat.S_ISLNK(found.st_mode):
            return "links"
        if not stat.S_ISREG(found.st_mode):
            return "files that are no regular files"
        if found.st_size > MAX_FILE_BYTES:
            return f"files larger than {MAX_FILE_BYTES >> 20} MB"
        with open(file, "rb") as handle:  # noqa: PTH123 (a million)
            head = handle.read(_LOOKED_AT)
    except OSError:
        return "files that cannot be read"
    if not head.strip():
        return "empty files"
    return "binary files" if b"\0" in head else ""
