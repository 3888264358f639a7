"""Tasks for z3's library, in processes of :mod:`solvers.running.tasks`.

``accept LIBRARY [NAME=VALUE...]``  whether it accepts a text; nothing is solved
``answer LIBRARY [NAME=VALUE...]``  its answer to a text
``value``  a model of a formula, and the values of terms in it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from solvers.running.tasks import answering
from solvers.z3 import engine

ANSWER_RESOURCES = 2_000_000
"""Limit for answering a text, in z3's machine-independent resource units; about a second."""

_ANSWERS = ("sat", "unsat", "unknown")
Outcome = tuple[str, str]
"""``accepted``, ``refused`` or the answer; and z3's error message."""


def prepare(arguments: Sequence[str]) -> Callable[[dict[str, Any], bytes], int]:
    """The engine for one of the tasks."""
    return answering(load_task(arguments))


def load_task(arguments: Sequence[str]) -> Callable[[Any], Any]:
    """One of the tasks, with its library loaded."""
    name, *rest = arguments
    return _TASKS[name](*rest)


def _accept(library: str, *options: str) -> Callable[[str], Outcome]:
    evaluate = _evaluating(library, options)

    def accept(text: str) -> Outcome:
        failed, printed = evaluate(text)
        return ("refused", printed) if failed else ("accepted", "")

    accept("(declare-const x Int)(assert (> x 0))(check-sat)")  # what is made on first use
    return accept


def _answer(library: str, *options: str) -> Callable[[str], Outcome]:
    evaluate = _evaluating(library, (*options, f"rlimit={ANSWER_RESOURCES}"))

    def answer(text: str) -> Outcome:
        failed, printed = evaluate(text)
        if failed or printed not in _ANSWERS:
            return "refused", printed or "no answer"
        return printed, ""

    return answer


def _evaluating(library: str, options: Sequence[str]) -> Callable[[str], tuple[bool, str]]:
    """A function that reads a text as z3 reads a file; it returns whether that failed, and the output."""
    loaded = engine.load(library, ()).library

    def evaluate(text: str) -> tuple[bool, str]:
        context = engine.new_context(loaded)
        engine.set_parameters(loaded, options)
        printed = loaded.Z3_eval_smtlib2_string(context, text.encode())
        problem = engine.problem_of(loaded, context)
        loaded.Z3_del_context(context)
        # The options of one text must not apply to the next.
        loaded.Z3_global_param_reset_all()
        output = (problem or printed or b"").decode("utf-8", "replace").strip()
        return problem is not None or "(error " in output, output

    return evaluate


# A model, and the values that it gives


def _value() -> Callable[[dict[str, Any]], dict[str, Any]]:
    import z3

    z3.parse_smt2_string("(declare-const x Int)(assert (> x 0))")  # what is made on first use

    def value(request: dict[str, Any]) -> dict[str, Any]:
        try:
            return _value_terms(request)
        except Exception as error:  # noqa: BLE001 (whatever the interface raises is the answer)
            return {"failed": f"{type(error).__name__}: {error}"[:400]}

    return value


def _value_terms(request: dict[str, Any]) -> dict[str, Any]:
    """Solve the request's assertions and evaluate its terms in the model found.

    ``script`` asserts ``(= t t)`` for each term of interest, ``roles`` says what each is: ``assert`` (solved
    for), ``atom``, ``watch`` (its value is returned as text), ``quantifier`` (the term before it is the
    constant that replaces it in the others), ``constant``.
    """
    import z3

    z3.set_param("smt.random_seed", request["variant"])
    z3.set_param("sat.random_seed", request["variant"])
    terms = [assertion.arg(0) for assertion in z3.parse_smt2_string(request["script"])]
    roles = request["roles"]
    if len(terms) != len(roles):
        return {"failed": "the script was not read as intended"}
    by_role: dict[str, list[Any]] = {}
    for role, term in zip(roles, terms, strict=True):
        by_role.setdefault(role, []).append(term)
    stands = by_role.get("stand-in", [])
    quantified = by_role.get("quantifier", [])
    pairs = list(zip(stands, quantified, strict=True))
    asserted = by_role.get("assert", [])
    full = [z3.substitute(a, *pairs) for a in asserted] if pairs else asserted
    plain = [a for a, free in zip(asserted, request["quantifier_free"], strict=True) if free]
    how, model = _model(z3, full, plain, request["rlimit"])

    fixed = []
    constants = by_role.get("constant", [])
    if pairs:
        values = [(c, model.eval(c, model_completion=True)) for c in constants]
        functions = _functions(z3, model, request["functions"])
        for stand, quantifier in pairs:
            value = _closed_value(z3, quantifier, values, functions, request["quantifier_rlimit"])
            fixed.append(value)
            # One whose value is unknown gets one all the same; the caller leaves out what hangs on it.
            model.update_value(stand, z3.BoolVal(bool(value)))
    atoms = [_truth(z3, model.eval(t, model_completion=True)) for t in by_role.get("atom", [])]
    watched = [model.eval(t, model_completion=True).sexpr() for t in by_role.get("watch", [])]
    return {
        "how": how,
        "quantifiers": fixed,
        "atoms": atoms,
        "watched": watched,
        "constants": [model.eval(c, model_completion=True).sexpr() for c in constants],
        "interpretations": _interpretations(z3, model, request["functions"]),
        "universes": _universes(z3, model, constants),
    }


