"""Recorded calls as people write them: by z3's Python functions, in the context of the process."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from apifuzz.engines.z3.words import written_by_people
from apifuzz.programs.lines import Line, read_code, renamed, replaced

OPENS_LOG = "import z3\nz3.open_log({})\n"
"""What a program begins with that is to keep z3's own log of its calls in the file of that name."""

_FORMS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_ANY_NUMBER = {"mk_func_decl": "z3.Function", "mk_array_sort_n": "z3.ArraySort"}
_WITH_LISTS = frozenset(("mk_lambda_const", "mk_forall_const", "mk_exists_const", "mk_quantifier_const"))
_POINTERS = frozenset(("ast", "solver", "model", "tactic", "ctx", "goal", "optimize", "fixedpoint", "sort"))
_WRAPPERS = frozenset(("_to_expr_ref", "_to_sort_ref", "_to_func_decl_ref", "_to_ast_ref"))
_NEED_CONTEXT = frozenset((*_WRAPPERS, "ModelRef"))
_REWRAPPED = frozenset((*_NEED_CONTEXT, "Solver", "CheckSatResult"))
_ANSWERS = {"1": "sat", "-1": "unsat", "0": "unknown"}
_ASKING = ("Z3_solver_check", "Z3_optimize_check", "Z3_get_implied_equalities")


def answered(line: Line) -> Line:
    """A line that asks for an answer, with that for the number by which the C interface gives it."""
    if line.kind != "int" or not line.function.startswith(_ASKING):
        return line
    code = read_code(f"z3.CheckSatResult({line.text})")
    return Line(line.name, code, "CheckSatResult", _ANSWERS.get(line.said, line.said))


def plainer(lines: Sequence[Line]) -> list[Line]:
    """The lines, calls of the C interface by z3's module where that has them, without a context of their own.

    Whether the program still does the same is for a run to find out.
    """
    contexts = [line.name for line in lines if line.function == "Context"]
    return list(_Plainer(contexts[0]).lines(lines)) if len(contexts) == 1 else list(lines)


class _Plainer:
    def __init__(self, context: str) -> None:
        self.context = context
        self.made: dict[str, Line] = {}
        self.instead: dict[str, ast.expr] = {}
        self.sorts: dict[str, ast.expr] = {}
        """The sorts that constants were declared with."""
        self.plain: set[str] = set()
        """Variables that held a pointer and now hold z3's object."""

    def lines(self, lines: Sequence[Line]) -> Iterator[Line]:
        for line in lines:
            self._take(line)
        main = {self.context: read_code("z3.main_ctx()")}
        return (line.changed(renamed(line.code, main)) for line in self.made.values())

    def _take(self, line: Line) -> None:
        if line.name == self.context:
            line = line.changed(_parameters(line.code))
            if line.code.keywords:  # type: ignore[attr-defined]
                self.made[line.name] = line
            return
        code = replaced(renamed(line.code, self.instead), self._plain)
        if isinstance(code, ast.Name) and code.id in self.made:
            # What wraps a pointer knows what it is.
            self.made[code.id] = replace(self.made[code.id], kind=line.kind)
        match code:
            case ast.Call(ast.Attribute(ast.Name(name), "sort")) if name in self.sorts:
                code = self.sorts[name]
            case ast.Call(ast.Attribute(_, "Const"), [text, ast.Name(sort) as made]):
                self.sorts[line.name] = made
                code = self._of_sort(sort, "", text) or code
            case ast.Call(ast.Attribute(ast.Name(sort), "cast"), [ast.Constant() as value]):
                code = self._of_sort(sort, "Val", value) or code
        if isinstance(code, (ast.Name, ast.Constant)):
            self.instead[line.name] = code
            return
        if line.function.startswith("Z3_") and not _core_name(code):
            self.plain.add(line.name)
        self.made[line.name] = line.changed(code)

    def _of_sort(self, sort: str, ending: str, argument: ast.expr) -> ast.expr | None:
        """A constant or value by the function that z3's module has for its sort."""
        match self.made[sort].code if sort in self.made else None:
            case ast.Call(
                ast.Attribute(_, "BoolSort" | "IntSort" | "RealSort" | "BitVecSort" as name), width
            ):
                places = ", ".join("{}" for _ in (argument, *width))
                return _formed(f"z3.{name.removesuffix('Sort')}{ending}({places})", [argument, *width])
        return None

    def _plain(self, part: ast.expr) -> ast.expr | None:
        """An expression as people write it; None: as it is."""
        if not isinstance(part, ast.Call):
            return None
        if (name := _core_name(part)) and part.args and self._is_context(part.args[0]):
            return _plain_call(name, part.args[1:])
        if _function(part) in _REWRAPPED and part.args:
            if (made := self._unwrapped(part.args[0])) is not None:
                return made
            if _function(part) in _NEED_CONTEXT:
                return None
        part.args = [arg for arg in part.args if not _is_name(arg, self.context)]
        part.keywords = [word for word in part.keywords if not _is_name(word.value, self.context)]
        if _function(part) == "to_symbol" and isinstance(part.args[0], ast.Constant):
            return part.args[0]
        return None

    def _is_context(self, code: ast.expr) -> bool:
        return ast.unparse(code) in (self.context, f"{self.context}.ctx", f"{self.context}.ref()")

    def _unwrapped(self, code: ast.expr) -> ast.expr | None:
        """What a pointer that is wrapped again is, where that is z3's object already."""
        if isinstance(code, ast.Name) and code.id not in self.plain:
            return None
        plain = _without_pointer(code)
        is_call = isinstance(code, ast.Call) and not _core_name(code)
        return plain if plain is not code or is_call or isinstance(code, ast.Name) else None


