"""The sorts of a fed term in the run: what its script declares is declared again, with new names."""

from __future__ import annotations

from apifuzz.actions.sorts import DeclareDatatypes, DeclareSort, ensure_sort
from apifuzz.feeding.terms import FedTerm, is_declared, specify
from apifuzz.interface import ApiSort, Feature, Unsupported
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed
from smtlib import Declaration, Sort, make_sort
from smtlib.environment import Datatype


class OwnSorts:
    """The run's own sorts, and members of datatypes, for those of one fed term."""

    def __init__(self, run: Run, fed: FedTerm) -> None:
        self.run = run
        self.fed = fed
        self._heads: dict[str, str] = {}
        self._members: dict[Declaration, str] = {}

    def own(self, sort: Sort) -> Sort:
        """The sort as the run has it. Raises :class:`Unsupported` where the solver has none like it."""
        head = self._head(sort)
        if head == sort.name and not sort.args:
            return sort
        return make_sort(head, sort.indices, tuple(map(self.own, sort.args)))

    def member(self, datatype: Sort, declaration: Declaration) -> str:
        """The name of a constructor or selector of a datatype sort of the fed term."""
        self.own(datatype)
        try:
            return self._members[declaration]
        except KeyError:
            raise Unsupported("a datatype that was declared twice") from None

    def _head(self, sort: Sort) -> str:
        """The name of the sort's head; what the script declares is declared now."""
        if is_declared(sort) and sort.name not in self._heads:
            group = self.fed.group(sort)
            if group:
                self._declare_datatypes(group)
            else:
                self._declare_sort(sort)
        return self._heads.get(sort.name, sort.name)

    def _declare_sort(self, sort: Sort) -> None:
        self.run.require(Feature.SORT_CONSTRUCTORS if sort.args else Feature.SORTS)
        name = self.run.fresh_name("U", plain=True)
        self.run.make(DeclareSort(name, len(sort.args)))
        self._heads[sort.name] = name

    def _declare_datatypes(self, group: tuple[Datatype, ...]) -> None:
        self.run.require(Feature.DATATYPES)
        if any(d.params for d in group):
            self.run.require(Feature.PARAMETRIC_DATATYPES)
        self._heads |= {d.name: self.run.fresh_name("D", plain=True) for d in group}
        members: dict[Declaration, str] = {}

        def rename(member: Declaration) -> str:
            members[member] = self.run.fresh_name("cons" if member.origin == "constructor" else "sel")
            return members[member]

        self.run.make(DeclareDatatypes(specify(group, self._head_of_field, rename, self._field)))
        self._members |= members

    def _head_of_field(self, sort: Sort) -> str:
        head = self._head(sort)
        if head in self.run.capabilities.sorts_without.get("datatype", ()):
            raise Unsupported(f"no fields of sort {head}")
        return head

    def _field(self, sort: Sort) -> ApiSort:
        own = self.own(sort)
        if not allowed(self.run, "datatype", own):
            raise Unsupported(f"no fields of sort {own}")
        return ensure_sort(self.run, own)
