"""Sorts and terms are asked all they can be asked, and the answers compared with what they were made of: by
the scripts of ``questions.toml``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cvc5 import Kind, RoundingMode, SortKind

from apifuzz.engines.cvc5.calls import MEMBERS, QUESTIONS, kind_of
from apifuzz.engines.cvc5.sorts import Sorts
from apifuzz.engines.rows import words_of
from apifuzz.interface import ApiTerm, DatatypeSpec, expect
from smtlib import Sort

_SORT_KINDS = {kind.name: kind for kind in SortKind}
_WORDS = {
    **{"Kind": Kind, "MEMBERS": MEMBERS, "kind_of": kind_of, "expect": expect},
    **{"rounding_modes": RoundingMode, "sign": lambda number: (number > 0) - (number < 0)},
    "values": tuple(name for name in QUESTIONS if name.startswith("is")),
}


def _inspect(script: str, args: Sequence[Any] = (), indices: Sequence[int] = (), **words: Any) -> None:
    QUESTIONS.run(script, words_of(args, indices, _SORT_KINDS.__getitem__, _WORDS | words))


def inspect_sort(sorts: Sorts, sort: Sort, handle: Any) -> None:
    """Compare all that a sort says of itself with ``sort``."""
    declared, spec = sorts.declared.get(sort.name), sorts.specs.get(sort.name)

    def inspect_datatype(spec: DatatypeSpec, handle: Any) -> None:
        _inspect("datatype", sort=handle, spec=spec, of_field=sorts.of_field)

    args = [sorts.of(part) for part in sort.args]
    known = {"sort": handle, "what": sort, "name": sort.name, "declared": declared, "spec": spec}
    known |= {"is_datatype": spec is not None, "boolean": sorts.session.manager.getBooleanSort()}
    _inspect("sort", args, sort.indices, inspect_datatype=inspect_datatype, **known)


def inspect_term(term: ApiTerm) -> None:
    """Compare all that a term says of itself with what it was made of."""

    def inspect_application(handle: Any, made: ApiTerm, children: Sequence[Any]) -> None:
        _inspect("application", term=handle, made=made, children=children, about=str(made))

    known: dict[str, Any] = {"inspect_application": inspect_application, "inspect_value": inspect_value}
    _inspect("term", term=term.handle, made=term, about=str(term), **known)


def inspect_value(handle: Any, about: str) -> None:
    """Ask a term whether it is a value, and a value what it is: its different forms must agree."""
    _inspect("value", term=handle, about=about)
