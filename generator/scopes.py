"""What a seed declares, to be had in part, and under other names.

A formula made from parts of seeds declares just what those parts need. Where two seeds meet in one formula,
everything that one of them names (symbols, sorts, constructors, bound variables) gets an ending that
the other does not use, so nothing can clash and no binder can catch a foreign symbol.
"""

from __future__ import annotations

from collections.abc import Iterable

from generator.seeds.script import SeedScript
from smtlib import CheckedCommand, Declaration, Naming, Sort, Term, postorder, print_command
from smtlib.reader import with_ending
from smtlib.sorts import indexed, subsorts


class Endings(Naming):
    """Prints what a seed names with an ``ending``; an empty one leaves the names as they are."""

    def __init__(self, script: SeedScript, ending: str = "") -> None:
        self.ending = ending
        self._sorts = {c.sort.name for c in script.prelude if c.sort is not None and c.sort.body is None}
        self._sorts.update(d.name for c in script.prelude for d in c.datatypes)

    def symbol(self, name: str) -> str:
        """The new name of a symbol, as printed."""
        return with_ending(name, self.ending)

    def sort(self, sort: Sort) -> str:
        """The text of ``sort``."""
        name = self.symbol(sort.name) if sort.name in self._sorts else sort.name.lstrip("'")
        name = indexed(name, sort.indices)
        return f"({name} {' '.join(map(self.sort, sort.args))})" if sort.args else name

    def head(self, term: Term) -> str:
        """The text of a term's head."""
        return self.renamed_head(term) if self.ending else super().head(term)


class Prelude:
    """The ``commands`` that declare what a seed uses. A set of them is bits of a number: its ``needs``."""

    def __init__(self, script: SeedScript, naming: Endings | None = None) -> None:
        self.naming = naming or Endings(script)
        self.texts: list[str] = []
        self._of_declaration: dict[Declaration, int] = {}
        self._of_sort: dict[str, int] = {}
        self._sort_needs: dict[Sort, int] = {}
        # Defined sorts are written out where they are used.
        self.commands = [c for c in script.prelude if c.sort is None or c.sort.body is None]
        for command in self.commands:
            self._add(command)

    def _add(self, command: CheckedCommand) -> None:
        own = 1 << len(self.texts)
        if command.sort is not None:
            self._of_sort[command.sort.name] = own
        for datatype in command.datatypes:
            self._of_sort[datatype.name] = own
        needs = own
        for datatype in command.datatypes:
            for constructor in datatype.constructors:
                for sort in constructor.declaration.params:
                    needs |= self.needs_of_sort(sort)
        for declaration in command.declarations:
            for sort in (*declaration.params, declaration.result):
                needs |= self.needs_of_sort(sort)
            # A recursive function needs what it is part of.
            self._of_declaration[declaration] = own
        for definition in command.definitions:
            needs |= self.needs([definition.body])[definition.body]
        self._sort_needs.clear()
        for datatype in command.datatypes:
            self._of_sort[datatype.name] = needs
            self._of_declaration.update(dict.fromkeys(datatype.symbols, needs))
        self._of_declaration.update(dict.fromkeys(command.declarations, needs))
        self.texts.append(print_command(command, self.naming) + "\n")

    def needs_of_sort(self, sort: Sort) -> int:
        """The declarations that ``sort`` needs."""
        found = self._sort_needs.get(sort)
        if found is None:
            found = 0
            for part in subsorts(sort):
                found |= self._of_sort.get(part.name, 0)
            self._sort_needs[sort] = found
        return found

    def needs(self, roots: Iterable[Term]) -> dict[Term, int]:
        """The declarations that each term below ``roots`` needs."""
        found: dict[Term, int] = {}
        for term in postorder(roots):
            mask = self.needs_of_sort(term.sort)
            if term.op.declaration is not None:
                mask |= self._of_declaration.get(term.op.declaration, 0)
            for arg in term.args:
                mask |= found[arg]
            if term.op.name == "fmf.card":
                mask |= self._of_sort.get(str(term.op.indices[0]), 0)
            for variable in term.variables:
                mask |= self.needs_of_sort(variable.sort)
            found[term] = mask
        return found

    def text(self, needs: int) -> str:
        """The declarations in ``needs``, one a line."""
        lines = []
        while needs:
            low = needs & -needs
            lines.append(self.texts[low.bit_length() - 1])
            needs ^= low
        return "".join(lines)

    @property
    def everything(self) -> int:
        """The set of all declarations, a bit for each."""
        return (1 << len(self.texts)) - 1


def names_of(script: SeedScript) -> set[str]:
    """Every name that ``script`` uses of its own, bound variables included."""
    names = set(script.sort_names)
    for command in script.prelude:
        names.update(d.name for d in command.declarations)
        for datatype in command.datatypes:
            names.update(symbol.name for symbol in datatype.symbols)
        names.update(v.op.name for d in command.definitions for v in d.params)
    for term in script.all_terms:
        names.update(v.op.name for v in term.bound)
    return names


def free_ending(names: Iterable[str]) -> str:
    """An ending that none of ``names`` has: ``_2``, ``_22`` ..."""
    known = [name.rstrip("|") for name in names]
    ending = "_2"
    while any(name.endswith(ending) for name in known):
        ending += "2"
    return ending


def free_prefix(prefix: str, names: Iterable[str]) -> str:
    """``prefix`` with ``!`` added to it until none of ``names`` starts with it."""
    known = [name.lstrip("|") for name in names]
    while any(name.startswith(prefix) for name in known):
        prefix += "!"
    return prefix
