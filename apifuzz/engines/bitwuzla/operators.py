"""Operators of the theory files as bitwuzla's kinds, and the different calls that make one term."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random
from typing import Any

from bitwuzla import Kind

from apifuzz.engines.bitwuzla.limits import FLOAT_FORMATS
from apifuzz.engines.bitwuzla.session import Session
from apifuzz.engines.bitwuzla.values import SPECIAL_FLOATS, make_value
from apifuzz.interface import Unsupported
from smtlib import Signature, Sort

KINDS: dict[str, Any] = {
    "not": Kind.NOT,
    "=>": Kind.IMPLIES,
    "and": Kind.AND,
    "or": Kind.OR,
    "xor": Kind.XOR,
    "=": Kind.EQUAL,
    "distinct": Kind.DISTINCT,
    "ite": Kind.ITE,
    "select": Kind.ARRAY_SELECT,
    "store": Kind.ARRAY_STORE,
    "concat": Kind.BV_CONCAT,
    "extract": Kind.BV_EXTRACT,
    "zero_extend": Kind.BV_ZERO_EXTEND,
    "sign_extend": Kind.BV_SIGN_EXTEND,
    "rotate_left": Kind.BV_ROLI,
    "rotate_right": Kind.BV_RORI,
    "repeat": Kind.BV_REPEAT,
    "bvnot": Kind.BV_NOT,
    "bvneg": Kind.BV_NEG,
    "bvand": Kind.BV_AND,
    "bvor": Kind.BV_OR,
    "bvxor": Kind.BV_XOR,
    "bvadd": Kind.BV_ADD,
    "bvmul": Kind.BV_MUL,
    "bvsub": Kind.BV_SUB,
    "bvudiv": Kind.BV_UDIV,
    "bvurem": Kind.BV_UREM,
    "bvsdiv": Kind.BV_SDIV,
    "bvsrem": Kind.BV_SREM,
    "bvsmod": Kind.BV_SMOD,
    "bvshl": Kind.BV_SHL,
    "bvlshr": Kind.BV_SHR,
    "bvashr": Kind.BV_ASHR,
    "bvnand": Kind.BV_NAND,
    "bvnor": Kind.BV_NOR,
    "bvxnor": Kind.BV_XNOR,
    "bvcomp": Kind.BV_COMP,
    "bvult": Kind.BV_ULT,
    "bvule": Kind.BV_ULE,
    "bvugt": Kind.BV_UGT,
    "bvuge": Kind.BV_UGE,
    "bvslt": Kind.BV_SLT,
    "bvsle": Kind.BV_SLE,
    "bvsgt": Kind.BV_SGT,
    "bvsge": Kind.BV_SGE,
    "bvredor": Kind.BV_REDOR,
    "bvredand": Kind.BV_REDAND,
    "bvnego": Kind.BV_NEG_OVERFLOW,
    "bvuaddo": Kind.BV_UADD_OVERFLOW,
    "bvsaddo": Kind.BV_SADD_OVERFLOW,
    "bvumulo": Kind.BV_UMUL_OVERFLOW,
    "bvsmulo": Kind.BV_SMUL_OVERFLOW,
    "bvusubo": Kind.BV_USUB_OVERFLOW,
    "bvssubo": Kind.BV_SSUB_OVERFLOW,
    "bvsdivo": Kind.BV_SDIV_OVERFLOW,
    "fp": Kind.FP_FP,
    "fp.abs": Kind.FP_ABS,
    "fp.neg": Kind.FP_NEG,
    "fp.add": Kind.FP_ADD,
    "fp.sub": Kind.FP_SUB,
    "fp.mul": Kind.FP_MUL,
    "fp.div": Kind.FP_DIV,
    "fp.fma": Kind.FP_FMA,
    "fp.sqrt": Kind.FP_SQRT,
    "fp.roundToIntegral": Kind.FP_RTI,
    "fp.rem": Kind.FP_REM,
    "fp.min": Kind.FP_MIN,
    "fp.max": Kind.FP_MAX,
    "fp.leq": Kind.FP_LEQ,
    "fp.lt": Kind.FP_LT,
    "fp.geq": Kind.FP_GEQ,
    "fp.gt": Kind.FP_GT,
    "fp.eq": Kind.FP_EQUAL,
    "fp.isNormal": Kind.FP_IS_NORMAL,
    "fp.isSubnormal": Kind.FP_IS_SUBNORMAL,
    "fp.isZero": Kind.FP_IS_ZERO,
    "fp.isInfinite": Kind.FP_IS_INF,
    "fp.isNaN": Kind.FP_IS_NAN,
    "fp.isNegative": Kind.FP_IS_NEG,
    "fp.isPositive": Kind.FP_IS_POS,
    "to_fp_unsigned": Kind.FP_TO_FP_FROM_UBV,
    "fp.to_ubv": Kind.FP_TO_UBV,
    "fp.to_sbv": Kind.FP_TO_SBV,
}
"""Operators with one kind each. Values, constant arrays and ``to_fp``, which has several, are made apart."""

LACKING = frozenset(("ubv_to_int", "sbv_to_int", "int_to_bv", "fp.to_real"))
"""Operators of bitwuzla's theories that it lacks, for it has neither integers nor reals."""

