"""Canonical names for the sorts, datatypes and defined functions of an atom.

:class:`ScriptNames` collects what a script introduces. :class:`AtomNames` assigns the names inside one atom
and collects its prelude. Both raise :class:`SkipError` if there is no faithful name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from smtlib import CheckedScript, Declaration, Definition, Sort, Term, declarations_in
from smtlib.commands import datatypes_text, declaration_text, definitions_text
from smtlib.environment import Datatype, is_parameter
from smtlib.printer import Naming
from smtlib.reader import SExp, sexp_text
from smtlib.sorts import indexed

MAX_DEFINITIONS = 200
"""Atoms that need more defined functions are skipped."""

MAX_DATATYPE_NESTING = 40
"""Maximum nesting of datatype groups."""

_PLACEHOLDER = re.compile("\x00F([0-9]+|u[0-9]+)\x00")


class SkipError(Exception):
    """The assertion or atom is skipped; the message is the reason, without names of the script."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Datatypes that are declared together."""

    datatypes: tuple[Datatype, ...]
    command: str


class ScriptNames:
    """What a script introduces: sorts, datatypes, definitions. One per script."""

    def __init__(self, script: CheckedScript) -> None:
        self.definitions: dict[Declaration, Definition] = script.definitions
        self.groups: dict[str, _Group] = {}
        self.places: dict[Declaration, tuple[str, str]] = {}
        self.definition_groups: dict[Declaration, tuple[Definition, ...]] = {}
        self.user_sorts: set[str] = set()
        self.ambiguous: set[str] = set()
        self._introduced: dict[str, str] = {}
        for command in script.commands:
            if command.sort is not None and command.sort.body is None:
                self._introduce(command.sort.name, command.sexp)
            elif command.datatypes:
                self._add_datatypes(command.datatypes, command.sexp)
            for definition in command.definitions:
                self.definition_groups[definition.declaration] = command.definitions

    def _introduce(self, name: str, sexp: SExp) -> None:
        text = sexp_text(sexp)
        if self._introduced.setdefault(name, text) != text:
            self.ambiguous.add(name)
        self.user_sorts.add(name)

    def _add_datatypes(self, datatypes: tuple[Datatype, ...], sexp: SExp) -> None:
        prefix = "co" if "codatatype" in sexp[0] else ""
        group = _Group(datatypes, f"declare-{prefix}datatypes")
        for i, datatype in enumerate(datatypes):
            self._introduce(datatype.name, sexp)
            self.groups[datatype.name] = group
            for j, constructor in enumerate(datatype.constructors):
                self.places[constructor.declaration] = (datatype.name, f"{i}c{j}")
                for k, selector in enumerate(constructor.selectors):
                    self.places[selector] = (datatype.name, f"{i}c{j}s{k}")

    def constructor(self, datatype: str, name: str) -> Declaration:
        """The constructor of a datatype by its name."""
        for known in self.groups[datatype].datatypes:
            for constructor in known.constructors:
                if known.name == datatype and constructor.declaration.name == name:
                    return constructor.declaration
        raise SkipError("a pattern names no constructor")


BodyPrinter = Callable[[Term, "dict[Declaration | Term, str]"], str]
"""Prints a definition's body, given the names of its free symbols."""


