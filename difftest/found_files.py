"""Which files below folders may be formulas, and why the others are none."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from difftest.errors import DifftestError

# Larger files are not read: no tracker takes them, and nobody reduces them.
MAX_FILE_BYTES = 64 << 20
_HEAD_BYTES = 1 << 12
# Files between two calls of ``tick``.
_TICK = 1000


class FoundFiles:
    """The ``.smt2`` files below folders, and files that are named, each folder in the order of its names.
    A file that is named twice is there once.

    ``skipped`` counts by reason those that are no formulas: of another name, larger than 64 MB, empty,
    binary, unreadable, no regular files. Symbolic links in folders are not followed, and count as skipped.
    ``tick`` is called with the number of files seen so far, now and then.

    Raises DifftestError for a path that does not exist or cannot be read.
    """

    def __init__(self, paths: Iterable[Path], tick: Callable[[int], None] = lambda seen: None) -> None:
        self.skipped: Counter[str] = Counter()
        self.files: list[str] = []
        self._named: set[str] = set()
        self._tick = tick
        self._next_tick = _TICK
        for path in paths:
            self._add(path)

    def __str__(self) -> str:
        """How many files were skipped, and why; empty if none was."""
        counts = [f"{why} {count}" for why, count in sorted(self.skipped.items()) if count]
        return f"skipped: {', '.join(counts)}" if counts else ""

    def why_none(self, places: str) -> str:
        """What to say where there are none at these ``places``."""
        skipped = f" ({self})" if str(self) else ""
        return f"no .smt2 file found in {places}{skipped}"

    def _add(self, path: Path) -> None:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            raise DifftestError(f"{path}: no such file or folder") from None
        except OSError as problem:
            raise DifftestError(f"{path}: {problem.strerror}") from problem
        if not stat.S_ISDIR(mode):
            # Whoever names a link means the file behind it.
            self._take([str(path)], os.stat)
            return
        if not os.access(path, os.R_OK | os.X_OK):
            raise DifftestError(f"{path}: the folder cannot be read")
        for folder, inner, names in os.walk(path, onerror=self._unreadable):
            inner.sort()
            self.skipped["symbolic link"] += sum(Path(folder, name).is_symlink() for name in inner)
            found = sorted(name for name in names if name.endswith(".smt2"))
            self.skipped["not named .smt2"] += len(names) - len(found)
            self._take((os.path.join(folder, name) for name in found), os.lstat)  # noqa: PTH118 (a million)
            self._show()

    def _unreadable(self, error: OSError) -> None:
        self.skipped["unreadable folder"] += 1

    def _take(self, files: Iterable[str], status: Callable[[str], os.stat_result]) -> None:
        for file in files:
            whole = os.path.abspath(file)  # noqa: PTH100 (a million)
            if whole in self._named:
                continue
            self._named.add(whole)
            reason = why_not(file, status)
            if reason:
                self.skipped[reason] += 1
            else:
                self.files.append(file)
            self._show()

    def _show(self) -> None:
        if (seen := len(self.files) + self.skipped.total()) >= self._next_tick:
            self._next_tick = seen + _TICK
            self._tick(seen)


def why_not(file: str, status: Callable[[str], os.stat_result]) -> str:
    """Why a file is no formula; empty if it may be one."""
    try:
        found = status(file)
        if stat.S_ISLNK(found.st_mode):
            return "symbolic link"
        if not stat.S_ISREG(found.st_mode):
            return "no regular file"
        if found.st_size > MAX_FILE_BYTES:
            return f"larger than {MAX_FILE_BYTES >> 20} MB"
        with open(file, "rb") as handle:  # noqa: PTH123 (a million)
            head = handle.read(_HEAD_BYTES)
    except OSError:
        return "unreadable"
    if not head.strip():
        return "empty"
    return "binary" if b"\0" in head else ""
