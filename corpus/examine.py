"""Examines the text of a formula: whether it can be read, whether it is well sorted, and its traits."""

from __future__ import annotations

from dataclasses import dataclass

from smtlib import (
    CheckedScript,
    Kind,
    ReadError,
    Script,
    Sort,
    check_script,
    default_theories,
    postorder,
    read_script,
)
from smtlib.scanner import CHECKS

WELL_SORTED = "well-sorted"
READ = "read"
ERROR = "error"


@dataclass(frozen=True, slots=True)
class Traits:
    """Counts and names that are stored with a formula, for queries."""

    logic: str | None
    commands: int
    assertions: int
    check_sats: int
    pushes: int
    quantifiers: int
    terms: int
    theories: tuple[str, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Examination:
    """A formula's status, its first error, and its traits if it could be read."""

    status: str
    error: str | None = None
    line: int | None = None
    column: int | None = None
    traits: Traits | None = None
    checked: CheckedScript | None = None


def examine(text: str) -> Examination:
    """Read and check ``text``. Never raises, whatever the text contains."""
    try:
        script = read_script(text)
    except ReadError as error:
        return Examination(ERROR, error.message, error.line or None, error.column or None)
    except (RecursionError, MemoryError) as error:
        return Examination(ERROR, f"too large to read ({type(error).__name__})")
    try:
        checked = check_script(script)
        traits = _traits(script, checked)
    except (RecursionError, MemoryError) as error:
        return Examination(ERROR, f"too large to check ({type(error).__name__})")
    except Exception as error:  # noqa: BLE001 - a bug in the checker must not end a long import
        return Examination(READ, f"a bug in exhume: {type(error).__name__}: {error}")
    if checked.errors:
        first = checked.errors[0]
        return Examination(READ, first.message, first.line or None, first.column or None, traits, checked)
    return Examination(WELL_SORTED, traits=traits, checked=checked)


def _traits(script: Script, checked: CheckedScript) -> Traits:
    names = [command.name for command in script.commands]
    assertions = checked.assertions
    terms, quantifiers = 0, 0
    heads: set[tuple[str, tuple[int | str, ...], tuple[Sort, ...]]] = set()
    theories: set[str] = set()
    sorts: set[Sort] = set()
    operators: set[str] = set()
    for term in postorder([*assertions, *(d.body for d in checked.definitions.values())]):
        terms += 1
        sorts.add(term.sort)
        kind = term.op.kind
        if kind is Kind.OPERATOR:
            heads.add((term.op.name, term.op.indices, tuple([a.sort for a in term.args])))
        elif kind is Kind.BINDER:
            quantifiers += 1
            operators.add(term.op.name)
        elif kind is Kind.SYMBOL:
            if term.op.declaration is not None and term.op.declaration.is_of_datatype:
                theories.add("Datatypes")
            elif term.args:
                theories.add("UF")
    known = default_theories()
    for name, indices, argument_sorts in heads:
        operators.add(name)
        found = known.find(name, indices, argument_sorts)
        if found is not None:
            theories.add(found[1].theory)
    theories.update(known.sorts[sort.name].theory for sort in sorts if sort.name in known.sorts)
    return Traits(
        logic=checked.logic,
        commands=len(names),
        assertions=len(assertions),
        check_sats=sum(name in CHECKS for name in names),
        pushes=names.count("push") + names.count("pop"),
        quantifiers=quantifiers,
        terms=terms,
        theories=tuple(sorted(theories)),
        operators=tuple(sorted(operators)),
    )
