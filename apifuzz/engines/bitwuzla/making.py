"""Terms that bitwuzla makes and no theory file has: kinds of its own, and numbers that it rounds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

from bitwuzla import Kind

from apifuzz.actions import Action
from apifuzz.actions.reading import read_name, read_terms, require_count
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine
from apifuzz.engines.bitwuzla.limits import translated
from apifuzz.engines.bitwuzla.rounding import rounded
from apifuzz.engines.bitwuzla.values import ROUNDING_MODES
from apifuzz.interface import ApiTerm, Misbehaviour, TermKind
from apifuzz.run import Run
from apifuzz.trace import TraceError
from smtlib.values import MODES

_KINDS: dict[str, tuple[Any, int]] = {
    "redxor": (Kind.BV_REDXOR, 1),
    "inc": (Kind.BV_INC, 1),
    "dec": (Kind.BV_DEC, 1),
    "rol": (Kind.BV_ROL, 2),
    "ror": (Kind.BV_ROR, 2),
}
"""Kinds of bit-vector terms that no theory file has, and how many arguments of one sort they take."""


class MakeTerm(Action):
    """``bitwuzla:make-term KIND TERM...``: a bit-vector term of a kind that no theory file has."""

    name = "bitwuzla:make-term"

    def is_possible(self, run: Run) -> bool:
        return "BitVec" in run.store.by_head

    def draw(self, run: Run) -> tuple[str, ...] | None:
        name = run.random.choice(list(_KINDS))
        sort = run.random.choice(run.store.by_head["BitVec"])
        args = [run.store.pick(sort, run.random) for _ in range(_KINDS[name][1])]
        if None in args:
            return None
        if name == "redxor" and _one_bit(run) is None:
            return None
        return name, *map(str, args)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2, 3)
        kind, count = _KINDS.get(read_name(args[0]), (None, 0))
        terms = read_terms(run, args[1:])
        sorts = {t.sort.sort for t in terms}
        if kind is None or len(terms) != count or len(sorts) != 1 or terms[0].sort.sort.name != "BitVec":
            raise TraceError("a kind and bit-vectors of one sort are wanted")
        sort = terms[0].sort if count == 2 or kind != Kind.BV_REDXOR else _one_bit(run)
        if sort is None:
            raise TraceError("there is no sort of bit-vectors of one bit")
        with translated():
            handle = cast(BitwuzlaEngine, run.engine.core).session.make(kind, [t.handle for t in terms])
        free = frozenset[ApiTerm]().union(*(t.free for t in terms))
        return (str(run.keep_term(sort, handle, TermKind.TERM, None, terms, free)),)


def _one_bit(run: Run) -> Any:
    return next(
        (own for sort, own in run.store.sorts.items() if sort.name == "BitVec" and sort.indices == (1,)), None
    )


class MakeRounded(Action):
    """``bitwuzla:make-rounded SORT MODE SIGN NUMERATOR DENOMINATOR``: the number, rounded as IEEE 754
    says.
    """

    name = "bitwuzla:make-rounded"

    def is_possible(self, run: Run) -> bool:
        return "FloatingPoint" in run.store.made_by_head

    def draw(self, run: Run) -> tuple[str, ...] | None:
        chance = run.random
        sort = chance.choice(run.store.made_by_head["FloatingPoint"])
        numerator, denominator = _draw_number(chance, sort.indices[0])
        return (
            str(run.store.sorts[sort]),
            chance.choice(MODES),
            chance.choice("+-"),
            str(numerator),
            str(denominator),
        )

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 5, 5)
        own = run.store.sort(args[0])
        if own.sort.name != "FloatingPoint" or args[1] not in MODES or args[2] not in ("+", "-"):
            raise TraceError("a floating-point sort, a rounding mode and a sign are wanted")
        for numeral in args[3:]:
            if not (numeral.isascii() and numeral.isdigit() and len(numeral) <= 2000):
                raise TraceError(f"a numeral is wanted, {numeral[:20]} is here")
        if not args[4].strip("0"):
            raise TraceError("a denominator is not 0")
        handle = _make_rounded(cast(BitwuzlaEngine, run.engine.core), own.handle, own.sort.indices, args)
        return (str(run.keep_term(own, handle, TermKind.VALUE)),)


def _draw_number(chance: random.Random, exponent: int) -> tuple[int, int]:
    """A number within the format's range, mostly, and often close to one that it has."""
    reach = 1 << min(exponent - 1, 8)
    numerator = chance.getrandbits(1 + int(chance.random() * 60))
    power = int((2 * chance.random() - 1) * reach)
    share = chance.random()
    denominator = 1 + int(2000 * share) if share < 0.5 else 1 << int(120 * (share - 0.5))
    return (numerator << power, denominator) if power >= 0 else (numerator, denominator << -power)


def _make_rounded(engine: BitwuzlaEngine, sort: Any, widths: tuple[int, ...], args: Sequence[str]) -> Any:
    manager = engine.session.manager
    sign = "-" if args[2] == "-" else ""
    number = Fraction(int(args[3]), int(args[4])) * (-1 if sign else 1)
    mode = manager.mk_rm_value(ROUNDING_MODES[args[1]])
    with translated():
        if args[4] == "1" and engine.random.random() < 0.5:
            made = manager.mk_fp_value(sort, mode, sign + args[3])
        else:
            made = manager.mk_fp_value(sort, mode, sign + args[3], args[4])
        bits = rounded(number, args[1], *widths)
        found = tuple(int(field, 2) for field in made.value(2, True))
    if found != bits and not (number == 0 and found[1:] == bits[1:]):
        raise Misbehaviour("value", f"{number} rounded by {args[1]} is {made}, expected {bits}")
    return made
