"""What a solver says of its own options, and of the names of its tactics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solvers.errors import EnvironmentProblem
from solvers.running.process import Limits, run

_LIMITS = Limits(seconds=60.0)


@dataclass(frozen=True, slots=True)
class AskedOption:
    """An option as the solver itself describes it: ``kind`` is bool, int, float, mode or text; ``values`` are
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


def ask(argv: Sequence[str], *arguments: str) -> str:
    """What a solver prints when it is started with ``arguments``; EnvironmentProblem if it fails."""
    said = run([*argv, *arguments], _LIMITS)
    if said.ended != "exit" or said.code != 0:
        message = (said.stderr + said.stdout).strip().partition("\n")[0][:200]
        raise EnvironmentProblem(f"{argv[0]} {' '.join(arguments)}: {message or said.ended}")
    return said.stdout


def ask_driver(argv: Sequence[str]) -> dict[str, AskedOption]:
    """The options that a driver of ours prints as JSON."""
    options = (AskedOption.from_json(entry) for entry in json.loads(ask(argv, "--options")))
    return {option.name: option for option in options}
