"""Compares two corpora by their rules, skeletons and signatures.

Answers the question of the paper's Figure 2: how many of the rules learned from bug-triggering formulas are
also learned from normal benchmarks, at each support. Also finds the signatures that are significantly more
frequent in the first corpus.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from corpus.errors import QueryError
from corpus.learned import transactions
from corpus.store import Corpus
from rules import MIN_CONFIDENCE, MIN_SUPPORT, Rule, RuleSet, mine

SUPPORTS = (5, 6, 7, 8, 9, 10)
"""The supports at which rules are compared, as in the paper's Figure 2."""


@dataclass(frozen=True, slots=True)
class Side:
    """One corpus: its transactions, and the number of formulas with each skeleton."""

    name: str
    formulas: int
    baskets: tuple[frozenset[str], ...]
    skeletons: Mapping[str, int]

    @property
    def signatures(self) -> Counter[str]:
        """The number of formulas with each signature."""
        return Counter(item for basket in self.baskets for item in basket)


@dataclass(frozen=True, slots=True)
class Shared:
    """The numbers of things of a kind in each corpus and in both."""

    first: int
    second: int
    both: int

    @property
    def share(self) -> float:
        """The share of the first corpus's things that the second has too."""
        return self.both / self.first if self.first else 0.0

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "share": round(self.share, 4)}


@dataclass(frozen=True, slots=True)
class RuleOverlap:
    """The rules of both corpora at one support. ``length``: the size of the largest rules counted, if one
    side had too many; None: all rules.
    """

    support: int
    rules: Shared
    length: int | None


@dataclass(frozen=True, slots=True)
class Excess:
    """A signature that is more frequent in the first corpus. ``q``: ``p`` corrected for multiple tests."""

    signature: str
    first: int
    second: int
    p: float
    q: float


@dataclass(frozen=True, slots=True)
class CorpusComparison:
    """The result of :func:`compare_corpora`.

    ``only_first`` and ``only_second``: rules at ``support``, highest lift first. ``skeletons_only_first``:
    ``(skeleton, formulas)``, most frequent first.
    """

    first: Side
    second: Side
    support: int
    rules: tuple[RuleOverlap, ...]
    skeletons: Shared
    signatures: Shared
    shared_rules: tuple[Rule, ...]
    only_first: tuple[Rule, ...]
    only_second: tuple[Rule, ...]
    skeletons_only_first: tuple[tuple[str, int], ...]
    excess: tuple[Excess, ...]

    def to_json(self, limit: int | None = None) -> dict[str, Any]:
        """As JSON, with at most ``limit`` items in each list of rules, skeletons and signatures."""
        return {
            "first": _side_json(self.first),
            "second": _side_json(self.second),
            "skeletons": self.skeletons.to_json(),
            "signatures": self.signatures.to_json(),
            "rules": [
                {"support": at.support, **at.rules.to_json(), "rules_of_at_most": at.length}
                for at in self.rules
            ],
            "support": self.support,
            "rules_in_both": [_rule_json(rule) for rule in self.shared_rules[:limit]],
            "rules_only_in_first": [_rule_json(rule) for rule in self.only_first[:limit]],
            "rules_only_in_second": [_rule_json(rule) for rule in self.only_second[:limit]],
            "skeletons_only_in_first": [
                {"skeleton": text, "formulas": count} for text, count in self.skeletons_only_first[:limit]
            ],
            "over_represented": [
                {"signature": e.signature, "in_first": e.first, "in_second": e.second, "p": e.p, "q": e.q}
                for e in self.excess[:limit]
            ],
        }


def _side_json(side: Side) -> dict[str, Any]:
    return {"corpus": side.name, "formulas": side.formulas, "with_atoms": len(side.baskets)}


def _rule_json(rule: Rule) -> dict[str, Any]:
    return {
        "if": list(rule.antecedent),
        "then": list(rule.consequent),
        "support": rule.support,
        "confidence": round(rule.confidence, 4),
        "lift": round(rule.lift, 4),
    }