def _parameters(code: ast.expr) -> ast.expr:
    """What sets the parameters of a context for the whole process."""
    words = [w for w in code.keywords if w.arg not in ("rlimit", None)]  # type: ignore[attr-defined]
    made = read_code("z3.set_param()")
    made.keywords = words  # type: ignore[attr-defined]
    return made


def _plain_call(name: str, args: Sequence[ast.expr]) -> ast.expr | None:
    """A call of the C interface by z3's module, where there is one for it."""
    parts: list[ast.expr] = []
    for arg in args:
        elements = _elements(arg)
        if elements is None:
            parts.append(_without_pointer(arg))
            continue
        # The number of elements stands before an array.
        parts = parts[:-1]
        plain = [_without_pointer(element) for element in elements]
        parts += [ast.List(plain, ast.Load())] if name in _WITH_LISTS else plain
    match parts:
        case [*start, ast.Constant(1), ast.List(), ast.List([]), body] if name in _WITH_LISTS:
            universal = "forall" in name or any(isinstance(s, ast.Constant) and s.value for s in start)
            form = "z3.ForAll({}, {})" if universal else "z3.Exists({}, {})"
            return _formed(form, [parts[-3], body])
    if name in _ANY_NUMBER:
        return _formed(f"{_ANY_NUMBER[name]}({', '.join('{}' for _ in parts)})", parts)
    if name == "mk_app" and parts:
        return _formed(f"{{}}({', '.join('{}' for _ in parts[1:])})", parts)
    form = _FORMS.get(name, "")
    if form.count("{") == len(parts) and form:
        return _formed(form, parts)
    known = written_by_people()
    if form := known.get((name, len(parts)), ""):
        return _formed(form, parts)
    called = known.get((name, 0), "")
    return _formed(f"{called}({', '.join('{}' for _ in parts)})", parts) if called else None


def _formed(form: str, parts: Sequence[ast.expr]) -> ast.expr:
    return read_code(form.format(*map(ast.unparse, parts)))


def _elements(code: ast.expr) -> list[ast.expr] | None:
    """The elements of an array that is made; None for what is no array."""
    match code:
        case ast.Call(ast.BinOp(_, ast.Mult()), elements):
            return elements
    return None


def _without_pointer(code: ast.expr) -> ast.expr:
    """The object whose pointer this is."""
    match code:
        case ast.Call(ast.Attribute(held, "as_ast" | "as_func_decl" | "ref"), []):
            return held
        case ast.Attribute(held, name) if name in _POINTERS:
            return held
    return code


def _core_name(code: ast.expr) -> str:
    """The name of the function of C that is called, without its prefix; empty where none is."""
    name = _function(code)
    return name.removeprefix("Z3_") if name.startswith("Z3_") else ""


def _function(code: ast.expr) -> str:
    function = code.func if isinstance(code, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else ""


def _is_name(code: ast.expr, name: str) -> bool:
    return isinstance(code, ast.Name) and code.id == name
