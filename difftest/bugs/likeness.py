"""Which bugs of a benchmark are like another: those that share rare operators, options, places of a crash."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from difftest.bugs.records import Bug
from solvers.running.crash_places import file_of

_ROWS = 256
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Like:
    """A bug like another one. ``likeness``: from 0 to 1. ``shared``: what both have, the rarest first."""

    bug: Bug
    likeness: float
    shared: tuple[str, ...]


def likenesses(bugs: Sequence[Bug], most: int = 6) -> list[list[Like]]:
    """For each bug at most ``most`` others, the nearest first; of equally near ones the first in ``bugs``.

    Likeness is the Jaccard index of what is known of the bugs, weighted by rarity as in
    :func:`corpus.similar.similar_to`: ``ln(1 + bugs / bugs that have it)``.
    """
    from scipy import sparse  # takes a third of a second, and few commands compare bugs

    features = [_features(bug) for bug in bugs]
    counts = Counter(feature for found in features for feature in found)
    weights = {feature: math.log(1 + len(bugs) / counts[feature]) for feature in sorted(counts)}
    columns = {feature: column for column, feature in enumerate(weights)}
    pairs = [(row, feature) for row, found in enumerate(features) for feature in sorted(found)]
    places = ([row for row, _ in pairs], [columns[feature] for _, feature in pairs])
    roots = [math.sqrt(weights[feature]) for _, feature in pairs]
    held = sparse.csr_matrix((roots, places), shape=(len(bugs), len(columns)))
    totals = np.asarray(held.multiply(held).sum(axis=1)).ravel()
    near: list[list[Like]] = []
    for first in range(0, len(bugs), _ROWS):
        shared = (held[first : first + _ROWS] @ held.T).toarray()
        unions = totals[first : first + _ROWS, None] + totals[None, :] - shared
        # Rounded: sums differ in their last bits with the order of columns.
        jaccard = np.round(np.clip(shared / unions, 0, 1), 9)
        for row, likeness in enumerate(jaccard):
            one = first + row
            likeness[one] = 0
            best = [int(other) for other in np.argsort(-likeness, kind="stable")[:most] if likeness[other]]
            near.append(
                [
                    Like(
                        bugs[other], float(likeness[other]), _rarest(features[one] & features[other], weights)
                    )
                    for other in best
                ]
            )
    return near


def _rarest(features: frozenset[str], weights: dict[str, float]) -> tuple[str, ...]:
    return tuple(sorted(features, key=lambda feature: (-weights[feature], feature))[:_SHOWN])


def _features(bug: Bug) -> frozenset[str]:
    found = {*bug.operators, *bug.theories} - {"Core"} | {
        f"class {bug.finding_class}",
        f"solver {bug.solver}",
    }
    found |= {f"option {option}" for option in bug.options} | {f"tool {tool}" for tool in bug.tools}
    if place := bug.seen(bug.last_bad).location:
        found.add(f"crash in {file_of(place)}")
    if bug.issue:
        found.add(f"issue {bug.issue}")
    return frozenset(found)
