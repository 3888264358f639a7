"""The commands that solvers read, as data: ``theories/commands.toml`` has the solvers that know each command,
and its arguments. A command that declares something or changes the scope has a method of the sort checker
instead.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class CommandShape:
    """The first arguments of a command, whether more may follow, and the solvers that know it."""

    arguments: tuple[str, ...]
    is_closed: bool
    only: tuple[str, ...]


def _shapes() -> dict[str, CommandShape]:
    text = (resources.files("smtlib") / "theories" / "commands.toml").read_text("utf-8")
    return {
        name: CommandShape(
            tuple(row.get("arguments", ())), row.get("closed", False), tuple(row.get("only", ()))
        )
        for row in tomllib.loads(text)["commands"]
        for name in row["names"]
    }


OBJECTIVES = frozenset(("maximize", "minimize", "assert-soft"))
"""The commands that say what is to be optimised; they have no influence on satisfiability."""

COMMANDS: dict[str, CommandShape] = _shapes()
"""By name, the commands that only have a shape."""
