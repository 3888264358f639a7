"""The operators that a run draws on: those of its theories that the solver knows, with weights.

They come from the theory files only. Operators that solvers are slow at are drawn less often, but never
excluded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

from apifuzz.chance import Chance
from apifuzz.interface import Capabilities
from smtlib import Signature, default_theories

_THEORY_WEIGHTS = {"Core": 1.2}


class Operators:
    """Operators by theory, to draw from."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self.signatures = tuple(signatures)
        groups: dict[str, dict[str, list[Signature]]] = {}
        for signature in self.signatures:
            groups.setdefault(signature.theory, {}).setdefault(signature.name, []).append(signature)
        self._theories = [
            (list(accumulate(_weight(ranks) for ranks in names.values())), list(names.values()))
            for names in groups.values()
        ]
        self._sums = list(accumulate(_THEORY_WEIGHTS.get(theory, 1.0) for theory in groups))
        self.function_sorts = any(p.name == "->" for s in self.signatures for p in s.params)
        """Whether some operator takes a function."""
        self.heads = frozenset(n for s in self.signatures for n in s.sort_names())
        """Names of the sorts that the operators are about."""

    def draw(self, chance: Chance) -> Signature:
        """A signature: a theory, an operator of it by weight, one of its ranks."""
        sums, names = self._theories[bisect_right(self._sums, chance.random() * self._sums[-1])]
        ranks = names[bisect_right(sums, chance.random() * sums[-1])]
        return ranks[0] if len(ranks) == 1 else chance.pick(ranks)


def _weight(ranks: Sequence[Signature]) -> float:
    """How often an operator is drawn: one without arguments gives nothing new the second time."""
    weight = min(s.weight for s in ranks)
    return weight if any(s.params for s in ranks) else 0.2 * weight


def is_known(only: tuple[str, ...], families: tuple[str, ...]) -> bool:
    """Whether what a theory file marks ``:only`` these solvers is known to all of ``families``."""
    return not only or all(family in only for family in families)


def sort_theory(name: str) -> str | None:
    """The theory that a sort of the theory files belongs to; None for any other sort, and for functions."""
    symbol = default_theories().sorts.get(name)
    return None if symbol is None else symbol.theory


def operators_for(
    families: tuple[str, ...], capabilities: Capabilities, theories: frozenset[str]
) -> Operators:
    """The operators of ``theories`` that the solver knows and that are about sorts of ``theories`` only."""
    return _operators(families, capabilities.theories, capabilities.without, theories)


@lru_cache(maxsize=256)
def _operators(
    families: tuple[str, ...], whole: frozenset[str], without: frozenset[str], theories: frozenset[str]
) -> Operators:
    is_part, every = theories != whole, default_theories().signatures()
    enabled = theories & whole
    return Operators(
        s
        for s in (_operators(families, whole, without, whole).signatures if is_part else every)
        if s.theory in enabled
        and s.name not in without
        and is_known(s.only, families)
        and not s.is_synonym
        and all(sort_theory(name) in (None, *enabled) for name in s.sort_names())
    )


def known_theories(families: tuple[str, ...], capabilities: Capabilities) -> frozenset[str]:
    """The theories of which the solver knows some operator."""
    return frozenset(
        s.theory for s in operators_for(families, capabilities, capabilities.theories).signatures
    )