def compare_corpora(
    first: Path | str,
    second: Path | str,
    *,
    support: int = MIN_SUPPORT,
    min_confidence: float = MIN_CONFIDENCE,
    coarse: bool = False,
    bug_class: str | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> CorpusComparison:
    """Compare two corpus files, which are opened for reading one after the other.

    Args:
        support: the support (number of formulas) of the listed rules.
        bug_class: restricts the first corpus to formulas of bugs of this class.
        sample: how many formulas to draw from each corpus. As support is a count, corpora of different sizes
            compare fairly only with equal samples.

    Rules are mined again, so that both sets were found under the same conditions. Raises QueryError.
    """
    if support < 1:
        raise QueryError("expected a support (a number of formulas) of at least 1")
    if not 0 <= min_confidence <= 1:
        raise QueryError(f"expected a confidence from 0 to 1, got {min_confidence:g}")
    if sample is not None and sample < 1:
        raise QueryError("expected a sample of at least 1 formula")
    one = _side(first, coarse, bug_class, sample, seed)
    other = _side(second, coarse, None, sample, seed)
    needed = sorted({*SUPPORTS, support})
    mined = dict(_rule_sets(one, other, needed, min_confidence))
    ours, theirs, _ = mined[support]
    before, after = ({rule.key: rule for rule in rules} for rules in (ours, theirs))
    return CorpusComparison(
        one,
        other,
        support,
        tuple(_overlap(at, *mined[at]) for at in SUPPORTS),
        _shared(one.skeletons, other.skeletons),
        _shared(one.signatures, other.signatures),
        _by_lift(rule for key, rule in before.items() if key in after),
        _by_lift(rule for key, rule in before.items() if key not in after),
        _by_lift(rule for key, rule in after.items() if key not in before),
        _only(one.skeletons, other.skeletons),
        _excess(one, other),
    )


def _side(path: Path | str, coarse: bool, bug_class: str | None, sample: int | None, seed: int) -> Side:
    with Corpus.open(path) as corpus:
        chosen = corpus.values(
            """
            select formula.id
            from current_formula as formula left join issue on issue.id = formula.issue_id
            where formula.decomposed
                and ($class::varchar is null or coalesce(formula.bug_class, issue.bug_class) = $class)
            order by formula.id
            """,
            {"class": bug_class},
        )
        if not chosen:
            kind = "" if bug_class is None else f" of the bug class {bug_class}"
            raise QueryError(f"{path} has no formula{kind} to compare: import or mine some, then learn")
        if sample is not None and sample < len(chosen):
            chosen = sorted(random.Random(seed).sample(chosen, sample))
        kept = frozenset(chosen)
        baskets = tuple(
            frozenset(basket) for formula, basket in transactions(corpus, coarse).items() if formula in kept
        )
        skeletons = Counter(
            text
            for formula, text in corpus.rows(
                """
                select distinct assertion.formula_id, skeleton.text
                from assertion join skeleton on skeleton.id = assertion.skeleton_id
                """
            )
            if formula in kept
        )
    return Side(str(path), len(chosen), baskets, skeletons)


def _rule_sets(
    first: Side, second: Side, supports: Sequence[int], min_confidence: float
) -> Iterable[tuple[int, tuple[list[Rule], list[Rule], int | None]]]:
    """For each support, both sides' rules up to the same length, and that length if it was limited."""
    miners = [_miner(side, min(supports), min_confidence) for side in (first, second)]
    for support in supports:
        mined = [miner(support) for miner in miners]
        cuts = [found.max_length for found in mined if not found.complete]
        length = min(cuts, default=None)
        ours, theirs = (
            [r for r in found if length is None or len(r.antecedent) + len(r.consequent) <= length]
            for found in mined
        )
        yield support, (ours, theirs, length)


def _miner(side: Side, least: int, min_confidence: float) -> Callable[[int], RuleSet]:
    """A function from a support to the rules at it. Rules at the least support include all others."""
    base = mine(side.baskets, least, min_confidence)

    def at(support: int) -> RuleSet:
        if not base.complete:
            return mine(side.baskets, support, min_confidence) if support > least else base
        kept = tuple(rule for rule in base if rule.support >= support)
        return RuleSet(kept, base.transactions, base.itemsets, base.max_length, True)

    return at


def _overlap(support: int, ours: Iterable[Rule], theirs: Iterable[Rule], length: int | None) -> RuleOverlap:
    return RuleOverlap(support, _shared({r.key for r in ours}, {r.key for r in theirs}), length)


def _shared(first: Iterable[Any], second: Iterable[Any]) -> Shared:
    ours, theirs = set(first), set(second)
    return Shared(len(ours), len(theirs), len(ours & theirs))


def _by_lift(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(rules, key=lambda rule: (-rule.lift, -rule.support, rule.key)))


def _only(first: Mapping[str, int], second: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    alone = [(text, count) for text, count in first.items() if text not in second]
    return tuple(sorted(alone, key=lambda item: (-item[1], len(item[0]), item[0])))


def _excess(first: Side, second: Side) -> tuple[Excess, ...]:
    """The first corpus's signatures, lowest p-value first."""
    ours, theirs = first.signatures, second.signatures
    names = sorted(ours)
    if not names:
        return ()
    # Loading it takes a second.
    from scipy.stats import false_discovery_control, hypergeom

    drawn = len(first.baskets)
    total = drawn + len(second.baskets)
    ps = hypergeom.sf([ours[n] - 1 for n in names], total, [ours[n] + theirs[n] for n in names], drawn)
    qs = false_discovery_control(ps)
    found = [
        Excess(name, ours[name], theirs[name], float(p), float(q))
        for name, p, q in zip(names, ps, qs, strict=True)
    ]
    return tuple(sorted(found, key=lambda e: (e.p, -e.first, e.signature)))
