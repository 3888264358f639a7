"""Classifies issues: bug class, areas, severity, versions and commits, each with the words that say so.

The rules are data (``classes.toml``). For the bug class the words of an issue count beside the rules
(``learned.py``). The class of an issue that neither knows is ``none``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus.records import Issue, Reasoned
from miner.bug_class import bug_class_of
from miner.commits import commits_of
from miner.crashes import Crash, crash_of
from miner.extract import Extraction
from miner.failing import FormulaRun
from miner.hits import BODY_READ, Hit, find_hits, printed, strongest, texts_of
from miner.issue_versions import versions_of
from miner.learned import Weights, default_weights


@dataclass(frozen=True, slots=True)
class Classification:
    """What the rules found in an issue."""

    bug_class: Reasoned
    areas: tuple[Reasoned, ...] = ()
    severity: Reasoned | None = None
    version: Reasoned | None = None
    commit: Reasoned | None = None
    fixed_by: Reasoned | None = None
    introduced_by: Reasoned | None = None
    last_good: Reasoned | None = None
    fixed_in: Reasoned | None = None
    tools: tuple[str, ...] = ()
    crash: Crash | None = None

    @property
    def is_bug(self) -> bool:
        """Whether the class is not ``none``."""
        return self.bug_class.value != "none"


_BY_CLASS = {"soundness": "high", "invalid-model": "high", "crash": "medium"}


def classify(issue: Issue, extraction: Extraction, weights: Weights | None = None) -> Classification:
    """Classify an issue by its title, labels, prose, formulas and solver output.

    ``weights`` are those of words for bug classes, if not the ones of the package.
    """
    texts = list(texts_of(issue, extraction))
    hits = find_hits(texts, issue.tracker)
    failing = [run for formula in extraction.formulas if (run := formula.failing) is not None]
    bug_class = bug_class_of(hits["class"], extraction, failing, texts, weights or default_weights())
    versions = versions_of(issue, extraction, hits, failing, bug_class.value)
    commits = commits_of(extraction, hits, failing)
    return Classification(
        bug_class=bug_class,
        areas=tuple(_first_per_value(hits["area"])),
        severity=_severity(hits["severity"], bug_class),
        version=versions.affected,
        commit=commits.affected,
        fixed_by=commits.fixed_by,
        introduced_by=commits.introduced_by,
        last_good=versions.last_good,
        fixed_in=versions.fixed_in,
        tools=tuple(dict.fromkeys(" ".join(found.value.lower().split()) for _, found in hits["tool"])),
        crash=_crash(extraction, bug_class, failing),
    )


def _severity(hits: Sequence[Hit], bug_class: Reasoned) -> Reasoned | None:
    stated = strongest(hits)
    if stated is not None or bug_class.value == "none":
        return stated
    # Not stated: derived from the class.
    return Reasoned(_BY_CLASS.get(bug_class.value, "low"), bug_class.reason, bug_class.where, bug_class.rule)


def _crash(extraction: Extraction, bug_class: Reasoned, failing: Sequence[FormulaRun]) -> Crash | None:
    """Where the solver crashed: by the title of a crash, else by the failing runs, else by any output."""
    if bug_class.value == "leak":  # what allocated the memory is no place of a crash
        return crash_of(extraction.prose["title"])
    texts = [run.output.text for run in failing if run.output is not None and not run.later]
    if bug_class.value != "none" and not texts:  # a reply may show another crash than the report
        plain = [
            one.block.text for one in extraction.blocks[:20] if one.where == "body" and one.block.is_code
        ]
        texts += [text[:3000] for text in plain]
    texts += [run.output.text for run in failing if run.output is not None and run.later]
    if bug_class.value != "none":
        texts += printed(extraction)
    found = [crash for text in dict.fromkeys(texts) if (crash := crash_of(text)) is not None]
    best = max(found, key=lambda crash: (bool(crash.file), bool(crash.function)), default=None)
    if best is None and bug_class.value == "crash":
        places = (crash_of(text[:BODY_READ]) for text in extraction.prose.values())
        best = next((crash for crash in places if crash is not None and crash.file), None)
    named = crash_of(extraction.prose["title"]) if bug_class.value == "crash" else None
    if named is None or best is None or not named.file or named.file == best.file:
        return best or named
    return replace(named, message=best.message or named.message)


def _first_per_value(hits: Sequence[Hit]) -> list[Reasoned]:
    found: dict[str, Reasoned] = {}
    for _, one in hits:
        found.setdefault(one.value, one)
    return list(found.values())


def is_mined_by_default(issue: Issue, classification: Classification) -> bool:
    """Whether an issue is mined by default: a closed issue about a bug, not a pull request."""
    return issue.state == "closed" and not issue.is_pull_request and classification.is_bug
