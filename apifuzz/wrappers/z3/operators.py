"""Operators of the theory files as z3's calls make them.

Most operators can be said in several ways: a call of z3core, an operator or function of z3's module, or z3's own
parser reading the operator over constants that are then substituted. The parser knows every operator that the
theory files ascribe to z3; some of them (``bvcomp``, ``sin``, ``fp.min_i``...) have no call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import z3
from z3 import z3core

from apifuzz.interface import Head
from apifuzz.wrappers.z3.indexed import indexed_ways
from apifuzz.wrappers.z3.session import Session, context_of
from apifuzz.wrappers.z3.sorts import Sorts
from smtlib import Sort

Way = Callable[[], Any]
"""Makes the term: an ExprRef."""

# Calls of z3core (without Z3_mk_). Before the colon how they take arguments: a number of them, n for an array of
# two or more, m for an array of any number, l for two at a time from the left, r from the right, c for a chain.
_CALLS: dict[str, str] = {
    # Core
    "not": "1:not",
    "=>": "r:implies",
    "and": "m:and",
    "or": "m:or",
    "xor": "l:xor",
    "=": "c:eq",
    "distinct": "n:distinct",
    "ite": "3:ite",
    # Ints, Reals
    "-": "1:unary_minus n:sub",
    "+": "n:add",
    "*": "n:mul",
    "div": "l:div",
    "/": "l:div",
    "mod": "2:mod",
    "rem": "2:rem",
    "abs": "1:abs",
    "^": "2:power",
    "<=": "c:le",
    "<": "c:lt",
    ">=": "c:ge",
    ">": "c:gt",
    "to_int": "1:real2int",
    "is_int": "1:is_int",
    # FixedSizeBitVectors
    "concat": "l:concat",
    "bvnot": "1:bvnot",
    "bvneg": "1:bvneg",
    "bvand": "l:bvand",
    "bvor": "l:bvor",
    "bvxor": "l:bvxor",
    "bvadd": "l:bvadd",
    "bvmul": "l:bvmul",
    "bvsub": "2:bvsub",
    "bvudiv": "2:bvudiv",
    "bvurem": "2:bvurem",
    "bvsdiv": "2:bvsdiv",
    "bvsrem": "2:bvsrem",
    "bvsmod": "2:bvsmod",
    "bvshl": "2:bvshl",
    "bvlshr": "2:bvlshr",
    "bvashr": "2:bvashr",
    "bvnand": "2:bvnand",
    "bvnor": "2:bvnor",
    "bvxnor": "2:bvxnor",
    "bvult": "2:bvult",
    "bvule": "2:bvule",
    "bvugt": "2:bvugt",
    "bvuge": "2:bvuge",
    "bvslt": "2:bvslt",
    "bvsle": "2:bvsle",
    "bvsgt": "2:bvsgt",
    "bvsge": "2:bvsge",
    "bvredor": "1:bvredor",
    "bvredand": "1:bvredand",
    "ext_rotate_left": "2:ext_rotate_left",
    "ext_rotate_right": "2:ext_rotate_right",
    "bvsmul_noudfl": "2:bvmul_no_underflow",
    # FloatingPoint
    "fp": "3:fpa_fp",
    "fp.abs": "1:fpa_abs",
    "fp.neg": "1:fpa_neg",
    "fp.add": "3:fpa_add",
    "fp.sub": "3:fpa_sub",
    "fp.mul": "3:fpa_mul",
    "fp.div": "3:fpa_div",
    "fp.fma": "4:fpa_fma",
    "fp.sqrt": "2:fpa_sqrt",
    "fp.roundToIntegral": "2:fpa_round_to_integral",
    "fp.rem": "2:fpa_rem",
    "fp.min": "2:fpa_min",
    "fp.max": "2:fpa_max",
    "fp.leq": "c:fpa_leq",
    "fp.lt": "c:fpa_lt",
    "fp.geq": "c:fpa_geq",
    "fp.gt": "c:fpa_gt",
    "fp.eq": "c:fpa_eq",
    "fp.isNormal": "1:fpa_is_normal",
    "fp.isSubnormal": "1:fpa_is_subnormal",
    "fp.isZero": "1:fpa_is_zero",
    "fp.isInfinite": "1:fpa_is_infinite",
    "fp.isNaN": "1:fpa_is_nan",
    "fp.isNegative": "1:fpa_is_negative",
    "fp.isPositive": "1:fpa_is_positive",
    "fp.to_real": "1:fpa_to_real",
    "fp.to_ieee_bv": "1:fpa_to_ieee_bv",
    # UnicodeStrings, Sequences
    "str.++": "n:seq_concat",
    "str.len": "1:seq_length",
    "str.<": "2:str_lt",
    "str.<=": "2:str_le",
    "str.at": "2:seq_at",
    "str.substr": "3:seq_extract",
    "str.prefixof": "2:seq_prefix",
    "str.suffixof": "2:seq_suffix",
    "str.contains": "2:seq_contains",
    "str.indexof": "3:seq_index",
    "str.replace": "3:seq_replace",
    "str.replace_all": "3:seq_replace_all",
    "str.replace_re": "3:seq_replace_re",
    "str.replace_re_all": "3:seq_replace_re_all",
    "str.to_code": "1:string_to_code",
    "str.from_code": "1:string_from_code",
    "str.to_int": "1:str_to_int",
    "str.from_int": "1:int_to_str",
    "str.power": "2:seq_power",
    "str.from_ubv": "1:ubv_to_str",
    "str.from_sbv": "1:sbv_to_str",
    "str.to_re": "1:seq_to_re",
    "str.in_re": "2:seq_in_re",
    "re.++": "n:re_concat",
    "re.union": "n:re_union",
    "re.inter": "n:re_intersect",
    "re.diff": "l:re_diff",
    "re.*": "1:re_star",
    "re.+": "1:re_plus",
    "re.opt": "1:re_option",
    "re.comp": "1:re_complement",
    "re.range": "2:re_range",
    "char.<=": "2:char_le",
    "char.is_digit": "1:char_is_digit",
    "char.to_int": "1:char_to_int",
    "char.to_bv": "1:char_to_bv",
    "char.from_bv": "1:char_from_bv",
    "seq.unit": "1:seq_unit",
    "seq.nth": "2:seq_nth",
    "seq.++": "n:seq_concat",
    "seq.len": "1:seq_length",
    "seq.extract": "3:seq_extract",
    "seq.at": "2:seq_at",
    "seq.contains": "2:seq_contains",
    "seq.prefixof": "2:seq_prefix",
    "seq.suffixof": "2:seq_suffix",
    "seq.indexof": "3:seq_index",
    "seq.replace": "3:seq_replace",
    "seq.replace_all": "3:seq_replace_all",
    "seq.last_indexof": "2:seq_last_index",
    "seq.power": "2:seq_power",
    "seq.replace_re": "3:seq_replace_re",
    "seq.replace_re_all": "3:seq_replace_re_all",
    "seq.map": "2:seq_map",
    "seq.mapi": "3:seq_mapi",
    "seq.fold_left": "3:seq_foldl",
    "seq.fold_lefti": "4:seq_foldli",
    # ArraysEx
    "default": "1:array_default",
    "array-ext": "2:array_ext",
    "union": "n:set_union",
    "intersection": "n:set_intersect",
    "setminus": "2:set_difference",
    "complement": "1:set_complement",
    "subset": "2:set_subset",
    # FiniteFields, FiniteSets
    "ff.add": "n:ff_add",
    "ff.mul": "n:ff_mul",
    "ff.neg": "1:ff_neg",
    "ff.bitsum": "n:ff_bitsum",
    "set.range": "2:finite_set_range",
    "set.union": "l:finite_set_union",
    "set.intersect": "l:finite_set_intersect",
    "set.difference": "2:finite_set_difference",
    "set.in": "2:finite_set_member",
    "set.subset": "2:finite_set_subset",
    "set.size": "1:finite_set_size",
    "set.map": "2:finite_set_map",
    "set.filter": "2:finite_set_filter",
}

_MODULE: dict[str, tuple[int, Callable[..., Any]]] = {
    "not": (1, z3.Not),
    "=>": (2, z3.Implies),
    "xor": (2, z3.Xor),
    "ite": (3, z3.If),
    "to_int": (1, z3.ToInt),
    "is_int": (1, z3.IsInt),
    "abs": (1, z3.Abs),
    "-": (2, operator.sub),
    "+": (2, operator.add),
    "*": (2, operator.mul),
    "div": (2, operator.truediv),
    "/": (2, operator.truediv),
    "mod": (2, operator.mod),
    "^": (2, operator.pow),
    "<=": (2, operator.le),
    "<": (2, operator.lt),
    ">=": (2, operator.ge),
    ">": (2, operator.gt),
    "bvnot": (1, operator.invert),
    "bvneg": (1, operator.neg),
    "bvand": (2, operator.and_),
    "bvor": (2, operator.or_),
    "bvxor": (2, operator.xor),
    "bvadd": (2, operator.add),
    "bvmul": (2, operator.mul),
    "bvsub": (2, operator.sub),
    "bvudiv": (2, z3.UDiv),
    "bvurem": (2, z3.URem),
    "bvsdiv": (2, operator.truediv),
    "bvsrem": (2, z3.SRem),
    "bvsmod": (2, operator.mod),
    "bvshl": (2, operator.lshift),
    "bvlshr": (2, z3.LShR),
    "bvashr": (2, operator.rshift),
    "bvnand": (2, z3.BvNand),
    "bvnor": (2, z3.BvNor),
    "bvxnor": (2, z3.BvXnor),
    "bvult": (2, z3.ULT),
    "bvule": (2, z3.ULE),
    "bvugt": (2, z3.UGT),
    "bvuge": (2, z3.UGE),
    "bvslt": (2, operator.lt),
    "bvsle": (2, operator.le),
    "bvsgt": (2, operator.gt),
    "bvsge": (2, operator.ge),
    "bvredor": (1, z3.BVRedOr),
    "bvredand": (1, z3.BVRedAnd),
    "ext_rotate_left": (2, z3.RotateLeft),
    "ext_rotate_right": (2, z3.RotateRight),
    "bvnego": (1, lambda a: z3.Not(z3.BVSNegNoOverflow(a))),
    "bvuaddo": (2, lambda a, b: z3.Not(z3.BVAddNoOverflow(a, b, False))),
    "bvsaddo": (2, lambda a, b: z3.Not(z3.And(z3.BVAddNoOverflow(a, b, True), z3.BVAddNoUnderflow(a, b)))),
    "bvumulo": (2, lambda a, b: z3.Not(z3.BVMulNoOverflow(a, b, False))),
    "bvsmulo": (2, lambda a, b: z3.Not(z3.And(z3.BVMulNoOverflow(a, b, True), z3.BVMulNoUnderflow(a, b)))),
    "bvusubo": (2, lambda a, b: z3.Not(z3.BVSubNoUnderflow(a, b, False))),
    "bvssubo": (2, lambda a, b: z3.Not(z3.And(z3.BVSubNoOverflow(a, b), z3.BVSubNoUnderflow(a, b, True)))),
    "bvsdivo": (2, lambda a, b: z3.Not(z3.BVSDivNoOverflow(a, b))),
    "bvumul_noovfl": (2, lambda a, b: z3.BVMulNoOverflow(a, b, False)),
    "bvsmul_noovfl": (2, lambda a, b: z3.BVMulNoOverflow(a, b, True)),
    "ubv_to_int": (1, z3.BV2Int),
    "sbv_to_int": (1, lambda a: z3.BV2Int(a, is_signed=True)),
    "fp": (3, z3.fpFP),
    "fp.abs": (1, z3.fpAbs),
    "fp.neg": (1, z3.fpNeg),
    "fp.add": (3, z3.fpAdd),
    "fp.sub": (3, z3.fpSub),
    "fp.mul": (3, z3.fpMul),
    "fp.div": (3, z3.fpDiv),
    "fp.fma": (4, z3.fpFMA),
    "fp.sqrt": (2, z3.fpSqrt),
    "fp.roundToIntegral": (2, z3.fpRoundToIntegral),
    "fp.rem": (2, z3.fpRem),
    "fp.min": (2, z3.fpMin),
    "fp.max": (2, z3.fpMax),
    "fp.leq": (2, z3.fpLEQ),
    "fp.lt": (2, operator.lt),
    "fp.geq": (2, z3.fpGEQ),
    "fp.gt": (2, operator.gt),
    "fp.eq": (2, z3.fpEQ),
    "fp.isNormal": (1, z3.fpIsNormal),
    "fp.isSubnormal": (1, z3.fpIsSubnormal),
    "fp.isZero": (1, z3.fpIsZero),
    "fp.isInfinite": (1, z3.fpIsInf),
    "fp.isNaN": (1, z3.fpIsNaN),
    "fp.isNegative": (1, z3.fpIsNegative),
    "fp.isPositive": (1, z3.fpIsPositive),
    "fp.to_real": (1, z3.fpToReal),
    "fp.to_ieee_bv": (1, z3.fpToIEEEBV),
    "str.++": (2, operator.add),
    "str.len": (1, z3.Length),
    "str.<": (2, operator.lt),
    "str.<=": (2, operator.le),
    "str.at": (2, lambda s, i: s.at(i)),
    "str.substr": (3, z3.SubString),
    "str.prefixof": (2, z3.PrefixOf),
    "str.suffixof": (2, z3.SuffixOf),
    "str.contains": (2, z3.Contains),
    "str.indexof": (3, z3.IndexOf),
    "str.replace": (3, z3.Replace),
    "str.to_code": (1, z3.StrToCode),
    "str.from_code": (1, z3.StrFromCode),
    "str.to_int": (1, z3.StrToInt),
    "str.from_int": (1, z3.IntToStr),
    "str.to_re": (1, z3.Re),
    "str.in_re": (2, z3.InRe),
    "re.++": (2, z3.Concat),
    "re.union": (2, z3.Union),
    "re.inter": (2, z3.Intersect),
    "re.diff": (2, z3.Diff),
    "re.*": (1, z3.Star),
    "re.+": (1, z3.Plus),
    "re.opt": (1, z3.Option),
    "re.comp": (1, z3.Complement),
    "re.range": (2, z3.Range),
    "char.<=": (2, operator.le),
    "char.is_digit": (1, z3.CharIsDigit),
    "char.to_int": (1, z3.CharToInt),
    "char.to_bv": (1, z3.CharToBv),
    "char.from_bv": (1, z3.CharFromBv),
    "seq.unit": (1, z3.Unit),
    "seq.nth": (2, operator.getitem),
    "seq.++": (2, z3.Concat),
    "seq.len": (1, z3.Length),
    "seq.extract": (3, z3.SubSeq),
    "seq.at": (2, lambda s, i: s.at(i)),
    "seq.contains": (2, z3.Contains),
    "seq.prefixof": (2, z3.PrefixOf),
    "seq.suffixof": (2, z3.SuffixOf),
    "seq.indexof": (3, z3.IndexOf),
    "seq.last_indexof": (2, z3.LastIndexOf),
    "seq.replace": (3, z3.Replace),
    "seq.power": (2, z3.SeqPower),
    "seq.map": (2, z3.SeqMap),
    "seq.mapi": (3, z3.SeqMapI),
    "seq.fold_left": (3, z3.SeqFoldLeft),
    "seq.fold_lefti": (4, z3.SeqFoldLeftI),
    "default": (1, z3.Default),
    "array-ext": (2, z3.Ext),
    "union": (2, z3.SetUnion),
    "intersection": (2, z3.SetIntersect),
    "setminus": (2, z3.SetDifference),
    "complement": (1, z3.SetComplement),
    "subset": (2, z3.IsSubset),
    "ff.add": (2, operator.add),
    "ff.mul": (2, operator.mul),
    "ff.neg": (1, operator.neg),
    "ff.bitsum": (2, z3.FiniteFieldBitsum),
    "set.range": (2, z3.FiniteSetRange),
    "set.union": (2, z3.FiniteSetUnion),
    "set.intersect": (2, z3.FiniteSetIntersect),
    "set.difference": (2, z3.FiniteSetDifference),
    "set.in": (2, z3.FiniteSetMember),
    "set.subset": (2, z3.FiniteSetSubset),
    "set.size": (1, z3.FiniteSetSize),
    "set.map": (2, z3.FiniteSetMap),
    "set.filter": (2, z3.FiniteSetFilter),
}
"""What z3's module calls an operator, for this many arguments. ``=`` is apart: there it is no plain ``==``."""

