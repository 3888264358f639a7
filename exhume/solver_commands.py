"""Commands about the solvers themselves: solvers, solvers install."""

from __future__ import annotations

from typing import Annotated

import typer

from difftest import find_solver, find_solvers
from exhume.options import Json
from exhume.screen import out, print_json, show_table


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    solvers = typer.Typer(help="Show or fetch solvers.", invoke_without_command=True, rich_markup_mode=None)
    solvers.callback()(solvers_command)
    solvers.command("install")(install_command)
    app.add_typer(solvers, name="solvers")


def solvers_command(context: typer.Context, json: Json = False) -> None:
    """Show the solvers that are installed and their versions."""
    if context.invoked_subcommand is not None:
        return
    rows = [[s.spec, s.version(), " ".join(s.argv)] for s in find_solvers(["z3", "cvc5"])]
    if json:
        print_json([dict(zip(("spec", "version", "command"), row, strict=True)) for row in rows])
    else:
        show_table(["spec", "version", "command"], rows)


def install_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A release such as z3==4.8.5.")],
    json: Json = False,
) -> None:
    """Fetch a solver's release into the cache."""
    solver = find_solver(spec)
    row = {"spec": solver.spec, "version": solver.version(), "command": " ".join(solver.argv)}
    if json:
        print_json(row)
    else:
        out.print(f"{row['spec']}: {row['version']} at {row['command']}", markup=False)
