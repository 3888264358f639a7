"""One term manager of bitwuzla and what is kept with it: sorts, constants, how terms were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bitwuzla

from apifuzz.engines.bitwuzla.limits import FLOAT_FORMATS
from apifuzz.engines.kept import KEPT
from apifuzz.interface import Unsupported
from smtlib import Sort


class Session:
    """A term manager; shared by an engine and its siblings.

    ``declared`` holds the uninterpreted sorts by name, ``constants`` the declared constants and functions in
    order, ``made`` the kind, the ids of the children and the indices that terms were made with, by term id.
    Ids are never given out twice, so that ``made`` holds no term alive.
    """

    def __init__(self) -> None:
        self.manager = bitwuzla.TermManager()
        # bitwuzla 0.9 crashes where Python's garbage collector finds terms in a cycle and takes the manager
        # away before them.
        KEPT.append(self.manager)
        self.declared: dict[str, Any] = {}
        self.constants: list[Any] = []
        self.names: dict[int, str] = {}
        self.made: dict[int, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {}

    def sort(self, sort: Sort) -> Any:
        """bitwuzla's sort for ``sort``."""
        manager = self.manager
        if sort.name == "Bool":
            return manager.mk_bool_sort()
        if sort.name == "RoundingMode":
            return manager.mk_rm_sort()
        if sort.name == "BitVec":
            return manager.mk_bv_sort(sort.indices[0])
        if sort.name == "FloatingPoint":
            # Asked here because bitwuzla checks the format of sorts, but not of the results of conversions.
            if sort.indices not in FLOAT_FORMATS:
                raise Unsupported(f"floating-point format {sort}")
            return manager.mk_fp_sort(*sort.indices)
        if sort.name == "Array":
            index, element = sort.args
            if index.is_function or element.is_function:
                raise Unsupported("functions in arrays")
            return manager.mk_array_sort(self.sort(index), self.sort(element))
        if sort.is_function:
            *params, result = (self.sort(a) for a in sort.args)
            return manager.mk_fun_sort(params, result)
        if sort.name in self.declared and not sort.args:
            return self.declared[sort.name]
        raise Unsupported(f"sort {sort}")

    def make(self, kind: Any, args: Sequence[Any], indices: Sequence[int] = ()) -> Any:
        """``mk_term`` of arguments and indices as they are; remembered for inspection."""
        made = (
            self.manager.mk_term(kind, list(args), list(indices))
            if indices
            else self.manager.mk_term(kind, list(args))
        )
        if made.num_children() == len(args):
            self.made[made.id()] = (kind, tuple([a.id() for a in args]), tuple(indices))
        return made
