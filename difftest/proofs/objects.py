"""Reads proof objects: terms whose functions are rules, the last argument of each what it concludes.

Source: de Moura and Bjørner, "Proofs and Refutations, and Z3" (IWIL 2008); the rules are described in the
solver's API.

::

    ((declare-fun sk!0 () Int)
     (proof
      (let (($x7 (> x 3)))
      (let ((@x9 (asserted $x7)))
      (unit-resolution (asserted (not $x7)) @x9 false)))))

They become a proof as :mod:`difftest.proofs.cpc` reads it. What ``let`` names is a definition, also below
binders, and each application of a rule is a step. What ``proof-bind`` binds is free in its steps, which hold
for all values. A ``hypothesis`` is open until ``lemma``, which closes all that its premise depends on. ``~``,
equality up to satisfiability, becomes ``=``: the rules that rely on more of it are in ``FRESH``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any, Final

from difftest.proofs.cpc import BadProof, Proof, Step, answered_proof
from smtlib.reader import SExp, SExpList, sexp_text

FRESH: Final = frozenset(("sk", "intro-def", "apply-def"))
"""Rules that conclude something about a new symbol, which does not follow from their premises."""
_KINDS = {"asserted": "assume", "goal": "assume", "hypothesis": "hypothesis", "lemma": "lemma"}
_RULES = {"asserted": "assume", "goal": "assume"}
_PROOF = "@"


def read_proof_object(text: str, declarations: Iterable[SExpList]) -> Proof:
    """The proof in what a solver printed, after its answer ``unsat``; ``declarations`` are the script's own,
    which it does not print. Raises BadProof.
    """
    try:
        found = answered_proof(text)
        lines = list(found[0]) if len(found) == 1 and isinstance(found[0], SExpList) else []
        # Releases differ in whether they put parentheses around all of it.
        lines = [SExpList(lines)] if lines[:1] == ["proof"] else lines
        *fresh, last = [line for line in lines if line[0] != "set-logic"] or [SExpList()]
        if last[:1] != ["proof"] or len(last) != 2 or any(line[0] != "declare-fun" for line in fresh):
            raise BadProof("the solver prints no proof")
        reader = _Reader()
        reader.step(last[1])
    except (RecursionError, ValueError, TypeError, IndexError, AttributeError) as problem:
        raise BadProof("the proof cannot be read: a form that is not known") from problem
    return Proof((*declarations, *fresh), tuple(reader.definitions), tuple(reader.steps))


class _Reader:
    """Collects definitions and steps while it reads; a name stands for what the innermost ``let`` or binder
    around makes of it.
    """

    def __init__(self) -> None:
        self.definitions: list[tuple[str, SExp]] = []
        self.steps: list[Step] = []
        self._known: dict[str, Any] = {}
        self._numbers = count()

    def step(self, sexp: SExp) -> str:
        """The name of the step that this is."""
        if isinstance(sexp, str):
            name = self._known.get(sexp, sexp)
            if name == sexp:
                raise BadProof(f"a step that is not known: {sexp[:60]}")
            return str(name)
        if sexp[0] == "let":
            body, hidden = self._let(sexp)
            found = self.step(body)
            self._known.update(hidden)
            return found
        head, *args = sexp
        if head == "proof-bind":
            return self._bound(args[0])
        rule = head if isinstance(head, str) else "-".join(head[1:3] if head[1] == "th-lemma" else head[1:2])
        *premises, conclusion = args
        names = SExpList(self.step(premise) for premise in premises)
        concluded = self._term(conclusion)
        name = f"{_PROOF}p{next(self._numbers)}"
        rule = _RULES.get(rule, rule)
        line = SExpList(["step", name, concluded, ":rule", rule, ":premises", names])
        kind = _KINDS.get(str(head), "step")
        self.steps.append(Step(kind, name, concluded, rule, tuple(names), line))
        return name

    def _bound(self, sexp: SExp) -> str:
        """The step below a ``lambda``, perhaps one that has a name."""
        scope = self._known.get(sexp) if isinstance(sexp, str) else sexp
        if not isinstance(scope, SExpList) or scope[0] != "lambda":
            raise BadProof(f"not a step below variables: {sexp_text(sexp, 60)}")
        _, hidden = self._variables(scope[1])
        found = self.step(scope[2])
        self._known.update(hidden)
        return found

    def _let(self, sexp: SExpList) -> tuple[SExp, dict[str, Any]]:
        """What is inside of all ``let`` at the front, and what their names stood for outside."""
        hidden: dict[str, Any] = {}
        while isinstance(sexp, SExpList) and sexp and sexp[0] == "let":
            _, pairs, body = sexp
            for name, value in pairs:
                found = self._named(name, value)
                hidden.setdefault(name, self._known.get(name, name))
                self._known[name] = found
            sexp = body
        return sexp, hidden

    def _named(self, name: str, value: SExp) -> Any:
        if name.startswith(_PROOF):
            return self.step(value)
        if isinstance(value, SExpList) and value[0] == "lambda":
            # Of a proof-bind, which says what its variables are, or a term that has no form here.
            return value
        concluded = self._term(value)
        if isinstance(concluded, str):
            return concluded
        self.definitions.append((f"{_PROOF}t{next(self._numbers)}", concluded))
        return self.definitions[-1][0]

    def _term(self, sexp: SExp) -> SExp:
        """A term as CPC writes it, but for indices."""
        if isinstance(sexp, str):
            known: SExp = self._known.get(sexp, sexp)
            return known
        if not sexp or sexp[0] in ("_", "as", "lambda"):
            return sexp
        if sexp[0] == "let":
            body, hidden = self._let(sexp)
            found = self._term(body)
            self._known.update(hidden)
            return found
        if sexp[0] == "!":
            return self._term(sexp[1])
        if sexp[0] in ("forall", "exists"):
            variables, hidden = self._variables(sexp[1])
            found = SExpList([sexp[0], variables, self._term(sexp[2])])
            self._known.update(hidden)
            return found
        head = "=" if sexp[0] == "~" else sexp[0]
        return SExpList([head, *map(self._term, sexp[1:])])

    def _variables(self, pairs: SExpList) -> tuple[SExpList, dict[str, Any]]:
        """The variables of a binder as a list of CPC, and what their names stood for outside."""
        found, hidden = SExpList(["@list"]), {}
        for name, sort in pairs:
            hidden[name] = self._known.get(name, name)
            self._known[name] = SExpList(["@var", f'"{name}"', sort])
            found.append(self._known[name])
        return found, hidden
