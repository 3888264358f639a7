"""Solvers of tests as shell scripts: hunts start hundreds, a shell starts in a tenth of Python's time."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from difftest import Solver, find_solver
from tests.conftest import fake_spec

READ = """for file; do :; done
text=
while IFS= read -r line || [ -n "$line" ]; do text="$text$line
"; done < "$file" || exit 1
"""
"""Puts the last argument into ``file``, and what that file holds into ``text``."""

# What most solvers of tests do, in Python: lines, one answer or another, a crash.
_SAYS = re.compile(r"(?:print\('[^'\\]*'\)|say\('[^'\\]*'(?:, '[^'\\]*')*\))")
_CHOOSES = re.compile(r"say\('([^'\\]*)' if '([^'\\]+)' in text else '([^'\\]*)'\)")
_ABORTS = re.compile(r"(?:if '([^'\\]+)' in text: )?os\.abort\(\)")


def shell_spec(folder: Path, name: str, body: str) -> str:
    """The spec of a solver from the body of a shell script; ``$text`` holds the formula it was given."""
    script = folder / f"{name}.sh"
    script.write_text(f'case "$*" in *--version) echo fake 1.0; exit;; esac\n{READ}{body}\n')
    return f"{name}=/bin/sh {script}"


def shell_solver(folder: Path, name: str, body: str) -> Solver:
    """The solver of ``shell_spec``."""
    return find_solver(shell_spec(folder, name, body))


def quick_spec(folder: Path, name: str, body: str) -> str:
    """The spec of ``tests.conftest.fake_spec``; as a shell script if the body says only what one can say."""
    lines = [_line(line) for line in body.strip().splitlines()]
    if None in lines:
        return fake_spec(folder, name, body)
    return shell_spec(folder, name, "\n".join(filter(None, lines)))


def _line(line: str) -> str | None:
    """A line of Python in the language of the shell; None for one that is not known."""
    if _SAYS.fullmatch(line):
        words = re.findall("'([^']*)'", line)
        return f"printf '%s\\n' {shlex.join(words)}"
    if found := _CHOOSES.fullmatch(line):
        return _case(found[2], f"echo {shlex.quote(found[1])}", f"echo {shlex.quote(found[3])}")
    if found := _ABORTS.fullmatch(line):
        return _case(found[1], "kill -ABRT $$", ":") if found[1] else "kill -ABRT $$"
    return None


def _case(part: str, does: str, otherwise: str) -> str:
    return f'case "$text" in *{shlex.quote(part)}*) {does};; *) {otherwise};; esac'
