"""A bug as a folder to work in: its formulas, its record, and a program for each end of the pair."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from base.files import put_json, put_text
from difftest.bugs.records import Bug
from difftest.bugs.shelf import Shelf
from difftest.errors import BadOutput, DifftestError
from solvers.running.script import Script

FORMULA = "formula.smt2"


def check_out(bug: Bug, folder: Path, shelf: Shelf) -> list[Path]:
    """Write a bug to a new or empty folder; the files, in the order of their names.

    ``bad`` and ``good`` run the last release that shows the bug and the first that does not, on
    ``formula.smt2`` or on the file that they are given. BadOutput if the folder cannot be used, DifftestError
    if a release cannot be had.
    """
    script = Script.of(bug.text)
    programs = {}
    for name, release in (("bad", bug.last_bad), ("good", bug.first_good)):
        solver = shelf.solver(bug.spec(release))
        if solver is None:
            raise DifftestError(f"{bug.spec(release)} cannot be had: {shelf.problems[bug.spec(release)]}")
        options = shlex.join([*solver.argv, *solver.options(script)])
        given = solver.given_file(script, FORMULA)
        programs[name] = f'#!/bin/sh\nexec {options} "${{1:-$(dirname "$0")/{given}}}"\n'
        if given != FORMULA:
            programs[given] = solver.given(script).text
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadOutput(f"{folder} is not empty: name a new folder")
        files = {FORMULA: bug.text, **programs} | ({"reduced.smt2": bug.reduced} if bug.reduced else {})
        for name, text in files.items():
            put_text(folder / name, text)
            if text.startswith("#!"):
                (folder / name).chmod(0o755)
        document = msgspec.to_builtins(bug)
        put_json(folder / "bug.json", {k: v for k, v in document.items() if k not in ("text", "reduced")})
    except OSError as problem:
        raise BadOutput(f"cannot write to {folder}: {problem.strerror or problem}") from problem
    return sorted(folder.iterdir())
