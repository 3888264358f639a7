"""Existing formulas, such as triggers that another fuzzer found, as the tests of a campaign."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from difftest.found_files import FoundFiles
from difftest.triage.store import findings_of, tests_of
from generator.strategy import GeneratedTest
from solvers.running.script import Script

STRATEGY = "files"


class FileTests:
    """The files that were ``found``, each a test. Tests of the strategy ``name`` count their own indices."""

    def __init__(self, found: FoundFiles, name: str = STRATEGY) -> None:
        self.found = found
        self.name = name

    def __len__(self) -> int:
        return len(self.found.files)

    @property
    def fingerprint(self) -> str:
        """A hash of the paths of the files, 16 hexadecimal digits."""
        digest = hashlib.sha256()
        for file in self.found.files:
            digest.update(os.fsencode(_whole(file)) + b"\0")
        return digest.hexdigest()[:16]

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """The tests of the files with these numbers; one that has gone has no commands."""
        for index, file in enumerate(self.found.files[start:stop], start):
            text = self._text(file)
            known = Script.of(text).expected
            yield GeneratedTest(index, text, self.name, known=known, origin=_whole(file))

    def without_finding(self, out: Path) -> list[str]:
        """The files that no finding of the campaign in ``out`` names, as lists of tests name them."""
        named: set[str] = set()
        for record in findings_of(out):
            named.update(tests_of(record.path))
        return [file for file in map(self.listed, self.found.files) if file not in named]

    def listed(self, file: str) -> str:
        """A file as lists of tests name it."""
        return GeneratedTest(0, "", self.name, origin=_whole(file)).listed

    def _text(self, file: str) -> str:
        try:
            return Path(file).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            self.found.skipped["unreadable"] += 1
            return ""


def _whole(file: str) -> str:
    return os.path.abspath(file)  # noqa: PTH100 (a million)
