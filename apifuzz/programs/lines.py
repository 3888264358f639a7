"""Lines of programs: calls that were recorded, as Python's own syntax trees, and their variables named."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

from apifuzz.programs.recording import NO_NAME, RAISES, SPEAKER

ANSWERS = ("sat", "unsat")
# A check without an answer leaves its traces in a solver, too.
_CHECKED = (*ANSWERS, "unknown")
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
        """The line as Python source."""
        return ast.unparse(self.code)


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


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return read_code(self.names[node.id]) if node.id in self.names else node


def with_names(code: ast.AST, names: Mapping[str, str]) -> str:
    """The text of code with other names, or expressions, in the place of variables."""
    return ast.unparse(_Renaming(names).visit(ast.parse(ast.unparse(code))))


# What calls do


def only_looks(line: Line) -> bool:
    """Whether a call only says something of an object."""
    is_comparison = isinstance(line.code, ast.Compare) or line.function == "eq"
    is_said = line.said in _CHECKED or line.function in SAYING
    return line.kind in _PLAIN and not is_said and not is_comparison


def is_changing(line: Line) -> bool:
    """Whether a call gives nothing, or an answer: then it was made for what it does."""
    return line.kind in ("NoneType", "") or line.said in _CHECKED or line.function in SAYING


def changing_objects(lines: Sequence[Line]) -> frozenset[str]:
    """The variables that hold what calls change."""
    kinds = {line.name: line.kind for line in lines}
    return frozenset(
        next((name for name in line.order if kinds.get(name) != "Context"), "")
        for line in lines
        if is_changing(line)
    )


# Variables of programs named for what they hold, and terms written where they are used


_WIDEST = 100
_NAMES = {
    **{"TermManager": "tm", "Conversation": "solver", "Result": "answer", "CheckSatResult": "answer"},
    **{"SolverResult": "answer", "OptimizationResult": "answer", "FuncDeclRef": "f"},
    **{"list": "found", "tuple": "found", "str": "text", "int": "number", "bool": "holds"},
}
"""What variables are called by the class of what they hold; others by the last word of that."""
_SORT = re.compile(r"Sort(?:Ref)?\Z")
_TERM = re.compile(r"Term\Z|(?<!Decl)(?<!Model)Ref\Z|Ast\Z")
_LAST_WORD = re.compile(r"[A-Z][a-z]*(?=(?:Ref)?\Z)")
_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,20}\Z")
_IN_PROGRAMS = """SECONDS Ended is_whole once resident sizes grown before after
    atexit ctypes gc os re signal subprocess tempfile threading"""
_TAKEN = frozenset((*keyword.kwlist, *dir(builtins), SPEAKER, *_IN_PROGRAMS.split()))


def names_for(lines: Sequence[Line], modules: Sequence[str]) -> dict[str, str]:
    """What a person would call the variables: constants by their symbols, others by what they hold."""
    given: dict[str, str] = {}
    taken = {*_TAKEN, *modules}
    for line in lines:
        symbol, base = _symbol(line), _base(line)
        if not symbol or symbol in taken or re.match(r"[stv]\d+\Z", symbol):
            number = 1
            symbol = base if len(base) > 1 else f"{base}1"
            if symbol in modules:
                symbol = base = "solver"  # its class is named like the module
            while symbol in taken:
                number += 1
                symbol = f"{base}{number}"
        taken.add(symbol)
        given[line.name] = symbol
    return given


def _base(line: Line) -> str:
    if line.said in ANSWERS:
        return "answer"
    if line.kind in _NAMES:
        return _NAMES[line.kind]
    if _SORT.search(line.kind):
        return "s"
    if _TERM.search(line.kind):
        return "t"
    word = _LAST_WORD.search(line.kind)
    return word[0].lower() if word else "array" if "_Array_" in line.kind else "v"


def _symbol(line: Line) -> str:
    """The symbol of what is declared, where it can be the name of a variable; else nothing."""
    if not (isinstance(line.code, ast.Call) and (_base(line) in ("s", "t", "f"))):
        return ""
    texts = [
        arg.value for arg in line.code.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
    ]
    return texts[0] if len(texts) == 1 and _SYMBOL.match(texts[0]) else ""


def nested(lines: Sequence[Line], ending: Sequence[str]) -> tuple[Line, ...]:
    """The lines with terms and sorts where they are used, if that is in one place and not too long."""
    uses = Counter(name for line in lines for name in names_in(line.code))
    uses.update(name for text in ending for name in names_in(ast.parse(text)))
    changing = changing_objects(lines)
    waiting: dict[str, tuple[int, Line]] = {}
    kept: list[tuple[int, Line]] = []
    for place, line in enumerate(lines):
        code = line.code
        for name in sorted(line.names & waiting.keys(), key=lambda name: len(waiting[name][1].text)):
            held = waiting.pop(name)
            wider = with_names(code, {name: held[1].text})
            if len(wider) <= _WIDEST:
                code = read_code(wider)
            else:
                kept.append(held)
        changed = place, replace(line, code=code)
        is_value = _SORT.search(line.kind) or _TERM.search(line.kind)
        if (is_value or line.kind == "generator") and uses[line.name] == 1 and not line.names & changing:
            waiting[line.name] = changed
        else:
            kept.append(changed)
    return tuple(line for _, line in sorted([*kept, *waiting.values()], key=itemgetter(0)))
