"""Actions that only bitwuzla has: their names begin with ``bitwuzla:``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Annotated, Any, Self, cast

import bitwuzla
from bitwuzla import Kind

from apifuzz import call
from apifuzz.actions import Made, Need, Own, Second, actions_in
from apifuzz.call import Count, FormulaLists, SortArg, Terms, one_of, up_to
from apifuzz.chance import Chance
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine, check
from apifuzz.engines.bitwuzla.inspection import MAX_NODES, nodes, require_readable, unreadable
from apifuzz.engines.bitwuzla.session import Terminator, kind_named
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, TermKind, must
from apifuzz.run import Run
from apifuzz.store import Store
from apifuzz.trace import TraceError
from smtlib import quote_symbol
from smtlib.values import MODES


def rounded(number: Fraction, mode: str, exponent: int, significand: int) -> tuple[int, int, int]:
    """Sign, biased exponent and fraction of ``number`` in the format of these widths (hidden bit counted).

    ``mode`` is ``RNE``, ``RNA``, ``RTP``, ``RTN`` or ``RTZ``. Zero is the positive one.
    """
    sign = int(number < 0)
    magnitude = abs(number)
    least = 2 - (1 << (exponent - 1))  # the exponent of the smallest normal number
    power = max(_floor_log2(magnitude), least) if magnitude else least
    unit = Fraction(2) ** (power - (significand - 1))
    steps, rest = divmod(magnitude, unit)
    if _goes_up(rest / unit, int(steps), sign, mode):
        steps += 1
    if steps >> significand:
        steps //= 2  # exactly half of a power of two: nothing is lost
        power += 1
    if power >= 1 << (exponent - 1):
        return _overflow(sign, mode, exponent, significand)
    hidden = 1 << (significand - 1)
    if steps < hidden:
        return sign, 0, int(steps)
    return sign, power - least + 1, int(steps) - hidden


def _floor_log2(number: Fraction) -> int:
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


def _goes_up(part: Fraction, steps: int, sign: int, mode: str) -> bool:
    """Whether the magnitude is rounded up, where ``part`` of a step is left over."""
    if mode == "RNE":
        return part > Fraction(1, 2) or (part == Fraction(1, 2) and steps % 2 == 1)
    if mode == "RNA":
        return part >= Fraction(1, 2)
    if mode == "RTZ" or not part:
        return False
    return (mode == "RTN") == bool(sign)


def _overflow(sign: int, mode: str, exponent: int, significand: int) -> tuple[int, int, int]:
    largest = mode == "RTZ" or (mode == "RTP" and sign) or (mode == "RTN" and not sign)
    if largest:
        return sign, (1 << exponent) - 2, (1 << (significand - 1)) - 1
    return sign, (1 << exponent) - 1, 0


# Terms that bitwuzla makes and no theory file has: kinds of its own, and numbers that it rounds


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


# Interpolants, checked by further instances


def is_on(option: str) -> Callable[[Run], bool]:
    """Whether an option of the instance is on."""
    return lambda run: cast(BitwuzlaEngine, run.engine.core).settings.is_on(option)


class SecondInstance(Second):
    """Another instance on the same term manager, made for each question."""

    def __init__(self, engine: BitwuzlaEngine) -> None:
        self.manager = engine.session.manager

    def answer(self, formulas: Sequence[Any]) -> Answer:
        solver = bitwuzla.Bitwuzla(self.manager, bitwuzla.Options())
        if formulas:
            solver.assert_formula(*formulas)
        return check(solver)

    def negated(self, formula: Any) -> Any:
        return self.manager.mk_term(Kind.NOT, [formula])


class Interpolants(Own):
    """``bitwuzla:interpolants (FORMULA ...) ...``: after unsat, of growing parts of the assertions.

    Of one part there is one interpolant: it follows from the part, and contradicts the other assertions. Of
    several, each with the next part gives the next one. They are returned as terms.
    """

    solver = "bitwuzla"
    places = (("unsat", 3),)
    after = (Answer.UNSAT,)
    parts: FormulaLists

    needs = (
        Need(lambda run: not run.stack.assumptions, "interpolants after assumptions"),
        Need(is_on("produce-interpolants"), "without produce-interpolants"),
    )

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        left = list({t.handle.id(): t for t in run.stack.terms}.values())
        run.random.shuffle(left)
        parts: list[tuple[ApiTerm, ...]] = []
        while len(left) > 1 and (not parts or run.random.happens(0.3)):
            count = run.random.up_to(len(left) - 1)
            parts.append(tuple(left[:count]))
            del left[:count]
        return cls(tuple(parts)) if parts else None

    def act(self, run: Run, core: BitwuzlaEngine) -> Made | None:
        parts = self.parts
        for part in parts:
            if not part or not set(part) <= set(run.stack.terms):
                raise TraceError("parts of the assertions expected")
        handles = [[t.handle for t in part] for part in parts]
        if len(parts) == 1 and core.random.random() < 0.7:
            found = [core.solver.get_interpolant(handles[0])]
        else:
            found = core.solver.get_interpolants(handles)
        same = len(found) == len(parts)
        must("interpolant", same, f"{len(parts)} parts, {len(found)} interpolants")
        own = parts[0][0].sort
        made = [run.keep_term(own, handle, TermKind.TERM) for handle in found]
        _verify(core, parts, made, run.stack.terms)
        return tuple(made)


def _verify(
    engine: BitwuzlaEngine,
    parts: Sequence[Sequence[ApiTerm]],
    interpolants: Sequence[ApiTerm],
    assertions: Sequence[ApiTerm],
) -> None:
    """Misbehaviour where an interpolant does not follow, or does not contradict the rest."""
    second = SecondInstance(engine)
    before: list[ApiTerm] = []
    seen: set[int] = set()
    for part, interpolant in zip(parts, interpolants, strict=True):
        seen.update(t.handle.id() for t in part)
        rest = [t for t in assertions if t.handle.id() not in seen]
        common = _constants([t for t in assertions if t.handle.id() in seen]) & _constants(rest)
        if not _constants([interpolant]) <= common:
            raise Misbehaviour("interpolant", f"{interpolant.handle} has constants that are not common")
        premises = [t.handle for t in (*before, *part)]
        second.must_follow(premises, interpolant.handle, "interpolation", "interpolant")
        contradiction = [t.handle for t in (*rest, interpolant)]
        second.must_not_be(Answer.SAT, "interpolant", contradiction, "an interpolant with the rest")
        before = [interpolant]


def _constants(terms: Sequence[ApiTerm]) -> set[int]:
    return {n.id() for t in terms for n in nodes(t.handle, 10 * MAX_NODES) if n.is_const()}


# Actions that only bitwuzla has: their names begin with ``bitwuzla:``


_LOGIC = re.compile(r"\A\(set-logic [A-Z_]*\)")


class _OfBitwuzla(Own):
    """An action of bitwuzla."""

    solver = "bitwuzla"


class InspectOptions(_OfBitwuzla):
    """``bitwuzla:inspect-options``: every option is asked everything."""

    places = (("options", 0.05),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.settings.inspect()


class Statistics(_OfBitwuzla):
    """``bitwuzla:statistics``: names and values, as text."""

    places = (("terms", 0.1),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        found = core.solver.statistics()
        core.solver.term_mgr()
        must("value", bool(found) and all(found), f"statistics: {str(found)[:300]}")


class SimplifyAssertions(_OfBitwuzla):
    """``bitwuzla:simplify-assertions``: the assertions, in place; the last answer is forgotten."""

    places = (("terms", 0.5),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.simplify_assertions()


class LimitCheck(_OfBitwuzla):
    """``bitwuzla:limit-check N``: the next check may ask its terminator N times; mostly it ends early."""

    places = (("check", 0.3),)
    calls: Annotated[Count, up_to(20)]

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.terminator.next_calls = self.calls


_UNTOUCHED = Need(
    lambda run: cast(BitwuzlaEngine, run.engine.core).untouched,
    "assertions are not as they were asserted after a check",
)
"""A check replaces the assertions with what is left of them."""


class Assertions(_OfBitwuzla):
    """``bitwuzla:assertions``: those that were asserted, in order."""

    places = (("assert", 0.2),)
    needs = (_UNTOUCHED,)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        found = core.solver.get_assertions()
        if [t.id() for t in found] != [t.handle.id() for t in core.stack.terms]:
            raise Misbehaviour("term", f"assertions: {'; '.join(map(str, found))[:1000]}")


class ReadFormula(_OfBitwuzla):
    """``bitwuzla:read-formula``: the assertions, printed and read by another instance, answer the same."""

    places = (("assert", 0.3),)
    needs = (_UNTOUCHED,)
    likely = (lambda run: any(run.stack.levels),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.solver.print_formula("smt2", 16)  # not read: leading zeros are lost
        text = core.solver.print_formula("smt2", core.random.choice((2, 10)))
        _require_readable(core.stack.terms)
        printed = check(_read(core, text))
        asserted = SecondInstance(core).answer([term.handle for term in core.stack.terms])
        if {printed, asserted} == {Answer.SAT, Answer.UNSAT}:
            raise Misbehaviour("print", f"printed {printed}, asserted {asserted}\n{text[:2000]}")


class PrintCore(_OfBitwuzla):
    """``bitwuzla:print-core``: the core as a script, which another instance does not find satisfiable."""

    places = (("unsat", 1),)
    after = (Answer.UNSAT,)
    likely = (is_on("produce-unsat-cores"),)

    def act(self, run: Run, core: BitwuzlaEngine) -> None:
        core.solver.print_unsat_core("smt2", 16)
        text = core.solver.print_unsat_core("smt2", core.random.choice((2, 10)))
        _require_readable((*run.stack.terms, *(run.stack.assumptions or ())))
        if check(_read(core, text)) is Answer.SAT:
            raise Misbehaviour("core", f"the printed core is satisfiable\n{text[:2000]}")


def _require_readable(terms: Sequence[ApiTerm]) -> None:
    """Unsupported where bitwuzla's parser does not read what its printer writes."""
    for term in terms:
        for node in nodes(term.handle, MAX_NODES):
            require_readable(node)


def _read(core: BitwuzlaEngine, text: str) -> Any:
    """An instance that has read the script."""
    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
    # bitwuzla 0.9 prints formulas without declarations of sorts, and with logics that are too small.
    text = _LOGIC.sub("", text, count=1)
    sorts = "".join(f"(declare-sort {quote_symbol(name)} 0)" for name in core.session.declared)
    try:
        parser.configure_auto_print_model(False)
        parser.configure_terminator(Terminator())
        parser.parse(sorts + text, True, False)
    except bitwuzla.BitwuzlaException as error:
        raise unreadable(text, error) from error
    must("value", bool(parser.statistics()), "a parser without statistics")
    return parser.bitwuzla()


ACTIONS = actions_in(sys.modules[__name__])
