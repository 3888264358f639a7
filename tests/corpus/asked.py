"""The corpora that the tests of asking ask, and small helpers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpus.learn import import_and_decompose, learn
from corpus.query import NamedQuery, Result, find_query, run_query
from corpus.store import Corpus
from miner.dumps import mine_starter

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


def bug_corpus(path: Path, folder: Path) -> Path:
    """The starter tracker, a folder each of z3's and cvc5's bugs, and one of normal formulas.

    Two rule sets of each kind, and what a solver is said to accept.
    """
    _write(folder / "z3", {f"z3_{n}_0.smt2": NORMAL.format(n=n) for n in range(1, 5)})
    _write(folder / "cvc5", {"cvc5_7_0.smt2": NORMAL.format(n=7), "cvc5_8_0.smt2": "(assert (bvadd"})
    _write(folder / "normal", {f"n{'abcdefgh'[n]}.smt2": NORMAL.format(n=n) for n in range(8)})
    with Corpus.open(path, write=True) as corpus:
        mine_starter(corpus)
        learn(corpus, 4, 0.5)
        import_and_decompose(corpus, [folder / "z3", folder / "cvc5"])
        import_and_decompose(corpus, [folder / "normal"], tracker="normal")
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
        import_and_decompose(corpus, [folder], tracker="benchmarks")
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
