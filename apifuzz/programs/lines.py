"""Lines of programs: calls that were recorded, as Python's own syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from apifuzz.programs.recording import NO_NAME, RAISES

ANSWERS = ("sat", "unsat")
_PLAIN = frozenset(("bool", "bytes", "enum", "float", "int", "str"))
SAYING = frozenset(("ask", "ask_perhaps", "invoke"))
"""Methods by which a solver is given a command: what they change is not seen by their results."""


@dataclass(frozen=True)
class Line:
    """``name = code``; ``kind`` is the class of the result and ``said`` what it says, as its comment has it.

    Both are empty for a call that did not return.
    """

    name: str
    code: ast.expr
    kind: str = ""
    said: str = ""

    @property
    def raised(self) -> bool:
        """Whether the call ended in an exception."""
        return self.kind == RAISES

    @property
    def comment(self) -> str:
        """What stands behind the line in a program."""
        return f"{RAISES} {self.said}" if self.raised else self.said

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that the code uses."""
        return frozenset(self.order)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The same in their order, one perhaps several times."""
        return tuple(names_in(self.code))

    @property
    def function(self) -> str:
        """The name of the function or method that is called; empty for an operator."""
        function = self.code.func if isinstance(self.code, ast.Call) else None
        return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")

    @property
    def text(self) -> str:
        """The code."""
        return ast.unparse(self.code)

    def changed(self, code: ast.expr) -> Line:
        """The same line with other code."""
        return replace(self, code=code)


def read_code(text: str) -> ast.expr:
    """The tree of an expression."""
    return ast.parse(text, mode="eval").body


def read_lines(recorded: str) -> list[Line]:
    """The lines that a recorder wrote, the last of them perhaps not whole."""
    lines = []
    for text in recorded.splitlines():
        call, _, rest = text.partition("\t")
        kind, _, said = rest.partition("\t")
        name, equals, code = call.partition(" = ")
        if equals:
            lines.append(Line(name, read_code(code), kind, said))
    return lines


def names_in(code: ast.AST) -> Iterator[str]:
    """The variables in code, in order; modules and functions are not among them."""
    if isinstance(code, ast.Name):
        if code.id == NO_NAME or (code.id[0] == "v" and code.id[1:].isdigit()):
            yield code.id
    for part in ast.iter_child_nodes(code):
        yield from names_in(part)


class _Replacing(ast.NodeTransformer):
    def __init__(self, find: Callable[[ast.expr], ast.expr | None]) -> None:
        self.find = find

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        return (self.find(node) if isinstance(node, ast.expr) else None) or node


def replaced(code: ast.expr, find: Callable[[ast.expr], ast.expr | None]) -> ast.expr:
    """Code with each part, the innermost first, as ``find`` gives it; None leaves a part as it is."""
    return cast(ast.expr, _Replacing(find).visit(read_code(ast.unparse(code))))


def renamed(code: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr:
    """Code with other expressions in the place of variables."""
    if names.keys().isdisjoint(names_in(code)):
        return code
    return replaced(code, lambda part: names.get(part.id) if isinstance(part, ast.Name) else None)


# What calls do


def only_looks(line: Line) -> bool:
    """Whether a call only says something of an object."""
    is_comparison = isinstance(line.code, ast.Compare) or line.function == "eq"
    return (
        line.kind in _PLAIN and line.said not in ANSWERS and line.function not in SAYING and not is_comparison
    )


def is_changing(line: Line) -> bool:
    """Whether a call gives nothing, or an answer: then it was made for what it does."""
    return line.kind in ("NoneType", "") or line.said in ANSWERS or line.function in SAYING


def changing_objects(lines: Sequence[Line]) -> frozenset[str]:
    """The variables that hold what calls change."""
    kinds = {line.name: line.kind for line in lines}
    return frozenset(
        next((name for name in line.order if kinds.get(name) != "Context"), "")
        for line in lines
        if is_changing(line)
    )
