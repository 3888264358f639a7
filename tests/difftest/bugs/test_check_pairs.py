"""The script that checks pairs without any code of exhume."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.difftest.bugs.planted import planted_benchmark, planted_bug

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "check_pairs"


def wheel(folder: Path, release: str, answer: str) -> None:
    """A release that gives this answer to everything."""
    program = folder / f"z3-solver-{release}" / "data" / "bin" / "z3"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho {answer}\n")
    program.chmod(0o755)


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, folder / "bugs", folder / "wheels", "--seconds", "10"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pairs_are_checked_by_the_programs_alone(tmp_path: Path) -> None:
    fields = {"finding_class": "incompleteness", "wrong": "unknown", "right": "sat", "check": 0}
    planted_benchmark(tmp_path / "bugs", planted_bug(last_bad="4.8.5", first_good="4.8.7", **fields))
    for release, answer in (("4.8.5", "unknown"), ("4.8.6", "timeout"), ("4.8.7", "sat"), ("4.8.10", "sat")):
        wheel(tmp_path / "wheels", release, answer)
    done = check(tmp_path)
    assert (done.returncode, done.stdout) == (0, "1 of 1 pairs as recorded, 0 to look at\n"), done.stderr
    wheel(tmp_path / "wheels", "4.8.5", "sat")
    wheel(tmp_path / "wheels", "4.8.6", "unknown")
    wheel(tmp_path / "wheels", "4.8.10", "unknown")
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("BAD WIDE AFTER ")
