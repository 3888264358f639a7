"""What z3 says of scripts."""

from __future__ import annotations

import z3


def answers(text: str) -> list[str]:
    """The answer to each ``check-sat`` of a script."""
    context = z3.Context()
    return z3.Z3_eval_smtlib2_string(context.ref(), text).split()
