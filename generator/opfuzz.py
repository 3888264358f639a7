"""The strategy ``opfuzz``: type-aware operator mutation.

Source: Winterer, Zhang, Su, "On the Unusual Effectiveness of Type-Aware Operator Mutations for Testing SMT
Solvers" (OOPSLA 2020), as the special case of generative type-aware mutation that Park et al. (OOPSLA
2021, Section 3.2) show it to be: an operator is replaced by another that takes the same arguments and gives
the same sort. Quantifiers are swapped; functions of the seed count as operators.
"""

from __future__ import annotations

import random

from generator.mutation.chain import Chain
from generator.mutation.operators import apply_declaration
from generator.mutation.places import Place
from generator.typefuzz import NO_OPERATOR, TypeFuzz
from smtlib import Kind, Term

_SWAPPED = {"forall": "exists", "exists": "forall"}


class OpFuzz(TypeFuzz):
    """Chains of type-aware operator mutations."""

    name = "opfuzz"

    def attempt(self, chain: Chain, chance: random.Random) -> bool:
        """One try to change one operator."""
        found = chain.place(chance, _has_operator)
        if found is None:
            return False
        number, place = found
        new = self._changed(chain, place, chance)
        if new is None:
            self.counts[NO_OPERATOR] += 1
            return False
        chain.replace(number, place, new, "operator", keep=False)
        return True

    @staticmethod
    def _changed(chain: Chain, place: Place, chance: random.Random) -> Term | None:
        term = place.term
        if term.op.kind is Kind.BINDER:
            op = chain.table.op(Kind.BINDER, _SWAPPED[term.op.name])
            return chain.table.make(op, term.args, term.sort, term.variables)
        signatures = chain.operators.alternatives(term, chain.guarded)
        functions = chain.functions.alternatives(term)
        count = len(signatures) + len(functions)
        if not count:
            return None
        choice = int(chance.random() * count)
        if choice < len(signatures):
            return chain.applier.apply_signature(signatures[choice], term.args, term.sort, chance)
        shape = functions[choice - len(signatures)]
        assert shape.declaration is not None
        return apply_declaration(chain.table, shape.declaration, term.args, term.sort, shape.tester)


def _has_operator(term: Term) -> bool:
    kind = term.op.kind
    if kind is Kind.BINDER:
        return term.op.name in _SWAPPED
    return kind is Kind.OPERATOR or (kind is Kind.SYMBOL and bool(term.args))