_MODULE_MANY: dict[str, Callable[..., Any]] = {
    "and": z3.And,
    "or": z3.Or,
    "distinct": z3.Distinct,
    "+": z3.Sum,
    "*": z3.Product,
    "concat": z3.Concat,
    "str.++": z3.Concat,
    "seq.++": z3.Concat,
    "re.++": z3.Concat,
    "re.union": z3.Union,
    "re.inter": z3.Intersect,
    "union": z3.SetUnion,
    "intersection": z3.SetIntersect,
    "ff.bitsum": z3.FiniteFieldBitsum,
}
"""Functions of z3's module for two or more arguments."""


class Operators:
    """Makes applications of the theories' operators in a session."""

    def __init__(self, session: Session, sorts: Sorts) -> None:
        self.session = session
        self.sorts = sorts

    def make(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> Any:
        """``(head args...)``, said in one of the ways there are."""
        ways = self.ways(head, sort, args, arg_sorts)
        # The parser is the slow way; every other way is as good as the next.
        if len(ways) > 1 and self.session.chance(0.95):
            ways = ways[:-1]
        return self.session.one_of(ways)()

    def ways(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> list[Way]:
        """Every way to make the term; the last is the parser's, which is always there."""
        name, count = head.name, len(args)
        found: list[Way] = []
        for call in _CALLS.get(name, "").split():
            found.extend(self._calls(*call.split(":"), args))
        arity, function = _MODULE.get(name, (0, None))
        if function is not None and arity == count:
            found.append(lambda: function(*args, **context_of(self.session, function)))
        many = _MODULE_MANY.get(name)
        if many is not None and count > 1:
            found.append(lambda: many(*args))
        found.extend(indexed_ways(self.session, self.sorts, head, sort, args, arg_sorts))
        found.append(lambda: self._template(head, sort, args, arg_sorts))
        return found

    def _calls(self, shape: str, name: str, args: Sequence[Any]) -> list[Way]:
        """The calls of ``Z3_mk_name`` that take this many arguments."""
        session, count = self.session, len(args)
        function = f"Z3_mk_{name}"

        def call(*given: Any) -> Any:
            return session.wrap(getattr(z3core, function)(session.ref, *[g.as_ast() for g in given]))

        def call_array() -> Any:
            return session.wrap(getattr(z3core, function)(session.ref, count, session.array_of(args)))

        def fold_left() -> Any:
            made = args[0]
            for arg in args[1:]:
                made = call(made, arg)
            return made

        def fold_right() -> Any:
            made = args[-1]
            for arg in reversed(args[:-1]):
                made = call(arg, made)
            return made

        def chain() -> Any:
            links = [call(left, right) for left, right in zip(args, args[1:], strict=False)]
            return links[0] if len(links) == 1 else z3.And(*links)

        if shape.isdigit():
            return [lambda: call(*args)] if int(shape) == count else []
        if shape == "m":
            return [call_array]
        if count < 2:
            return []
        return [{"n": call_array, "l": fold_left, "r": fold_right, "c": chain}[shape]]

    def _template(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> Any:
        """The operator read by z3's parser over constants, which the arguments then replace."""
        session = self.session
        key = (head.name, head.indices, tuple(arg_sorts), sort)
        found = session.templates.get(key)
        if found is None:
            names = [f"arg!{i}" for i in range(len(args))]
            constants = {n: z3.Const(n, self.sorts.of(s)) for n, s in zip(names, arg_sorts, strict=True)}
            text = operator_text(head, sort)
            term = f"({text} {' '.join(names)})" if names else text
            # The equality keeps the parser from converting the term to another sort.
            known = {"result!": self.sorts.of(sort)}
            parsed = z3.parse_smt2_string(f"(assert (= {term} {term}))", known, constants, session.context)
            found = session.templates[key] = (parsed[0].arg(0), tuple(constants.values()))
        term, variables = found
        return z3.substitute(term, *zip(variables, args, strict=True)) if variables else term


_QUALIFIED = frozenset(("const", "seq.empty", "set.empty", "nil"))
"""Operators whose result sort does not follow from their arguments; ``result!`` stands for it in a template."""


def operator_text(head: Head, sort: Sort) -> str:
    """The head as SMT-LIB writes it, with ``result!`` for the sort in ``(as head sort)``."""
    if head.indices:
        shown = [hex(i).replace("0x", "#x") if head.name == "char" else str(i) for i in head.indices]
        return f"(_ {head.name} {' '.join(shown)})"
    return f"(as {head.name} result!)" if head.name in _QUALIFIED else head.name
