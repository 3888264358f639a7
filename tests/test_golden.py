"""Generation and learning give what they gave before: hashes that an earlier version wrote.

``tests/formats/golden.json`` holds, per batch of ``BATCHES``, a hash of each test without the version and the
corpus's fingerprint in its header. The corpus is the stored one of ``tests/formats/v0``: nothing here depends
on what the solvers of this machine accept, nor on its speed, hash seed or processes. What goes by the
solvers' answers and models (``WITH_SOLVERS``) is compared where their versions are the same.

``python -m tests.test_golden`` writes the file again. Do that only if other tests are intended, and say so.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from corpus.store import Corpus
from tests.conftest import make_starter
from tests.once import made_once
from tests.stored import FORMATS, V0, Command, Ended, other_versions, unpack

GOLDEN = FORMATS / "golden.json"
COUNT = 30
WIDTH = 12
_STAMP = re.compile(r"^; exhume \S+ corpus \S+ ")

# Name: options. SEEDS stands for the folder of formulas, OTHER for a second corpus.
BATCHES: dict[str, tuple[str, ...]] = {
    "skeletons": (),
    "skeletons, seed 7": ("--seed", "7"),
    "skeletons from 500 on": ("--start", "500"),
    "skeletons, two processes": ("--jobs", "2"),
    "skeletons, coarse rules": ("--rules", "coarse"),
    "skeletons, no rules": ("--rules", "off"),
    "skeletons, incremental": ("--incremental",),
    "skeletons, what z3 accepts": ("--solvers", "z3"),
    "skeletons of another corpus": ("--skeletons-from", "OTHER"),
    "enumerate 1": ("--strategy", "enumerate", "--skeleton", "1"),
    "enumerate 18": ("--strategy", "enumerate", "--skeleton", "18"),
    "typefuzz of skeletons": ("--strategy", "typefuzz", "--seeds", "skeletons"),
    "typefuzz of files": ("--strategy", "typefuzz", "--seeds", "SEEDS"),
    "opfuzz of skeletons": ("--strategy", "opfuzz", "--seeds", "skeletons"),
    "opfuzz of files": ("--strategy", "opfuzz", "--seeds", "SEEDS"),
    "transplant of files": ("--strategy", "transplant", "--seeds", "SEEDS", "--set", "foreign=0.5"),
    "weaken without answers": ("--strategy", "weaken", "--set", "unlabelled=chain", "--seeds", "SEEDS"),
}
# These go by answers and models of the installed z3 and cvc5, by which seed formulas are drawn, too: they are
# compared where these are the same.
WITH_SOLVERS: dict[str, tuple[str, ...]] = {
    "typefuzz": ("--strategy", "typefuzz"),
    "typefuzz, settings": (
        "--strategy",
        "typefuzz",
        "--set",
        "chain=5",
        "--set",
        "mutations=3",
        "--set",
        "literals=0.5",
    ),
    "opfuzz": ("--strategy", "opfuzz"),
    "opfuzz, settings": ("--strategy", "opfuzz", "--set", "chain=5", "--set", "mutations=3"),
    "transplant": ("--strategy", "transplant"),
    "theorems": ("--strategy", "theorems"),
    "fusion": ("--strategy", "fusion"),
    "fusion of sat": ("--strategy", "fusion", "--set", "answer=sat", "--set", "pairs=1"),
    "fusion of unsat": ("--strategy", "fusion", "--set", "answer=unsat"),
    "weaken": ("--strategy", "weaken"),
    "weaken, settings": ("--strategy", "weaken", "--set", "walk=4", "--set", "ambiguous=rewrite"),
    "storm of files": ("--strategy", "storm", "--seeds", "SEEDS", "--set", "nc=50", "--set", "nm=10"),
}
# What mining and learning make of the starter tracker, ids apart.
LEARNED = {
    "issues": "select number, title, state, bug_class, severity, area, fixed_by, affected from issue",
    "blocks": (
        "select number, block.position, kind, language, first_line, last_line, command_line, expected, sha256"
        " from block join issue on issue.id = issue_id join text on text.id = block.text_id"
    ),
    "formulas": (
        "select number, formula.position, formula.sha256, status, logic, commands, assertions, check_sats,"
        " pushes, quantifiers, terms, theories, operators, command_line, solver, solver_version, expected,"
        " formula.bug_class from formula join issue on issue.id = issue_id"
    ),
    "skeletons": "select text, holes, binders, quantified, assertions, formulas from skeleton",
    "atoms": "select text, occurrences, slots, prelude, theories, size, uses, formulas from atom",
    "signatures": "select coarse, text, operator, atoms, formulas from signature",
    "rules": (
        "select coarse, antecedent, consequent, rule.support, round(rule.confidence, 9) as confidence,"
        " round(lift, 9) as lift from rule join rule_set on rule_set.id = rule_set_id"
    ),
}


def hashes(folder: Path) -> list[str]:
    """A hash of each test of a batch, in order."""
    texts = (file.read_text("utf-8") for file in sorted(folder.glob("*.smt2")))
    return [hashlib.sha256(_STAMP.sub("; ", text).encode()).hexdigest()[:WIDTH] for text in texts]


def generated(exhume: Command, stored: Path, options: Sequence[str], out: Path) -> list[str]:
    """The hashes of a batch made with these options."""
    places = {"SEEDS": V0 / "formulas", "OTHER": stored / "other.duckdb"}
    given = [places.get(option, option) for option in options]
    ended = exhume("generate", "--corpus", stored / "corpus.duckdb", "--count", COUNT, "--out", out, *given)
    assert ended.code == 0, ended.err
    return hashes(out)


def learned(exhume: Command, corpus: Path) -> dict[str, dict[str, str]]:
    """Per table the rows as JSON, by hash."""
    made = {}
    for name, sql in LEARNED.items():
        ended = exhume("query", sql, "--corpus", corpus, "--format", "ndjson")
        assert ended.code == 0, ended.err
        made[name] = {hashlib.sha256(row.encode()).hexdigest()[:WIDTH]: row for row in ended.out.splitlines()}
    return made


def lay_out(folder: Path) -> None:
    """The stored corpus, and a second one."""
    unpack("corpus.duckdb", folder)
    Corpus.open(folder / "corpus.duckdb", write=True).close()  # brings it to the schema of today
    shutil.copy(folder / "corpus.duckdb", folder / "other.duckdb")


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "golden", lay_out)


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
    return read


def differing(found: Sequence[str], expected: Sequence[str]) -> list[int]:
    """The numbers of the tests that are not what they were."""
    assert len(found) == len(expected)
    return [number for number, (one, other) in enumerate(zip(found, expected, strict=True)) if one != other]


@pytest.mark.parametrize("name", BATCHES)
def test_the_same_options_make_the_tests_of_before(
    name: str, exhume: Command, stored: Path, golden: dict[str, Any], tmp_path: Path
) -> None:
    found = generated(exhume, stored, BATCHES[name], tmp_path / "batch")
    assert differing(found, golden["batches"][name]) == []


@pytest.mark.parametrize("name", WITH_SOLVERS)
def test_strategies_that_ask_solvers_make_the_tests_of_before(
    name: str, exhume: Command, stored: Path, golden: dict[str, Any], tmp_path: Path
) -> None:
    if other := other_versions(golden["versions"]):
        pytest.skip(other)
    found = generated(exhume, stored, WITH_SOLVERS[name], tmp_path / "batch")
    assert differing(found, golden["with_solvers"][name]) == []


def test_the_starter_tracker_is_read_and_learned_as_before(
    exhume: Command, starter: Path, golden: dict[str, Any]
) -> None:
    for name, rows in learned(exhume, starter).items():
        expected = set(golden["learned"][name])
        new = [row for digest, row in rows.items() if digest not in expected]
        assert new == [], f"{name}: rows that were not there"
        assert len(rows) == len(expected), f"{name}: rows that were there are missing"


def write() -> None:
    """Write the file again."""

    def run(*arguments: object) -> Ended:
        done = subprocess.run(["exhume", *map(str, arguments)], capture_output=True, text=True, check=False)
        return Ended(done.returncode, done.stdout, done.stderr)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        make_starter(folder)
        batches, with_solvers = (
            {batch: generated(run, folder, options, folder / batch) for batch, options in required.items()}
            for required in (BATCHES, WITH_SOLVERS)
        )
        rows = {table: sorted(found) for table, found in learned(run, folder / "starter.duckdb").items()}
    versions = {name: importlib.metadata.version(name) for name in ("z3-solver", "cvc5")}
    made = {"versions": versions, "batches": batches, "with_solvers": with_solvers, "learned": rows}
    GOLDEN.write_text(json.dumps(made, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write()
