"""Solvers as trackers, command lines, outputs and people name them: the only module that lists them."""

from __future__ import annotations

FAMILIES = frozenset(
    """
    z3str3 z3str4 z3-noodler z3 cvc5 cvc4 cvc3 yices bitwuzla boolector mathsat opensmt
    smtinterpol verit stp smtrat smt-rat princess ostrich colibri2 colibri alt-ergo dreal ksmt
    noodler vampire carcara ethos
    """.split()
)
"""Solvers that a program's name may speak of."""

NO_PROGRAMS = {family: frozenset({"s", "py", "prover", "solver", "y"}) for family in ("stp", "z3", "verit")}
"""Per family, what follows its name in words that are no program: ``z3py``, ``stps``."""

TRACKERS = frozenset(
    """
    z3 cvc5 cvc4 yices2 yices bitwuzla boolector opensmt mathsat smtinterpol stp dreal ostrich princess verit
    """.split()
)
"""Repositories that are called like the solver whose bugs they hold."""

COMMON = ("z3", "cvc5", "cvc4", "yices", "bitwuzla", "boolector", "opensmt", "mathsat")
"""Solvers that own a tracker whose name begins with theirs, have a prompt, and are spoken of in prose."""

IN_PROSE = r"z3|cvc5|cvc4|yices2?|bitwuzla|boolector|mathsat5?|opensmt2?|smtinterpol"
"""Pattern of a solver to which a sentence credits an answer."""

OUTPUT = (
    r"cvc[45]\s+(?:interrupted|suffered) | Z3\s+version | Z3\s\[version | This\s+is\s+cvc"
    r" | Yices\s\d | bitwuzla:\s"
)
"""Verbose pattern of how lines begin that only one solver prints."""

REGRESSIONS = "cvc5"
"""Whose regression files tell their options in a comment (``; COMMAND-LINE: --incremental``)."""
