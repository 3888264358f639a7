"""The entry point: puts the commands together and turns errors into a line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

from base.errors import ExhumeError, Exit
from base.files import NO_SPACE
from base.version import VERSION
from exhume.commands import (
    apifuzz,
    compare,
    demo,
    generate,
    hunt,
    learn,
    mine,
    reduce,
    replay,
    solvers,
    triage,
)
from exhume.screens.console import say

app = typer.Typer(
    name="exhume",
    help="Digs up the bugs SMT solvers had and builds new tests in their likeness.\n\n"
    "A first session: 'exhume demo'. Then, with formulas of your own: import, learn, generate, hunt.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (demo, mine, learn, compare, generate, hunt, apifuzz, replay, solvers, reduce, triage):
    module.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"exhume {VERSION}")  # noqa: T201
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Handles the options of exhume itself."""


def main() -> None:
    """Run the command line and exit. Expected errors are one line; our own bugs show a traceback."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command line; the exit code."""
    try:
        app(arguments, prog_name="exhume")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            return _reader_gone()  # rich and typer end with 1 then, which would say that bugs were found
        # Typer's own end: 0, 2 for a usage error, 130 for Ctrl-C, or what a command asked for.
        return ended.code if isinstance(ended.code, int) else Exit.DONE
    except KeyboardInterrupt:
        say("exhume: interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except ExhumeError as error:
        say(f"exhume: {error}")
        return error.exit_code
    except OSError as error:
        if error.errno not in NO_SPACE | {errno.EROFS}:
            raise
        say(f"exhume: {error.strerror}: {error.filename or 'the disk'}; make room and run it again")
        return Exit.USAGE
    raise AssertionError("typer ends by SystemExit")


def _reader_gone() -> int:
    """Whoever read our output has gone: say nothing, here and when Python flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.DONE
