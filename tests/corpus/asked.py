"""The corpora that the tests of asking ask, and small helpers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from corpus.importer import import_paths
from corpus.learn import learn
from corpus.query import NamedQuery, Result, find_query, run_query
from corpus.records import Comment, Issue
from corpus.store import Corpus
from miner.dumps import mine_starter
from tests.miner.mining_help import store_issues

NORMAL = """
(declare-const x Int) (declare-const y Int) (declare-fun a () (Array Int Int))
(assert (> (+ x {n}) y))
(assert (or (< x {n}) (= y {n})))
(assert (= (select a x) {n}))
(check-sat)
"""
SEQUENCE = """
(declare-const s String) (declare-const t String)
(assert (str.prefixof s t))
(assert (not (= s t)))
(check-sat)
"""


SCRIPT = "(declare-const s String)\n(assert (= (str.len s) 3))\n(check-sat)"
CRASH = "ASSERTION VIOLATION\nFile: ../src/smt/smt_context.cpp\nLine: 352\nm_scope_lvl > 0"
PYTHON = "from z3 import *\ns = Solver()\nprint(s.check())"
SYGUS = "(set-logic LIA)\n(synth-fun f ((x Int)) Int)\n(check-synth)"
RUNS = "$ z3 -q a.smt2\nunsat\n$ ./z3-4.8.7/bin/z3 smt.phase=1 smt.b=2 a.smt2\nsat\n$ cat a.smt2\n" + SCRIPT


def reports() -> list[Issue]:
    """Reports that name versions, duplicates, fixes, tools and places, and have code in other languages."""
    said = (
        (
            "Crash at check-sat",
            f"Found by yinyang.\n```\n$ z3 a.smt2\n{CRASH}\n$ cat a.smt2\n{SCRIPT}\n```",
            (),
        ),
        (
            "Crash of a program",
            f"```python\n{PYTHON}\n```\n```\n{CRASH}\n```\n```\n{SYGUS}\n```\n(yinyang)",
            ("Duplicate of #1.",),
        ),
        (
            "Soundness bug with smt.phase=1",
            f"z3 4.8.7 is wrong, 4.8.5 works.\n```\n{RUNS}\n```",
            ("Fixed by #12, it will be in the next release.", "I cannot reproduce this with 4.8.9."),
        ),
    )
    return [
        Issue(
            *("Z3Prover/z3", number, title, body),
            state="closed",
            created_at=datetime(2020, 1, 10 * number - 9),
            closed_at=datetime(2020, 1, 10 * number - 5),
            comments=tuple(Comment(n, text, "MEMBER") for n, text in enumerate(comments, 1)),
        )
        for number, (title, body, comments) in enumerate(said, 1)
    ]


def store_reports(corpus: Corpus) -> None:
    """Store the reports as a mined tracker."""
    store_issues(corpus, *reports())
    with corpus.transaction():
        files = ("src/smt/smt_context.cpp", "src/smt/theory_seq.cpp", "src/ast/ast.cpp")
        corpus.insert("fix_file", ("target", "file"), [("Z3Prover/z3#12", file) for file in files])


def bug_corpus(path: Path, folder: Path) -> Path:
    """The starter tracker, a folder each of z3's and cvc5's bugs, and one of normal formulas.

    Two rule sets of each kind, and what a solver is said to accept.
    """
    _write(folder / "z3", {f"z3_{n}_0.smt2": NORMAL.format(n=n) for n in range(1, 5)})
    _write(folder / "cvc5", {"cvc5_7_0.smt2": NORMAL.format(n=7), "cvc5_8_0.smt2": "(assert (bvadd"})
    _write(folder / "normal", {f"n{'abcdefgh'[n]}.smt2": NORMAL.format(n=n) for n in range(8)})
    with Corpus.open(path, write=True) as corpus:
        mine_starter(corpus)
        store_reports(corpus)
        learn(corpus, 4, 0.5)
        import_paths(corpus, [folder / "z3", folder / "cvc5"])
        import_paths(corpus, [folder / "normal"], tracker="normal")
        learn(corpus, 3, 0.5)
        with corpus.transaction():
            corpus.execute("insert into solver values (901, 'cvc5', '1.0'), (902, 'z3', '2.0')")
            corpus.execute(
                """insert into acceptance
                select formula.id, solver.id, 'written', (formula.id + solver.id) % 3 > 0,
                    if((formula.id + solver.id) % 3 > 0, 'accepted', 'refused'), null,
                    if((formula.id + solver.id) % 3 > 0, null, 'unknown symbol')
                from formula, solver"""
            )
    return path


def normal_corpus(path: Path, folder: Path) -> Path:
    """A tiny corpus of normal formulas."""
    _write(folder, {f"n{'abcdefghij'[n]}.smt2": NORMAL.format(n=n) for n in range(10)})
    _write(folder, {f"s{'abcdefghij'[n]}.smt2": SEQUENCE + f"; {n}\n" for n in range(6)})
    with Corpus.open(path, write=True) as corpus:
        import_paths(corpus, [folder], tracker="benchmarks")
        learn(corpus)
    return path


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def example(query: NamedQuery) -> dict[str, str]:
    """The parameters of a query's example."""
    words = (word.split("=", 1) for word in query.example.split()[3:])
    return {name: value.strip("'") for name, value in words}


def asked(path: Path, name: str, /, **parameters: object) -> Result:
    """A named query's result, all of it."""
    return run_query(path, find_query(name), parameters, max_rows=None)


def records(result: Result) -> list[dict[str, Any]]:
    """The rows as dictionaries."""
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def table(path: Path, name: str) -> list[dict[str, Any]]:
    """All rows of a table, as dictionaries."""
    return records(run_query(path, f"from {name} order by all", max_rows=None))
