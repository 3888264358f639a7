"""Mines association rules between signatures with ``mlxtend``.

Each formula is a transaction: the set of its atoms' signatures. Itemsets are mined by increasing length.
Mining stops, and the result says so, before a length that could yield more than :data:`MAX_CANDIDATE_RULES`
candidate rules by the bound of Kruskal and Katona. Where pairs alone yield more, the rarest items are left
out. The result is deterministic: rules are sorted by text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MIN_SUPPORT = 9
"""Minimum number of formulas that contain all items of a rule, as in the paper."""

MIN_CONFIDENCE = 0.5
"""Minimum share of the formulas with the antecedent that have the consequent too, as in the paper."""

MAX_CANDIDATE_RULES = 200_000
"""Maximum number of splits of frequent itemsets into antecedent and consequent."""
_BLOCK = 1024
"""Items whose pairs with those before them are counted at a time: their counts take 4 bytes each."""


MAX_RULES = 10_000
"""Maximum number of rules to generate with. A few formulas that share many signatures give 100,000."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Formulas with all of ``antecedent`` tend to have all of ``consequent`` too. Both are sorted.

    ``support``: the number of formulas with both. ``conviction``: infinite if the confidence is 1.
    """

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]
    support: int
    confidence: float
    lift: float
    conviction: float

    @property
    def key(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The identity of the rule, without its measures."""
        return self.antecedent, self.consequent

    def __str__(self) -> str:
        return f"{{{', '.join(self.antecedent)}}} -> {{{', '.join(self.consequent)}}}"


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The mined rules, sorted by text.

    ``has_pairs``: whether any two items occur together in enough transactions, whatever the confidence.
    ``max_length``: the size of the largest itemsets that were searched. ``complete``: False if larger
    frequent itemsets or rarer items may exist that were not searched because there are too many.
    """

    rules: tuple[Rule, ...]
    transactions: int
    itemsets: int
    max_length: int
    complete: bool
    has_pairs: bool = False

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def strongest(self, most: int) -> RuleSet:
        """At most ``most`` rules, those with the highest support; of the same support, the shortest."""
        if len(self.rules) <= most:
            return self
        ordered = sorted(self.rules, key=lambda r: (-r.support, len(r.antecedent) + len(r.consequent), r.key))
        return replace(self, rules=tuple(sorted(ordered[:most], key=lambda r: r.key)))


def mine(
    transactions: Sequence[frozenset[str]],
    min_support: int = MIN_SUPPORT,
    min_confidence: float = MIN_CONFIDENCE,
) -> RuleSet:
    """Mine the rules of ``transactions`` with at least this support (a count) and confidence.

    Raises ValueError for a support below 1 or a confidence outside ``[0, 1]``.
    """
    if min_support < 1:
        raise ValueError(f"expected a support of at least 1, got {min_support}")
    if not 0 <= min_confidence <= 1:
        raise ValueError(f"expected a confidence from 0 to 1, got {min_confidence}")
    counts = Counter(item for transaction in transactions for item in transaction)
    frequent = [item for item, count in counts.items() if count >= min_support]
    items = sorted(frequent, key=lambda item: (-counts[item], item))
    if not items:
        return RuleSet((), len(transactions), 0, 1, True)
    table = _table(transactions, items)
    kept = _count_kept(table, min_support)
    itemsets, length, complete = _itemsets(table.iloc[:, :kept], min_support)
    rules = sorted(_rules(itemsets, len(transactions), min_confidence), key=lambda r: r.key)
    has_pairs = any(len(itemset) > 1 for itemset in itemsets["itemsets"])
    complete = complete and kept == len(items)
    return RuleSet(tuple(rules), len(transactions), len(itemsets), length, complete, has_pairs)


def _table(transactions: Sequence[frozenset[str]], items: Sequence[str]) -> pd.DataFrame:
    """One row per transaction, one column per frequent item."""
    import numpy as np
    import pandas as pd

    column = {item: i for i, item in enumerate(items)}
    cells = np.zeros((len(transactions), len(items)), dtype=bool)
    for row, transaction in enumerate(transactions):
        for item in transaction:
            place = column.get(item)
            if place is not None:
                cells[row, place] = True
    return pd.DataFrame(cells, columns=list(items))


def _count_kept(table: pd.DataFrame, min_support: int) -> int:
    """How many items, from the first on, have no more than :data:`MAX_CANDIDATE_RULES` rules of two items."""
    import numpy as np

    cells = table.to_numpy(np.float32)
    left = MAX_CANDIDATE_RULES
    for first in range(0, cells.shape[1], _BLOCK):
        end = first + _BLOCK
        meet = np.tril(cells[:, first:end].T @ cells[:, :end] >= min_support, first - 1)
        found = 2 * np.cumsum(meet.sum(axis=1))
        if found[-1] > left:
            return first + int(np.searchsorted(found, left, side="right"))
        left -= found[-1]
    return cells.shape[1]


def _itemsets(table: pd.DataFrame, min_support: int) -> tuple[pd.DataFrame, int, bool]:
    """The frequent itemsets, the maximum length searched, and whether they are complete."""
    from mlxtend.frequent_patterns import fpgrowth

    # mlxtend expects a share, from which it rounds up a count; half a formula less avoids rounding errors.
    share = (min_support - 0.5) / len(table)
    length = 2
    while True:
        found = fpgrowth(table, min_support=share, use_colnames=True, max_len=length)
        sizes = Counter(len(s) for s in found["itemsets"])
        if not sizes[length]:
            return found, length, True
        candidates = sum(n * (2**k - 2) for k, n in sizes.items())
        more = largest_shadow(sizes[length], length) * (2 ** (length + 1) - 2)
        if candidates + more > MAX_CANDIDATE_RULES:
            return found, length, False
        length += 1


def largest_shadow(count: int, size: int) -> int:
    """The maximum number of sets of ``size + 1`` items whose subsets of ``size`` items are all among
    ``count`` sets (Kruskal and Katona).
    """
    bound = 0
    while count > 0 and size > 0:
        top = size
        while comb(top + 1, size) <= count:
            top += 1
        bound += comb(top, size + 1)
        count -= comb(top, size)
        size -= 1
    return bound


def _rules(itemsets: pd.DataFrame, transactions: int, min_confidence: float) -> Iterator[Rule]:
    import numpy as np
    from mlxtend.frequent_patterns import association_rules

    if all(len(s) < 2 for s in itemsets["itemsets"]):
        return
    # For items in every transaction mlxtend divides zero by zero, in a measure that is not used here.
    with np.errstate(divide="ignore", invalid="ignore"):
        found = association_rules(itemsets, metric="confidence", min_threshold=min_confidence - 1e-9)
    columns = ("antecedents", "consequents", "support", "confidence", "lift", "conviction")
    for antecedent, consequent, support, confidence, lift, conviction in zip(
        *(found[c] for c in columns), strict=True
    ):
        yield Rule(
            tuple(sorted(antecedent)),
            tuple(sorted(consequent)),
            round(support * transactions),
            float(confidence),
            float(lift),
            float(conviction),
        )
