"""Actions that only z3 has: their names begin with ``z3:``. Making a context takes long."""

from apifuzz.engines.z3.actions import contexts, fixedpoints, goals, optimising, questions, solvers

ACTIONS = (
    *goals.ACTIONS,
    *questions.ACTIONS,
    *optimising.ACTIONS,
    *fixedpoints.ACTIONS,
    *contexts.ACTIONS,
    *solvers.ACTIONS,
)
