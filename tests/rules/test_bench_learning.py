"""``scripts/bench_learning`` learns as the commands do, and also writes signatures as the published tool."""

from __future__ import annotations

from pathlib import Path

from tests.scripts import load_script


def test_a_constant_without_decimals_is_an_int_as_written(tmp_path: Path) -> None:
    text = "(declare-const x Real)(assert (> x 1))(assert (< x 1.5))(check-sat)"
    (tmp_path / "a.smt2").write_text(text)
    learned = load_script("bench_learning").learn(tmp_path, 1, 0.5)
    (coarse,) = learned.transactions["coarse"]
    (written,) = learned.transactions["written"]
    assert coarse == {"(> var_Real const_Real)", "(< var_Real const_Real)"}
    assert written == {"(> var_Real const_Int)", "(< var_Real const_Real)"}
