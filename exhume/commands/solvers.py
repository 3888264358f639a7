"""The commands solvers, solvers install, solvers discover, solvers build and solvers coverage."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from base.errors import ExhumeError
from base.text import counted
from difftest import Solver, SolverMissing, find_solver
from difftest.campaign.modes import mode_list
from exhume.commands.coverage import coverage_command
from exhume.commands.help import PlainGroup
from exhume.commands.options import SOLVER_HELP, Json
from exhume.screens.console import out, print_json, progress, say, show_table
from exhume.screens.wording import some
from solvers.abilities import probe_abilities
from solvers.builds import build_checkout, build_release, is_build, make_flavour
from solvers.discovery.comparing import NewName, discover
from solvers.errors import UnknownSolver
from solvers.locating import is_here
from solvers.registry import OLD_RELEASE, PROFILES
from solvers.specs import parse_spec

group = typer.Typer(
    cls=PlainGroup,
    help="Show, install, build or measure solvers.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@group.callback()
def solvers_command(
    context: typer.Context,
    solver: Annotated[
        list[str] | None,
        typer.Option(
            "--solver",
            metavar="SPEC",
            help=SOLVER_HELP.replace("to run", "to show") + "  [default: all known solvers]",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show, install, build or measure solvers.

    Prints the version, the theories and the abilities of each solver. For a known solver that is not
    installed, it prints how to install it.
    """
    if context.invoked_subcommand is not None:
        return
    rows = (
        [_described(find_solver(spec)) for spec in solver] if solver else [_known(name) for name in PROFILES]
    )
    if json:
        print_json(rows)
        return
    shown = [row for row in rows if row["installed"]]
    show_table(
        ["spec", "version", "push/pop", "models", "settings", "tactics"],
        [
            [
                *(row["spec"], row["version"]),
                *("yes" if row[what] else "no" for what in ("incremental", "models")),
                *(str(row["settings"]), str(row["tactics"])),
            ]
            for row in shown
        ],
    )
    for row in shown:
        if row["theories"]:
            out.print(f"{row['spec']}: {', '.join(row['theories'])}")
        if row["unknown_settings"]:
            unknown = row["unknown_settings"]
            out.print(f"{row['spec']}: {counted(len(unknown), 'unsupported setting')}: {some(unknown)}")
    for row in rows:
        if not row["installed"]:
            out.print(row["hint"])


def _known(name: str) -> dict[str, Any]:
    try:
        if not is_here(PROFILES[name]):
            hint = f"solver {name!r}: not installed; install it with: exhume solvers install {name}"
            return {"spec": name, "installed": False, "hint": hint}
        return _described(find_solver(name))
    except SolverMissing as missing:
        return {"spec": name, "installed": False, "hint": str(missing)}


def _described(solver: Solver) -> dict[str, Any]:
    """The description of an installed solver; ``settings`` and ``tactics`` are those that a hunt uses."""
    abilities = probe_abilities(solver)
    try:
        modes = mode_list(solver)
    except ExhumeError:
        # Releases too old to list their options can do everything else.
        modes = None
    return {
        "spec": solver.spec,
        "installed": True,
        "version": solver.version(),
        "commit": solver.commit(),
        "command": " ".join(solver.argv),
        **asdict(abilities),
        "settings": len(modes.settings) + len(modes.young) if modes else 0,
        "tactics": len(modes.first_tactics) + len(modes.last_tactics) if modes else 0,
        "unknown_settings": [setting for setting, _ in modes.refused] if modes else [],
    }


@group.command("install")
def install_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help=f"Release to install, such as {OLD_RELEASE}.")],
    json: Json = False,
) -> None:
    """Install a release of a solver into the cache."""
    solver = find_solver(spec)
    row = {"spec": solver.spec, "version": solver.version(), "command": " ".join(solver.argv)}
    if json:
        print_json(row)
    else:
        out.print(f"{row['spec']}: {row['version']} at {row['command']}")


_SHOWN = 3


@group.command("discover")
def discover_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="The solver to ask.")],
    json: Json = False,
) -> None:
    """List the features of a solver that exhume does not know.

    Asks the solver for its operators, sorts, commands, options, tactics and simplifiers, and prints those
    that the theory files and its option table lack: one per line, with the ranks or values that it accepts.
    This takes up to a minute.
    """
    solver = find_solver(spec)
    if solver.family not in PROFILES:
        raise UnknownSolver(spec, f"only solvers known by name can be asked: {', '.join(PROFILES)}")
    new = discover(solver, lambda step: None if json else say(f"{spec}: {step}"))
    if json:
        print_json([asdict(name) for name in new])
        return
    for name in new:
        out.print(_line(name))
    out.print(f"{spec}: {counted(len(new), 'unknown name')}")


def _line(new: NewName) -> str:
    more = len(new.guess) - _SHOWN
    shown = "; ".join(new.guess[:_SHOWN]) + (f"; {more} more" if more > 0 else "")
    nothing = "no rank found" if new.kind == "operator" else ""
    return f"{new.kind:10}  {new.name}  {shown or nothing}".rstrip()


@group.command("build")
def build_command(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help=f"A release, such as {OLD_RELEASE}, or NAME@PATH for the source in a git checkout.",
        ),
    ],
    debug: Annotated[bool, typer.Option("--debug", help="Build with assertions and line numbers.")] = False,
    sanitize: Annotated[
        str, typer.Option(metavar="NAMES", help="Sanitizers, separated by commas: address, undefined.")
    ] = "",
    coverage: Annotated[bool, typer.Option("--coverage", help="Count executed lines (gcov).")] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Number of parallel compilers.  [default: one per core]", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Build a solver from source, with assertions, sanitizers or coverage.

    The build is kept in the cache, and its spec works wherever a solver is named. To resume an
    interrupted build, repeat the command. A build takes up to two hours on two cores.
    """
    family, at, path = spec.partition("@")
    parsed = parse_spec(family if at else spec)
    if (
        parsed.family not in PROFILES
        or parsed.options
        or not (at or parsed.release)
        or is_build(str(parsed.release))
    ):
        raise UnknownSolver(spec, f"name a release ({OLD_RELEASE}) or a checkout (NAME@PATH) to build")
    profile = PROFILES[parsed.family]
    flavour = make_flavour(debug, coverage, [name for name in sanitize.split(",") if name])
    jobs = jobs or os.cpu_count() or 1
    say(f"building {spec} ({flavour.label}); this may take an hour")
    with progress("building") as show:
        if at:
            commit, program = build_checkout(profile, Path(path), flavour, jobs, show)
            made = f"{parsed.family}-{commit}={shlex.quote(str(program))}"
        else:
            program = build_release(profile, str(parsed.release), flavour, jobs, show)
            made = f"{spec}+{flavour.label}"
    solver = find_solver(made)
    row = {"spec": solver.spec, "version": solver.version(), "command": " ".join(solver.argv)}
    if json:
        print_json(row)
    else:
        out.print(f"{row['version']}\nspec: {row['spec']}")


group.command("coverage")(coverage_command)
