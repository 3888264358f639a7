"""The sorts of a fed term as the run has them: what its script declares is declared anew, by new names."""

from __future__ import annotations

from collections.abc import Mapping

from apifuzz.actions.sorts import DeclareDatatypes, DeclareSort, ensure_sort
from apifuzz.feeding.terms import FedTerm, is_declared, specify
from apifuzz.interface import DatatypeSpec, Feature, Field, FieldSort, MadeSort, Unsupported
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
        head = self._own_head(sort) if is_declared(sort) else sort.name
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

    def _own_head(self, sort: Sort) -> str:
        found = self._heads.get(sort.name)
        if found is None:
            group = self.fed.group(sort)
            if group:
                self._declare_datatypes(group)
            else:
                self._declare_sort(sort)
            found = self._heads[sort.name]
        return found

    def _declare_sort(self, sort: Sort) -> None:
        self.run.require(Feature.SORT_CONSTRUCTORS if sort.args else Feature.SORTS)
        name = self.run.fresh_name("U", plain=True)
        self.run.make(DeclareSort(name, len(sort.args)))
        self._heads[sort.name] = name

    def _declare_datatypes(self, group: tuple[Datatype, ...]) -> None:
        self.run.require(Feature.DATATYPES)
        if any(d.params for d in group):
            self.run.require(Feature.PARAMETRIC_DATATYPES)
        heads = {d.name: self.run.fresh_name("D", plain=True) for d in group}
        members: dict[Declaration, str] = {}
        own = []
        for datatype, spec in zip(group, specify(group), strict=True):
            constructors = []
            for constructor, (_, fields) in zip(datatype.constructors, spec.constructors, strict=True):
                name = members[constructor.declaration] = self.run.fresh_name("cons")
                made = []
                for selector, field in zip(constructor.selectors, fields, strict=True):
                    members[selector] = self.run.fresh_name("sel")
                    made.append(Field(members[selector], self._field(field.sort, selector.result, heads)))
                constructors.append((name, tuple(made)))
            own.append(DatatypeSpec(heads[datatype.name], tuple(constructors), spec.parameters))
        self.run.make(DeclareDatatypes(tuple(own)))
        self._heads |= heads
        self._members |= members

    def _field(self, field: FieldSort, sort: Sort, heads: Mapping[str, str]) -> FieldSort:
        """A field's sort as the run has it; ``heads`` are the datatypes that are being declared."""
        if isinstance(field, MadeSort):
            head = self._own_head(sort) if is_declared(sort) else sort.name
            if head in self.run.capabilities.sorts_without.get("datatype", ()):
                raise Unsupported(f"no fields of sort {head}")
            args = [self._field(f, s, heads) for f, s in zip(field.args, sort.args, strict=True)]
            return MadeSort(head, tuple(args))
        if isinstance(field, str) and field:
            return heads.get(field, field)
        own = self.own(sort)
        if not allowed(self.run, "datatype", own):
            raise Unsupported(f"no fields of sort {own}")
        return ensure_sort(self.run, own)
