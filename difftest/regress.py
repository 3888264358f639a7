"""Regression hunts: what is new in a solver, compared with a base.

A campaign whose first tests are known formulas, those of a folder and those of a corpus, and whose others are
generated; one of its solvers is the base (``Solver.is_base``). What the base shows, too, is counted and not
reported (``difftest.triage.newness``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpus.store import Corpus
from difftest.bugs.records import BUNDLED, Benchmark, Trigger
from difftest.bugs.triggers import triggers_of
from difftest.campaign.campaign import Campaign, CampaignSettings
from difftest.campaign.events import HuntSummary
from difftest.campaign.files import FileTests
from difftest.errors import DifftestError
from difftest.found_files import FoundFiles
from difftest.triage.newness import NOT_NEW, ONLY_BASE
from generator.strategy import GeneratedTest, Strategy
from solvers.registry import PROFILES
from solvers.running.script import Script
from solvers.specs import parse_spec

STRATEGY = "replay"
"""The strategy whose tests are known formulas."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A formula with the options of a failing run."""

    text: str
    options: tuple[str, ...]
    issue: str | None


class KnownFormulas:
    """Known formulas as tests: the ``files`` of a team, then those of a corpus, each with the options of its
    failing run; formulas and options of the solver ``kin`` come first.
    """

    name = STRATEGY

    def __init__(self, files: FileTests | None, triggers: Sequence[Trigger], kin: str) -> None:
        self._files = files
        found: dict[tuple[str, tuple[str, ...]], _Known] = {}
        for trigger in sorted(triggers, key=lambda trigger: trigger.solver != kin):
            options = trigger.options if trigger.solver == kin else ()
            found.setdefault((trigger.text, options), _Known(trigger.text, options, trigger.issue))
        self._known = tuple(found.values())

    def __len__(self) -> int:
        return self._first + len(self._known)

    @property
    def _first(self) -> int:
        return len(self._files) if self._files is not None else 0

    @property
    def fingerprint(self) -> str:
        """A hash of all formulas with their options, and of the files' paths: 16 hexadecimal digits."""
        parts = [self._files.fingerprint if self._files is not None else ""]
        parts += [part for known in self._known for part in (known.text, *known.options)]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """The tests of these numbers."""
        if self._files is not None:
            for test in self._files.generate(start, min(stop, self._first)):
                yield GeneratedTest(test.index, test.text, self.name, known=test.known, origin=test.origin)
        begin = max(0, start - self._first)
        for place, known in enumerate(self._known[begin : max(0, stop - self._first)], begin):
            expected = Script.of(known.text).expected
            issues = (known.issue,) if known.issue else ()
            index = self._first + place
            yield GeneratedTest(
                index, known.text, self.name, issues=issues, known=expected, options=known.options
            )


def regression_campaign(
    settings: CampaignSettings,
    prepare: Callable[[], None] = lambda: None,
    others: Mapping[str, Callable[[], Strategy]] | None = None,
) -> Campaign:
    """The campaign of ``settings``, whose solvers are the new one and the base, whose corpus is a file, and
    whose first strategy is ``replay``.

    Raises an ExhumeError where a solver, the corpus or the folder cannot be used.
    """
    new, base = (parse_spec(spec) for spec in settings.solver)
    families = {spec.family for spec in (new, base)}
    if families <= PROFILES.keys() and new.kin != base.kin:
        raise DifftestError(f"--base {base.text} and --new {new.text} are different solvers")
    made = {STRATEGY: lambda: _known_formulas(settings, new.kin), **(others or {})}
    return replace(Campaign.of(settings, made, prepare), first=(STRATEGY,))


def _known_formulas(settings: CampaignSettings, kin: str) -> KnownFormulas:
    files = FileTests(FoundFiles([Path(settings.regressions)])) if settings.regressions else None
    assert settings.corpus is not None, "a regression hunt has a corpus"
    with Corpus.open(Path(settings.corpus)) as corpus:
        triggers: list[Trigger] = triggers_of(corpus)
    # Bugs that releases of this solver are known to have had.
    past = [bug for bug in Benchmark(BUNDLED).bugs.values() if bug.solver == kin]
    return KnownFormulas(files, [*triggers, *past], kin)


def not_new(summary: HuntSummary) -> dict[str, dict[str, int]]:
    """What was seen and is not new, by class: what the base shows, too, and what it alone shows."""
    kinds = {"not_new": NOT_NEW, "only_in_base": ONLY_BASE}
    return {name: dict(sorted(summary.statistics.get(kind, {}).items())) for name, kind in kinds.items()}


def to_json(settings: CampaignSettings, summary: HuntSummary) -> dict[str, Any]:
    """The document that ``regress --json`` prints."""
    new, base = settings.solver
    return {"base": base, "new": new, **not_new(summary), **summary.to_json()}
