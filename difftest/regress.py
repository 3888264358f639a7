"""Regression hunts: what is new in a solver, compared with a base.

A campaign whose first tests are known formulas, those of a folder and those of a corpus, and whose others are
generated; one of its solvers is the base (``Solver.is_base``). What the base shows, too, is counted and not
reported (``difftest.triage.newness``). Where the sources of both are known, the formulas that their
difference can touch come first (``difftest.directed``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from base.steps import Steps, unseen
from corpus.store import Corpus
from difftest.bugs.records import BUNDLED, Benchmark, Trigger
from difftest.bugs.triggers import triggers_of
from difftest.campaign.campaign import Campaign, CampaignSettings
from difftest.campaign.events import HuntSummary
from difftest.campaign.files import FileTests
from difftest.directed.coverage import BadMap
from difftest.directed.direction import Difference, Direction
from difftest.errors import DifftestError
from difftest.found_files import FoundFiles
from difftest.triage.newness import NOT_NEW, ONLY_BASE, ONLY_BASE_TESTS, REFUSED_FILES, REFUSED_TESTS
from generator.strategy import GeneratedTest, Strategy
from solvers.errors import EnvironmentProblem
from solvers.registry import PROFILES
from solvers.running.script import Script
from solvers.sources import sources_of
from solvers.specs import parse_spec

STRATEGY = "replay"
"""The strategy whose tests are known formulas."""


class KnownFormulas:
    """Known formulas as tests: the ``files`` of a team, then those of a corpus, each with the options of its
    failing run; formulas and options of the solver ``kin`` come first.
    """

    name = STRATEGY

    def __init__(self, files: FileTests | None, triggers: Sequence[Trigger], kin: str) -> None:
        self._files = files
        # Texts with options, and the issue of each.
        found: dict[tuple[str, tuple[str, ...]], str | None] = {}
        for trigger in sorted(triggers, key=lambda trigger: trigger.solver != kin):
            options = trigger.options if trigger.solver == kin else ()
            found.setdefault((trigger.text, options), trigger.issue)
        self._known = tuple(found.items())
        self._order: Sequence[int] = ()

    def formulas(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The texts in the order given, each with its options."""
        if self._files is not None:
            yield from ((test.text, ()) for test in self._files.generate(0, self._first))
        yield from (formula for formula, _ in self._known)

    def reorder(self, order: Sequence[int]) -> None:
        """Bring the formulas into another order, as numbers in the one given."""
        self._order = order

    def __len__(self) -> int:
        return self._first + len(self._known)

    def left_after(self, done: int) -> dict[str, int]:
        """How many were not run, if ``done`` were: files, where they come first, and all formulas."""
        files = 0 if self._order else self._first
        return {"files": max(0, files - done), "known_formulas": max(0, len(self) - done)}

    @property
    def _first(self) -> int:
        return len(self._files) if self._files is not None else 0

    @property
    def fingerprint(self) -> str:
        """A hash of all formulas with their options, and of the files' paths: 16 hexadecimal digits."""
        parts = [self._files.fingerprint if self._files is not None else ""]
        parts += [part for (text, options), _ in self._known for part in (text, *options)]
        parts += map(str, self._order)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """The tests of these numbers."""
        for index in range(start, min(stop, len(self))):
            place = self._order[index] if self._order else index
            if self._files is not None and place < self._first:
                (test,) = self._files.generate(place, place + 1)
                yield GeneratedTest(index, test.text, self.name, known=test.known, origin=test.origin)
                continue
            (text, options), issue = self._known[place - self._first]
            expected = Script.of(text).expected
            issues = (issue,) if issue else ()
            yield GeneratedTest(index, text, self.name, issues=issues, known=expected, options=options)


def find_difference(
    settings: CampaignSettings, sources: Sequence[Path | None], coverage: Path | None = None
) -> Difference | str:
    """What changed between the sources of base and new (``sources`` names folders of them), with the formulas
    of the map ``coverage`` that run it; where that is not known, the reason. Nothing is compared if
    ``settings.directed`` is false, or it is None and neither a folder nor a map is named. Sources of releases
    are fetched. Raises BadMap if the map cannot be read.
    """
    if settings.directed is False:
        return "--undirected is given"
    if settings.directed is None and not any(sources) and coverage is None:
        return "no sources are named; --directed fetches those of releases"
    new, base = settings.solver
    try:
        before, after = (sources_of(s, f) for s, f in zip((base, new), sources, strict=True))
        return Difference.of(parse_spec(new).kin, before, after, coverage, keep=not any(sources))
    except BadMap:
        raise
    except (EnvironmentProblem, DifftestError) as problem:
        return str(problem)


