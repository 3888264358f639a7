"""A process killed at any moment leaves a corpus that opens and holds whole transactions."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corpus.errors import CorpusMissing
from corpus.importer import import_paths
from corpus.store import Corpus
from tests.miner.mining_help import rows_of
from tests.sizes import size

ROOT = Path(__file__).resolve().parents[2]

# Writes transactions of 5 texts and a tracker that names the last, and says when each is stored.
WRITER = """
import sys
from corpus.store import Corpus
print("start", flush=True)
with Corpus.open(sys.argv[1], write=True) as corpus:
    first = corpus.scalar("select count(*) from tracker")
    for n in range(first, first + 10_000):
        with corpus.transaction():
            ids = corpus.add_texts(f"{n}-{i} " + "x" * 20_000 for i in range(5))
            ident = corpus.new_id("tracker")
            corpus.insert("tracker", ("id", "name", "kind"), [(ident, f"t{n} {ids[-1]}", "folder")])
        print(n + 1, flush=True)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def kill_after(process: subprocess.Popen[str], lines: int, seconds: float) -> list[str]:
    """Kill the process so long after its first ``lines`` lines; all lines it wrote."""
    assert process.stdout is not None
    first = "".join(process.stdout.readline() for _ in range(lines))
    time.sleep(seconds)
    process.kill()
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    return (first + rest).split()


@pytest.mark.slow
@pytest.mark.thorough
def test_what_was_reported_as_stored_survives_kills_at_random_moments(tmp_path: Path) -> None:
    path = tmp_path / "c"
    chance = random.Random(1)
    stored = 0
    for _ in range(size(4, 12)):
        lines = kill_after(start(WRITER, path), chance.choice((1, 2, 4)), chance.uniform(0, 0.3))
        reported = max([stored, *(int(line) for line in lines if line.isdigit())])
        try:
            corpus = Corpus.open(path, write=chance.random() < 0.5)
        except CorpusMissing:
            assert reported == 0
            continue
        with corpus:
            stored = corpus.scalar("select count(*) from tracker")
            assert stored >= reported
            assert corpus.scalar("select count(*) from text") == stored * 5
            assert corpus.rows("select name from tracker order by id") == [
                (f"t{n} {n * 5 + 5}",) for n in range(stored)
            ]
            assert corpus.verify() == []
    assert stored > 0


IMPORTER = """
import sys
from corpus.store import Corpus
from corpus import importer
importer._CHUNK_FILES = 20
print("start", flush=True)
with Corpus.open(sys.argv[1], write=True) as corpus:
    importer.import_paths(corpus, sys.argv[2:], progress=lambda done, total: print(done, flush=True))
"""


@pytest.mark.slow
def test_a_killed_import_is_continued_to_the_same_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "z3"
    folder.mkdir()
    for number in range(300):
        inner = f"(exists ((y Int)) (< (* y y) (+ x {number % 7})))"
        body = f"(declare-const x Int)(assert (=> (> x {number}) {inner}))"
        (folder / f"z3_{number:03}_0.smt2").write_text(body)
    chance = random.Random(2)
    path = tmp_path / "killed"
    for _ in range(size(3, 8)):
        kill_after(start(IMPORTER, path, folder), 1, chance.uniform(0, 0.5))
        if path.exists():
            with Corpus.open(path) as corpus:
                assert corpus.verify() == []
                assert corpus.scalar("select count(*) from formula") % 20 == 0
                decomposed = corpus.scalar("select count(*) from formula where decomposed")
                assert corpus.scalar("select count(*) from assertion") == decomposed
    with Corpus.open(path, write=True) as corpus:
        import_paths(corpus, [folder])
        killed = rows_of(corpus)
    with Corpus.open(tmp_path / "whole", write=True) as corpus:
        import_paths(corpus, [folder])
        assert rows_of(corpus) == killed
        assert import_paths(corpus, [folder]).new == 0