def _universes(z3: Any, model: Any, constants: list[Any]) -> dict[str, list[str]]:
    """The members of uninterpreted sorts: those of the model, and those it was completed with."""
    found: dict[str, dict[str, None]] = {}
    for sort in (model.get_sort(i) for i in range(model.num_sorts())):
        found[sort.sexpr()] = {u.sexpr(): None for u in model.get_universe(sort)}
    for constant in constants:
        if constant.sort().kind() == z3.Z3_UNINTERPRETED_SORT:
            value = model.eval(constant, model_completion=True).sexpr()
            found.setdefault(constant.sort().sexpr(), {}).setdefault(value)
    return {sort: list(members) for sort, members in found.items()}


def _model(z3: Any, full: list[Any], plain: list[Any], rlimit: int) -> tuple[str, Any]:
    """A model of the assertions; else of their negation; else of those without quantifiers; else any."""
    solver = _solver(z3, full, rlimit)
    found = solver.check()
    if found == z3.sat:
        return "assertions", solver.model()
    if found == z3.unsat:
        solver = _solver(z3, [z3.Not(z3.And(full))], rlimit)
        if solver.check() == z3.sat:
            return "negation", solver.model()
    elif len(plain) < len(full):
        solver = _solver(z3, plain, rlimit)
        if solver.check() == z3.sat:
            return "part", solver.model()
    solver = _solver(z3, [], rlimit)
    solver.check()
    return "any", solver.model()


def _solver(z3: Any, assertions: list[Any], rlimit: int) -> Any:
    solver = z3.Solver()
    solver.set("rlimit", rlimit)
    solver.add(*assertions)
    return solver


def _truth(z3: Any, value: Any) -> bool | None:
    if z3.is_true(value):
        return True
    return False if z3.is_false(value) else None


def _tables(z3: Any, model: Any, names: list[str]) -> Iterator[tuple[Any, Any | None]]:
    """The model's functions of these names, each with its table; None where the model has no whole table."""
    for declaration in model.decls():
        if declaration.arity() and declaration.name() in names:
            found = model[declaration]
            is_whole = isinstance(found, z3.FuncInterp) and found.else_value() is not None
            yield declaration, found if is_whole else None


def _functions(z3: Any, model: Any, names: list[str]) -> list[tuple[Any, Any]]:
    """The model's functions of these names, each with its value as a term over its parameters."""
    found = []
    for declaration, table in _tables(z3, model, names):
        if table is not None:
            params = [z3.Var(i, declaration.domain(i)) for i in range(declaration.arity())]
            body = table.else_value()
            for entry in map(table.entry, range(table.num_entries())):
                same = z3.And([p == entry.arg_value(k) for k, p in enumerate(params)])
                body = z3.If(same, entry.value(), body)
            found.append((declaration, body))
    return found


def _closed_value(
    z3: Any, quantifier: Any, values: list[Any], functions: list[Any], rlimit: int
) -> bool | None:
    """The value of a quantified term in the model, if a proof determines it.

    Only refutations count: they hold for any value of functions that the model leaves open, such as x/0.
    """
    closed = z3.substitute(quantifier, *values) if values else quantifier
    if functions:
        closed = z3.substitute_funs(closed, *functions)
    if _solver(z3, [z3.Not(closed)], rlimit).check() == z3.unsat:
        return True
    if _solver(z3, [closed], rlimit).check() == z3.unsat:
        return False
    return None


def _interpretations(z3: Any, model: Any, names: list[str]) -> dict[str, list[Any] | None]:
    """The model's functions as tables: entries of argument texts and value text, then the default."""
    found: dict[str, list[Any] | None] = {}
    for declaration, table in _tables(z3, model, names):
        found[declaration.name()] = None
        if table is not None:
            entries = []
            for entry in map(table.entry, range(table.num_entries())):
                arguments = [entry.arg_value(k).sexpr() for k in range(entry.num_args())]
                entries.append([arguments, entry.value().sexpr()])
            found[declaration.name()] = [entries, table.else_value().sexpr()]
    return found


_TASKS: dict[str, Callable[..., Callable[[Any], Any]]] = {
    "accept": _accept,
    "answer": _answer,
    "value": _value,
}
