"""Actions that only cvc5 has. Their names begin with ``cvc5:``."""

from __future__ import annotations

from apifuzz.engines.cvc5.actions.asking import ASKING
from apifuzz.engines.cvc5.actions.making import MAKING
from apifuzz.engines.cvc5.actions.models import MODELS
from apifuzz.engines.cvc5.actions.reasoning import REASONING
from apifuzz.engines.cvc5.actions.setting import SETTING
from apifuzz.engines.cvc5.actions.synthesis import SYNTHESIS

ACTIONS = (*SETTING, *MAKING, *ASKING, *MODELS, *REASONING, *SYNTHESIS)

PLACES = (
    ("logic", "cvc5:take-strings", 100),
    ("options", "cvc5:switch-on", 0.6),
    ("options", "cvc5:add-plugin", 0.05),
    ("sorts", "cvc5:declare-heap", 0.5),
    ("sorts", "cvc5:inspect-sorts", 0.1),
    ("terms", "cvc5:declare-pool", 0.3),
    ("terms", "cvc5:make-cardinality", 0.5),
    ("terms", "cvc5:make-record", 0.3),
    ("terms", "cvc5:make-match", 1.0),
    ("terms", "cvc5:make-lifted", 0.5),
    ("terms", "cvc5:make-projection", 0.5),
    ("terms", "cvc5:inspect-skolem", 0.2),
    ("terms", "cvc5:simplify", 1.0),
    ("terms", "cvc5:get-assertions", 0.3),
    ("terms", "cvc5:get-options", 0.1),
    ("terms", "cvc5:get-statistics", 0.1),
    ("terms", "cvc5:get-info", 0.3),
    ("terms", "cvc5:synthesize", 0.15),
    ("terms", "cvc5:find-terms", 0.05),
    ("assert", "cvc5:get-interpolant", 0.5),
    ("assert", "cvc5:get-abduct", 0.5),
    ("assert", "cvc5:eliminate-quantifiers", 0.5),
    ("assert", "cvc5:timeout-core", 0.03),
    ("sat", "cvc5:inspect-model", 0.7),
    ("sat", "cvc5:block-model", 0.7),
    ("sat", "cvc5:get-heap", 0.7),
    ("unsat", "cvc5:get-proof", 2.0),
    ("unsat", "cvc5:get-core-lemmas", 1.0),
    *((state, "cvc5:get-difficulty", 0.7) for state in ("sat", "unsat", "unknown")),
    *((state, "cvc5:get-learned-literals", 0.7) for state in ("sat", "unsat", "unknown")),
    *((state, "cvc5:get-instantiations", 0.3) for state in ("unsat", "unknown")),
)
"""State, action, weight. The conditions are the actions' own."""
