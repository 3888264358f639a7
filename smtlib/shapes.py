"""The commands that solvers read, as data: ``theories/commands.toml`` has the solvers that know each command,
and its arguments. A command that declares something or changes the scope has a method of the sort checker
instead.
"""

from __future__ import annotations

from importlib import resources

import msgspec


class CommandShape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first arguments of commands, whether no more may follow, and the solvers that know them."""

    names: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    is_closed: bool = msgspec.field(name="closed", default=False)
    only: tuple[str, ...] = ()


def _shapes() -> dict[str, CommandShape]:
    text = (resources.files("smtlib") / "theories" / "commands.toml").read_text("utf-8")
    shapes = msgspec.toml.decode(text, type=dict[str, list[CommandShape]])["commands"]
    return {name: shape for shape in shapes for name in shape.names}


OBJECTIVES = frozenset(("maximize", "minimize", "assert-soft"))
"""The commands that say what is to be optimised; they have no influence on satisfiability."""

COMMANDS: dict[str, CommandShape] = _shapes()
"""By name, the commands that only have a shape."""
