"""A strategy as a user asks for it: its name, and where its skeletons, atoms and seeds come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus.answers import CachedAnswers, CorpusAnswers, trusted_answers
from corpus.store import Corpus
from generator.declaring import StrategySettings
from generator.errors import GenerationError
from generator.library import Library
from generator.loading import RuleKind, load_library, probed_families
from generator.registry import STRATEGIES, find_strategy, make_strategy
from generator.seeds.source import SeedSource, seeds_of_corpus, seeds_of_folder, seeds_of_strategy
from generator.strategy import Strategy
from solvers.registry import PROFILES, REFERENCES
from solvers.specs import parse_spec

CORPUS = "corpus"


def _ignore(message: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Sources:
    """What strategies draw on.

    ``corpus`` is a corpus file; None is enough for strategies that draw on a folder. ``seeds`` is ``corpus``
    (which None means, too), the name of a strategy, or a folder of ``.smt2`` files. ``skeletons_from`` is
    another corpus, for the skeletons. ``notify`` gets a line about targets that the corpus was never probed
    with.
    """

    corpus: Path | None = None
    rules: RuleKind = "full"
    skeletons_from: Path | None = None
    seeds: str | None = None
    notify: Callable[[str], None] = _ignore


def build_strategy(name: str, sources: Sources, settings: StrategySettings) -> Strategy:
    """The strategy of this name over ``sources``, for the targets ``settings.solvers``.

    Raises :class:`GenerationError` or :class:`CorpusError`.
    """
    entry = find_strategy(name)
    if sources.seeds is not None and "seeds" not in entry.needs:
        raise GenerationError(f"{name} takes no --seeds; it draws on the corpus")
    library = seeds = None
    if "library" in entry.needs:
        library = _library(sources, settings.solvers)
    if "seeds" in entry.needs:
        seeds = _seeds(sources, settings)
    return make_strategy(name, library, settings, seeds)


def _seeds(sources: Sources, settings: StrategySettings) -> SeedSource:
    """The seeds that ``sources`` names, with what is known of their answers."""
    name = sources.seeds or CORPUS
    if name in STRATEGIES:
        plain = StrategySettings(seed=settings.seed, solvers=settings.solvers)
        unseeded = Sources(sources.corpus, sources.rules, sources.skeletons_from, None, sources.notify)
        return seeds_of_strategy(build_strategy(name, unseeded, plain))
    if name != CORPUS:
        return seeds_of_folder(Path(name), trusted_answers(CachedAnswers()))
    with Corpus.open(_corpus(sources)) as opened:
        _notify_unprobed(opened, sources, settings.solvers)
        return seeds_of_corpus(opened, settings.solvers, trusted_answers(CorpusAnswers(opened)))


def _library(sources: Sources, solvers: tuple[str, ...]) -> Library:
    theories = _theories(solvers)
    with Corpus.open(_corpus(sources)) as opened:
        _notify_unprobed(opened, sources, solvers)
        if sources.skeletons_from is None:
            return load_library(opened, solvers, sources.rules, None, theories)
        with Corpus.open(sources.skeletons_from) as donor:
            return load_library(opened, solvers, sources.rules, donor, theories)


def _notify_unprobed(corpus: Corpus, sources: Sources, solvers: tuple[str, ...]) -> None:
    """Tell the user which known targets the corpus was never probed with, and what is used instead."""
    probed = probed_families(corpus)
    asked = {parse_spec(spec).kin for spec in solvers} & set(PROFILES)
    missing = sorted(asked - probed)
    if missing and probed:
        used = sorted(asked & probed) or sorted(probed)
        sources.notify(
            f"the corpus does not know what {' and '.join(missing)} would accept: tests draw on what"
            f" {' and '.join(used)} accept, in the theories that {' and '.join(missing)} can have"
        )


def _theories(solvers: tuple[str, ...]) -> frozenset[str] | None:
    """The theories that all known targets have, where one has much fewer than exhume knows."""
    families = {parse_spec(spec).kin for spec in solvers} & set(PROFILES)
    if families <= set(REFERENCES):
        # The corpus knows for each formula whether they accept it.
        return None
    return frozenset.intersection(*(PROFILES[family].theories for family in families))


def _corpus(sources: Sources) -> Path:
    if sources.corpus is None:
        raise GenerationError("name a corpus with --corpus, or a folder of formulas with --seeds")
    return sources.corpus
