"""Formulas like a given one, and the issues behind a generated test."""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.errors import QueryError
from corpus.learned import fingerprint
from corpus.similar import signatures_of, similar_to, similar_to_file, similar_to_formula
from corpus.store import Corpus
from exhume.cli import app, run


@pytest.fixture(scope="module")
def path(bugs: Path) -> Path:
    return bugs


def bodies(path: Path) -> dict[int, str]:
    with Corpus.open(path) as corpus:
        return dict(
            corpus.rows(
                """select f.id, body from current_formula f join text on text.id = text_id
                where f.id in (select formula_id from atom_formula)"""
            )
        )


def test_a_formula_of_the_corpus_is_most_like_itself(path: Path) -> None:
    with Corpus.open(path) as corpus:
        for formula, body in list(bodies(path).items())[::20]:
            found = similar_to(corpus, body, limit=200)
            assert found[0].likeness == pytest.approx(1)
            assert formula in {one.formula for one in found if one.likeness > 0.999}
            likeness = [one.likeness for one in found]
            assert likeness == sorted(likeness, reverse=True)


def test_likeness_is_the_weighted_share_of_signatures(path: Path) -> None:
    with Corpus.open(path) as corpus:
        held: dict[int, set[tuple[bool, str]]] = defaultdict(set)
        for formula, coarse, text in corpus.rows(
            """select distinct f.id, s.coarse, s.text
            from assertion_atom join assertion a on a.id = assertion_id join atom on atom.id = atom_id
            join current_formula f on f.id = formula_id
            join signature s on s.id in (signature_id, coarse_signature_id)"""
        ):
            held[formula].add((coarse, text))
        counts: dict[tuple[bool, str], int] = defaultdict(int)
        for signatures in held.values():
            for signature in signatures:
                counts[signature] += 1
        text = """(declare-const x Int) (declare-const a (Array Int Int)) (declare-const s String)
            (assert (= (select a x) 3)) (assert (> (* x x) 7)) (assert (= (str.len s) x))
            (assert (bvugt ((_ int2bv 77) x) (_ bv3 77))) (assert (= a a))"""
        given = signatures_of(text)
        assert any(signature not in counts for signature in given)

        def weight(signature: tuple[bool, str]) -> float:
            return math.log(1 + len(held) / max(1, counts.get(signature, 1)))

        expected = {
            formula: sum(map(weight, given & signatures)) / sum(map(weight, given | signatures))
            for formula, signatures in held.items()
            if given & signatures
        }
        found = similar_to(corpus, text, limit=1000)
        assert {one.formula: one.likeness for one in found} == pytest.approx(expected)
        for one in found:
            assert set(one.shared) == {text for coarse, text in given & held[one.formula] if not coarse}
        cut = similar_to(corpus, text, limit=3, least=0.05)
        assert cut == [one for one in found if one.likeness >= 0.05][:3]


def test_the_others_are_those_nearest_to_a_formula_of_the_corpus(path: Path) -> None:
    formula, body = list(bodies(path).items())[5]
    with Corpus.open(path) as corpus:
        others = [one for one in similar_to(corpus, body, limit=1000) if one.formula != formula]
        assert similar_to_formula(corpus, formula, limit=6) == others[:6]
        with pytest.raises(QueryError, match="the corpus has no formula 999999"):
            similar_to_formula(corpus, 999_999)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(assert (", "cannot be read"),
        ("", "has no assertion"),
        ("(check-sat)", "has no assertion"),
        ("(assert (no-such-operator 1))", "has no assertion that can be compared"),
        ("\0\udcff", "cannot be read|has no assertion"),
    ],
)
def test_what_is_no_formula_is_reported(path: Path, text: str, message: str) -> None:
    with Corpus.open(path) as corpus, pytest.raises(QueryError, match=message):
        similar_to(corpus, text)


def test_files_that_cannot_be_read_are_reported(path: Path, tmp_path: Path) -> None:
    with Corpus.open(path) as corpus:
        for file in (tmp_path / "none.smt2", tmp_path):
            with pytest.raises(QueryError, match="cannot read"):
                similar_to_file(corpus, file)
        large = tmp_path / "large.smt2"
        with large.open("wb") as made:
            made.truncate(2**31)
        with pytest.raises(QueryError, match="larger than"):
            similar_to_file(corpus, large)
        with pytest.raises(QueryError, match="larger than"):
            similar_to_file(corpus, Path("/dev/zero"))
        (tmp_path / "latin.smt2").write_bytes(b"(assert |\xf6|)")
        with pytest.raises(QueryError, match="not utf-8 text"):
            similar_to_file(corpus, tmp_path / "latin.smt2")
        (tmp_path / "cut.smt2").write_text("(assert (")
        with pytest.raises(QueryError, match=f"^{tmp_path}/cut.smt2: the formula cannot be read"):
            similar_to_file(corpus, tmp_path / "cut.smt2")


