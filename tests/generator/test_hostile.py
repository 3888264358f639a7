"""Seeds of hostile size are used, or skipped with a reason, in bearable time by every strategy."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from generator import STRATEGIES, GenerationError, StrategySettings, make_strategy, seeds_of_folder
from tests.generator.small import known_answers, library_of
from tests.sizes import size

pytestmark = pytest.mark.slow

SECONDS = size(20, 5)
"""Of our own processor time; all of these take less than one on a machine of 2024.

``storm`` asks a solver, and holds it to two seconds of its own.
"""

SIZE = size(500, 10_000)
_QUANTIFIERS = "".join(f"(forall ((x{n} Int)) " for n in range(99))
SEEDS = {
    "many assertions": "".join(f"(declare-fun x{n} () Int)(assert (> x{n} {n}))" for n in range(SIZE)),
    "many functions": "".join(f"(declare-fun f{n} (Int) Int)" for n in range(SIZE))
    + f"(assert (= {' '.join(f'(f{n} {n})' for n in range(SIZE))}))",
    "many constructors": f"(declare-datatype D ({' '.join(f'(c{n} (s{n} Int))' for n in range(SIZE))}))"
    "(declare-fun d () D)(assert ((_ is c5) d))(assert (= (s7 d) 3))",
    "deep": f"(declare-fun x () Int)(assert (= 0 {'(+ x ' * 4900}x{')' * 4900}))",
    "too deep": f"(declare-fun x () Int)(assert (= 0 {'(+ x ' * 50_000}x{')' * 50_000}))",
    "doubled": "(declare-fun a () Int)(assert "
    + "".join(f"(let ((a (+ a {n} a))) " for n in range(4500))
    + f"(= 0 a){')' * 4500})",
    "many bound variables": f"(declare-fun p (Int Int) Bool)(assert {_QUANTIFIERS}(or "
    + " ".join(f"(p x{n % 99} x{n * 7 % 98})" for n in range(SIZE))
    + f"){')' * 99})",
    "a megabyte of text": f'(declare-fun s () String)(assert (= s "{"ab" * 500_000}"))',
}
CONTRADICTION = "(declare-const x Int)(assert (< x x))(check-sat)"
REASONS = ("makes no test from", "1 nested too deep", "no Boolean subterm with a value")


@pytest.mark.parametrize("what", SEEDS)
@pytest.mark.parametrize("name", [name for name, entry in STRATEGIES.items() if "seeds" in entry.needs])
@pytest.mark.few(13)
def test_a_seed_of_hostile_size_takes_bearable_time(
    name: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    text = SEEDS[what] + "(check-sat)"
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "a.smt2").write_text(text)
    answers = known_answers({text: "sat", CONTRADICTION: "unsat"})
    if name == "theorems":
        (tmp_path / "seeds" / "b.smt2").write_text(CONTRADICTION)
    started = time.process_time()
    library = library_of(["(hole 0)"], [("(declare-const x Int)(declare-const y Int)", "(< x y)", 1)])
    made = make_strategy(name, library, StrategySettings(), seeds_of_folder(tmp_path / "seeds", answers))
    try:
        test = next(iter(made.generate(0, 1)))
        assert "(check-sat" in test.text or "(query " in test.text
    except GenerationError as error:
        assert any(why in str(error) for why in REASONS)
    assert time.process_time() - started < SECONDS
