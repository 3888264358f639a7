"""Reads proofs in the Cooperating Proof Calculus (CPC), cvc5's proof format, with printed conclusions.

::

    (declare-const x Int)
    (define @t1 () (> x 3))
    (assume @p1 (not @t1))
    (assume-push @p2 @t1)
    (step @p3 false :rule contra :premises (@p2 @p1))
    (step-pop @p4 (=> @t1 false) :rule scope :premises (@p3))

``step-pop`` closes the assumption of the last open ``assume-push``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from difftest.errors import DifftestError
from smtlib.errors import ReadError
from smtlib.reader import SExp, SExpList, read_sexps, sexp_text

LONGEST: Final = 8_000_000
"""Characters of the longest proof that is read."""
_DECLARATIONS = ("declare-const", "declare-fun", "declare-sort", "declare-datatype", "declare-datatypes")
_STEPS = ("assume", "assume-push", "step", "step-pop")


class BadProof(DifftestError):
    """A proof that cannot be read: too long, cut off, or of another form."""


@dataclass(frozen=True, slots=True)
class Step:
    """A line of a proof; ``kind`` is its command, or ``hypothesis`` or ``lemma``. ``conclusion`` is None if
    it is not printed.
    """

    kind: str
    name: str
    conclusion: SExp | None
    rule: str = "assume"
    premises: tuple[str, ...] = ()
    sexp: SExpList | None = None

    @property
    def line(self) -> str:
        """The step as printed, perhaps cut."""
        return sexp_text(self.sexp or SExpList(), 300)


@dataclass(frozen=True, slots=True)
class Proof:
    """The lines of a proof: declarations, definitions (name and term) and steps, each in their order."""

    declarations: tuple[SExpList, ...]
    definitions: tuple[tuple[str, SExp], ...]
    steps: tuple[Step, ...]


def read_proof(text: str) -> Proof:
    """The proof in what a solver printed, after its answer ``unsat``. Raises BadProof."""
    try:
        lines = list(_lines(answered_proof(text)))
    except RecursionError as problem:
        raise BadProof("the proof cannot be read: nested deeply") from problem
    steps = tuple(_step(line) for line in lines if line[0] in _STEPS)
    if not steps:
        raise BadProof("the solver prints no proof")
    declarations = tuple(line for line in lines if line[0] in _DECLARATIONS)
    definitions = tuple((line[1], line[3]) for line in lines if _is_definition(line))
    return Proof(declarations, definitions, steps)


def answered_proof(text: str) -> list[SExp]:
    """What a solver printed after its answer ``unsat``. Raises BadProof."""
    if len(text) > LONGEST:
        raise BadProof("the proof is too long")
    answer, _, rest = text.lstrip().partition("\n")
    if answer.strip() != "unsat":
        raise BadProof("not unsat when the proof is requested")
    try:
        return read_sexps(rest)
    except (ReadError, RecursionError) as problem:
        raise BadProof(f"the proof cannot be read: {problem}") from problem


def _lines(sexps: Iterable[SExp]) -> Iterator[SExpList]:
    """The commands; some releases put parentheses around all of them."""
    for sexp in sexps:
        if isinstance(sexp, SExpList) and sexp and isinstance(sexp[0], SExpList):
            yield from _lines(sexp) if all(map(_is_command, sexp)) else _lines([""])
        elif isinstance(sexp, SExpList) and len(sexp) == 3 and sexp[0] == "declare-type":
            # cvc5 1.3.0: (declare-type NAME (Type ...)).
            yield SExpList(["declare-sort", sexp[1], str(len(sexp[2]))])
        elif _is_command(sexp) and isinstance(sexp, SExpList):
            yield sexp
        else:
            raise BadProof(f"not a line of a proof: {sexp_text(sexp, 60)}")


def _is_command(sexp: SExp) -> bool:
    return (
        isinstance(sexp, SExpList)
        and len(sexp) > 1
        and isinstance(sexp[0], str)
        and (sexp[0] in ("declare-type", *_DECLARATIONS, *_STEPS) or _is_definition(sexp))
    )


def _is_definition(sexp: SExpList) -> bool:
    return sexp[0] == "define" and len(sexp) == 4 and isinstance(sexp[1], str) and sexp[2] == []


def _step(line: SExpList) -> Step:
    kind, name, *rest = line
    if not isinstance(name, str):
        raise BadProof(f"a step without a name: {sexp_text(line, 60)}")
    conclusion = None
    if rest and not (isinstance(rest[0], str) and rest[0][:1] == ":"):
        conclusion, *rest = rest
    if kind.startswith("assume"):
        return Step(kind, name, conclusion, sexp=line)
    attributes = {key: value for key, value in zip(rest[::2], rest[1::2], strict=False) if type(key) is str}
    rule, premises = attributes.get(":rule"), attributes.get(":premises", SExpList())
    if not isinstance(rule, str) or isinstance(premises, str) or not all(type(p) is str for p in premises):
        raise BadProof(f"a step of another form: {sexp_text(line, 60)}")
    return Step(kind, name, conclusion, rule, tuple(premises), line)
