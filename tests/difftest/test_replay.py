"""Replay of files: rows in order, what is wrong reported, bad input survived."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from difftest import DifftestError, FoundFiles, Limits, Outcome, Solver, find_solvers, replay
from difftest import replay as _replay_function  # the function, not the module of the same name
from difftest.found_files import MAX_FILE_BYTES

SAT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 1))(check-sat)"
Fake = Callable[..., Solver]


def write(folder: Path, **texts: str) -> list[Path]:
    files = []
    for name, text in texts.items():
        file = folder / f"{name}.smt2"
        file.write_text(text)
        files.append(file)
    return files


def test_rows_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    files = write(tmp_path, a=SAT, b=SAT + "(assert (< x 0))(check-sat)", c="(assert")
    results = list(replay(files, find_solvers(["z3", "cvc5"]), Limits(20), jobs=2))
    assert [result.file for result in results] == files
    assert [row.solver for row in results[0].rows] == ["z3", "cvc5"]
    assert results[1].rows[0].to_json() | {"seconds": 0} == {
        "file": str(files[1]),
        "solver": "z3",
        "outcome": "ok",
        "answers": ["sat", "unsat"],
        "seconds": 0,
        "detail": "",
    }
    json.dumps([row.to_json() for result in results for row in result.rows])


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_wrong_status_is_a_finding(tmp_path: Path, solver: str) -> None:
    files = write(tmp_path, a="(set-info :status unsat)" + SAT, b="(set-info :status sat)" + SAT)
    one, two = replay(files, find_solvers([solver]), Limits(20))
    assert [(f.finding_class, f.solvers) for f in one.findings] == [("soundness", (solver,))]
    assert two.findings == ()


def test_crashes_lies_and_invalid_models_are_findings(tmp_path: Path, fake: Fake) -> None:
    body = """
if 'crash' in text: os.abort()
if 'model' in text: say('sat', '(error "line 1 column 66: an invalid model was generated")')
elif 'lie' in text: say('unsat')
else: say('sat')
"""
    files = write(tmp_path, a=SAT, b=SAT + ";crash", c=SAT + ";model", d=SAT + ";lie")
    found = [
        [str(finding.finding_class) for finding in result.findings]
        for result in replay(files, [fake("say('sat')", "honest"), fake(body, "bad")], Limits(20))
    ]
    assert found == [[], ["crash"], ["invalid-model"], ["soundness"]]


def test_what_does_not_show_in_a_fresh_process_is_not_reported(tmp_path: Path, fake: Fake) -> None:
    once = tmp_path / "once"
    flaky = fake(f"if not os.path.exists({str(once)!r}): open({str(once)!r}, 'w'); os.abort()\nsay('sat')")
    (result,) = replay(write(tmp_path, a=SAT), [flaky], Limits(20))
    assert (result.findings, result.rows[0].verdict.outcome) == ((), Outcome.OK)


def test_odd_files_are_rows_like_all_others(tmp_path: Path) -> None:
    odd = tmp_path / "odd.smt2"
    odd.write_bytes(os.urandom(2000) + b"\x00(check-sat)")
    empty = tmp_path / "empty.smt2"
    empty.write_text("")
    big = tmp_path / "big.smt2"
    with big.open("wb") as handle:
        handle.truncate(MAX_FILE_BYTES + 1)
    results = list(
        replay([odd, empty, big, tmp_path / "gone.smt2"], find_solvers(["z3", "cvc5"]), Limits(20))
    )
    outcomes = [[row.verdict.outcome for row in result.rows] for result in results]
    assert len(outcomes) == 4
    assert outcomes[1] == [Outcome.OK, Outcome.OK]
    assert outcomes[2] == outcomes[3] == [Outcome.REFUSED, Outcome.REFUSED]
    assert "larger than" in results[2].rows[0].verdict.detail
    assert all(result.findings == () for result in results)


def test_files_are_found_below_folders_in_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    b, a = write(tmp_path, b=SAT, a=SAT)
    (c,) = write(tmp_path / "sub", c=SAT)
    assert list(map(Path, FoundFiles([tmp_path]).files)) == [a, b, c]
    # Else it would be a duplicate of itself.
    assert list(map(Path, FoundFiles([c, tmp_path, tmp_path / "sub"]).files)) == [c, a, b]


def test_a_path_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DifftestError, match="no such file or folder"):
        FoundFiles([tmp_path / "none"])
    with pytest.raises(DifftestError, match="File name too long"):
        FoundFiles([Path("a" * 300)])


def test_a_search_shows_how_many_files_it_has_seen(tmp_path: Path) -> None:
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder, a=SAT)
        for other in range(700):
            (folder / str(other)).touch()
    seen: list[int] = []
    FoundFiles([tmp_path], seen.append)
    assert seen == [1402]


def test_replay_is_lazy_and_may_be_left(tmp_path: Path, fake: Fake) -> None:
    taken = []

    def files() -> object:
        for file in write(tmp_path, **{f"f{index}": SAT for index in range(20)}):
            taken.append(file)
            yield file

    results = _replay_function(files(), [fake("say('sat')")], Limits(20))  # type: ignore[arg-type]
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(taken) < 6
