"""Actions that only z3 has: their names begin with ``z3:``. Making a context takes long."""

from apifuzz.actions import actions_in
from apifuzz.engines.z3.actions import contexts, goals, optimising, questions

ACTIONS = actions_in(goals, questions, optimising, contexts)
