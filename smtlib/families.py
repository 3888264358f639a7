"""Ranks that no signature expresses: functions of any number of indices or arguments, or tuples of any size.

Relations are sets of tuples, tables are bags of tuples (cvc5).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

from smtlib.sorts import BOOL, STRING, Sort, bit_vector, make_sort

_Rank = Callable[[Sequence[int], Sequence[Sort]], "Sort | None"]


def tuple_sort(columns: Sequence[Sort]) -> Sort:
    """The sort of tuples of these sorts."""
    return make_sort("Tuple", (), tuple(columns)) if columns else make_sort("UnitTuple")


def alias_sort(name: str, args: tuple[Sort, ...]) -> Sort | None:
    """The sort that ``(name args ...)`` abbreviates: cvc5's relations and tables, z3's ``StringSequence``."""
    if name in ("Relation", "Table") and args:
        return _of("Set" if name == "Relation" else "Bag", args)
    return STRING if name == "StringSequence" and not args else None


def family_rank(
    name: str, indices: tuple[int | str, ...], sorts: tuple[Sort, ...], qualifier: Sort | None
) -> Sort | None:
    """The result sort of a function of a family, or None if the application does not fit."""
    if qualifier is not None:
        fits = name == "const" and qualifier.name == "Array" and sorts == qualifier.args[-1:]
        return qualifier if fits else None
    rank = FAMILIES.get(name)
    numbers = [i for i in indices if isinstance(i, int)]
    if rank is None or len(numbers) < len(indices):
        return None
    try:
        return rank[1](numbers, sorts)
    except (IndexError, ValueError):
        return None


def _columns(sort: Sort, container: str = "") -> tuple[Sort, ...]:
    """The columns of a tuple sort, or of the tuples in a relation (Set) or table (Bag)."""
    if container:
        if sort.name != container:
            raise ValueError
        (sort,) = sort.args
    if sort.name not in ("Tuple", "UnitTuple"):
        raise ValueError
    return sort.args


def _of(container: str, columns: Sequence[Sort]) -> Sort:
    return make_sort(container, (), (tuple_sort(columns),))


def _unindexed(rank: Callable[[Sequence[Sort]], Sort | None]) -> _Rank:
    """The rank of a function that takes no indices."""
    return lambda indices, sorts: None if indices else rank(sorts)


def _select(indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    ((place,), (found,)) = indices, sorts
    return _columns(found)[place]


def _update(indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    ((place,), (found, value)) = indices, sorts
    return found if _columns(found)[place] is value else None


def _project(container: str, indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    (found,) = sorts
    columns = [_columns(found, container)[i] for i in indices]
    return _of(container, columns) if container else tuple_sort(columns)


def _product(container: str, indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    """Products; with pairs of indices, joins on the columns that they name."""
    left, right = (_columns(sort, container) for sort in sorts)
    pairs = zip(indices[::2], indices[1::2], strict=True)
    fits = all(left[i] is right[j] for i, j in pairs)
    return _of(container, (*left, *right)) if fits else None


def _join(sorts: Sequence[Sort]) -> Sort | None:
    left, right = (_columns(sort, "Set") for sort in sorts)
    joined = (*left[:-1], *right[1:])
    return _of("Set", joined) if joined and left[-1] is right[0] else None


def _transpose(sorts: Sequence[Sort]) -> Sort | None:
    (found,) = sorts
    return _of("Set", _columns(found, "Set")[::-1])


def _group(container: str, indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    (found,) = sorts
    columns = _columns(found, container)
    return make_sort(container, (), (found,)) if all(i < len(columns) for i in indices) else None


def _aggregate(container: str, indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    function, start, found = sorts
    columns = _columns(found, container)
    expected = make_sort("->", (), (tuple_sort(columns), start, start))
    fits = function is expected and all(i < len(columns) for i in indices)
    return make_sort(container, (), (start,)) if fits else None


def _insert(sorts: Sequence[Sort]) -> Sort | None:
    *elements, found = sorts
    fits = elements and found.name == "Set" and all(e is found.args[0] for e in elements)
    return found if fits else None


def _pseudo_boolean(indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    return BOOL if len(indices) == len(sorts) + 1 and all(s is BOOL for s in sorts) else None


def _lift(sorts: Sequence[Sort]) -> Sort | None:
    function, *values = sorts
    expected = tuple(v.args[0] for v in values if v.name == "Nullable")
    fits = function.is_function and len(expected) == len(values) and function.args[:-1] == expected
    return make_sort("Nullable", (), (function.args[-1],)) if fits else None


def _select_many(sorts: Sequence[Sort]) -> Sort | None:
    found, *places = sorts
    fits = found.name in ("Array", "->") and found.args[:-1] == tuple(places)
    return found.args[-1] if fits else None


def _store_many(sorts: Sequence[Sort]) -> Sort | None:
    found, *values = sorts
    return found if found.name == "Array" and found.args == tuple(values) else None


def _make_bits(sorts: Sequence[Sort]) -> Sort | None:
    return bit_vector(len(sorts)) if sorts and set(sorts) == {BOOL} else None


def _default(sorts: Sequence[Sort]) -> Sort | None:
    (found,) = sorts
    return found.args[-1] if found.name == "Array" else None


def _difference(indices: Sequence[int], sorts: Sequence[Sort]) -> Sort | None:
    """The index where two arrays differ, or the one with this number of several."""
    left, right = sorts
    place = indices[0] if indices else 0
    fits = left is right and left.name == "Array" and place < len(left.args) - 1
    return left.args[place] if fits else None


def _predicates(least: int, most: int, sorts: Sequence[Sort]) -> Sort | None:
    """Functions on sets that are arrays of Bool, of any number of indices."""
    fits = least <= len(sorts) <= most and len(set(sorts)) == 1
    return sorts[0] if fits and sorts[0].name == "Array" and sorts[0].args[-1] is BOOL else None


def _subset(sorts: Sequence[Sort]) -> Sort | None:
    return BOOL if _predicates(2, 2, sorts) else None


FAMILIES: dict[str, tuple[str, _Rank]] = {
    "const": ("ArraysEx", lambda indices, sorts: None),
    "tuple": ("Tuples", _unindexed(tuple_sort)),
    "tuple.select": ("Tuples", _select),
    "tuple.update": ("Tuples", _update),
    "tuple.project": ("Tuples", partial(_project, "")),
    "rel.product": ("Tuples", _unindexed(partial(_product, "Set", ()))),
    "rel.table_join": ("Tuples", partial(_product, "Set")),
    "rel.join": ("Tuples", _unindexed(_join)),
    "rel.transpose": ("Tuples", _unindexed(_transpose)),
    "rel.project": ("Tuples", partial(_project, "Set")),
    "rel.group": ("Tuples", partial(_group, "Set")),
    "rel.aggr": ("Tuples", partial(_aggregate, "Set")),
    "table.product": ("Tuples", _unindexed(partial(_product, "Bag", ()))),
    "table.join": ("Tuples", partial(_product, "Bag")),
    "table.project": ("Tuples", partial(_project, "Bag")),
    "table.group": ("Tuples", partial(_group, "Bag")),
    "table.aggr": ("Tuples", partial(_aggregate, "Bag")),
    "nullable.lift": ("Tuples", _unindexed(_lift)),
    "set.insert": ("Sets", _unindexed(_insert)),
    "pble": ("Z3Extras", _pseudo_boolean),
    "pbge": ("Z3Extras", _pseudo_boolean),
    "pbeq": ("Z3Extras", _pseudo_boolean),
    "mkbv": ("FixedSizeBitVectors", _unindexed(_make_bits)),
    "select": ("ArraysEx", _unindexed(_select_many)),
    "store": ("ArraysEx", _unindexed(_store_many)),
    "default": ("ArraysEx", _unindexed(_default)),
    "array-ext": ("ArraysEx", _difference),
    "union": ("ArraysEx", _unindexed(partial(_predicates, 1, sys.maxsize))),
    "intersection": ("ArraysEx", _unindexed(partial(_predicates, 1, sys.maxsize))),
    "setminus": ("ArraysEx", _unindexed(partial(_predicates, 2, 2))),
    "complement": ("ArraysEx", _unindexed(partial(_predicates, 1, 1))),
    "subset": ("ArraysEx", _unindexed(_subset)),
    "case-def": ("ReadOnly", _unindexed(lambda sorts: BOOL if sorts else None)),
}
"""By function, its theory and its rank. They are tried after the signatures of the same name."""
