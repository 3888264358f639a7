"""The value of every Boolean subterm of a seed, in one model.

Source: Mansur et al., "Detecting Critical Bugs in SMT Solvers Using Blackbox Mutational Fuzzing" (ESEC/FSE
2020), Algorithm 1, PopulateInitialPool. z3 finds a model (see :mod:`solvers.z3.tasks`)
and values the atoms; what connectives make of them is computed here.

The values need not come from the model of any one solver: what counts is that **some** interpretation of
the standard gives all of them. So what the standard leaves open is looked at
(:mod:`generator.strategies.storm.openness`), and an atom is left out where z3's choice might not be one
that the standard, or another solver, allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from generator.scopes import Endings, Prelude, free_prefix
from generator.seeds.script import SeedScript
from generator.strategies.storm.openness import Openness
from generator.strategies.storm.solving import SolvingProcess
from smtlib import BOOL, Kind, Term, postorder, print_term

RLIMIT = 500_000
"""z3's units of work for finding a model; about a second."""

QUANTIFIER_RLIMIT = 50_000
"""The same for each proof about a quantified term."""

MAX_QUANTIFIERS = 20
"""Quantified terms of a seed that are valued, the first ones."""

MAX_SCRIPT = 4 << 20
"""Seeds whose terms print longer, in characters, are not valued."""

VARIANTS = 4
"""Different models that are requested, one after the other."""

CROSS_CHECKED = 16
"""One seed in this many, chosen by its hash, has its values checked by cvc5."""

_CROSS_RLIMIT = 300_000

CONNECTIVES = frozenset(("not", "and", "or", "=>", "xor", "=", "distinct", "ite"))


def is_connective(term: Term) -> bool:
    """Whether ``term`` is Boolean and made of nothing but Boolean arguments by a Core function."""
    op = term.op
    return (
        op.kind is Kind.OPERATOR
        and op.name in CONNECTIVES
        and term.sort is BOOL
        and all(a.sort is BOOL for a in term.args)
    )


class NoValuation(Exception):
    """The seed cannot be valued; the message says why, in words to be counted by."""


@dataclass(frozen=True, slots=True)
class Valuation:
    """Values of a seed's Boolean subterms that hold together in some interpretation.

    ``values`` has the terms under no binder. ``how`` is what the model is of: the ``assertions``, their
    ``negation``, the ``part`` without quantifiers, or ``any``. ``left_out`` counts Boolean terms without a
    value by cause. ``checked`` is what cvc5 said of the values (``sat``, ``unknown`` or a failure), None
    where it was not asked; atoms that it valued otherwise are left out.
    """

    values: dict[Term, bool]
    how: str
    left_out: Counter[str]
    checked: str | None = None


def value_terms(
    script: SeedScript, process: SolvingProcess, variant: int = 0, cross_check: bool | None = None
) -> Valuation:
    """The valuation of ``script`` by the model of this ``variant``.

    ``cross_check``: have cvc5 check the values; None does so for one seed in :data:`CROSS_CHECKED`.
    Raises :class:`NoValuation`.
    """
    problem = _Problem(script)
    request = problem.request(variant % VARIANTS)
    reply = process.ask(request)
    if "failed" in reply:
        raise NoValuation(_cause(str(reply["failed"])))
    valuation = problem.combine(reply)
    if cross_check is None:
        digest = sha256(str(request["script"]).encode("utf-8", "replace")).digest()
        cross_check = digest[0] % CROSS_CHECKED == 0
    return problem.cross_checked(valuation, reply, process) if cross_check else valuation


def _cause(failed: str) -> str:
    known = ("no answer in time", "out of memory", "the solver crashed", "the script was read otherwise")
    return next((k for k in known if failed.startswith(k)), "z3 refused it")


