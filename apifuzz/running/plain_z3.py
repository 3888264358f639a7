"""Recorded calls of z3's C interface as people write them: with z3's module, in the context that is there."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from apifuzz.running.recording import OPERATORS, Call

_CORE = "z3.z3core.Z3_"
_NAME = r"(v\d+(?:\[\d+\])*)"
_CONTEXT = re.compile(r"z3\.Context\((.*)\)\Z")
_WRAPPED = re.compile(rf"z3\.z3\._to_(?:expr|sort|func_decl|ast)_ref\({_NAME}(?:\.ast)?(?:, {_NAME})?\)\Z")
_CONSTANT = re.compile(r"z3\.Const\('[^']*', (v\d+)\)\Z")
_SORT_OF = re.compile(r"(v\d+)\.sort\(\)\Z")
_CHECKED = re.compile(r"z3\.CheckSatResult\((.*)\)\Z")
_SOLVER = re.compile(rf"z3\.(?:Solver|ModelRef)\({_NAME}(?:, {_NAME})?\)\Z")
_ARRAY = re.compile(r"\(z3\.\w+ \* \d+\)\(([^()]*)\)")
_POINTER = re.compile(r"\b(v\d+(?:\[\d+\])*)\.(?:ast|solver|model|tactic|ctx|goal|optimize|fixedpoint)\b")
_SYMBOL = re.compile(r"z3\.(?:z3\.)?to_symbol\(('[^']*'|\"[^\"]*\")\)\Z")
_IGNORED = ("rlimit",)
_SIMPLY = {
    "solver_assert": "{}.add({})",
    "solver_check": "{}.check()",
    "solver_check_assumptions": "{}.check({})",
    "solver_get_model": "{}.model()",
    "mk_const": "z3.Const({}, {})",
    "mk_true": "z3.BoolVal(True)",
    "mk_false": "z3.BoolVal(False)",
    "mk_int_sort": "z3.IntSort()",
    "mk_real_sort": "z3.RealSort()",
    "mk_bool_sort": "z3.BoolSort()",
    "mk_string_sort": "z3.StringSort()",
    "mk_bv_sort": "z3.BitVecSort({})",
    "mk_fpa_sort": "z3.FPSort({}, {})",
    "mk_uninterpreted_sort": "z3.DeclareSort({})",
    "mk_seq_sort": "z3.SeqSort({})",
    "mk_re_sort": "z3.ReSort({})",
    "mk_finite_set_sort": "z3.FiniteSetSort({})",
    "mk_array_sort": "z3.ArraySort({}, {})",
    "mk_select": "z3.Select({}, {})",
    "mk_store": "z3.Store({}, {}, {})",
    "mk_lambda_const": "z3.Lambda({}, {})",
    **dict.fromkeys(
        ("mk_numeral", "mk_int", "mk_int64", "mk_unsigned_int", "mk_unsigned_int64"), "{1}.cast({0})"
    ),
    "mk_solver": "z3.Solver()",
    "mk_simple_solver": "z3.SimpleSolver()",
    "mk_solver_for_logic": "z3.SolverFor({})",
    "mk_solver_from_tactic": "{}.solver()",
}
"""How calls of C are written by those that make the same with their arguments, the context left out."""
_ANY_NUMBER = {"mk_func_decl": "z3.Function", "mk_array_sort_n": "z3.ArraySort"}
_WITH_LISTS = frozenset(("mk_lambda_const", "mk_forall_const", "mk_exists_const", "mk_quantifier_const"))
_QUANTIFIED = re.compile(r"(?:(True|False), )?1, (\[[^]]*\]), \[\], (v\d+)\Z")


def plainer(calls: Sequence[Call]) -> list[Call]:
    """The calls, those of the C interface by z3's module where that has them, without contexts of their own.

    Whether the program still does the same is for a run to tell.
    """
    contexts = [call for call in calls if _CONTEXT.match(call.code)]
    if len(contexts) != 1:
        return list(calls)
    context = contexts[0].name
    renamed: dict[str, str] = {}
    sorts: dict[str, str] = {}
    said_plainly: set[str] = set()
    changed: list[Call] = []
    for call in calls:
        code = re.sub(r"\bv\d+\b", lambda found: renamed.get(found[0], found[0]), call.code)
        if call is contexts[0]:
            changed += [replace(call, code=code) for code in _parameters(call.code)]
            continue
        wrapped = _WRAPPED.match(code)
        if wrapped and "[" not in wrapped[1] and (wrapped[1] in said_plainly or ".ast" in code):
            renamed[call.name] = wrapped[1]
            continue
        plain = _plain_call(code, context)
        if plain != code:
            said_plainly.add(call.name)
        code = _without_context(plain, context)
        if made := _CONSTANT.match(code):
            sorts[call.name] = made[1]
        elif (asked := _SORT_OF.match(code)) and asked[1] in sorts:
            renamed[call.name] = sorts[asked[1]]
            continue
        if _SYMBOL.match(code):
            renamed[call.name] = code[code.index("(") + 1 : -1]
            continue
        changed.append(replace(call, code=code))
    return [replace(call, code=_in_main_context(call.code, context)) for call in _solvers_made(changed)]


def _parameters(code: str) -> list[str]:
    """What sets the parameters of a context for the whole process."""
    found = _CONTEXT.match(code)
    assert found is not None
    parts = [part for part in found[1].split(", ") if part.partition("=")[0] not in (*_IGNORED, "")]
    return [f"z3.set_param({', '.join(parts)})"] if parts else []


def _without_context(code: str, context: str) -> str:
    code = re.sub(rf", (?:ctx=)?{context}\b(?=[,)])", "", code)
    return re.sub(rf"\((?:ctx=)?{context}\b(?:, )?(?=[^.])", "(", code)


def _in_main_context(code: str, context: str) -> str:
    """What still names the context names that of the process."""
    code = re.sub(rf"\b{context}\.ctx\b", "z3.main_ctx().ref()", code)
    return re.sub(rf"\b{context}\b", "z3.main_ctx()", code)


def _plain_call(code: str, context: str) -> str:
    """A call of the C interface by z3's module, where there is one for it."""
    if checked := _CHECKED.match(code):
        plain = _plain_call(checked[1], context)
        return plain if plain != checked[1] else code
    if not code.startswith(_CORE):
        return code
    name, _, rest = code.removeprefix(_CORE).partition("(")
    first, _, rest = rest.removesuffix(")").partition(", ")
    if first not in (f"{context}.ctx", context):
        return code
    # The number of elements stands before an array.
    args = re.sub(r"\b\d+, (?=\(z3\.\w+ \* )", "", _POINTER.sub(r"\1", rest))
    args = _ARRAY.sub(r"[\1]" if name in _WITH_LISTS else r"\1", args)
    if quantified := _QUANTIFIED.match(args):
        binder = "z3.ForAll" if "forall" in name or quantified[1] == "True" else "z3.Exists"
        return f"{binder}({quantified[2]}, {quantified[3]})"
    parts = [part for part in re.split(r", (?![^[]*\])", args) if part]
    if name in _ANY_NUMBER:
        return f"{_ANY_NUMBER[name]}({', '.join(parts)})"
    if name == "mk_app" and parts:
        return f"{parts[0]}({', '.join(parts[1:])})"
    form = _SIMPLY.get(name)
    if form is not None and form.count("{") == len(parts):
        return form.format(*parts)
    make = _operators().get((name, len(parts))) or _operators().get((name, 0))
    return make(parts) if make is not None else code


