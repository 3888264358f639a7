"""A strategy as a user asks for it: its name, and where its skeletons, atoms and seeds come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

from base.steps import Tick
from corpus.answers import CachedAnswers, CorpusAnswers, LabelReport, all_answered, find_answers, labels_of
from corpus.store import Corpus
from generator.alone import with_alone
from generator.declaring import StrategyEntry, StrategySettings
from generator.errors import GenerationError
from generator.library import Library
from generator.loading import RuleKind, load_library
from generator.registry import STRATEGIES, find_strategy, make_strategy
from generator.seeds.source import SeedSource, seeds_of_corpus, seeds_of_folder, seeds_of_strategy
from generator.strategy import Strategy
from solvers.specs import parse_spec, specs_by_kin

CORPUS = "corpus"
ALL = "all"
"""The name for all strategies that can be made."""

FIRST_ANSWERS = 300
"""The seeds of a corpus that are solved before a hunt whose strategies need answers; a minute or two."""


_Read = TypeVar("_Read", SeedSource, Library)


@dataclass(frozen=True, slots=True)
class Sources:
    """What strategies draw on.

    ``corpus`` is a corpus file; None is enough for strategies that draw on a folder. ``seeds`` is ``corpus``
    (which None means, too), the name of a strategy, or a folder of ``.smt2`` files. ``skeletons_from`` is
    another corpus, for the skeletons. ``prefer`` scores texts: seeds with a higher score are drawn
    more often. What is read of the corpus is kept, so that strategies over the same sources share it.
    """

    corpus: Path | None = None
    rules: RuleKind = "full"
    skeletons_from: Path | None = None
    seeds: str | None = None
    prefer: Callable[[str], float] | None = None
    read: dict[tuple[object, ...], SeedSource | Library | GenerationError] = field(
        default_factory=dict, compare=False, repr=False
    )

    def once(self, what: Callable[..., _Read], *given: object) -> _Read:
        """What the function returns or raises for these sources, called once for the same arguments."""
        key = (what.__name__, self.seeds, self.prefer, *given)
        if key not in self.read:
            try:
                self.read[key] = what(self, *given)
            except GenerationError as problem:
                self.read[key] = problem
        found = self.read[key]
        if isinstance(found, GenerationError):
            raise found
        return cast(_Read, found)


def own_settings(given: Iterable[str], incremental: bool) -> tuple[str, ...]:
    """Settings of strategies as a user gives them; ``incremental`` stands for one of them."""
    return (*given, *(("incremental=1",) if incremental else ()))


def build_strategy(name: str, sources: Sources, settings: StrategySettings) -> Strategy:
    """The strategy of this name over ``sources``, for the targets ``settings.solvers``.

    Raises :class:`GenerationError` or :class:`CorpusError`.
    """
    entry = find_strategy(name)
    settings = _for_its_solvers(entry, settings)
    if sources.seeds is not None and entry.needs == {"library"}:
        raise GenerationError(f"{name} takes no --seeds; it draws on the corpus")
    if settings.skeleton and name != "enumerate":
        raise GenerationError(f"{name} takes no --skeleton; only enumerate does")
    library = sources.once(_library, settings.solvers) if "library" in entry.needs else None
    seeds = _seeds(sources, settings) if "seeds" in entry.needs else None
    made = make_strategy(name, library, settings, seeds)
    return with_alone(made, _own(entry, sources, settings, library)) if settings.alone else made


def _own(
    entry: StrategyEntry, sources: Sources, settings: StrategySettings, shared: Library | None
) -> dict[str, Strategy]:
    """The strategy for each kind of solver, over what only this kind accepts of the corpus; without those
    that have nothing to draw on.
    """
    kinds = specs_by_kin(settings.solvers)
    found: dict[str, Strategy] = {}
    if (
        len(kinds) < 2
        or not entry.is_endless
        or sources.corpus is None
        or sources.seeds not in (None, CORPUS)
    ):
        return found
    for kind, specs in kinds.items():
        with suppress(GenerationError):
            library = None if shared is None else sources.once(_library, specs, settings.solvers)
            seeds = _seeds(sources, settings, specs) if "seeds" in entry.needs else None
            found[kind] = make_strategy(entry.name, library, replace(settings, solvers=specs), seeds)
    return found


def _for_its_solvers(entry: StrategyEntry, settings: StrategySettings) -> StrategySettings:
    """The settings with those solvers that the strategy's tests are for."""
    if not entry.only:
        return settings
    solvers = tuple(spec for spec in settings.solvers if parse_spec(spec).kin in entry.only)
    if not solvers and settings.solvers:
        raise GenerationError(f"{entry.name} makes tests for {', '.join(entry.only)} only; none is named")
    return replace(settings, solvers=solvers)