def regression_campaign(
    settings: CampaignSettings,
    prepare: Callable[[], None] = lambda: None,
    difference: Difference | None = None,
    steps: Steps = unseen,
) -> tuple[Campaign, Direction | None]:
    """The campaign of ``settings``, whose solvers are the new one and the base, whose corpus is a file, and
    whose first strategy is ``replay``; with the ``difference`` of their sources, the direction of its tests.

    Raises an ExhumeError where a solver, the corpus or the folder cannot be used.
    """
    new, base = (parse_spec(spec) for spec in settings.solver)
    if new.name == base.name:
        raise DifftestError(
            f"--base and --new are both called {new.name!r}: name two builds with different names"
        )
    families = {spec.family for spec in (new, base)}
    if families <= PROFILES.keys() and new.kin != base.kin:
        raise DifftestError(f"--base {base.text} and --new {new.text} are different solvers")
    directions: list[Direction] = []

    def replayed() -> Strategy:
        assert settings.corpus is not None, "a regression hunt has a corpus"
        folders = [Path(settings.regressions)] if settings.regressions else []
        known = formulas_in(Path(settings.corpus), folders, new.kin)
        if difference is not None:
            directions.append(Direction(difference, known.formulas()))
            known.reorder(directions[0].order)
        return known

    @cache  # each strategy that starts from seeds asks for all of them
    def score(text: str) -> float:
        return directions[0].score(text)

    prefer = score if difference is not None else None
    campaign = Campaign.of(settings, {STRATEGY: replayed}, prepare, prefer, steps)
    campaign = replace(campaign, first=(STRATEGY,))
    return campaign, directions[0] if directions else None


def formulas_in(corpus: Path | None, paths: Sequence[Path], kin: str) -> KnownFormulas:
    """The formulas of folders and files, and, with a corpus, its formulas and those of the bundled benchmark
    for the solver ``kin``. Raises CorpusError and DifftestError where they cannot be read.
    """
    found = FoundFiles(paths)
    if paths and not found.files:
        raise DifftestError(found.why_none(", ".join(map(str, paths))))
    files = FileTests(found) if paths else None
    triggers: list[Trigger] = []
    if corpus is not None:
        with Corpus.open(corpus) as opened:
            triggers += triggers_of(opened)
        # Bugs that releases of this solver are known to have had.
        triggers += [bug for bug in Benchmark(BUNDLED).bugs.values() if bug.solver == kin]
    return KnownFormulas(files, triggers, kin)


def left_of(campaign: Campaign, summary: HuntSummary) -> dict[str, int]:
    """How many known formulas a regression hunt has not run yet, and how many files of them."""
    done = sum(arm.tests for arm in summary.arms if arm.strategy == STRATEGY)
    known = next(made for made in campaign.strategies if isinstance(made, KnownFormulas))
    return known.left_after(done)


def not_new(summary: HuntSummary) -> dict[str, dict[str, int]]:
    """What was seen and is not new, by class: what the base shows, too, and what it alone shows."""
    kinds = {"not_new": NOT_NEW, "only_in_base": ONLY_BASE}
    return {name: dict(sorted(summary.statistics.get(kind, {}).items())) for name, kind in kinds.items()}


def named(summary: HuntSummary) -> dict[str, list[str]]:
    """The tests by name that the base alone shows a bug on, and those that the new one alone refuses."""
    kinds = {
        "only_in_base_tests": ONLY_BASE_TESTS,
        "only_new_refuses_files": REFUSED_FILES,
        "only_new_refuses_tests": REFUSED_TESTS,
    }
    return {name: sorted(summary.statistics.get(kind, {})) for name, kind in kinds.items()}


def to_json(settings: CampaignSettings, summary: HuntSummary, direction: Direction | None) -> dict[str, Any]:
    """The document that ``regress --json`` prints."""
    new, base = settings.solver
    directed = direction.to_json() if direction else None
    counted = {**not_new(summary), **named(summary)}
    return {"base": base, "new": new, "directed": directed, **counted, **summary.to_json()}
