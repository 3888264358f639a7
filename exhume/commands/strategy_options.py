"""What generate and hunt share: the options that say how tests are made, and the strategy made of them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from corpus.answers import CachedAnswers, CorpusAnswers, trusted_answers
from corpus.store import Corpus
from exhume.screens.console import say
from generator import (
    STRATEGIES,
    GenerationError,
    Library,
    SeedSource,
    Strategy,
    StrategySettings,
    find_strategy,
    load_library,
    make_strategy,
    seeds_of_corpus,
    seeds_of_folder,
    seeds_of_strategy,
)
from generator.loading import probed_families
from solvers.registry import PROFILES, REFERENCES
from solvers.specs import parse_spec


class Rules(StrEnum):
    """Which rules guide the filling of skeletons."""

    FULL = "full"
    COARSE = "coarse"
    OFF = "off"


StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME", help="See 'exhume strategies'.")]
RulesOption = Annotated[Rules, typer.Option("--rules", help="Rules over full or coarse signatures, or none.")]
Incremental = Annotated[bool, typer.Option(help="Tests with push, pop and several check-sat.")]
SkeletonsFrom = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Take the skeletons from this corpus instead.")
]
Seeds = Annotated[
    str | None,
    typer.Option(
        "--seeds",
        metavar="DIR",
        help="Where a strategy that changes formulas takes them from: a folder of .smt2 files, 'corpus' (the"
        " default) or a strategy, such as 'skeletons'.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the strategy; see 'exhume strategies'."),
]

CORPUS = "corpus"


def build_strategy(
    corpus: Path | None,
    name: str,
    solvers: list[str],
    rules: Rules,
    skeletons_from: Path | None,
    settings: StrategySettings,
    seeds: str | None = None,
) -> Strategy:
    """The strategy of this name over a corpus file, or over other seeds.

    ``corpus`` may be None where the strategy draws on a folder. Raises :class:`GenerationError`.
    """
    entry = find_strategy(name)
    if seeds is not None and "seeds" not in entry.needs:
        raise GenerationError(f"{name} takes no --seeds; it draws on the corpus")
    library = source = None
    if "library" in entry.needs:
        library = _library(corpus, solvers, rules, skeletons_from)
    if "seeds" in entry.needs:
        source = find_seeds(corpus, seeds or CORPUS, solvers, rules, skeletons_from, settings)
    return make_strategy(name, library, settings, source)


def find_seeds(
    corpus: Path | None,
    seeds: str,
    solvers: list[str],
    rules: Rules = Rules.FULL,
    skeletons_from: Path | None = None,
    settings: StrategySettings | None = None,
) -> SeedSource:
    """The seeds that ``--seeds`` names, with what is known of their answers."""
    if seeds in STRATEGIES:
        plain = StrategySettings(seed=settings.seed if settings else 1)
        return seeds_of_strategy(build_strategy(corpus, seeds, solvers, rules, skeletons_from, plain))
    if seeds != CORPUS:
        return seeds_of_folder(Path(seeds), trusted_answers(CachedAnswers()))
    with Corpus.open(_required(corpus)) as opened:
        tell_unprobed(opened, solvers)
        return seeds_of_corpus(opened, solvers, trusted_answers(CorpusAnswers(opened)))


def _library(corpus: Path | None, solvers: list[str], rules: Rules, skeletons_from: Path | None) -> Library:
    theories = _theories(solvers)
    with Corpus.open(_required(corpus)) as opened:
        tell_unprobed(opened, solvers)
        if skeletons_from is None:
            return load_library(opened, solvers, rules.value, None, theories)
        with Corpus.open(skeletons_from) as donor:
            return load_library(opened, solvers, rules.value, donor, theories)


def tell_unprobed(corpus: Corpus, solvers: list[str]) -> None:
    """Say which solvers known by name were never asked what they accept, and what is gone by instead."""
    probed = probed_families(corpus)
    asked = {parse_spec(spec).kin for spec in solvers} & set(PROFILES)
    missing = sorted(asked - probed)
    if missing and probed:
        used = sorted(asked & probed) or sorted(probed)
        say(
            f"the corpus does not know what {' and '.join(missing)} would accept: tests draw on what"
            f" {' and '.join(used)} accept, in the theories that {' and '.join(missing)} can have"
        )


def _theories(solvers: list[str]) -> frozenset[str] | None:
    """The theories that all solvers known by name have, where one has much fewer than exhume knows."""
    families = {parse_spec(spec).kin for spec in solvers} & set(PROFILES)
    if families <= set(REFERENCES):
        # The corpus knows for each formula whether they accept it.
        return None
    return frozenset.intersection(*(PROFILES[family].theories for family in families))


def _required(corpus: Path | None) -> Path:
    if corpus is None:
        raise GenerationError("name a corpus with --corpus, or a folder of formulas with --seeds")
    return corpus
