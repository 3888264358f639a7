"""The part of a solver that a bug was in: the files that its fixing commit changed, from local clones."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from difftest.errors import DifftestError
from solvers.errors import EnvironmentProblem

MOST = 50
"""Files that are kept of a commit, the first by name."""
_SECONDS = 60
_COMMIT = re.compile(r"(?:[\w./-]+@)?([0-9a-f]{7,40})\Z", re.A)
_REQUEST = re.compile(r"(?:[\w./-]*[#!])?(\d{1,9})\Z", re.A)


class Clones:
    """Clones of solvers' repositories; each is known by the name of its origin, else of its folder.

    DifftestError if a folder is no clone, EnvironmentProblem without git.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        if folders and shutil.which("git") is None:
            raise EnvironmentProblem("git is not installed; it reads the clones of --repository")
        self._folders: dict[str, Path] = {}
        self._known: dict[tuple[Path, str, bool], tuple[str, ...]] = {}
        for folder in folders:
            if _git(folder, "rev-parse", "--git-dir") is None:
                raise DifftestError(f"{folder} is not a clone of a git repository")
            origin = _git(folder, "remote", "get-url", "origin") or str(folder.resolve())
            self._folders[_name(origin)] = folder

    def files(self, tracker: str, solver: str, fixed_by: str | None) -> tuple[str, ...]:
        """The files that a commit changed, or a merged request of the tracker's own repository (its commit's
        subject ends with ``(#12)``); empty if no clone has it.
        """
        for name in dict.fromkeys((_name(tracker), _name(solver))):
            folder = self._folders.get(name)
            if folder is None or not fixed_by:
                continue
            key = (folder, fixed_by, name == _name(tracker))
            if key not in self._known:
                self._known[key] = _files(*key)
            return self._known[key]
        return ()


def _name(place: str) -> str:
    """The last part of an address, a folder or a tracker's name."""
    return re.split(r"[/:]", place.strip().rstrip("/"))[-1].removesuffix(".git").lower()


def _files(folder: Path, fixed_by: str, is_own: bool) -> tuple[str, ...]:
    commit = ""
    if found := _COMMIT.match(fixed_by):
        commit = found[1]
    elif is_own and (found := _REQUEST.match(fixed_by)):
        end = f"(#{found[1]})"
        subjects = _git(folder, "log", "--format=%H %s", "--fixed-strings", f"--grep={end}") or ""
        commit = next((line.split()[0] for line in subjects.splitlines() if line.endswith(end)), "")
    if not commit:
        return ()
    shown = _git(
        folder, "show", "--format=", "--name-only", "-z", "-m", "--first-parent", f"{commit.strip()}^0"
    )
    return tuple(sorted(set((shown or "").split("\0")) - {""})[:MOST])


def _git(folder: Path, *words: str) -> str | None:
    """What git prints; None if it fails."""
    try:
        done = subprocess.run(
            ["git", "--no-pager", "-C", str(folder), *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
