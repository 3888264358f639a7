"""Makes the help pages that Typer prints readable: no Python types, whole sentences in lists of commands."""

from __future__ import annotations

import inspect
from typing import Any

from typer.core import TyperGroup

from base.nearest import did_you_mean, nearest

_METAVARS = {"int": "N", "float": "N", "str": "TEXT"}


class PlainGroup(TyperGroup):
    """A command with subcommands, whose list shows the first sentence of each, uncut."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As usual; the error for an unknown subcommand names the others."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            alone = f"; '{ctx.command_path}' works without one" if self.invoke_without_command else ""
            hint = did_you_mean(nearest(args[0], self.commands))
            ctx.fail(f"No such command {args[0]!r}{hint or '.'} Commands: {', '.join(self.commands)}{alone}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the subcommands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(command)) for name, command in self.commands.items()])


def summary(command: Any) -> str:
    """The first sentence of a command's help."""
    paragraph = " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())
    return paragraph.split(". ")[0].rstrip(".") + "."


def readable(command: Any) -> Any:
    """``command`` and its subcommands, with N and TEXT for Python's types; the same object."""
    for inner in getattr(command, "commands", {}).values():
        readable(inner)
    for parameter in command.params:
        kind = parameter.bare_type().removesuffix(" | None")
        if parameter.param_type_name == "argument":
            usage = (parameter.metavar or parameter.name.upper()) + "..." * (parameter.nargs != 1)
            pieces = [usage if parameter.required else f"[{usage}]"] if not parameter.hidden else []
            parameter.get_usage_pieces = lambda ctx, pieces=pieces: pieces
            parameter.display_type_rich = lambda ctx: ""
        elif parameter.metavar is None and kind in _METAVARS:
            parameter.metavar = _METAVARS[kind]
    return command
