"""Existing formulas, such as triggers that another fuzzer found, as the tests of a hunt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from difftest.found_files import FoundFiles
from generator.strategy import GeneratedTest
from solvers.running.script import Script

STRATEGY = "files"


class FileTests:
    """The files that were ``found``, each a test."""

    name = STRATEGY

    def __init__(self, found: FoundFiles) -> None:
        self.found = found
        self._files = [os.path.abspath(file) for file in found.files]  # noqa: PTH100 (a million)

    def __len__(self) -> int:
        return len(self._files)

    @property
    def fingerprint(self) -> str:
        """A hash of the paths of the files, 16 hexadecimal digits."""
        return hashlib.sha256("\0".join(self._files).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """The tests of the files with these numbers; one that has gone has no commands."""
        for index, file in enumerate(self._files[start:stop], start):
            text = self._text(file)
            known = Script.of(text).expected
            yield GeneratedTest(index, text, self.name, known=known, origin=file)

    def _text(self, file: str) -> str:
        try:
            return Path(file).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            self.found.skipped["unreadable"] += 1
            return ""
