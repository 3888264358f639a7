"""Operators with indices, or whose call depends on the sorts of their arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.sorts import Sorts
from apifuzz.interface import Head
from smtlib import Sort

Way = Callable[[], Any]

_Maker = Callable[[Session, tuple[int, ...], Sequence[Any], Any], Any]
"""Makes a term from the session, the indices, the arguments and the result's sort handle."""


def _raw(name: str, count: int = 1) -> _Maker:
    """``Z3_mk_name(indices, arguments)``."""

    def make(session: Session, indices: tuple[int, ...], args: Sequence[Any], sort: Any) -> Any:
        function = getattr(z3core, f"Z3_mk_{name}")
        return session.wrap(function(session.ref, *indices, *[a.as_ast() for a in args]))

    return make


def _raw_after(name: str) -> _Maker:
    """``Z3_mk_name(arguments, indices)``."""

    def make(session: Session, indices: tuple[int, ...], args: Sequence[Any], sort: Any) -> Any:
        function = getattr(z3core, f"Z3_mk_{name}")
        return session.wrap(function(session.ref, *[a.as_ast() for a in args], *indices))

    return make


def _raw_sorted(name: str) -> _Maker:
    """``Z3_mk_name(arguments, sort)``."""

    def make(session: Session, indices: tuple[int, ...], args: Sequence[Any], sort: Any) -> Any:
        function = getattr(z3core, f"Z3_mk_{name}")
        return session.wrap(function(session.ref, *[a.as_ast() for a in args], sort.ast))

    return make


def _special(name: str, *flags: bool) -> _Maker:
    """``Z3_mk_name(sort, flags)``."""

    def make(session: Session, indices: tuple[int, ...], args: Sequence[Any], sort: Any) -> Any:
        return session.wrap(getattr(z3core, f"Z3_mk_{name}")(session.ref, sort.ast, *flags))

    return make


def _weighed(name: str) -> _Maker:
    """``Z3_mk_name(arguments, coefficients, bound)`` for ``((_ name bound coefficient...) arguments)``."""

    def make(session: Session, indices: tuple[int, ...], args: Sequence[Any], sort: Any) -> Any:
        bound, *weights = indices
        coefficients = (ctypes.c_int * len(weights))(*weights)
        function = getattr(z3core, f"Z3_mk_{name}")
        return session.wrap(function(session.ref, len(args), session.array_of(args), coefficients, bound))

    return make


def _counted(name: str) -> _Maker:
    def make(session: Session, indices: tuple[int, ...], args: Sequence[Any], sort: Any) -> Any:
        function = getattr(z3core, f"Z3_mk_{name}")
        return session.wrap(function(session.ref, len(args), session.array_of(args), indices[0]))

    return make


def _order(name: str) -> _Maker:
    def make(session: Session, indices: tuple[int, ...], args: Sequence[Any], sort: Any) -> Any:
        declaration = getattr(z3, name)(args[0].sort(), indices[0])
        return declaration(*args)

    return make


def _plain(function: Callable[..., Any]) -> _Maker:
    """A function of z3's module that takes the indices, then the arguments."""
    return lambda session, indices, args, sort: function(*indices, *args)


def _plain_after(function: Callable[..., Any]) -> _Maker:
    """A function of z3's module that takes the arguments, then the indices."""
    return lambda session, indices, args, sort: function(*args, *indices)


def _of_context(name: str) -> _Maker:
    """``Z3_mk_name(context)``."""
    return lambda session, indices, args, sort: session.wrap(getattr(z3core, f"Z3_mk_{name}")(session.ref))


def _module_of_context(name: str) -> _Maker:
    return lambda session, indices, args, sort: getattr(z3, name)(session.context)


def _module_of_sort(name: str) -> _Maker:
    return lambda session, indices, args, sort: getattr(z3, name)(sort)


