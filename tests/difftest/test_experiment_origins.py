"""``scripts/experiments/origins``: which bugs of a history findings come from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.acceptance import version_of
from corpus.answers import REFERENCES, CorpusAnswers
from corpus.store import Corpus
from difftest import HuntOptions, Solver, Stage, hunt
from difftest.bugs.records import BUNDLED, Benchmark
from generator.strategy import GeneratedTest
from tests.difftest.test_experiments import script
from tests.generator.small import make_corpus

CRASHER = "say('sat') if '(div ' not in text else os.abort()"
BUGS = sorted(bug.id for bug in Benchmark(BUNDLED).bugs.values() if bug.solver == "z3")[:30]


def measured(folder: Path, solver: Solver, *made_from: str) -> None:
    """What ``future-bugs`` leaves of a hunt that found a bug, in tests made from these bugs."""
    formulas = folder / "corpora" / "1.0" / "history" / "formulas"
    formulas.mkdir(parents=True)
    for bug in BUGS:
        (formulas / f"{bug}.smt2").touch()
    unit = folder / "units" / "1.0" / "history" / "1.5m" / "1"
    header = f"; exhume 0.1.0 seeds 0 seed 1 index 0 strategy opfuzz\n; from {', '.join(made_from)}.smt2\n"
    text = header + "(declare-const x Int)\n(assert (= 3 (div x 2)))\n(check-sat)\n"
    out = unit / "start-1" / "tests" / "campaign"
    # Beside it, a hunt that found nothing.
    (unit.parent / "2" / "start-1" / "tests" / "campaign" / "findings").mkdir(parents=True)
    list(hunt([GeneratedTest(0, text, "opfuzz")], [solver], HuntOptions(out, stages=(Stage(5.0, 1.0),))))


def test_findings_are_counted_for_the_bugs_in_their_headers(
    tmp_path: Path,
    fake: Callable[..., Solver],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured(tmp_path, fake(CRASHER), f"formulas:{BUGS[0]}", f"formulas:{BUGS[1]}")
    origins = script("origins")
    bugs = Benchmark(BUNDLED).bugs
    histories = origins.histories_of(tmp_path, "history", bugs)
    assert [bug.id for bug in histories["1.0"]] == BUGS
    (found,) = origins.findings_of(tmp_path, "history", histories)
    assert (found.release, found.repeat, set(found.bugs)) == ("1.0", 1, {BUGS[0], BUGS[1]})
    monkeypatch.setattr("sys.argv", ["origins", str(tmp_path), "--json"])
    assert origins.main() == 0
    rows = {row["kind"]: row for row in json.loads(capsys.readouterr().out)}
    for row in rows.values():
        parts = row["parts"].values()
        assert sum(part["observed"] for part in parts) == pytest.approx(1.0, abs=0.11)
        assert sum(part["expected"] for part in parts) == pytest.approx(1.0, abs=0.11)
    of_class = rows["class"]["parts"]
    assert {bugs[BUGS[0]].finding_class, bugs[BUGS[1]].finding_class} == {
        name for name, part in of_class.items() if part["observed"]
    }


def test_a_gain_is_shown_only_where_other_repeats_show_it_too() -> None:
    origins = script("origins")
    every = [bug for bug in Benchmark(BUNDLED).bugs.values() if bug.solver == "z3"]
    bugs = [origins.Known.of_bug(bug) for bug in every[:30]]
    histories = {"1.0": bugs}
    kinds = origins.divided("bytes", bugs)
    small = [bug.id for bug in bugs if kinds[bug.id] == "1 (least)"]
    large = [bug.id for bug in bugs if kinds[bug.id] == "3 (most)"]
    always = [origins.Found("1.0", repeat, (bug,)) for repeat in (1, 2) for bug in small]
    assert origins.parts_of("bytes", histories, always)["1 (least)"].lift == pytest.approx(3.0)
    assert origins.gain_elsewhere("bytes", histories, always) > 2
    # The first repeat finds with small ones, the second with large ones: in hindsight that is a gain.
    chance = [origins.Found("1.0", 1, (bug,)) for bug in small]
    chance += [origins.Found("1.0", 2, (bug,)) for bug in large]
    parts = origins.parts_of("bytes", histories, chance)
    assert origins.gain(parts, {name: part.lift for name, part in parts.items()}) == pytest.approx(1.5)
    assert origins.gain_elsewhere("bytes", histories, chance) < 0.5


@pytest.mark.thorough
def test_findings_are_counted_for_the_formulas_of_a_corpus(
    tmp_path: Path,
    fake: Callable[..., Solver],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [
        "(declare-const x Int)(assert (= x 1))",
        "(declare-const x Int)(assert (distinct (* x x x) (div 40 x)))",
        "(declare-const s String)(assert (distinct s s))",
    ]
    corpus = make_corpus(tmp_path / "formulas", tmp_path / "c.duckdb", texts)
    with Corpus.open(corpus, write=True) as opened:
        digests = [row[0] for row in opened.rows("select sha256 from formula order by source")]
        store = CorpusAnswers(opened)
        for solver in REFERENCES:
            said = dict(zip(digests, ("sat", "unknown", "unsat"), strict=True))
            store.store(solver, version_of(solver), said)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.smt2").write_text("(declare-const x Int)(assert (= x 2))")
    (tmp_path / "plain" / "b.smt2").write_text("(assert")
    measured(tmp_path, fake(CRASHER), "z3#100/z3_100_0", "z3#102/z3_102_0")
    words = [
        "--corpus",
        str(corpus),
        "--arm",
        "history",
        "--plain",
        str(tmp_path / "plain"),
        "--json",
        "--least",
        "3",
    ]
    monkeypatch.setattr("sys.argv", ["origins", str(tmp_path), *words])
    assert script("origins").main() == 0
    rows = {row["kind"]: row["parts"] for row in json.loads(capsys.readouterr().out)}
    assert {name: part["observed"] for name, part in rows["answer"].items()} == {
        "not decided": 0,
        "sat": 0.5,
        "unsat": 0.5,
    }
    # "=" is ordinary, "distinct" is not.
    operators = rows["triggers' operators"]
    assert operators["1 (least)"]["observed"] == 0.5


def test_bugs_that_are_not_in_the_benchmark_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "corpora" / "1.0" / "history" / "formulas").mkdir(parents=True)
    (tmp_path / "corpora" / "1.0" / "history" / "formulas" / "z3-0000000000.smt2").touch()
    origins = script("origins")
    with pytest.raises(origins.DifftestError, match="z3-0000000000 is not in the benchmark; name it with"):
        origins.histories_of(tmp_path, "history", Benchmark(BUNDLED).bugs)