class _Problem:
    """A seed's terms in one script for z3, each closed term under a name of its own, so nothing nests."""

    def __init__(self, script: SeedScript) -> None:
        if script.logic != "ALL":
            raise NoValuation("higher order")
        self.script = script
        prelude = Prelude(script)
        self.naming = Endings(script)
        self.openness = Openness(script)
        self.declared = prelude.text(prelude.everything & ~self.openness.recursive(prelude))
        self.constants = [d for d in script.declared if not d.params]
        self.functions = [d for d in script.declared if d.params]
        self.terms = list(_closed_terms(script.assertions))
        self.faults: dict[Term, str] = {}
        self.quantifiers: dict[Term, int] = {}
        self.hangs_on: dict[Term, int] = {}
        self.names: dict[Term, str] = {}
        self.absent: set[Term] = set()
        self.watched: list[Term] = []
        for term in self.terms:
            self._classify(term)
        self.atoms = [t for t in self.terms if t.sort is BOOL and self._is_atom(t)]

    def _is_atom(self, term: Term) -> bool:
        return not (
            is_connective(term)
            or term in self.quantifiers
            or term.op.kind is Kind.ANNOTATION
            or term in self.faults
        )

    def _classify(self, term: Term) -> None:
        kind = term.op.kind
        args = _closed_args(term)
        hangs = 0
        for arg in args:
            hangs |= self.hangs_on[arg]
        if kind in (Kind.BINDER, Kind.MATCH):
            fault = self.openness.fault_below(term)
            if kind is Kind.BINDER and not fault:
                if len(self.quantifiers) >= MAX_QUANTIFIERS:
                    fault = "too many quantifiers"
                else:
                    hangs = 1 << len(self.quantifiers)
                    self.quantifiers[term] = len(self.quantifiers)
        else:
            fault = self.openness.fault(term)
            if not fault and not is_connective(term):
                fault = next((self.faults[a] for a in args if a in self.faults), "")
            if not fault and self.openness.is_partial(term):
                self.watched.append(term)
        if fault:
            self.faults[term] = fault
        self.hangs_on[term] = hangs
        if self.openness.is_undefinable(term) or any(a in self.absent for a in args):
            self.absent.add(term)

    # The question

    def request(self, variant: int) -> dict[str, Any]:
        """What z3 is asked."""
        lines = [self.declared]
        heads = {self.naming.head(t) for t in self.terms}
        prefix = free_prefix("e!", heads.union(d.name for d in self.script.declarations))
        stands = []
        for term in self.terms:
            if term in self.absent:
                continue
            self.names[term] = name = self._define(term, prefix, lines)
            if term in self.quantifiers:
                stands += [("stand-in", name), ("quantifier", f"{name}!q")]
        names = self.names
        asserted = [a for a in dict.fromkeys(self.script.assertions) if a in names]
        watched = [t for w in self.watched if w in names for t in (*w.args, w)]
        interest = [
            *stands,
            *(("assert", names[a]) for a in asserted),
            *(("atom", names[a]) for a in self._valued_atoms()),
            *(("watch", names[t]) for t in watched),
            *(("constant", self.naming.symbol(d.name)) for d in self.constants),
        ]
        lines += [f"(assert (= {name} {name}))\n" for _, name in interest]
        text = "".join(lines)
        if len(text) > MAX_SCRIPT:
            raise NoValuation("too large to value")
        return {
            "task": "z3",
            "script": text,
            "roles": [role for role, _ in interest],
            "quantifier_free": [not _has_quantifier(a) for a in asserted],
            "functions": [d.name.strip("|") for d in self.functions],
            "variant": variant,
            "rlimit": RLIMIT,
            "quantifier_rlimit": QUANTIFIER_RLIMIT,
        }

    def _valued_atoms(self) -> list[Term]:
        return [a for a in self.atoms if a in self.names]

    def _define(self, term: Term, prefix: str, lines: list[str]) -> str:
        """Define ``term`` under a name of its own, unless it is a leaf; return the name."""
        kind = term.op.kind
        if kind is Kind.ANNOTATION:
            return self.names[term.args[0]]
        if not term.args:
            return self.naming.head(term)
        name = f"{prefix}{term.id}"
        sort = self.naming.sort(term.sort)
        if kind in (Kind.BINDER, Kind.MATCH):
            body = print_term(term, self.naming)
            if term in self.quantifiers:
                lines.append(f"(declare-fun {name} () Bool)\n(define-fun {name}!q () Bool {body})\n")
                return name
        else:
            body = f"({self.naming.head(term)} {' '.join([self.names[a] for a in term.args])})"
        lines.append(f"(define-fun {name} () {sort} {body})\n")
        return name

    # The answer

    def combine(self, reply: dict[str, Any]) -> Valuation:
        """The values of all Boolean terms, from those of the atoms and quantified terms."""
        left_out: Counter[str] = Counter()
        values: dict[Term, bool | None] = {}
        unknown = sum(1 << i for i, v in enumerate(reply["quantifiers"]) if v is None)
        inconsistent = self._inconsistent(reply["watched"])
        for atom, value in zip(self._valued_atoms(), reply["atoms"], strict=True):
            if self.hangs_on[atom] & unknown:
                left_out["holds a quantified term without a value"] += 1
            elif value is None:
                left_out["not valued by z3"] += 1
            elif inconsistent and not inconsistent.isdisjoint(_closed_terms([atom])):
                left_out["a partial function with two values"] += 1
            else:
                values[atom] = value
        for term in self.terms:
            if term.sort is not BOOL or term in values:
                continue
            if term in self.quantifiers:
                value = reply["quantifiers"][self.quantifiers[term]]
                values[term] = value
                left_out["quantified, no proof either way"] += value is None
            elif term.op.kind is Kind.ANNOTATION:
                values[term] = values.get(term.args[0])
            elif term in self.faults:
                left_out[self.faults[term]] += 1
            elif is_connective(term):
                values[term] = _connective(term.op.name, [values.get(a) for a in term.args])
                left_out["a connective of terms without a value"] += values[term] is None
        known = {t: v for t, v in values.items() if v is not None}
        return Valuation(known, reply["how"], +left_out)

    def _inconsistent(self, texts: list[str]) -> set[Term]:
        """Applications of partial functions to which z3 gave two values for equal arguments."""
        table: dict[tuple[str, ...], tuple[str, list[Term]]] = {}
        wrong: set[Term] = set()
        position = 0
        for term in self.watched:
            if term not in self.names:
                continue
            *arguments, value = texts[position : position + len(term.args) + 1]
            position += len(term.args) + 1
            key = (term.op.text, *arguments)
            known, users = table.setdefault(key, (value, []))
            users.append(term)
            # An array can be written in several ways, so equal texts do not decide whether arguments are
            # equal.
            vague = any("(store " in t or "lambda" in t or "as-array" in t for t in (*arguments, value))
            if known != value or vague:
                wrong.update(users)
        return wrong

    # The second opinion

    def cross_checked(
        self, valuation: Valuation, reply: dict[str, Any], process: SolvingProcess
    ) -> Valuation:
        """``valuation`` with what cvc5 says of it; atoms that it values otherwise are taken out."""
        lines = self._model_lines(reply)
        if isinstance(lines, str):
            return replace(valuation, checked=lines)
        known = valuation.values
        claims = {a: self._claim(a, known[a]) for a in self._valued_atoms() if a in known}
        said = self._ask_cvc5([*lines, *claims.values()], process)
        if said != "unsat":
            return replace(valuation, checked=said)
        wrong = {a for a, claim in claims.items() if self._ask_cvc5([*lines, claim], process) == "unsat"}
        right = [claim for a, claim in claims.items() if a not in wrong]
        if not wrong or self._ask_cvc5(lines + right, process) == "unsat":
            # cvc5 rejects them only together: which one is wrong is unknown, so none is used.
            raise NoValuation("cvc5 rejects the values")
        values = {t: v for t, v in known.items() if wrong.isdisjoint(_closed_terms([t]))}
        lost = Counter({"valued otherwise by cvc5": len(known) - len(values)})
        return replace(valuation, values=values, left_out=valuation.left_out + lost, checked=said)

    def _claim(self, atom: Term, value: bool) -> str:
        name = self.names[atom]
        return f"(assert {name})\n" if value else f"(assert (not {name}))\n"

    def _ask_cvc5(self, lines: list[str], process: SolvingProcess) -> str:
        text = f"(set-logic ALL)\n{''.join(lines)}(check-sat)\n"
        options = {"strings-exp": "true", "arrays-exp": "true", "fp-exp": "true"}
        reply = process.ask({"task": "cvc5", "script": text, "rlimit": _CROSS_RLIMIT, "options": options})
        return str(reply.get("answer") or f"refused: {reply['failed']}")

    def _model_lines(self, reply: dict[str, Any]) -> list[str] | str:
        """The definitions of the question with the model's values, or why they cannot be written."""
        lines = [self.declared]
        for sort, members in reply["universes"].items():
            # Members of universes are no SMT-LIB values; here they are distinct symbols.
            lines += [f"(declare-fun {m} () {sort})\n" for m in members]
            if len(members) > 1:
                lines.append(f"(assert (distinct {' '.join(members)}))\n")
        for declaration, value in zip(self.constants, reply["constants"], strict=True):
            if not _is_smtlib(value):
                return "not asked: a value that only z3 can write"
            lines.append(f"(assert (= {declaration.name} {value}))\n")
        by_name = {d.name.strip("|"): d for d in self.functions}
        for name, table in reply["interpretations"].items():
            if table is None or not all(_is_smtlib(t) for t in _texts(table)):
                return "not asked: a function that only z3 can write"
            # The points alone: what the function is elsewhere matters to no valued term but one that z3
            # reads the default for, and that only makes cvc5 freer.
            for arguments, value in table[0]:
                lines.append(f"(assert (= ({by_name[name].name} {' '.join(arguments)}) {value}))\n")
        stands = {t for t in self.quantifiers if t in self.names}
        for term in self.terms:
            if term in stands:
                value = reply["quantifiers"][self.quantifiers[term]]
                lines.append(f"(declare-fun {self.names[term]} () Bool)\n")
                if value is not None:
                    lines.append(self._claim(term, value))
            elif term in self.names and term.args and term.op.kind is not Kind.ANNOTATION:
                self._define(term, self.names[term].rsplit("!", 1)[0] + "!", lines)
        return lines


