"""Tasks for cvc5's library, in processes of :mod:`solvers.running.tasks`.

``accept LIBRARY [--OPTION...]``  whether it accepts a text; almost nothing is solved
``answer LIBRARY [--OPTION...]``  its answer to a text

``LIBRARY`` is the folder of a release, or the name of the installed package.
"""

from __future__ import annotations

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


def load_task(arguments: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    """One of the tasks, with its library loaded."""
    name, library, *options = arguments
    if Path(library).is_dir():
        sys.path.insert(0, library)
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
