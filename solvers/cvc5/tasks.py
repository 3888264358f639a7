"""Tasks for cvc5's library, in processes of :mod:`solvers.running.tasks`.

``accept LIBRARY [--OPTION...]``  whether it accepts a text; almost nothing is solved
``answer LIBRARY [--OPTION...]``  its answer to a text
``read LIBRARY``                  what it makes of terms or commands, each read by itself; nothing is solved

``LIBRARY`` is the folder of a release, or the name of the installed package.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from solvers.cvc5 import driver
from solvers.running.tasks import answering

ACCEPT_RESOURCES = 200
"""Limit for accepting a text, in cvc5's machine-independent resource units; some milliseconds."""

ANSWER_RESOURCES = 40_000
"""Limit for answering a text, in the same units; about a second."""

_ANSWERS = ("sat", "unsat", "unknown")


def prepare(arguments: Sequence[str]) -> Callable[[dict[str, Any], bytes], int]:
    """The engine for one of the tasks."""
    return answering(load_task(arguments))


def load_task(arguments: Sequence[str]) -> Callable[[Any], Any]:
    """One of the tasks, with its library loaded."""
    name, library, *options = arguments
    if Path(library).is_dir():
        sys.path.insert(0, library)
    if name == "read":
        return _read
    task = {"accept": _accept, "answer": _answer}[name]
    # Make now what the library makes on first use.
    task(["--incremental"], "(set-logic ALL)(declare-const x Int)(assert (> x 0))")
    return lambda text: task(["--incremental", *options], text)


def _accept(options: Sequence[str], text: str) -> tuple[str, str]:
    """``accepted`` or ``refused``, and cvc5's error message.

    Its theories report what they do not support (floating-point formats, arrays indexed by arrays ...) only
    when they see it, so the text is solved with a very low resource limit.
    """
    _, problem = _printed(f"{text}\n(check-sat)", [f"--rlimit={ACCEPT_RESOURCES}", *options])
    return ("refused", problem) if problem else ("accepted", "")


def _answer(options: Sequence[str], text: str) -> tuple[str, str]:
    """``sat``, ``unsat``, ``unknown`` or ``refused``, and cvc5's error message."""
    printed, problem = _printed(text, [f"--rlimit={ANSWER_RESOURCES}", *options])
    answer = printed.partition(" ")[0]  # unknown comes with a reason: unknown (INCOMPLETE)
    return ("refused", problem or printed or "no answer") if answer not in _ANSWERS else (answer, "")


def _printed(text: str, options: Sequence[str]) -> tuple[str, str]:
    """The output of cvc5 for a text, and its error message."""
    printed = []
    try:
        for _, piece in driver.execute(text, options, "text"):
            if piece.startswith("(error"):
                return "", piece.strip()
            printed.append(piece)
    except RuntimeError as problem:
        return "", str(problem).removeprefix("Parse Error: ").strip() or "refused without a message"
    return "".join(printed).strip(), ""


def _read(question: dict[str, Any]) -> list[Any]:
    """What cvc5 makes of each of the question's ``texts``, and the error message of one that it refuses: the
    sort of a ``term``, the name of a ``command``. Declarations that it refuses are left out.

    For ``kind`` the function of a term of this kind (a number) that can be made of the declared constants.
    """
    import cvc5

    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setLogic("HO_ALL")
    symbols = cvc5.SymbolManager(manager)

    def parse(text: str) -> Any:
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "text")
        return parser.nextTerm() if question["what"] == "term" else parser.nextCommand()

    def read(text: str) -> tuple[str, str]:
        try:
            made = parse(text)
            return str(made.getSort() if question["what"] == "term" else made.getCommandName()), ""
        except RuntimeError as problem:
            return "", str(problem).strip() or "refused without a message"

    for declaration in question["declarations"]:
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, declaration, "text")
        with contextlib.suppress(RuntimeError):
            parser.nextCommand().invoke(solver, symbols)
    if question["what"] == "kind":
        return _head(manager, question["kind"], list(symbols.getDeclaredTerms()))
    return [read(text) for text in question["texts"]]


def _head(manager: Any, number: int, constants: Sequence[Any]) -> list[str]:
    """The function of a term of a kind, as it is printed; empty if there is no such term."""
    import cvc5

    for kind in list(cvc5.Kind)[number : number + 1]:
        for arguments in itertools.chain(*(itertools.product(constants, repeat=n) for n in (1, 2))):
            with contextlib.suppress(Exception):  # a kind that takes others, or is no kind of terms
                head = str(manager.mkTerm(kind, *arguments)).lstrip("(_ ")
                return [head.partition(" ")[0]]
    return []
