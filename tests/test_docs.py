"""What the documents tell people to type exists, and the quick part of it runs."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from exhume.cli import app, run

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\(([^)#:]+)\)")

# Commands that neither run long nor use the network.
QUICK = {"stats", "query", "strategies", "solvers", "generate", "import", "learn"}


def lines() -> Iterator[tuple[str, str]]:
    """Page and command line of every prompt in a console block."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text("utf-8")):
            joined = block.replace("\\\n", " ")
            yield from ((page.name, line[2:]) for line in joined.splitlines() if line.startswith("$ exhume"))


ALL = list(lines())


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and the words left."""
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.get_command(None, words.pop(0))
    return command, words


@pytest.fixture
def place(starter: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the documents suppose it: the demo's corpus, and formulas of one's own."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "exhume-demo").mkdir()
    shutil.copy(starter, folder / "exhume-demo" / "corpus.duckdb")
    shutil.copytree(
        ROOT / "docs" / "findings", folder / "formulas", ignore=shutil.ignore_patterns("*.txt", "*.md")
    )
    monkeypatch.chdir(folder)
    return folder


def test_there_are_commands_to_look_at() -> None:
    assert {"README.md", "corpus.md", "generation.md", "difftest.md"} <= {page for page, _ in ALL}


@pytest.mark.parametrize(("page", "line"), ALL)
def test_commands_and_options_exist(page: str, line: str) -> None:
    command, rest = find_command(shlex.split(line, comments=True)[1:])
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    known |= {"--help", "-h"}
    used = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
    assert not getattr(command, "commands", None) or not rest or command.invoke_without_command or used
    assert set(used) <= known


def test_quick_commands_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for page, line in ALL:
        words = shlex.split(line, comments=True)[1:]
        if words and words[0] in QUICK and page not in ("mining.md", "refresh.md") and "install" not in words:
            code = run(words)
            assert code == 0, f"{page}: {line}: {capsys.readouterr().err}"


def test_links_lead_somewhere() -> None:
    pages = [*PAGES, ROOT / "docs" / "findings" / "README.md"]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_files_that_the_architecture_page_names_exist() -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.\w+)`", (ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
