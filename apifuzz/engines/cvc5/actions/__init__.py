"""Actions that only cvc5 has: their names begin with ``cvc5:``."""

from apifuzz.actions import actions_in
from apifuzz.engines.cvc5.actions import asking, making, models, reasoning, setting, synthesis

ACTIONS = actions_in(setting, making, reasoning, asking, synthesis, models)
