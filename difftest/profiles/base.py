"""The form of a profile."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from difftest.errors import SolverMissing


@dataclass(frozen=True, slots=True)
class Located:
    """Where a solver is: what starts it, and its library if a supervisor can keep that loaded."""

    argv: tuple[str, ...]
    library: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What a solver can do.

    ``locate`` finds the release it is given, or the installed one for None. ``checks`` are the options that
    make it check its models, ``incremental`` those it needs for more than one question, ``models`` those it
    needs to print models in SMT-LIB. ``prefix`` stands before an option's name on its command line.
    ``theories`` are named as in ``difftest.findings``; empty: no theory is known to be missing.
    """

    family: str
    distribution: str
    program: str
    locate: Callable[[str, str | None], Located]
    prefix: str = "--"
    checks: tuple[str, ...] = ()
    incremental: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    theories: frozenset[str] = frozenset()
    extra: str | None = None


def installed_files(profile_name: str, distribution: str, extra: str | None) -> list[Path]:
    """The files of an installed distribution; SolverMissing if it is not there."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError as problem:
        hint = f" (pip install 'exhume[{extra}]')" if extra else ""
        raise SolverMissing(
            f"solver {profile_name!r}: the package {distribution} is not installed beside exhume{hint}"
        ) from problem
    return [Path(str(file.locate())).resolve() for file in files]


def program_among(files: list[Path], name: str) -> Path | None:
    """The program ``name`` of a distribution with these files."""
    found = [path for path in files if path.name == name and path.parent.name == "bin" and path.is_file()]
    found = found or [path for path in [Path(sys.prefix) / "bin" / name] if path.is_file()]
    return found[0] if found else None
