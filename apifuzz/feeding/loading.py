"""What runs draw on of a corpus: assertions of its formulas, and of tests made of its skeletons and atoms."""

from __future__ import annotations

import random
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from apifuzz.feeding.terms import FedTerm, Feed
from corpus.learned import fingerprint
from corpus.store import Corpus
from generator import (
    GenerationError,
    SeedSource,
    StrategySettings,
    load_library,
    make_strategy,
    seeds_of_corpus,
    seeds_of_strategy,
)
from generator.seeds.source import SeedSkipped

_SEED = 1
_FORMULAS = 200
_TESTS = 300


def feed_fingerprint(file: Path) -> str:
    """Names what the terms of a corpus file depend on. Raises CorpusError, and GenerationError where it has
    none.
    """
    with Corpus.open(file) as corpus:
        named = f"{seeds_of_corpus(corpus).fingerprint} {fingerprint(corpus)}"
    return sha256(named.encode()).hexdigest()[:16]


def load_feed(file: Path) -> Feed:
    """The terms of a corpus file: the same ones each time. Raises CorpusError, or GenerationError where it
    has none.
    """
    with Corpus.open(file) as corpus:
        sources: list[tuple[SeedSource, int]] = [(seeds_of_corpus(corpus), _FORMULAS)]
        try:
            library = load_library(corpus, ())
        except GenerationError:
            library = None  # not learned: its formulas are there all the same
        if library is not None:
            skeletons = make_strategy("skeletons", library, StrategySettings(_SEED))
            sources.append((seeds_of_strategy(skeletons), _TESTS))
        terms = [term for source, count in sources for term in _assertions(source, count)]
    if not terms:
        raise GenerationError(f"{file}: no formula in it can be used")
    return Feed(terms)


def _assertions(source: SeedSource, count: int) -> Iterator[FedTerm]:
    """The assertions of ``count`` seeds, drawn without repeats."""
    places = random.Random(_SEED).sample(range(len(source)), min(count, len(source)))
    for place in places:
        try:
            script = source[place].script()
        except SeedSkipped:
            continue
        yield from (FedTerm(term, script.datatypes) for term in script.assertions)
