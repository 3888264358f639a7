"""What people see on a terminal: our own pseudo-terminal reads it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table

from exhume.screens.console import PlainConsole
from tests.conftest import HUNT

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 80


def on_a_terminal(arguments: list[str]) -> str:
    """Run a command line on a terminal of 80 columns; all that it wrote there."""
    pid, handle = pty.fork()
    if pid == 0:
        os.environ.update(PYTHONPATH=str(ROOT), TERM="xterm", COLUMNS=str(COLUMNS))
        os.execv(sys.executable, [sys.executable, "-m", "exhume", *arguments])
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    written = b""
    try:
        while chunk := os.read(handle, 65536):
            written += chunk
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(handle)
    os.waitpid(pid, 0)
    return written.decode()


@pytest.mark.thorough
def test_a_hunt_shows_progress_and_colour_and_a_line_per_finding(
    corpus: Path, breaks: str, tmp_path: Path
) -> None:
    command = [*HUNT, "--corpus", str(corpus), "--solver", breaks, "--tests", "15"]
    # A busy machine takes longer to start a script than a solver has at first.
    command += ["--first-limit", "10"]
    hunted = on_a_terminal([*command, "--out", str(tmp_path / "h")])
    assert "\x1b[" in hunted
    assert "exhume hunt: breaks" in hunted
    assert "of 15 tests" in hunted
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", hunted).replace("\r", "")
    table = plain[plain.rindex(" findings") :].splitlines()[2:14]
    assert len(table) == 12
    for line in table:
        assert len(line) <= COLUMNS
        assert re.search(r"crash-[0-9a-f]{12}$", line.rstrip()), line


HOSTILE = "root:x:0 :smile: [red]no[/red] [/] \x1b[31mred\x07\x9b31m"


@pytest.mark.parametrize("terminal", [True, False])
def test_texts_are_printed_as_they_are(terminal: bool) -> None:
    file = StringIO()
    console = PlainConsole(file=file, force_terminal=terminal, no_color=True, width=200)
    console.print(HOSTILE)
    console.print(Table(HOSTILE))
    first, *table = file.getvalue().splitlines()
    safe = HOSTILE.translate(dict.fromkeys((0x1B, 0x07, 0x9B), "\ufffd"))
    assert first.replace("\x1b[0m", "") == (safe if terminal else HOSTILE.replace("\x07", ""))
    assert any("root:x:0 :smile: [red]no[/red] [/] " in line for line in table)


def test_names_of_files_are_printed_as_they_are(exhume: Any, tmp_path: Path) -> None:
    folder = tmp_path / "root:x:0 [red] :smile:"
    folder.mkdir()
    (folder / "a.smt2").write_text("(assert")
    (folder / "b.smt2").write_text("(declare-const p Bool)(assert p)(check-sat)")
    corpus = folder / "c.duckdb"
    imported = exhume("import", folder, "--corpus", corpus)
    assert f"cannot parse {folder.name}:a.smt2" in imported.err
    assert f"next: exhume learn --corpus '{corpus}'" in imported.err
    exhume("learn", "--corpus", corpus, "--no-probe")
    made = exhume("generate", "--corpus", corpus, "--count", 2, "--out", folder / "t")
    assert f"2 tests in {folder}/t, " in made.out
    missing = exhume("stats", "--corpus", folder / "no:x:.duckdb")
    assert f"{folder}/no:x:.duckdb" in missing.said


def test_a_terminal_gets_no_control_characters_of_others(tmp_path: Path) -> None:
    missing = tmp_path / "\x1b]0;owned\x07:x:.duckdb"
    shown = on_a_terminal(["stats", "--corpus", str(missing)])
    assert "\x1b]0;" not in shown
    assert ":x:.duckdb" in shown.replace("\r\n", "")
