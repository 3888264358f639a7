"""The solvers known by name: each folder with a ``profile.toml``, here or named by EXHUME_SOLVERS."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from types import ModuleType

import solvers
from solvers.errors import BadProfile
from solvers.profile import FILE, Profile, read_profile, read_toml
from solvers.report_form import PLAIN, Form

BROKEN: dict[str, BadProfile] = {}
"""Errors of solver folders that cannot be used, by family. Raised when a spec names such a solver."""


def _found() -> dict[str, Profile]:
    """The profiles by family, by rank."""
    files = [file for base in solvers.__path__ for file in sorted(Path(base).glob(f"*/{FILE}"))]
    folders: dict[str, Path] = {}
    for file in files:
        folders.setdefault(file.parent.name, file.parent)
    profiles = []
    for name, folder in folders.items():
        try:
            profiles.append(_read(folder, folders))
        except BadProfile as problem:
            BROKEN[name.replace("_", "-")] = problem
    return {p.family: p for p in sorted(profiles, key=lambda p: (p.rank, p.family))}


def _read(folder: Path, folders: dict[str, Path]) -> Profile:
    like = str(read_toml(folder / FILE).get("like", ""))
    if like and like not in folders:
        raise BadProfile(f"{folder / FILE}: like: there is no solver {like!r}")
    chain = (folder, folders[like]) if like else (folder,)
    return read_profile(chain, _code(chain))


def _code(folders: tuple[Path, ...]) -> ModuleType | None:
    """The module of the first of these folders that has one."""
    for folder in folders:
        if (folder / "__init__.py").is_file():
            try:
                return importlib.import_module(f"solvers.{folder.name}")
            except Exception as problem:  # a user's folder: the error names it, and other solvers still work
                raise BadProfile(
                    f"{folder / '__init__.py'}: {type(problem).__name__}: {problem}"
                ) from problem
    return None


PROFILES: dict[str, Profile] = _found()

DISTRIBUTIONS: dict[str, str] = {family: p.distribution for family, p in PROFILES.items() if p.distribution}
"""The distribution of each solver that has releases."""

REFERENCES: tuple[str, ...] = tuple(family for family, profile in PROFILES.items() if profile.reference)
"""The solvers that tests are made for, and answers taken from, when the user names none."""


OLD_RELEASE: str = next(f"{p.family}=={p.old_release}" for p in PROFILES.values() if p.old_release)
"""The spec of a release with known bugs, for examples and the demo."""

TRACKER: str = PROFILES[REFERENCES[0]].tracker.repository
"""A tracker, for examples."""

NAMES: frozenset[str] = frozenset(
    (
        *(alias for profile in PROFILES.values() for alias in profile.aliases),
        *read_toml(Path(__file__).with_name("others.toml"))["names"],
    )
)
"""Names of solvers in issues, command lines and file names, with or without a folder here: in lower case and
without the numbers of later generations (``yices2``).
"""

ANY_NAME = "|".join(map(re.escape, sorted(NAMES, key=len, reverse=True)))
"""Pattern that matches one of ``NAMES``."""


def empty_folders() -> list[str]:
    """The folders named by EXHUME_SOLVERS that have no solver's folder, or do not exist."""
    return [base for base in solvers.__path__[1:] if not any(Path(base).glob(f"*/{FILE}"))]


def named_solver(text: str) -> str | None:
    """``text`` in lower case if it names a solver, for example as a repository or file name; else None."""
    name = text.lower()
    return name if name in NAMES or name.rstrip("0123456789") in NAMES else None


def form_of(family: str | None) -> Form:
    """The report form of a solver's tracker; the plain one for other programs and unknown solvers."""
    profile = PROFILES.get(family or "")
    return profile.tracker if profile is not None else PLAIN


def family_of_program(command: Sequence[str]) -> str | None:
    """The solver whose own program a command line starts. None for other programs, and for forks
    under another name: they have trackers of their own.
    """
    name = PurePath(command[0]).name if command else ""
    return next((family for family, profile in PROFILES.items() if profile.program == name), None)


def kin_of(*names: str) -> str | None:
    """The solver whose input language and bugs a program shares, by the first of ``names`` that begins with
    an alias of a solver; None if no name does.

    >>> kin_of("old", "CVC4"), kin_of("z3str3"), kin_of("mine")
    ('cvc5', 'z3', None)
    """
    known = [(alias, profile.kin) for profile in PROFILES.values() for alias in profile.aliases]
    for name in names:
        fitting = [pair for pair in known if name.lower().startswith(pair[0])]
        if fitting:
            return max(fitting, key=lambda pair: len(pair[0]))[1]
    return None
