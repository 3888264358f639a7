"""The experiment on triggers: variants say what their formulas say, and each is counted for what it shows."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from base.errors import ExhumeError
from difftest.bugs.records import BUNDLED, Benchmark, Bug, Seen, write_records
from difftest.bugs.shelf import Shelf
from solvers.lookup import find_solver
from solvers.running.runner import Runner
from solvers.running.script import Script
from tests.difftest.test_experiments import rows_of, run, script
from tests.releases import no_release
from tests.smtlib.solving import z3_lines

VARIANTS = ("reprinted", "cnf", "simplify")
TEXT = """(set-logic ALL)
(set-option :produce-unsat-cores true)
(declare-datatypes ((L 0)) (((nil) (cons (head Int)))))
(declare-const l L)
(declare-const |a b| Int)
(declare-const p Bool)
(assert (! (and p (=> p (or (= l nil) (and (< |a b| 3) (xor p (= (head l) 2)))))) :named first))
(assert (distinct |a b| 3))
(check-sat)
(get-unsat-core)
"""
# A release that does to a formula what a line says; the last that applies counts.
SOLVER = """
import os, sys
text, does = open(sys.argv[-1]).read(), "print('sat')"
for part, do in {rules!r}:
    if part in text:
        does = do
exec(does)
"""
CRASH, REFUSE = "os.abort()", "print('(error \"line 1 column 1: unknown function\")')"


def toy(folder: Path, name: str, *rules: tuple[str, str]) -> str:
    """The spec of a program that looks for parts of its formula."""
    file = folder / f"{name}.py"
    file.write_text(SOLVER.format(rules=rules))
    return f"{name}={sys.executable} -I -S {file}"


def crash(text: str) -> Bug:
    """A crash of release 1 that release 2 has not."""
    seen = (Seen(release="1", outcome="crash", shape="signal SIGABRT"), Seen(release="2", outcome="ok"))
    given: dict[str, Any] = {"solver": "toy", "text": text, "finding_class": "crash", "id": "toy-1"}
    return Bug(**given, last_bad="1", first_good="2", strip=seen)


def measured(tmp_path: Path, text: str, *bad: tuple[str, str]) -> dict[str, Any]:
    """The row of a crash of which release 1 does this, and release 2 nothing."""
    specs = {"toy==1": toy(tmp_path, "one", *bad), "toy==2": toy(tmp_path, "two")}
    shelf = Shelf(find=lambda spec: find_solver(specs[spec]))
    with Runner(warm=False) as runner:
        made = script("triggers").Experiment(shelf, find_solver("z3"), 10.0, 2, runner, threading.Event())
        row: dict[str, Any] = made.measure(crash(text), tmp_path)
    return row


def shown(row: dict[str, Any]) -> list[str]:
    return [row.get(name, "") for name in VARIANTS]


def test_variants_are_counted_for_what_they_show(tmp_path: Path) -> None:
    row = measured(tmp_path, TEXT, ("(=> ", CRASH), ("k!", REFUSE))
    assert (row["class"], row["question"], row["connectives"]) == ("crash", "check-sat", 5)
    assert shown(row) == ["same", "no answer", "nothing"]
    assert row["details"]["cnf"].startswith("refused: ")
    assert row["details"]["simplify"] == "sat"

    # A crash of another kind and a wrong answer are bugs, but not this one.
    other = "os.kill(os.getpid(), 11)"
    row = measured(tmp_path, TEXT, ("let", other), ("k!", "print('unsat')"), (":named", CRASH))
    assert shown(row) == ["another", "another", "another"]
    assert row["details"]["reprinted"] == "crash: signal SIGSEGV"
    assert row["details"]["cnf"] == "soundness: unsat, but sat by 2"


def test_variants_say_what_the_formula_says_and_keep_all_that_is_not_asserted(tmp_path: Path) -> None:
    assert shown(measured(tmp_path, TEXT, ("", CRASH))) == ["same", "same", "same"]
    original = Script.of(TEXT)
    both = {name: Script.of((tmp_path / f"{name}.smt2").read_text()) for name in VARIANTS}
    for name, made in both.items():
        kept, new = ([t for t in others(made) if ("k!" in t) == fresh] for fresh in (False, True))
        assert kept == others(original)
        assert bool(new) == (name == "cnf")
        # What is new follows from the formula only where there are no new constants.
        one, other = conjunction(original), conjunction(made)
        claims = [f"(and {other} (not {one}))"] + ([] if new else [f"(and {one} (not {other}))"])
        for claim in claims:
            declared = [t for t in others(made) if t.startswith("(declare")]
            assert z3_lines("\n".join([*declared, f"(assert {claim})", "(check-sat)"])) == ["unsat", ""]


def others(text: Script) -> list[str]:
    return [text.text_of(command) for command in text.commands if command.name != "assert"]


def conjunction(text: Script) -> str:
    found = (text.text_of(command) for command in text.commands if command.name == "assert")
    return f"(and {' '.join(one[len('(assert') : -1] for one in found)})"


DECLARED = "(declare-const p Bool)(declare-const q Bool)(declare-const s String)(declare-const x Int)"
IFF = "(= (or p q) (and p (= s (str.++ s s))))"


@pytest.mark.parametrize(
    ("text", "left_out", "expected"),
    [
        ("(assert (or p q))(check-sat)", "has too few connectives", ["", "", ""]),
        ("(assert (or p (not q)))(check-sat)", "", ["same", "unchanged", "unchanged"]),
        ("(assert (or p (not q)))(check-sat)(check-sat)", "is not one conjunction", ["", "", ""]),
        ("(push)(assert (or p (not q)))(check-sat)", "is not one conjunction", ["", "", ""]),
        ("(assert false)(reset)(assert (or p (not q)))(check-sat)", "is not one conjunction", ["", "", ""]),
        ("(assert (or p (not q)))", "is not one conjunction", ["", "", ""]),
        ("(assert (or p (not old)))(check-sat)", "is not read by the installed z3", ["", "", ""]),
        # A new constant could be taken for this one.
        (
            f"(declare-const k!0 Bool)(assert (or (not k!0) {IFF}))(check-sat)",
            "",
            ["same", "failed", "same"],
        ),
        # What is asserted later, or after the end, is not asked.
        (
            "(assert (or p (not q)))(check-sat)(assert (and p (not p)))",
            "",
            ["same", "unchanged", "unchanged"],
        ),
        ("(assert (or p (not q)))(check-sat)(exit)(check-sat)", "", ["same", "unchanged", "unchanged"]),
    ],
)
@pytest.mark.few(4)
def test_formulas_without_variants_say_why(
    tmp_path: Path, text: str, left_out: str, expected: list[str]
) -> None:
    row = measured(tmp_path, DECLARED + text, ("", CRASH))
    assert (row["left_out"], shown(row)) == (left_out, expected)


def test_a_bug_that_does_not_show_again_has_no_variants(tmp_path: Path) -> None:
    row = measured(tmp_path, TEXT, ("never", CRASH))
    assert (row["left_out"], shown(row)) == ("does not show again", ["", "", ""])
    assert not list(tmp_path.glob("*.smt2"))


def test_operators_are_spelled_as_in_the_formula_and_strings_stay_as_they_are(tmp_path: Path) -> None:
    lie = '"(error ""(** 2 3)"" (assert false) (check-sat) str.to_int"'
    text = f"{DECLARED}(assert (or (and p (distinct s {lie})) (not (= (str.to.int s) (^ x 2)))))(check-sat)"
    row = measured(tmp_path, text, ("", CRASH))
    assert shown(row) == ["same", "same", "same"]
    for name in VARIANTS:
        made = (tmp_path / f"{name}.smt2").read_text()
        assert lie in made
        assert "(str.to.int s)" in made
    assert "(^ x 2)" in (tmp_path / "reprinted.smt2").read_text()


def test_a_formula_that_a_tactic_decides_is_solved(tmp_path: Path) -> None:
    row = measured(tmp_path, f"{DECLARED}(assert (and p (not (or p q))))(check-sat)", ("p", CRASH))
    assert row["solved"] == ["simplify"]
    assert "(assert false)" in (tmp_path / "simplify.smt2").read_text()
    assert shown(row) == ["same", "unchanged", "same"]


def test_variants_are_counted_in_all_and_by_class() -> None:
    def row(name: str, left_out: str = "", *shown: str) -> dict[str, Any]:
        of = dict(zip(VARIANTS, shown, strict=False))
        return {"class": name, "left_out": left_out, "solved": ["simplify"] if shown else [], **of}

    rows = [row("crash", "", "same", "unchanged", "nothing") for _ in range(3)]
    rows += [row("soundness", "", "no answer", "failed", "another"), row("crash", "is not one conjunction")]
    everything, classes, formulas, paper = script("triggers").tables_of(rows)
    assert [list(line) for line in everything.rows] == [
        ["reprinted", "4", "0", "0", "3", "0", "0", "1", "0", "0 (0 to 49)", "25 (5 to 70)"],
        ["cnf", "4", "3", "1", "0", "0", "0", "0", "0", "0 (0 to 49)", "25 (5 to 70)"],
        ["simplify", "4", "0", "0", "0", "1", "3", "0", "4", "75 (30 to 95)", "100 (51 to 100)"],
    ]
    assert [line[:3] for line in classes.rows][2:4] == [
        ["crash", "simplify", "3"],
        ["soundness", "reprinted", "1"],
    ]
    assert [list(line) for line in formulas.rows] == [["has variants", "4"], ["is not one conjunction", "1"]]
    assert all(
        len(line) == len(table.head)
        for table in (everything, classes, formulas, paper)
        for line in table.rows
    )
    assert script("triggers").tables_of(rows[-1:])[0].rows[0][-1] == "-"


@pytest.mark.slow
@pytest.mark.thorough
def test_real_releases_run_formulas_and_variants_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bugs = [bug for bug in Benchmark(BUNDLED).bugs.values() if bug.id in ("z3-411f7c963d", "z3-ab14f69b37")]
    try:
        for spec in {bug.spec(release) for bug in bugs for release in (bug.last_bad, bug.first_good)}:
            find_solver(spec).check_starts()
    except ExhumeError as problem:
        no_release(problem)
    write_records(tmp_path / "bugs.jsonl", bugs)
    options = ["--bugs", str(tmp_path), "--out", str(tmp_path / "out")]
    rows = rows_of(run("triggers", *options, "--json"))
    assert [row["bug"] for row in rows] == sorted(bug.id for bug in bugs)
    assert [shown(row)[0::2] for row in rows] == [["same", "nothing"], ["same", "nothing"]]

    # Rows are not measured again; other settings are another experiment.
    times = [file.stat().st_mtime_ns for file in sorted(tmp_path.rglob("row.json"))]
    with patch.object(sys, "argv", ["triggers", *options]):
        assert script("triggers").main() == 0
    line = "| simplify | 2 | 0 | 0 | 0 | 0 | 2 | 0 | 1 | 100 (34 to 100) | 100 (34 to 100) |"
    assert line in capsys.readouterr().out
    assert [file.stat().st_mtime_ns for file in sorted(tmp_path.rglob("row.json"))] == times
    table = "select bug, solved from read_parquet(?) order by bug"
    found = duckdb.execute(table, [str(tmp_path / "out" / "rows.parquet")]).fetchall()
    assert found == [(row["bug"], json.dumps(row["solved"])) for row in rows]
    changed = patch.object(sys, "argv", ["triggers", *options, "--limit", "9"])
    with changed, pytest.raises(ExhumeError, match="name a new folder"):
        script("triggers").main()
