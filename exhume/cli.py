"""The entry point: finds the command and turns errors into one line and an exit code."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from base.errors import ExhumeError, Exit
from base.files import NO_SPACE
from base.waiting import patient
from exhume.commands import COMMANDS, SECTIONS
from exhume.commands.help import readable

CORPUS_WAIT = 30.0
"""How long a command waits for a corpus that another process has open, in seconds."""


class _Group(TyperGroup):
    """``exhume``: the module of a command is imported when the command is used."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = {name: TyperCommand(name, help=command.about) for name, command in COMMANDS.items()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command itself, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"exhume.commands.{COMMANDS[cmd_name].module}")
        commands = typer.Typer(rich_markup_mode=None)
        if hasattr(module, "group"):
            commands.add_typer(module.group, name=cmd_name)
        else:
            commands.command(cmd_name)(getattr(module, f"{cmd_name.replace('-', '_')}_command"))
        return readable(typer.main.get_group(commands).get_command(ctx, cmd_name))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands under their headings, without importing them."""
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, command.about) for name, command in section.items()])


app = typer.Typer(
    name="exhume",
    cls=_Group,
    help="Finds bugs in SMT solvers by learning from their issue trackers.\n\n"
    "Start with 'exhume demo'. With files of your own, 'exhume replay' runs solvers on them; 'exhume import',"
    " 'exhume learn' and 'exhume hunt' look for new bugs.\n\n"
    "Exit codes: 0 done, 1 findings, 2 usage or bad input, 3 something is missing on this machine,"
    " 70 a bug in exhume, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(is_given: bool) -> None:
    if is_given:
        from base.version import VERSION

        print(f"exhume {VERSION}")  # noqa: T201
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Handles the options of exhume itself."""


def main() -> None:
    """Run the command line and exit. Expected errors are one line; our own bugs show a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be UTF-8
    try:
        code = run(sys.argv[1:])
    except Exception:  # noqa: BLE001 (Python would exit with 1, which means findings)
        traceback.print_exc()
        code = Exit.BUG
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command line; the exit code."""
    try:
        with patient(CORPUS_WAIT, _say):
            app(arguments, prog_name="exhume")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            return _reader_gone()  # rich and typer exit with 1 here, which would mean findings
        # Raised by Typer: 0, 2 for a usage error, 130 for Ctrl-C, or the exit code of a command.
        return ended.code if isinstance(ended.code, int) else Exit.DONE
    except KeyboardInterrupt:
        _say("exhume: interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except ExhumeError as error:
        _say(f"exhume: {error}")
        return error.exit_code
    except OSError as error:
        if error.errno in NO_SPACE:
            then = "free some space and try again"
        elif error.errno in (errno.EROFS, errno.EACCES):
            then = "name a place that you may read and write"
        elif error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            then = "name another place"
        else:
            raise
        _say(f"exhume: {error.strerror}: {error.filename or 'the disk'}; {then}")
        return Exit.USAGE
    raise AssertionError("typer ends by SystemExit")


def _say(line: str) -> None:
    from exhume.screens.console import say

    say(line)


def _reader_gone() -> int:
    """The reader of our output has gone: print nothing, now or when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.DONE
