"""What people see on a terminal: a pseudo-terminal of ours reads it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 80


def on_a_terminal(arguments: list[str]) -> str:
    """Run a command line on a terminal of 80 columns; all that it wrote there."""
    pid, handle = pty.fork()
    if pid == 0:
        os.environ.update(PYTHONPATH=str(ROOT), TERM="xterm", COLUMNS=str(COLUMNS))
        os.execv(sys.executable, [sys.executable, "-c", "from exhume.cli import main; main()", *arguments])
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


def test_a_hunt_shows_progress_and_colour_and_a_line_per_finding(
    corpus: Path, breaks: str, tmp_path: Path
) -> None:
    command = ["hunt", "--corpus", str(corpus), "--solver", breaks, "--tests", "20"]
    # A busy machine takes longer to start a script than a solver has at first.
    command += ["--first-limit", "10"]
    hunted = on_a_terminal([*command, "--out", str(tmp_path / "h")])
    assert "\x1b[" in hunted
    assert "exhume hunt: breaks" in hunted
    assert "of 20 tests" in hunted
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", hunted).replace("\r", "")
    table = plain[plain.rindex(" findings") :].splitlines()[2:14]
    assert len(table) == 12
    for line in table:
        assert len(line) <= COLUMNS
        assert re.search(r"crash-[0-9a-f]{12}$", line.rstrip()), line
