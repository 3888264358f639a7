"""Operators that are made by other calls than a kind with indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cvc5 import Kind

from apifuzz.engines.cvc5.session import Session
from apifuzz.engines.cvc5.values import ROUNDING_MODES, special_float

_Maker = Callable[[Session, str, tuple[int, ...], Any, list[Any]], Any]
"""Makes a term from the session, the operator's name, its indices, the result's sort handle and arguments."""


_FLOATS = ("+oo", "-oo", "+zero", "-zero", "NaN")


def is_special(name: str) -> bool:
    """Whether the operator is made by a call of its own."""
    return name in _MAKERS or name in _FLOATS


def special_term(
    session: Session, name: str, indices: tuple[int, ...], handle: Any, args: Sequence[Any]
) -> Any:
    """The term that one of these operators makes, of the sort ``handle``."""
    if name in _FLOATS:
        return special_float(session, name, *indices)
    return _MAKERS[name](session, name, indices, handle, list(args))


def _truth(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
    if session.chance(0.5):
        return session.maker.mkBoolean(name == "true")
    return session.maker.mkTrue() if name == "true" else session.maker.mkFalse()


def _rounding(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
    return session.maker.mkRoundingMode(ROUNDING_MODES[name])


def _plain(method: str, kind: Kind | None = None) -> _Maker:
    """A call without arguments; for some constants a kind does the same."""

    def make(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
        if kind is not None and session.chance(0.5):
            return session.maker.mkTerm(kind)
        return getattr(session.maker, method)()

    return make


def _of_sort(method: str) -> _Maker:
    """A call with the sort of the result."""

    def make(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
        return getattr(session.maker, method)(handle)

    return make


def _empty_sequence(
    session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]
) -> Any:
    return session.maker.mkEmptySequence(handle.getSequenceElementSort())


def _constant_array(
    session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]
) -> Any:
    return session.maker.mkConstArray(handle, args[0])


def _character(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
    if session.chance(0.5):
        return session.maker.mkString(f"\\u{{{indices[0]:x}}}", True)
    return session.maker.mkString(chr(indices[0]))


def _tuple(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
    if session.chance(0.5):
        return session.maker.mkTuple(args)
    constructor = handle.getDatatype()[0].getTerm()
    return session.maker.mkTerm(Kind.APPLY_CONSTRUCTOR, constructor, *args)


def _tuple_part(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
    selector = args[0].getSort().getDatatype()[0][indices[0]]
    if name == "tuple.select":
        return session.maker.mkTerm(Kind.APPLY_SELECTOR, selector.getTerm(), args[0])
    return session.maker.mkTerm(Kind.APPLY_UPDATER, selector.getUpdaterTerm(), *args)


def _on_argument(method: str) -> _Maker:
    """A call with the one argument."""

    def make(session: Session, name: str, indices: tuple[int, ...], handle: Any, args: list[Any]) -> Any:
        return getattr(session.maker, method)(args[0])

    return make


_MAKERS: dict[str, _Maker] = {
    "true": _truth,
    "false": _truth,
    **dict.fromkeys(ROUNDING_MODES, _rounding),
    "real.pi": _plain("mkPi", Kind.PI),
    "re.none": _plain("mkRegexpNone", Kind.REGEXP_NONE),
    "re.all": _plain("mkRegexpAll", Kind.REGEXP_ALL),
    "re.allchar": _plain("mkRegexpAllchar", Kind.REGEXP_ALLCHAR),
    "sep.emp": _plain("mkSepEmp", Kind.SEP_EMP),
    "sep.nil": _of_sort("mkSepNil"),
    "set.empty": _of_sort("mkEmptySet"),
    "set.universe": _of_sort("mkUniverseSet"),
    "bag.empty": _of_sort("mkEmptyBag"),
    "seq.empty": _empty_sequence,
    "const": _constant_array,
    "char": _character,
    "tuple.unit": _tuple,
    "tuple": _tuple,
    "tuple.select": _tuple_part,
    "tuple.update": _tuple_part,
    "nullable.null": _of_sort("mkNullableNull"),
    "nullable.some": _on_argument("mkNullableSome"),
    "nullable.val": _on_argument("mkNullableVal"),
    "nullable.is_null": _on_argument("mkNullableIsNull"),
    "nullable.is_some": _on_argument("mkNullableIsSome"),
}