def test_a_file_in_utf_16_is_read_as_import_reads_it(path: Path, tmp_path: Path) -> None:
    text = "(declare-const p Bool) (assert p)"
    (tmp_path / "wide.smt2").write_text(text, "utf-16")
    with Corpus.open(path) as corpus:
        assert similar_to_file(corpus, tmp_path / "wide.smt2") == similar_to(corpus, text)


def test_text_in_a_formula_is_never_sql(path: Path) -> None:
    text = "(declare-const |'; drop table issue; --| Bool) (assert |'; drop table issue; --|)"
    with Corpus.open(path) as corpus:
        assert similar_to(corpus, text, limit=1)
        assert corpus.scalar("select count(*) from issue")


def test_similar_does_not_hang(path: Path) -> None:
    body = max(bodies(path).values(), key=len)
    with Corpus.open(path) as corpus:
        start = time.monotonic()
        similar_to(corpus, body)
        assert time.monotonic() - start < 20


def test_the_command_shows_the_nearest(path: Path, tmp_path: Path) -> None:
    formula, body = next(iter(bodies(path).items()))
    file = tmp_path / "f.smt2"
    file.write_text(body)
    done = CliRunner().invoke(app, ["similar", str(file), "--corpus", str(path), "--limit", "4", "--json"])
    listed = json.loads(done.stdout)
    assert len(listed) == 4
    assert formula in {one["formula"] for one in listed if one["likeness"] == 1}
    assert {"formula", "likeness", "shared", "tracker", "issue", "title", "bug_class"} <= listed[0].keys()
    shown = CliRunner().invoke(app, ["similar", str(file), "--corpus", str(path), "--limit", "4"])
    assert shown.stdout.splitlines()[1].lstrip().startswith("1.00")
    file.write_text("(declare-const x (_ BitVec 99)) (assert (= x (bvnor x x) (bvnand x x) x))")
    done = CliRunner().invoke(app, ["similar", str(file), "--corpus", str(path), "--json"])
    assert json.loads(done.stdout) == []
    done = CliRunner().invoke(app, ["similar", str(file), "--corpus", str(path)])
    assert "no formula of the corpus shares a signature" in done.stderr
    assert run(["similar", str(tmp_path / "none"), "--corpus", str(path)]) == 2
    done = CliRunner().invoke(app, ["similar", "--formula", str(formula), "--corpus", str(path), "--json"])
    assert formula not in {one["formula"] for one in json.loads(done.stdout)}
    for words in ([], [str(file), "--formula", "1"]):
        assert run(["similar", *words, "--corpus", str(path)]) == 2


# Behind a generated test


def test_the_issues_behind_a_real_test_are_those_its_header_names(starter: Path, tmp_path: Path) -> None:
    made = tmp_path / "tests"
    words = ["generate", "--corpus", str(starter), "--count", "3", "--seed", "1", "--out", str(made)]
    assert run(words) == 0
    files = sorted(made.rglob("*.smt2"))
    assert files
    for file in files:
        words = ["behind", str(file), "--corpus", str(starter), "--limit", "999", "--json"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0
        assert "warning" not in done.stderr
        behind = {f"{row['tracker']}#{row['issue']}" for row in json.loads(done.stdout)}
        header = file.read_text().splitlines()[2]
        named = {word for word in header.split() if "#" in word}
        assert named
        assert named <= behind


def test_a_test_of_another_corpus_is_warned_of(path: Path, tmp_path: Path) -> None:
    with Corpus.open(path) as corpus:
        right = fingerprint(corpus)[:16]
    file = tmp_path / "t.smt2"
    for written, warned in ((right, False), ("0123456789abcdef", True)):
        file.write_text(
            f"; exhume 0.1.0 corpus {written} seed 1 index 0 strategy skeletons\n"
            "; skeletons 4; atoms 2 3; rules none\n; issues none\n(check-sat)\n"
        )
        done = CliRunner().invoke(app, ["behind", str(file), "--corpus", str(path), "--limit", "1"])
        assert ("ids may differ" in done.stderr) == warned
        assert "stopped after 1 issue; raise" in done.stderr
        assert len(done.stdout.splitlines()) == 2
    file.write_text("(check-sat)")
    assert run(["behind", str(file), "--corpus", str(path)]) == 2
    assert run(["behind", str(tmp_path / "none"), "--corpus", str(path)]) == 2
