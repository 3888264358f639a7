"""The same script with other names, in another order and with turned equations answers the same."""

from __future__ import annotations

import random
from collections.abc import Iterator

from difftest.models.state import SILENCED
from difftest.relations.base import QUESTION, Case, Claim, Relation, Rule
from smtlib.commands import print_command
from smtlib.printer import Naming, print_term
from smtlib.terms import Kind, Term, TermTable, rewrite

WHY = (
    "The second script is the first with other names of functions, other orders of assertions and of "
    "arguments of commutative operators."
)
_COMMUTE = frozenset(
    "and or xor = distinct + * bvadd bvmul bvand bvor bvxor fp.eq set.union set.inter bag.union_max "
    "bag.union_disjoint bag.inter_min re.union re.inter ff.add ff.mul".split()
)
_FUNCTIONS = ("declare-fun", "declare-const", "define-fun")


class Names(Naming):
    """Gives the functions of a script new names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def head(self, term: Term) -> str:
        """As spelled by ``symbol``."""
        return self.renamed_head(term)

    def symbol(self, name: str) -> str:
        """The new name, if it has one."""
        return self.names.get(name, name)


def _turned(table: TermTable, term: Term, chance: random.Random) -> Term:
    def change(old: Term, args: tuple[Term, ...]) -> Term | None:
        if old.kind is not Kind.OPERATOR or old.name not in _COMMUTE or chance.random() < 0.3:
            return None
        turned = list(args)
        chance.shuffle(turned)
        return table.rebuild(old, tuple(turned))

    return rewrite(table, term, change)


def _claims(case: Case) -> Iterator[Claim]:
    state = case.state
    for turn in range(4):
        chance = random.Random(case.salt + turn)
        names = list(
            dict.fromkeys(d.name for c in state.commands if c.name in _FUNCTIONS for d in c.declarations)
        )
        kept = {d.name for c in state.commands if c.name not in _FUNCTIONS for d in c.declarations}
        kept |= {
            symbol.name for c in state.commands for datatype in c.datatypes for symbol in datatype.symbols
        }
        numbers = chance.sample(range(1000), min(len(names), 1000))
        new = {
            name: f"{chance.choice('azAZ')}{n}!"
            for name, n in zip(names, numbers, strict=False)
            if name not in kept
        }
        naming = Names(new if all(map(case.is_free, new.values())) else {})
        head = [print_command(c, naming) for c in state.commands if c.name not in ("assert", *SILENCED)]
        terms = [print_term(_turned(state.table, term, chance), naming) for term in case.state.terms]
        chance.shuffle(terms)
        yield Claim((case.text(terms, QUESTION, head=head),), Rule.SAME, WHY)


RELATION = Relation("shuffle", "a script with other names and orders is answered differently", _claims)