class AtomNames(Naming):
    """The names inside one atom, in order of first use, and the prelude that they require."""

    def __init__(self, script: ScriptNames) -> None:
        self.script = script
        self.prelude: list[str] = []
        self.functions: dict[Declaration, str] = {}
        self._sorts: dict[str, str] = {}
        self._datatypes: dict[str, str] = {}

    # Sorts

    def sort(self, sort: Sort) -> str:
        """The canonical text of ``sort``."""
        if not self.script.user_sorts and not is_parameter(sort):
            return sort.text
        return self._sort(sort, {}, 0)

    def _sort(self, sort: Sort, own: dict[str, str], depth: int) -> str:
        """Like :meth:`sort`. ``own``: the names of the datatype group that is being printed."""
        name = sort.name
        if name in own:
            name = own[name]
        elif name in self.script.groups:
            place = [d.name for d in self.script.groups[name].datatypes].index(name)
            name = f"D{self._datatype_hash(name, depth)}_{place}"
        elif name in self.script.user_sorts:
            name = self._uninterpreted(name, len(sort.args))
        elif not sort.args:
            return sort.text
        name = indexed(name, sort.indices)
        if not sort.args:
            return name
        return f"({name} {' '.join(self._sort(a, own, depth) for a in sort.args)})"

    def _uninterpreted(self, name: str, arity: int) -> str:
        self._require_unambiguous(name)
        found = self._sorts.get(name)
        if found is None:
            found = f"S{len(self._sorts)}" + (f"_{arity}" if arity else "")
            self._sorts[name] = found
            self.prelude.append(f"(declare-sort {found} {arity})")
        return found

    def _require_unambiguous(self, name: str) -> None:
        if name in self.script.ambiguous:
            raise SkipError("a sort is declared twice with different meanings")

    # Datatypes

    def _datatype_hash(self, name: str, depth: int = 0) -> str:
        found = self._datatypes.get(name)
        if found is not None:
            return found
        if depth > MAX_DATATYPE_NESTING:
            raise SkipError("datatypes are built on one another too deep")
        group = self.script.groups[name]
        for datatype in group.datatypes:
            self._require_unambiguous(datatype.name)
        digest = sha256(self._datatypes_text(group, "?", depth).encode()).hexdigest()[:10]
        self._datatypes.update({d.name: digest for d in group.datatypes})
        self.prelude.append(self._datatypes_text(group, digest, depth))
        return digest

    def _datatypes_text(self, group: _Group, digest: str, depth: int) -> str:
        own = {d.name: f"D{digest}_{i}" for i, d in enumerate(group.datatypes)}
        bodies = []
        for i, datatype in enumerate(group.datatypes):
            params = {p.name: f"P{n}" for n, p in enumerate(datatype.params)}
            constructors = []
            for j, constructor in enumerate(datatype.constructors):
                name = f"D{digest}_{i}c{j}"
                sorts = [self._sort(s.result, own | params, depth + 1) for s in constructor.selectors]
                constructors.append((name, [(f"{name}s{k}", sort) for k, sort in enumerate(sorts)]))
            bodies.append((own[datatype.name], list(params.values()), constructors))
        return datatypes_text(group.command, bodies)

    def datatype_symbol(self, declaration: Declaration) -> str:
        """The name of a constructor or selector."""
        datatype, place = self.script.places[declaration]
        return f"D{self._datatype_hash(datatype)}_{place}"

    def pattern_constructor(self, scrutinee: Sort, name: str) -> str:
        """The name of the constructor that a match pattern names."""
        if scrutinee.name not in self.script.groups:
            raise SkipError("a match on a sort that is not a datatype of the script")
        return self.datatype_symbol(self.script.constructor(scrutinee.name, name))

    # Defined functions

    def add_definitions(self, root: Term, print_body: BodyPrinter) -> None:
        """Add the defined functions below ``root``, and everything they use, to the prelude."""
        closure = self._closure(root)
        if not closure:
            return
        free: dict[Declaration, str] = {}
        for definition in closure:
            self.functions[definition.declaration] = f"\x00F{len(self.functions)}\x00"
        for definition in closure:
            for declaration in declarations_in([definition.body]):
                if declaration.origin == "declare":
                    free.setdefault(declaration, f"\x00Fu{len(free)}\x00")
        commands = [self._declaration(d, name) for d, name in free.items()]
        names = self.functions | free
        written: set[Declaration] = set()
        for definition in closure:
            if definition.declaration not in written:
                group = self.script.definition_groups[definition.declaration]
                written.update(d.declaration for d in group)
                commands.append(self._definition(group, names, print_body))
        digest = sha256("\n".join(commands).encode()).hexdigest()[:10]
        self.prelude += (_PLACEHOLDER.sub(rf"F{digest}_\1", c) for c in commands)
        self.functions = {d: _PLACEHOLDER.sub(rf"F{digest}_\1", n) for d, n in names.items()}

    def _closure(self, root: Term) -> list[Definition]:
        """The required definitions, each after those it uses."""
        done: dict[Declaration, None] = {}
        stack: list[tuple[Declaration, bool]] = [(d, False) for d in reversed(self._defined(root))]
        opened: set[Declaration] = set()
        while stack:
            declaration, finished = stack.pop()
            group = self.script.definition_groups[declaration]
            if finished:
                done.update(dict.fromkeys(d.declaration for d in group))
                continue
            if declaration in opened:
                continue
            opened.update(d.declaration for d in group)
            if len(opened) > MAX_DEFINITIONS:
                raise SkipError("too many defined functions")
            stack.append((declaration, True))
            for definition in reversed(group):
                stack.extend((d, False) for d in reversed(self._defined(definition.body)) if d not in opened)
        return [self.script.definitions[d] for d in done]

    def _defined(self, root: Term) -> list[Declaration]:
        return [d for d in declarations_in([root]) if d in self.script.definitions]

    def _declaration(self, declaration: Declaration, name: str) -> str:
        return declaration_text(name, map(self.sort, declaration.params), self.sort(declaration.result))

    def _definition(
        self, group: tuple[Definition, ...], names: Mapping[Declaration, str], print_body: BodyPrinter
    ) -> str:
        heads, bodies = [], []
        for definition in group:
            params = {v: f"p{i}" for i, v in enumerate(definition.params)}
            typed = " ".join(f"({params[v]} {self.sort(v.sort)})" for v in definition.params)
            declaration = definition.declaration
            heads.append(f"{names[declaration]} ({typed}) {self.sort(declaration.result)}")
            bodies.append(print_body(definition.body, dict([*names.items(), *params.items()])))
        return definitions_text(heads, bodies, group[0].declaration.origin != "define")