_INDEXED: dict[str, tuple[_Maker, ...]] = {
    "true": (_of_context("true"), lambda s, i, a, sort: z3.BoolVal(True, s.context)),
    "false": (_of_context("false"), lambda s, i, a, sort: z3.BoolVal(False, s.context)),
    "extract": (_raw("extract"), _plain(z3.Extract)),
    "zero_extend": (_raw("zero_ext"), _plain(z3.ZeroExt)),
    "sign_extend": (_raw("sign_ext"), _plain(z3.SignExt)),
    "repeat": (_raw("repeat"), _plain(z3.RepeatBitVec)),
    "rotate_left": (_raw("rotate_left"),),
    "rotate_right": (_raw("rotate_right"),),
    "int_to_bv": (_raw("int2bv"), _plain_after(z3.Int2BV)),
    "bit2bool": (_raw("bit2bool"),),
    "+oo": (_special("fpa_inf", False), _module_of_sort("fpPlusInfinity")),
    "-oo": (_special("fpa_inf", True), _module_of_sort("fpMinusInfinity")),
    "+zero": (_special("fpa_zero", False), _module_of_sort("fpPlusZero")),
    "-zero": (_special("fpa_zero", True), _module_of_sort("fpMinusZero")),
    "NaN": (_special("fpa_nan"), _module_of_sort("fpNaN")),
    "RNE": (_of_context("fpa_rne"), _of_context("fpa_round_nearest_ties_to_even"), _module_of_context("RNE")),
    "RNA": (_of_context("fpa_rna"), _of_context("fpa_round_nearest_ties_to_away"), _module_of_context("RNA")),
    "RTP": (_of_context("fpa_rtp"), _of_context("fpa_round_toward_positive"), _module_of_context("RTP")),
    "RTN": (_of_context("fpa_rtn"), _of_context("fpa_round_toward_negative"), _module_of_context("RTN")),
    "RTZ": (_of_context("fpa_rtz"), _of_context("fpa_round_toward_zero"), _module_of_context("RTZ")),
    "fp.to_ubv": (_raw_after("fpa_to_ubv"),),
    "fp.to_sbv": (_raw_after("fpa_to_sbv"),),
    "to_fp_unsigned": (
        _raw_sorted("fpa_to_fp_unsigned"),
        lambda s, i, a, sort: z3.fpUnsignedToFP(a[0], a[1], sort, s.context),
        lambda s, i, a, sort: z3.fpToFPUnsigned(a[0], a[1], sort, s.context),
    ),
    "char": (lambda s, i, a, sort: z3.StringVal(chr(i[0]), s.context),),
    "Char": (lambda s, i, a, sort: z3.CharVal(i[0], s.context), _raw("char")),
    "re.none": (_special("re_empty"), lambda s, i, a, sort: z3.Empty(sort)),
    "re.all": (_special("re_full"), lambda s, i, a, sort: z3.Full(sort)),
    "re.allchar": (_special("re_allchar"), lambda s, i, a, sort: z3.AllChar(sort, s.context)),
    "re.^": (_raw_after("re_power"),),
    "seq.empty": (_special("seq_empty"), _module_of_sort("Empty")),
    "set.empty": (_special("finite_set_empty"), _module_of_sort("FiniteSetEmpty")),
    "at-most": (_counted("atmost"), lambda s, i, a, sort: z3.AtMost(*a, i[0])),
    "at-least": (_counted("atleast"), lambda s, i, a, sort: z3.AtLeast(*a, i[0])),
    "pble": (_weighed("pble"), lambda s, i, a, sort: z3.PbLe(list(zip(a, i[1:], strict=True)), i[0])),
    "pbge": (_weighed("pbge"), lambda s, i, a, sort: z3.PbGe(list(zip(a, i[1:], strict=True)), i[0])),
    "pbeq": (
        _weighed("pbeq"),
        lambda s, i, a, sort: z3.PbEq(list(zip(a, i[1:], strict=True)), i[0], s.context),
    ),
    "linear-order": (_order("LinearOrder"),),
    "partial-order": (_order("PartialOrder"),),
    "tree-order": (_order("TreeOrder"),),
    "piecewise-linear-order": (_order("PiecewiseLinearOrder"),),
    "bvcomp": (lambda s, i, a, sort: z3.If(_equal(s, a), z3.BitVecVal(1, sort), z3.BitVecVal(0, sort)),),
}


def _equal(session: Session, args: Sequence[Any]) -> Any:
    return session.wrap(z3core.Z3_mk_eq(session.ref, args[0].as_ast(), args[1].as_ast()))


