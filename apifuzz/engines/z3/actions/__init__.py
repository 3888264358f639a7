"""Actions that only z3 has: their names begin with ``z3:``. Making a context takes long."""

from apifuzz.actions import actions_in
from apifuzz.engines.z3.actions import contexts, fixedpoints, goals, optimising, questions, solvers

ACTIONS = actions_in(goals, questions, optimising, fixedpoints, contexts, solvers)
