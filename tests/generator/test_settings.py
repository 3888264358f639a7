"""Settings of strategies, from the command line's NAME=VALUE."""

from __future__ import annotations

import pytest

from generator import STRATEGIES, GenerationError, Setting, StrategySettings, find_strategy, make_strategy
from generator.settings import read_settings

KNOWN = (
    Setting("chain", 30, "a whole number", 1, 100),
    Setting("share", 0.25, "a number", 0, 1),
    Setting("mode", "both", "a word", choices=("both", "none")),
)


def test_defaults_stand_where_nothing_is_given() -> None:
    assert read_settings("s", KNOWN, ()) == {"chain": 30, "share": 0.25, "mode": "both"}


def test_values_have_the_type_of_their_default() -> None:
    values = read_settings("s", KNOWN, ["chain=7", "share=1", "mode=none"])
    assert values == {"chain": 7, "share": 1.0, "mode": "none"}
    assert isinstance(values["share"], float)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("chain", "--set chain: must be NAME=VALUE"),
        ("chian=3", "s has no setting chian; it has chain, share, mode; did you mean chain?"),
        ("chain=x", "--set chain=x: must be a whole number from 1 to 100"),
        ("chain=0", "--set chain=0: must be a whole number from 1 to 100"),
        ("chain=1.5", "--set chain=1.5: must be a whole number from 1 to 100"),
        ("share=nan", "--set share=nan: must be a number from 0 to 1"),
        ("mode=x", "--set mode=x: must be one of 'both', 'none'"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(pair: str, message: str) -> None:
    with pytest.raises(GenerationError) as caught:
        read_settings("s", KNOWN, [pair])
    assert str(caught.value) == message


def test_a_strategy_without_settings_says_so() -> None:
    for given in ("x=1", "incremental=1"):
        with pytest.raises(GenerationError, match=r"enumerate has no setting \w+; it has none"):
            read_settings("enumerate", find_strategy("enumerate").settings, [given])


def test_every_default_is_a_value_that_is_taken() -> None:
    for entry in STRATEGIES.values():
        given = [f"{s.name}={s.default}" for s in entry.settings]
        assert read_settings(entry.name, entry.settings, given) == {s.name: s.default for s in entry.settings}


def test_a_strategy_says_what_it_misses() -> None:
    with pytest.raises(GenerationError, match="needs a learned corpus"):
        make_strategy("skeletons", None, StrategySettings())
    with pytest.raises(GenerationError, match="needs seeds"):
        make_strategy("typefuzz", None, StrategySettings())
