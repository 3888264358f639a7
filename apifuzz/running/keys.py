"""Which finding an error belongs to: its key.

A key is ``KIND|SOLVER|WHERE`` with the place of a crash, or the action and the shape of the message. Where
that says little (a signal, a wrong answer, a solver's own check of its models) the operators follow that are
left in the trace after a quick minimisation; ``examine`` puts the function in which the solver died in their
place, where gdb sees it. How keys fold is said in ``difftest.triage.key``.
"""

from __future__ import annotations

from apifuzz.running.faults import Fault
from apifuzz.trace import Trace, print_trace, split_line
from difftest.triage.key import FoundKey
from smtlib import default_theories


def key_of(fault: Fault, solver: str, trace: Trace, complete: bool) -> FoundKey:
    """The key of a fault of ``solver``, by a trace that a quick minimisation left (``complete``: wholly)."""
    operators = ",".join(_operators(trace)) if fault.needs_operators else ""
    key = "|".join(filter(None, (fault.stem(solver), operators)))
    return FoundKey(key, print_trace(trace), complete or not fault.needs_operators)


def _operators(trace: Trace) -> tuple[str, ...]:
    """The operators and binders that a trace makes terms with, but for those that are in any formula."""
    names = set()
    for line in trace.lines:
        if line.action == "make-term" and len(line.args) > 1:
            names.add(_name(line.args[1]))
        elif line.action == "make-binder" and line.args:
            names.update(arg for arg in line.args if arg in ("forall", "exists", "lambda"))
        elif ":" in line.action:
            names.add(line.action)
    return tuple(sorted(names - default_theories().marked(":neutral") - {""}))


def _name(head: str) -> str:
    """The name of a head: ``extract`` of ``(_ extract 7 0)``, ``seq.empty`` of ``(as seq.empty S)``."""
    parts = split_line(head[1:-1]) if head.startswith("(") else [head]
    is_marked = len(parts) > 1 and parts[0] in ("_", "as")
    return parts[1] if is_marked else "".join(parts[:1])
