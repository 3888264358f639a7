"""Asks a solver for its own options and tactics."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from solvers.errors import EnvironmentProblem
from solvers.running.process import Limits, run

_LIMITS = Limits(seconds=60.0)


@dataclass(frozen=True, slots=True)
class AskedOption:
    """An option as the solver itself describes it.

    ``kind`` is bool, int, float, mode or text; ``values`` are the values of a mode. ``category`` is empty if
    the solver does not group its options.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    default: str = ""
    category: str = ""

    def takes(self, value: str) -> bool:
        """Whether ``value`` has the right kind and, for a mode, is one of its values."""
        if self.kind == "bool":
            return value in ("true", "false")
        if self.kind == "mode":
            return value in self.values
        try:
            return self.kind == "text" or float(value) is not None
        except ValueError:
            return False


def ask(argv: Sequence[str], *arguments: str) -> str:
    """The output of a solver started with ``arguments``; EnvironmentProblem if it fails."""
    done = run([*argv, *arguments], _LIMITS)
    if done.ended != "exit" or done.code != 0:
        message = (done.stderr + done.stdout).strip().partition("\n")[0][:200]
        raise EnvironmentProblem(f"{argv[0]} {' '.join(arguments)}: {message or done.ended}")
    return done.stdout


def ask_by_script(argv: Sequence[str], script: str, *arguments: str) -> str:
    """The output of a solver that reads ``script`` from a file; EnvironmentProblem if it fails."""
    with tempfile.TemporaryDirectory(prefix="exhume-") as folder:
        file = Path(folder) / "asked.smt2"
        file.write_text(script, "utf-8")
        return ask(argv, *arguments, str(file))


def ask_driver(argv: Sequence[str]) -> dict[str, AskedOption]:
    """The options that one of our drivers prints as JSON."""
    options = msgspec.json.decode(ask(argv, "--options"), type=list[AskedOption])
    return {option.name: option for option in options}
