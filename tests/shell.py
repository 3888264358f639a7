"""Solvers made for tests, in Python or as shell scripts, which start in a tenth of Python's time."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from difftest import Solver, find_solver

READ = """for file; do :; done
text=
while IFS= read -r line || [ -n "$line" ]; do text="$text$line
"; done < "$file" || exit 1
"""
"""Puts the last argument into ``file``, and what that file holds into ``text``."""

_HAS = """has() { case "$text" in *"$1"*) ;; *) return 1;; esac; }
"""

# What most solvers of tests do, in Python: lines, one answer or another, a crash.
_WORD = r"'[^'\\]*'"
_WHETHER = rf"{_WORD} in text(?: and {_WORD} in text)*"
_SAYS = re.compile(rf"print\({_WORD}\)|say\({_WORD}(?:, {_WORD})*\)")
_CHOOSES = re.compile(rf"say\(({_WORD}) if ({_WHETHER}) else ({_WORD})\)")
_IF = re.compile(rf"if ({_WHETHER}): (.+)")
_EXITS = re.compile(r"sys\.exit\((\d+)\)")


def fake_spec(folder: Path, name: str, body: str) -> str:
    """The spec of a solver from the body of a Python script; ``text`` holds the formula it is given.

    It is started thousands of times: it imports only what its body uses.
    """
    used = [module for module in ("os", "time", "signal", "subprocess") if f"{module}." in body]
    script = folder / f"{name}.py"
    script.write_text(
        f"import {', '.join(['sys', *used])}\n"
        "say = lambda *lines: print(*lines, sep='\\n', flush=True)\n"
        "if sys.argv[-1] == '--version': say('fake 1.0'); sys.exit()\n"
        f"text = open(sys.argv[-1]).read()\n{body}\n"
    )
    return f"{name}={sys.executable} -I -S {script}"


def shell_spec(folder: Path, name: str, body: str) -> str:
    """The spec of a solver from the body of a shell script; ``$text`` holds the formula it was given."""
    script = folder / f"{name}.sh"
    script.write_text(f'case "$*" in *--version) echo fake 1.0; exit;; esac\n{READ}{_HAS}{body}\n')
    return f"{name}=/bin/sh {script}"


def shell_solver(folder: Path, name: str, body: str) -> Solver:
    """The solver of ``shell_spec``."""
    return find_solver(shell_spec(folder, name, body))


def quick_spec(folder: Path, name: str, body: str) -> str:
    """The spec of ``fake_spec``; as a shell script if the body says only what one can say."""
    lines = [_line(line) for line in body.strip().splitlines()]
    if None in lines:
        return fake_spec(folder, name, body)
    return shell_spec(folder, name, "\n".join(filter(None, lines)))


def _line(line: str) -> str | None:
    """A line of Python in the language of the shell; None for one that is not known."""
    if found := _IF.fullmatch(line):
        inside = _line(found[2])
        return inside and f"if {_whether(found[1])}; then {inside}; fi"
    if found := _CHOOSES.fullmatch(line):
        return f"if {_whether(found[2])}; then {_says(found[1])}; else {_says(found[3])}; fi"
    parts = [_part(part) for part in line.split("; ")]
    return None if None in parts else "; ".join(filter(None, parts))


def _part(part: str) -> str | None:
    if _SAYS.fullmatch(part):
        return _says(part)
    if found := _EXITS.fullmatch(part):
        return f"exit {found[1]}"
    return "kill -ABRT $$" if part == "os.abort()" else None


def _words(text: str) -> list[str]:
    """The words in quotes."""
    return [word[1:-1] for word in re.findall(_WORD, text)]


def _says(text: str) -> str:
    return f"printf '%s\\n' {shlex.join(_words(text))}"


def _whether(text: str) -> str:
    return " && ".join(f"has {shlex.quote(word)}" for word in _words(text))