def _is_smtlib(text: str) -> bool:
    """Whether z3's text for a value is SMT-LIB."""
    return not any(word in text for word in ("root-obj", "as-array", "lambda", "(_ Char"))


def _texts(table: Sequence[Any]) -> list[str]:
    return [t for arguments, value in table[0] for t in (*arguments, value)]


def _closed_args(term: Term) -> Sequence[Term]:
    """The arguments that stand under no binder of ``term``."""
    if term.op.kind in (Kind.BINDER, Kind.MATCH):
        return ()
    return term.args[:1] if term.op.kind is Kind.ANNOTATION else term.args


def _closed_terms(roots: Sequence[Term]) -> Iterator[Term]:
    """Every term below ``roots`` that stands under no binder, arguments first."""
    return postorder(roots, below=_closed_args)


def _has_quantifier(term: Term) -> bool:
    return any(t.op.kind is Kind.BINDER for t in _closed_terms([term]))


def _connective(name: str, values: Sequence[bool | None]) -> bool | None:
    """The value of a connective over values of which some may be unknown (Kleene)."""
    if name == "not":
        return None if values[0] is None else not values[0]
    if name == "and":
        return False if False in values else (None if None in values else True)
    if name == "or":
        return True if True in values else (None if None in values else False)
    if name == "=>":
        return _connective("or", [*(_connective("not", [v]) for v in values[:-1]), values[-1]])
    if name == "ite":
        condition, then, other = values
        if condition is not None:
            return then if condition else other
        return then if then == other else None
    if None in values:
        return None
    if name == "xor":
        return sum(map(bool, values)) % 2 == 1
    if name == "=":
        return len(set(values)) == 1
    return len(set(values)) == len(values)