_LEFT = frozenset(("and", "or", "xor", "bvand", "bvor", "bvxor", "bvadd", "bvmul", "concat"))
_CHAINABLE = frozenset(("=", "fp.leq", "fp.lt", "fp.geq", "fp.gt", "fp.eq"))
_MIRRORED = {
    "bvult": Kind.BV_UGT,
    "bvule": Kind.BV_UGE,
    "bvugt": Kind.BV_ULT,
    "bvuge": Kind.BV_ULE,
    "bvslt": Kind.BV_SGT,
    "bvsle": Kind.BV_SGE,
    "bvsgt": Kind.BV_SLT,
    "bvsge": Kind.BV_SLE,
    "fp.leq": Kind.FP_GEQ,
    "fp.lt": Kind.FP_GT,
    "fp.geq": Kind.FP_LEQ,
    "fp.gt": Kind.FP_LT,
}
"""What says the same of the arguments in the other order."""


def takes(signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
    """Whether bitwuzla takes an operator of its theories at these sorts."""
    if len(sorts) < 2 and signature.associativity:
        return False  # The theory files let ``and`` and ``or`` have one argument.
    return all(map(_is_known, sorts)) and _is_known(result)


def gives_unknown_format(sort: Sort) -> bool:
    """Whether this is a floating-point sort that bitwuzla refuses to make (but lets conversions give)."""
    return sort.name == "FloatingPoint" and sort.indices not in FLOAT_FORMATS


def _is_known(sort: Sort) -> bool:
    return (
        sort.name not in ("Int", "Real") and not gives_unknown_format(sort) and all(map(_is_known, sort.args))
    )


class Operators:
    """Makes applications of operators; draws among the calls that come to the same."""

    def __init__(self, session: Session, random: Random) -> None:
        self.session = session
        self.random = random

    def make(
        self, name: str, indices: tuple[int, ...], sort: Sort, args: Sequence[Any], sorts: Sequence[Sort]
    ) -> Any:
        """The operator applied to handles of these sorts; ``sort`` is the result's."""
        if not args:
            return make_value(self.session, self.random, sort, _value_text(name, indices))
        if name == "const":
            return self.session.manager.mk_const_array(self.session.sort(sort), args[0])
        if name == "to_fp":
            return self.session.make(_conversion(sorts), args, indices)
        kind = KINDS.get(name)
        if kind is None:
            raise Unsupported(f"operator {name}")
        if len(args) > 2:
            return self._many(name, kind, args, indices, sorts)
        return self._few(name, kind, args, indices, sorts)

    def _few(
        self, name: str, kind: Any, args: Sequence[Any], indices: tuple[int, ...], sorts: Sequence[Sort]
    ) -> Any:
        # The plain call mostly: equivalent ones would cover up the kind that was asked for.
        other = self.random.random() < 0.2
        if other:
            made = self._equivalent(name, args, indices, sorts)
            if made is not None:
                return made
        return self.session.make(kind, args, indices)

    def _equivalent(
        self, name: str, args: Sequence[Any], indices: tuple[int, ...], sorts: Sequence[Sort]
    ) -> Any | None:
        """Another way to say it, where there is one."""
        make = self.session.make
        if name in _MIRRORED:
            return make(_MIRRORED[name], (args[1], args[0]))
        if name == "=" and sorts[0].name == "Bool":
            return make(Kind.IFF, args)
        if name == "distinct":
            return make(Kind.NOT, (make(Kind.EQUAL, args),))
        if name in ("rotate_left", "rotate_right"):
            width = sorts[0].indices[0]
            kind = Kind.BV_ROL if name == "rotate_left" else Kind.BV_ROR
            amount = make_value(self.session, self.random, sorts[0], f"(_ bv{indices[0] % width} {width})")
            return make(kind, (args[0], amount))
        if name == "bvadd" and args[1].is_bv_value_one():
            return make(Kind.BV_INC, args[:1])
        if name == "bvsub" and args[1].is_bv_value_one():
            return make(Kind.BV_DEC, args[:1])
        return None

    def _many(
        self, name: str, kind: Any, args: Sequence[Any], indices: tuple[int, ...], sorts: Sequence[Sort]
    ) -> Any:
        """Three or more arguments: bitwuzla's own way to take them, or applications to two, put together."""
        make = self.session.make
        choice = self.random.randrange(3)
        if name == "distinct" and self._has_uninterpreted(sorts[0]):
            choice = (
                0  # std::bad_variant_access in bitwuzla 0.9, where more than two are compared in one term
            )
        if name in _LEFT and choice == 0:
            made = args[0]
            for arg in args[1:]:
                made = make(kind, (made, arg))
            return made
        if name == "=>" and choice == 0:
            made = args[-1]
            for arg in args[-2::-1]:
                made = make(kind, (arg, made))
            return made
        if name in _CHAINABLE and choice == 0:
            return make(Kind.AND, [make(kind, pair) for pair in itertools.pairwise(args)])
        if name == "distinct" and choice == 0:
            return make(Kind.AND, [make(kind, pair) for pair in itertools.combinations(args, 2)])
        if name == "=" and choice == 1 and sorts[0].name == "Bool":
            kind = Kind.IFF
        if name == "fp" and all(a.is_value() for a in args) and choice == 0:
            return self.session.manager.mk_fp_value(*args)
        return make(kind, args, indices)

    def _has_uninterpreted(self, sort: Sort) -> bool:
        return sort.name in self.session.declared or any(map(self._has_uninterpreted, sort.args))


def _conversion(sorts: Sequence[Sort]) -> Any:
    if len(sorts) == 1:
        return Kind.FP_TO_FP_FROM_BV
    if sorts[1].name == "FloatingPoint":
        return Kind.FP_TO_FP_FROM_FP
    if sorts[1].name == "BitVec":
        return Kind.FP_TO_FP_FROM_SBV
    raise Unsupported(f"to_fp from {sorts[1]}")


def _value_text(name: str, indices: tuple[int, ...]) -> str:
    if name in SPECIAL_FLOATS:
        return f"(_ {name} {indices[0]} {indices[1]})"
    return name