def indexed_ways(
    session: Session, sorts: Sorts, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> list[Way]:
    """The ways to make an operator whose call wants indices, the result's sort, or the arguments' sorts."""
    name, indices = head.name, head.indices
    makers: Sequence[_Maker] = _INDEXED.get(name, ())
    if name in _BY_SORTS:
        makers = _BY_SORTS[name](indices, sort, args, arg_sorts)
    if name in ("fp.to_ubv", "fp.to_sbv"):
        by_name = z3.fpToUBV if name == "fp.to_ubv" else z3.fpToSBV
        makers = (*makers, lambda s, i, a, result: by_name(a[0], a[1], result, s.context))

    def way(maker: _Maker) -> Way:
        return lambda: maker(session, indices, args, sorts.of(sort))

    return [way(maker) for maker in makers]


# Operators of one name and several calls: indices, result's sort, arguments, their sorts.

_Chooser = Callable[[tuple[int, ...], Sort, Sequence[Any], Sequence[Sort]], Sequence[_Maker]]


def _to_fp(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    names = tuple(s.name for s in arg_sorts)
    if names == ("BitVec",):
        return _raw_sorted("fpa_to_fp_bv"), lambda s, i, a, result: z3.fpBVToFP(a[0], result, s.context)
    if names == ("RoundingMode", "FloatingPoint"):
        return (
            _raw_sorted("fpa_to_fp_float"),
            lambda s, i, a, result: z3.fpFPToFP(a[0], a[1], result, s.context),
            lambda s, i, a, result: z3.fpToFP(a[0], a[1], result, s.context),
        )
    if names == ("RoundingMode", "Real"):
        return _raw_sorted("fpa_to_fp_real"), lambda s, i, a, result: z3.fpRealToFP(
            a[0], a[1], result, s.context
        )
    if names == ("RoundingMode", "BitVec"):
        return _raw_sorted("fpa_to_fp_signed"), lambda s, i, a, result: z3.fpSignedToFP(
            a[0], a[1], result, s.context
        )
    if names == ("RoundingMode", "Int", "Real"):
        return (_raw_sorted("fpa_to_fp_int_real"),)
    return ()


def _select(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    found: list[_Maker] = [
        lambda s, i, a, result: s.wrap(
            z3core.Z3_mk_select_n(s.ref, a[0].as_ast(), len(a) - 1, s.array_of(a[1:]))
        ),
        lambda s, i, a, result: z3.Select(*a),
        lambda s, i, a, result: a[0][a[1]],
        _raw("select"),
    ]
    if arg_sorts[0].name == "Set":
        found.append(lambda s, i, a, result: z3.IsMember(a[1], a[0]))
        found.append(
            lambda s, i, a, result: s.wrap(z3core.Z3_mk_set_member(s.ref, a[1].as_ast(), a[0].as_ast()))
        )
    return found


def _store(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    found: list[_Maker] = [
        lambda s, i, a, result: s.wrap(
            z3core.Z3_mk_store_n(s.ref, a[0].as_ast(), len(a) - 2, s.array_of(a[1:-1]), a[-1].as_ast())
        ),
        lambda s, i, a, result: z3.Store(*a),
        lambda s, i, a, result: z3.Update(*a),
        _raw("store"),
    ]
    if arg_sorts[0].name == "Set" and z3.is_true(args[2]):
        found.append(lambda s, i, a, result: z3.SetAdd(a[0], a[1]))
    if arg_sorts[0].name == "Set" and z3.is_false(args[2]):
        found.append(lambda s, i, a, result: z3.SetDel(a[0], a[1]))
    return found


def _const(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    found: list[_Maker] = [
        lambda s, i, a, result: s.wrap(z3core.Z3_mk_const_array(s.ref, result.domain().ast, a[0].as_ast())),
        lambda s, i, a, result: z3.K(result.domain(), a[0]),
    ]
    if sort.name == "Set" and z3.is_true(args[0]):
        found.append(lambda s, i, a, result: z3.FullSet(result.domain()))
    if sort.name == "Set" and z3.is_false(args[0]):
        found.append(lambda s, i, a, result: z3.EmptySet(result.domain()))
    return found


def _loop(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    # A bound of zero means no bound to the call, and an empty range is the parser's business.
    if len(args) > 1 or len(indices) != 2 or indices[1] < max(1, indices[0]):
        return ()
    return _raw_after("re_loop"), _plain_after(z3.Loop)


def _equality(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    if len(args) != 2:
        return ()
    found: list[_Maker] = [lambda s, i, a, result: a[0] == a[1]]
    if arg_sorts[0].name == "Bool":
        found.append(_raw("iff"))
    return found


def _to_real(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    if arg_sorts[0].name != "Int":
        return ()
    return _raw("int2real"), lambda s, i, a, result: z3.ToReal(a[0])


def _index_of(
    indices: tuple[int, ...], sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]
) -> Sequence[_Maker]:
    return (lambda s, i, a, result: z3.IndexOf(*a, z3.IntVal(0, s.context)),) if len(args) == 2 else ()


_BY_SORTS: dict[str, _Chooser] = {
    "to_fp": _to_fp,
    "select": _select,
    "store": _store,
    "const": _const,
    "re.loop": _loop,
    "=": _equality,
    "to_real": _to_real,
    "str.indexof": _index_of,
    "seq.indexof": _index_of,
}
