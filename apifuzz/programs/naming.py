"""Variables of programs named for what they hold, and terms written where they are used."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter

from apifuzz.programs.lines import ANSWERS, Line, changing_objects, names_in, renamed
from apifuzz.programs.recording import SPEAKER

_WIDEST = 100
_NAMES = {
    **{"TermManager": "tm", "Conversation": "solver", "Result": "answer", "CheckSatResult": "answer"},
    **{
        "FuncDeclRef": "f",
        "list": "found",
        "tuple": "found",
        "str": "text",
        "int": "number",
        "bool": "holds",
    },
}
"""What variables are called by the class of what they hold; others by the last word of that."""
_SORT = re.compile(r"Sort(?:Ref)?\Z")
_TERM = re.compile(r"Term\Z|(?<!Decl)(?<!Model)Ref\Z|Ast\Z")
_LAST_WORD = re.compile(r"[A-Z][a-z]*(?=(?:Ref)?\Z)")
_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,20}\Z")
_TAKEN = frozenset(
    (*keyword.kwlist, *dir(builtins), SPEAKER, "SECONDS", "Ended", "is_whole", "once", "resident")
)
_TAKEN |= {"sizes", "grown", "before", "after"}
_MODULES = frozenset(("atexit", "ctypes", "gc", "os", "re", "signal", "subprocess", "tempfile", "threading"))


def names_for(lines: Sequence[Line], modules: Sequence[str]) -> dict[str, str]:
    """What a person would call the variables: constants by their symbols, others by what they hold."""
    given: dict[str, str] = {}
    taken = {*_TAKEN, *_MODULES, *modules}
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


def with_names(code: ast.AST, names: Mapping[str, str]) -> str:
    """The text of code with other names."""
    made = ast.parse(ast.unparse(code))
    for node in ast.walk(made):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(made)


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
            wider = renamed(code, {name: held[1].code})
            if len(ast.unparse(wider)) <= _WIDEST:
                code = wider
            else:
                kept.append(held)
        changed = place, line.changed(code)
        is_value = _SORT.search(line.kind) or _TERM.search(line.kind)
        if (is_value or line.kind == "generator") and uses[line.name] == 1 and not line.names & changing:
            waiting[line.name] = changed
        else:
            kept.append(changed)
    return tuple(line for _, line in sorted([*kept, *waiting.values()], key=itemgetter(0)))
