"""Everything the command line takes is explained, in words that fit a screen."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from exhume import commands as exhume_commands
from exhume.cli import app
from exhume.commands import COMMANDS

ROOT: Any = typer.main.get_command(app)
ROOT_FOLDER = Path(__file__).resolve().parents[2]


def commands(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that lead to it."""
    yield path, command
    for name in getattr(command, "commands", {}):
        yield from commands(command.get_command(None, name), (*path, name))


ALL = dict(commands())
PATHS = [pytest.param(path, id=" ".join(path) or "exhume") for path in ALL]


def test_the_commands_of_the_design_are_there() -> None:
    expected = "demo import learn generate hunt replay query stats strategies solvers"
    assert set(expected.split()) <= {path[0] for path in ALL if path}


@pytest.mark.parametrize("path", PATHS)
def test_every_command_is_explained(path: tuple[str, ...]) -> None:
    text = inspect.cleandoc(ALL[path].help or "")
    first = text.split("\n\n")[0]
    assert first.endswith("."), f"{path} has no help, or no whole sentence"
    assert len(first.split(". ")[0]) <= 100, "the list of commands would cut most of it"


@pytest.mark.parametrize("path", PATHS)
def test_every_option_and_argument_is_explained(path: tuple[str, ...]) -> None:
    silent = [p.name for p in ALL[path].params if not getattr(p, "help", None) and p.name != "help"]
    assert silent == []


@pytest.mark.parametrize("path", PATHS)
def test_help_is_readable_on_a_narrow_screen(path: tuple[str, ...], exhume: Any) -> None:
    ended = exhume(*path, "--help")
    assert ended.code == 0
    assert ended.err == ""
    assert all(len(line) <= 80 for line in ended.out.splitlines())
    assert "\x1b" not in ended.out


def test_the_list_of_commands_says_what_their_help_says() -> None:
    for name, command in COMMANDS.items():
        paragraph = inspect.cleandoc(ALL[name,].help).split("\n\n")[0]
        assert command.about == " ".join(paragraph.split())


def test_every_command_of_every_module_is_listed() -> None:
    listed = {inspect.unwrap(command.callback) for command in ALL.values() if command.callback}
    for module in pkgutil.iter_modules(exhume_commands.__path__):
        loaded = importlib.import_module(f"exhume.commands.{module.name}")
        written = {found for name, found in vars(loaded).items() if name.endswith("_command")}
        assert written <= listed, module.name


@pytest.mark.parametrize(
    ("command", "not_loaded"),
    [
        ("", "corpus smtlib solvers generator difftest apifuzz miner duckdb rich numpy z3 cvc5"),
        ("query", "generator difftest apifuzz miner numpy z3 cvc5"),
        ("hunt", "apifuzz miner numpy pandas mlxtend matplotlib scipy z3 cvc5 distributed"),
        ("report", "miner numpy pandas mlxtend matplotlib scipy z3 cvc5"),
    ],
)
@pytest.mark.few(2)
def test_help_does_not_load_what_it_does_not_need(command: str, not_loaded: str) -> None:
    program = (
        "import sys; from exhume.cli import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    )
    arguments = [sys.executable, "-c", program, *command.split(), "--help"]
    done = subprocess.run(arguments, cwd=ROOT_FOLDER, capture_output=True, text=True, check=True)
    assert "Usage: exhume" in done.stdout
    assert set(done.stderr.split()) & set(not_loaded.split()) == set()


def test_a_misspelt_command_gets_a_hint(exhume: Any) -> None:
    ended = exhume("hnut")
    assert ended.code == 2
    assert "Did you mean 'hunt'?" in ended.err


def test_a_missing_subcommand_gets_the_others(exhume: Any) -> None:
    ended = exhume("solvers", "list")
    assert ended.code == 2
    assert (
        "No such command 'list'. Commands: install, discover, build, coverage; 'exhume solvers' works"
        " without one." in ended.err
    )
    assert "No such command 'instal'; did you mean install?" in exhume("solvers", "instal").err


def test_without_arguments_the_help_is_shown(exhume: Any) -> None:
    ended = exhume()
    assert "Build a corpus:" in ended.out + ended.err
    assert ended.code == 2


def test_the_version_is_printed(exhume: Any) -> None:
    ended = exhume("--version")
    assert (ended.code, ended.out.split()[0]) == (0, "exhume")
