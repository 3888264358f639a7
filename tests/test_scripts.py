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


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("bench_hunt", ("--tests", SCRIPTS, "--solver", "nosuch"), "solver 'nosuch': unknown"),
        ("bench_regress", ("--solver", "nosuch", "--out", "OUT"), "has no bugs of nosuch"),
        ("bench_bandit", (SCRIPTS,), "no campaign there"),
        ("check_pairs", (SCRIPTS, SCRIPTS), "bugs.jsonl: No such file or directory"),
        ("experiments/walks", ("--out", "OUT", "--time-left", "99999999999d"), "too long"),
    ],
)
def test_a_mistake_is_one_line(name: str, arguments: tuple[object, ...], said: str, tmp_path: Path) -> None:
    got = run_script(name, *(tmp_path / "out" if word == "OUT" else word for word in arguments))
    assert (got.returncode, said in got.stderr, "Traceback" in got.stderr) == (2, True, False), got.stderr
