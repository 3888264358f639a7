"""The worker process of :mod:`generator.strategies.storm.solving`: ``python _worker.py SECONDS MEGABYTES``.

Imports none of ours. It reads requests (a length in 4 bytes, then JSON) and answers each likewise. A
request is worked on in a forked child, so each starts from the same state, and a native crash or a hang costs
one request.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import Any, BinaryIO

Answer = dict[str, Any]


# z3: a model of the seed, and the values that it gives


def value_with_z3(request: Answer) -> Answer:
    """Solve the request's assertions and evaluate its terms in the model found.

    ``script`` asserts ``(= t t)`` for each term of interest, ``roles`` says what each is: ``assert`` (solved
    for), ``atom``, ``watch`` (its value is wanted as text), ``quantifier`` (with the constant that stands
    for it in the others, the term before it), ``constant``.
    """
    import z3

    z3.set_param("smt.random_seed", request["variant"])
    z3.set_param("sat.random_seed", request["variant"])
    terms = [assertion.arg(0) for assertion in z3.parse_smt2_string(request["script"])]
    roles = request["roles"]
    if len(terms) != len(roles):
        return {"failed": "the script was read otherwise than meant"}
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


def _functions(z3: Any, model: Any, names: list[str]) -> list[tuple[Any, Any]]:
    """The model's functions of these names, each with its value as a term over its parameters."""
    found = []
    for declaration in model.decls():
        if declaration.arity() and declaration.name() in names:
            interpretation = model[declaration]
            if isinstance(interpretation, z3.FuncInterp):
                params = [z3.Var(i, declaration.domain(i)) for i in range(declaration.arity())]
                body = interpretation.else_value()
                if body is None:
                    continue
                for i in range(interpretation.num_entries()):
                    entry = interpretation.entry(i)
                    same = z3.And([p == entry.arg_value(k) for k, p in enumerate(params)])
                    body = z3.If(same, entry.value(), body)
                found.append((declaration, body))
    return found


def _closed_value(
    z3: Any, quantifier: Any, values: list[Any], functions: list[Any], rlimit: int
) -> bool | None:
    """The value of a quantified term in the model, where a proof fixes it.

    Only refutations count: they hold whatever the functions without a value, x/0 among them, are.
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
    for declaration in model.decls():
        if declaration.arity() and declaration.name() in names:
            interpretation = model[declaration]
            if not isinstance(interpretation, z3.FuncInterp) or interpretation.else_value() is None:
                found[declaration.name()] = None
                continue
            entries = []
            for i in range(interpretation.num_entries()):
                entry = interpretation.entry(i)
                arguments = [entry.arg_value(k).sexpr() for k in range(entry.num_args())]
                entries.append([arguments, entry.value().sexpr()])
            found[declaration.name()] = [entries, interpretation.else_value().sexpr()]
    return found


# cvc5: whether it can be as z3 says


def check_with_cvc5(request: Answer) -> Answer:
    """The answer of cvc5 to ``script``, ``sat`` or ``unsat`` or ``unknown``, or why it refused it."""
    import cvc5

    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("rlimit", str(request["rlimit"]))
    for name, value in request.get("options", {}).items():
        solver.setOption(name, value)
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    answer = ""
    try:
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, request["script"], "text")
        while not (command := parser.nextCommand()).isNull():
            answer = str(command.invoke(solver, symbols)).strip() or answer
            if answer.startswith("(error"):
                return {"failed": answer[:400]}
    except RuntimeError as error:
        return {"failed": str(error)[:400]}
    return {"answer": answer.split()[0] if answer else "unknown"}


TASKS = {"z3": value_with_z3, "cvc5": check_with_cvc5}


# The process


def serve(seconds: float, megabytes: int, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while len(size := requests.read(4)) == 4:
        reply = in_child(requests.read(struct.unpack("<I", size)[0]), seconds, megabytes)
        answers.write(struct.pack("<I", len(reply)) + reply)
        answers.flush()


def in_child(request: bytes, seconds: float, megabytes: int) -> bytes:
    """The answer that a forked child gives, or what became of it."""
    read_end, write_end = os.pipe()
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _work(request, seconds, megabytes, write_end, worker)
    os.close(write_end)
    pieces = []
    # The limit is on the child's own time, which a busy machine does not stretch; this one is for sleepers.
    deadline = time.monotonic() + 6 * seconds
    late = False
    try:
        while True:
            ready, _, _ = select.select([read_end], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(read_end, 1 << 16) if ready else b""
            if not data:
                late = not ready
                if ready:
                    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # how it ended is of interest
                break
            pieces.append(data)
    finally:
        os.close(read_end)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    late = late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)
    reply = b"".join(pieces)
    if reply.endswith(b"\n"):
        return reply
    return json.dumps({"failed": "no answer in time" if late else "the solver crashed"}).encode()


def _work(request: bytes, seconds: float, megabytes: int, write_end: int, worker: int) -> None:
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 2))
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        if os.getppid() != worker:  # it died before it could take this process along
            os._exit(1)
        asked = json.loads(request)
        try:
            reply = TASKS[asked["task"]](asked)
        except MemoryError:
            reply = {"failed": "out of memory"}
        except Exception as error:  # noqa: BLE001 - whatever the solver's interface raises is the answer
            reply = {"failed": f"{type(error).__name__}: {error}"[:400]}
        data = json.dumps(reply).encode("utf-8", "replace") + b"\n"
        while data:
            data = data[os.write(write_end, data) :]
    finally:
        os._exit(0)


def main() -> None:
    """Serve on standard input and output, under the limits of the command line."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand among the answers
    try:
        import cvc5  # noqa: F401
        import z3
    except ImportError as error:
        sys.exit(f"a solver cannot be imported: {error}")
    # What the library builds on first use, before the children fork.
    z3.parse_smt2_string("(declare-const x Int)(assert (> x 0))")
    serve(float(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer, answers)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    main()
