"""Actions that only cvc5 has: their names begin with ``cvc5:``."""

from apifuzz.actions import actions_in
from apifuzz.engines.cvc5.actions import asking, making, reasoning, setting

ACTIONS = actions_in(setting, making, reasoning, asking)
