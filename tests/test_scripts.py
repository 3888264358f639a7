"""Each program in ``scripts`` starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scripts import SCRIPTS, run_script

PROGRAMS = [
    str(file.relative_to(SCRIPTS))
    for pattern in ("bench_*", "check_*", "learn_*", "experiments/*")
    for file in sorted(SCRIPTS.glob(pattern))
    if file.is_file() and file.suffix != ".py"
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_has_a_help(name: str) -> None:
    got = run_script(name, "--help")
    assert (got.returncode, got.stdout.startswith(f"usage: {Path(name).name}")) == (0, True), got.stderr
