"""Commands as SMT-LIB 2.7 text that reads back to the same commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, zip_longest

from smtlib.checker import CheckedCommand, CheckedScript, Definition
from smtlib.environment import Datatype
from smtlib.printer import PLAIN, Naming, print_term, sort_text
from smtlib.reader import sexp_text
from smtlib.shapes import COMMANDS
from smtlib.terms import Declaration


def print_script(checked: CheckedScript) -> str:
    """The accepted commands of a script, one per line."""
    return "".join(print_command(command) + "\n" for command in checked.commands)


def print_command(command: CheckedCommand, naming: Naming = PLAIN) -> str:
    """One accepted command as text; a command without terms and declarations stays as it was read."""
    name = command.name
    if command.datatypes:
        return print_datatypes(command.datatypes, "co" if "codatatype" in name else "", naming)
    if command.definitions:
        return _definitions(command.definitions, naming)
    if command.declarations and name in ("declare-fun", "declare-const", "declare-var"):
        return print_declaration(command.declarations[0], naming, name)
    if name == "declare-sort" and command.sort is not None:
        return f"(declare-sort {naming.symbol(command.sort.name)} {command.sort.arity})"
    if command.terms:
        terms = (print_term(term, naming) for term in command.terms)
        pieces = [name]
        for kind, argument in zip_longest(COMMANDS[name].arguments, command.sexp[1:], fillvalue="any"):
            if kind == "terms":
                pieces.append(f"({' '.join(islice(terms, len(argument)))})")
            else:
                pieces.append(next(terms) if kind in ("formula", "term") else sexp_text(argument))
        return f"({' '.join(pieces)})"
    if name in ("push", "pop") and len(command.sexp) == 1:
        return f"({name} 1)"
    return sexp_text(command.sexp)


def print_declaration(declaration: Declaration, naming: Naming = PLAIN, command: str = "declare-fun") -> str:
    """The command that declares a function."""
    name, result = naming.symbol(declaration.name), naming.sort(declaration.result)
    if command in ("declare-const", "declare-var"):
        return f"({command} {name} {result})"
    return declaration_text(name, map(naming.sort, declaration.params), result)


def declaration_text(name: str, params: Iterable[str], result: str) -> str:
    """``(declare-fun NAME (SORT ...) SORT)``."""
    return f"(declare-fun {name} ({' '.join(params)}) {result})"


def _definitions(definitions: Sequence[Definition], naming: Naming) -> str:
    heads = []
    for definition in definitions:
        declaration = definition.declaration
        name, result = naming.symbol(declaration.name), naming.sort(declaration.result)
        heads.append(f"{name} {naming.variable_list(definition.params)} {result}")
    bodies = [print_term(definition.body, naming) for definition in definitions]
    return definitions_text(heads, bodies, definitions[0].declaration.origin == "define-rec")


RECURSIVE = frozenset(("define-fun-rec", "define-funs-rec"))
"""The commands that define functions by recursion."""


def definitions_text(heads: Sequence[str], bodies: Sequence[str], recursive: bool) -> str:
    """The command that defines functions, given their heads ``NAME ((x SORT) ...) SORT`` and bodies."""
    if len(heads) == 1:
        return f"(define-fun{'-rec' if recursive else ''} {heads[0]} {bodies[0]})"
    return f"(define-funs-rec ({' '.join(f'({head})' for head in heads)}) ({' '.join(bodies)}))"


def print_datatypes(datatypes: Sequence[Datatype], prefix: str = "", naming: Naming = PLAIN) -> str:
    """One ``declare-datatypes`` (with ``prefix`` "co": ``declare-codatatypes``) for these datatypes."""
    bodies = []
    for datatype in datatypes:
        constructors = []
        for constructor in datatype.constructors:
            fields = [(naming.symbol(s.name), naming.sort(s.result)) for s in constructor.selectors]
            constructors.append((naming.symbol(constructor.declaration.name), fields))
        params = [sort_text(parameter) for parameter in datatype.params]
        bodies.append((naming.symbol(datatype.name), params, constructors))
    return datatypes_text(f"declare-{prefix}datatypes", bodies)


_Constructors = Sequence[tuple[str, Sequence[tuple[str, str]]]]


def datatypes_text(command: str, datatypes: Iterable[tuple[str, Sequence[str], _Constructors]]) -> str:
    """The command that declares datatypes: name, sort parameters, constructors with their fields."""
    heads, bodies = [], []
    for name, params, constructors in datatypes:
        heads.append(f"({name} {len(params)})")
        cases = (f"({c}{''.join(f' ({s} {sort})' for s, sort in fields)})" for c, fields in constructors)
        body = f"({' '.join(cases)})"
        bodies.append(f"(par ({' '.join(params)}) {body})" if params else body)
    return f"({command} ({' '.join(heads)}) ({' '.join(bodies)}))"
