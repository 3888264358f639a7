"""How likely a difference between two groups of formulas is by chance alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from corpus.errors import QueryError


def fisher(hits: int, drawn: int, total_hits: int, total: int) -> float:
    """Fisher's exact test, one-sided: the chance that at least ``hits`` of ``drawn`` formulas, drawn from
    ``total`` of which ``total_hits`` have some property, have it."""
    if not (0 <= hits <= min(drawn, total_hits) and max(drawn, total_hits) <= total):
        raise QueryError(f"no table has {hits} of {drawn} and {total_hits} of {total}")
    least = max(hits, drawn + total_hits - total)
    if least <= max(0, drawn + total_hits - total):
        return 1.0
    constant = _choose(total, drawn)
    terms = (
        math.exp(_choose(total_hits, x) + _choose(total - total_hits, drawn - x) - constant)
        for x in range(least, min(drawn, total_hits) + 1)
    )
    return min(1.0, math.fsum(terms))


def _choose(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose ``k`` of ``n``."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def corrected(ps: Sequence[float]) -> list[float]:
    """Each p-value corrected for the number of tests (Benjamini and Hochberg), in the same order."""
    order = sorted(range(len(ps)), key=lambda i: ps[i], reverse=True)
    found = [0.0] * len(ps)
    least = 1.0
    for place, i in enumerate(order):
        least = min(least, ps[i] * len(ps) / (len(ps) - place))
        found[i] = least
    return found