def find_first_answers(names: Sequence[str], corpus: Path, jobs: int, progress: Tick) -> LabelReport | None:
    """Find and store the answers of the first seeds of ``corpus`` that are not known, if one of these
    strategies needs answers; None if there was nothing to ask.

    ``progress`` gets the seeds done and their number. Raises :class:`CorpusError`.
    """
    used = STRATEGIES if ALL in names else [name for name in names if name in STRATEGIES]
    needed = {need for name in used for need in STRATEGIES[name].needs}
    if not needed & {"answers", "answers by default"}:
        return None
    with Corpus.open(corpus) as opened:
        first = dict(islice(seeds_of_corpus(opened).texts(), FIRST_ANSWERS))
        if all_answered(CorpusAnswers(opened), first):
            return None
    with Corpus.open(corpus, write=True) as opened:
        progress(0, len(first))
        return find_answers(CorpusAnswers(opened), first.items(), jobs, progress, len(first))


def _seeds(sources: Sources, settings: StrategySettings, only: tuple[str, ...] = ()) -> SeedSource:
    name = sources.seeds or CORPUS
    if name in STRATEGIES:
        if not STRATEGIES[name].is_endless:
            raise GenerationError(
                f"--seeds {name}: it has only some tests; name a folder that 'exhume generate' wrote them to"
            )
        plain = StrategySettings(seed=settings.seed, solvers=settings.solvers)
        return seeds_of_strategy(build_strategy(name, replace(sources, seeds=None, prefer=None), plain))
    # Each strategy notes for itself what it skipped.
    return sources.once(_found_seeds, settings.solvers, only).copy()


def _found_seeds(sources: Sources, solvers: tuple[str, ...], only: tuple[str, ...]) -> SeedSource:
    """The seeds that ``sources`` names, with what is known of their answers. ``only``: those of the corpus
    that these solvers accept and others do not.
    """
    if sources.seeds not in (None, CORPUS):
        found = seeds_of_folder(Path(sources.seeds), labels_of(CachedAnswers()).answers)
    else:
        with Corpus.open(_corpus(sources, ", or a folder of formulas with --seeds")) as opened:
            answers, hard = labels_of(CorpusAnswers(opened))
            given = (only, answers, solvers) if only else (solvers, answers)
            found = seeds_of_corpus(opened, *given)
        # These answers are part of the corpus; those of files differ from machine to machine.
        found.avoid(hard)
    if sources.prefer is not None:
        found.prefer(sources.prefer)
    return found


def _library(sources: Sources, solvers: tuple[str, ...], others: tuple[str, ...] = ()) -> Library:
    """What these solvers accept; without the atoms that all of ``others`` accept, too."""
    beyond = sources.once(_library, others) if others else None
    with Corpus.open(_corpus(sources)) as opened:
        if sources.skeletons_from is None:
            return load_library(opened, solvers, sources.rules, beyond=beyond)
        with Corpus.open(sources.skeletons_from) as donor:
            return load_library(opened, solvers, sources.rules, donor, beyond)


def _corpus(sources: Sources, or_else: str = "") -> Path:
    if sources.corpus is None:
        raise GenerationError(f"name a corpus with --corpus{or_else}")
    return sources.corpus
