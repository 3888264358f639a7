"""Everything the command line takes is explained, in words that fit a screen."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from exhume.cli import app

ROOT = typer.main.get_command(app)


def commands(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that lead to it."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


ALL = dict(commands())
PATHS = [pytest.param(path, id=" ".join(path) or "exhume") for path in ALL]


def test_the_commands_of_the_design_are_there() -> None:
    wanted = "demo import learn generate hunt replay query stats strategies solvers"
    assert set(wanted.split()) <= {path[0] for path in ALL if path}


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


def test_without_arguments_the_help_is_shown(exhume: Any) -> None:
    ended = exhume()
    assert "Commands:" in ended.out + ended.err
    assert ended.code == 2


def test_the_version_is_told(exhume: Any) -> None:
    ended = exhume("--version")
    assert (ended.code, ended.out.split()[0]) == (0, "exhume")
