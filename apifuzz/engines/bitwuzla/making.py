"""Terms that bitwuzla makes and no theory file has: kinds of its own, and numbers that it rounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Self

from bitwuzla import Kind

from apifuzz import call
from apifuzz.actions import Made
from apifuzz.actions.own import Own
from apifuzz.call import SortArg, Terms, one_of
from apifuzz.chance import Chance
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine
from apifuzz.engines.bitwuzla.rounding import rounded
from apifuzz.engines.bitwuzla.session import kind_named
from apifuzz.interface import ApiTerm, Misbehaviour, TermKind
from apifuzz.run import Run
from apifuzz.store import Store
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


class MakeTerm(Own):
    """``bitwuzla:make-term KIND TERM...``: a bit-vector term of a kind that no theory file has."""

    solver = "bitwuzla"
    places = (("terms", 3),)
    kind: Annotated[str, one_of(*_KINDS)]
    args: Terms

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        name = run.random.pick(list(_KINDS))
        sort = run.random.pick_if_any(run.store.by_head.get("BitVec", []))
        if sort is None:
            return None
        drawn = [run.store.pick(sort, run.random) for _ in range(_KINDS[name][1])]
        args = tuple([arg for arg in drawn if arg is not None])
        if len(args) < len(drawn) or (name == "redxor" and _one_bit(run) is None):
            return None
        return cls(name, args)

    def act(self, run: Run, core: BitwuzlaEngine) -> Made | None:
        kind, count = _KINDS[self.kind]
        terms = self.args
        sorts = {t.sort.sort for t in terms}
        if len(terms) != count or len(sorts) != 1 or terms[0].sort.sort.name != "BitVec":
            raise TraceError("a kind and bit-vectors of one sort expected")
        sort = terms[0].sort if kind != Kind.BV_REDXOR else _one_bit(run)
        if sort is None:
            raise TraceError("there is no sort of bit-vectors of one bit")
        handle = core.session.make(kind, [t.handle for t in terms])
        free = frozenset[ApiTerm]().union(*(t.free for t in terms))
        return (run.keep_term(sort, handle, TermKind.TERM, None, terms, free),)


def _one_bit(run: Run) -> Any:
    return next(
        (own for sort, own in run.store.sorts.items() if sort.name == "BitVec" and sort.indices == (1,)), None
    )


def _read_numeral(store: Store, token: str) -> int:
    if not (token.isascii() and token.isdigit() and len(token) <= 2000):
        raise TraceError(f"a numeral expected, found {token[:20]}")
    return int(token)


_NUMERAL = call.Kind(_read_numeral)


class MakeRounded(Own):
    """``bitwuzla:make-rounded SORT MODE SIGN NUMERATOR DENOMINATOR``: the number, rounded as IEEE 754
    says.
    """

    solver = "bitwuzla"
    places = (("terms", 2),)
    sort: SortArg
    mode: Annotated[str, one_of(*MODES)]
    sign: Annotated[str, one_of("+", "-")]
    numerator: Annotated[int, _NUMERAL]
    denominator: Annotated[int, _NUMERAL]

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        chance = run.random
        sort = chance.pick_if_any(run.store.made_by_head.get("FloatingPoint", []))
        if sort is None:
            return None
        number = _draw_number(chance, sort.indices[0])
        return cls(run.store.sorts[sort], chance.pick(MODES), chance.pick("+-"), *number)

    def act(self, run: Run, core: BitwuzlaEngine) -> Made | None:
        if self.sort.sort.name != "FloatingPoint":
            raise TraceError("a floating-point sort expected")
        if not self.denominator:
            raise TraceError("a denominator is not 0")
        return (run.keep_term(self.sort, self._rounded(core), TermKind.VALUE),)

    def _rounded(self, core: BitwuzlaEngine) -> Any:
        manager, sort = core.session.manager, self.sort
        sign = "-" if self.sign == "-" else ""
        number = Fraction(self.numerator, self.denominator) * (-1 if sign else 1)
        mode = manager.mk_rm_value(kind_named(self.mode))
        above, below = f"{sign}{self.numerator}", str(self.denominator)
        if self.denominator == 1 and core.random.random() < 0.5:
            made = manager.mk_fp_value(sort.handle, mode, above)
        else:
            made = manager.mk_fp_value(sort.handle, mode, above, below)
        bits = rounded(number, self.mode, *sort.sort.indices)
        found = tuple(int(field, 2) for field in made.value(2, True))
        if found != bits and not (number == 0 and found[1:] == bits[1:]):
            raise Misbehaviour("value", f"{number} rounded by {self.mode} is {made}, expected {bits}")
        return made


def _draw_number(chance: Chance, exponent: int) -> tuple[int, int]:
    """A number within the format's range, mostly, and often close to one that it has."""
    reach = 1 << min(exponent - 1, 8)
    numerator = chance.getrandbits(chance.up_to(60))
    power = int((2 * chance.random() - 1) * reach)
    share = chance.random()
    denominator = 1 + int(2000 * share) if share < 0.5 else 1 << int(120 * (share - 0.5))
    return (numerator << power, denominator) if power >= 0 else (numerator, denominator << -power)
