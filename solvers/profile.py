"""The form of a profile."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solvers.errors import EnvironmentProblem, SolverMissing
from solvers.report_form import PLAIN, Form
from solvers.running.process import Limits, run

_ASK_LIMITS = Limits(seconds=60.0)


@dataclass(frozen=True, slots=True)
class Located:
    """Where a solver is: what starts it, and what of it a supervisor can keep loaded."""

    argv: tuple[str, ...]
    loadable: str | None = None


@dataclass(frozen=True, slots=True)
class AskedOption:
    """An option as the solver itself tells it: ``kind`` is bool, int, float, mode or text; ``values`` are
    those of a mode; ``category`` is empty unless the solver sorts its options.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    default: str = ""
    category: str = ""

    def takes(self, value: str) -> bool:
        """Whether ``value`` is of its kind and, for a mode, one of its values."""
        if self.kind == "bool":
            return value in ("true", "false")
        if self.kind == "mode":
            return value in self.values
        try:
            return self.kind == "text" or float(value) is not None
        except ValueError:
            return False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AskedOption:
        """An option as the drivers print it."""
        return cls(
            data["name"], data["kind"], tuple(data["values"]), str(data["default"]), data.get("category", "")
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """What a solver can do.

    ``locate`` finds the release it is given, or the installed one for None. ``checks`` are the options that
    make it check its models, ``incremental`` those it needs for more than one question, ``models`` those it
    needs to print models in SMT-LIB. ``prefix`` stands before an option's name on its command line.
    ``theories`` are those it has, named as in ``smtlib/theories``. ``form`` is the report form of its
    tracker. ``rank`` orders lists of solvers. ``ask`` asks the solver that ``argv``
    starts for its options, by name; ``ask_tactics`` for the names of its tactics.
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
    form: Form = PLAIN
    rank: int = 100
    ask: Callable[[Sequence[str]], dict[str, AskedOption]] = lambda argv: {}
    ask_tactics: Callable[[Sequence[str]], frozenset[str]] = lambda argv: frozenset()


def ask(argv: Sequence[str], *arguments: str) -> str:
    """What a solver prints when it is started with ``arguments``; EnvironmentProblem if it fails."""
    said = run([*argv, *arguments], _ASK_LIMITS)
    if said.ended != "exit" or said.code != 0:
        told = (said.stderr + said.stdout).strip().partition("\n")[0][:200]
        raise EnvironmentProblem(f"{argv[0]} {' '.join(arguments)}: {told or said.ended}")
    return said.stdout


def ask_driver(argv: Sequence[str]) -> dict[str, AskedOption]:
    """The options that a driver of ours prints as JSON."""
    options = (AskedOption.from_json(entry) for entry in json.loads(ask(argv, "--options")))
    return {option.name: option for option in options}


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