def _solvers_made(calls: Sequence[Call]) -> list[Call]:
    """A solver (or model) that was made by a call of C and then wrapped is made by one call."""
    made = (".solver()", "Solver()", ".model()")
    ready = {call.name for call in calls if call.code.endswith(made) or "SolverFor(" in call.code}
    renamed: dict[str, str] = {}
    changed = []
    for call in calls:
        code = re.sub(r"\bv\d+\b", lambda found: renamed.get(found[0], found[0]), call.code)
        if (found := _SOLVER.match(code)) and found[1] in ready:
            renamed[call.name] = found[1]
            continue
        changed.append(replace(call, code=code))
    return changed


@cache
def _operators() -> Mapping[tuple[str, int], Callable[[Sequence[str]], str]]:
    """How z3's module writes what a call of C with so many arguments makes (0: any number)."""
    from apifuzz.engines.z3.calls import CALLS, MODULE, MODULE_MANY

    forms = {getattr(operator, name.strip("_"), None): form for name, form in OPERATORS.items()}
    forms[operator.and_], forms[operator.or_] = OPERATORS["__and__"], OPERATORS["__or__"]
    found: dict[tuple[str, int], Callable[[Sequence[str]], str]] = {}
    for name, told in CALLS.items():
        for one in told.split():
            core = f"mk_{one.partition(':')[2]}"
            if name in MODULE_MANY:
                found.setdefault((core, 0), _called(f"z3.{MODULE_MANY[name].__name__}"))
            if name in MODULE:
                count, function = MODULE[name]
                if function in forms:
                    found.setdefault((core, count), _form(forms[function]))
                elif function.__name__ != "<lambda>":
                    found.setdefault((core, count), _called(f"z3.{function.__name__}"))
    found["mk_eq", 2] = _form("{} == {}")
    return found


def _called(name: str) -> Callable[[Sequence[str]], str]:
    return lambda parts: f"{name}({', '.join(parts)})"


def _form(form: str) -> Callable[[Sequence[str]], str]:
    return lambda parts: form.format(*parts)
