"""Interpolants, checked by further instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import bitwuzla
from bitwuzla import Kind

from apifuzz.actions import Made, Need
from apifuzz.actions.own import Own, Second
from apifuzz.call import FormulaLists
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine, check
from apifuzz.engines.bitwuzla.inspection import MAX_NODES, nodes
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, TermKind, must
from apifuzz.run import Run
from apifuzz.trace import TraceError


def is_on(option: str) -> Callable[[Run], bool]:
    """Whether an option of the instance is on."""
    return lambda run: cast(BitwuzlaEngine, run.engine.core).settings.is_on(option)


class SecondInstance(Second):
    """Another instance on the same term manager, made for each question."""

    def __init__(self, engine: BitwuzlaEngine) -> None:
        self.manager = engine.session.manager

    def answer(self, formulas: Sequence[Any]) -> Answer:
        solver = bitwuzla.Bitwuzla(self.manager, bitwuzla.Options())
        if formulas:
            solver.assert_formula(*formulas)
        return check(solver)

    def negated(self, formula: Any) -> Any:
        return self.manager.mk_term(Kind.NOT, [formula])


class Interpolants(Own):
    """``bitwuzla:interpolants (FORMULA ...) ...``: after unsat, of growing parts of the assertions.

    Of one part there is one interpolant: it follows from the part, and contradicts the other assertions. Of
    several, each with the next part gives the next one. They are returned as terms.
    """

    solver = "bitwuzla"
    places = (("unsat", 3),)
    after = (Answer.UNSAT,)
    parts: FormulaLists

    needs = (
        Need(lambda run: not run.assumptions, "interpolants after assumptions"),
        Need(is_on("produce-interpolants"), "without produce-interpolants"),
    )

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        left = list({t.handle.id(): t for t in run.assertions}.values())
        run.random.shuffle(left)
        parts: list[tuple[ApiTerm, ...]] = []
        while len(left) > 1 and (not parts or run.random.happens(0.3)):
            count = run.random.up_to(len(left) - 1)
            parts.append(tuple(left[:count]))
            del left[:count]
        return cls(tuple(parts)) if parts else None

    def act(self, run: Run, core: BitwuzlaEngine) -> Made | None:
        parts = self.parts
        for part in parts:
            if not part or not set(part) <= set(run.assertions):
                raise TraceError("parts of the assertions expected")
        handles = [[t.handle for t in part] for part in parts]
        if len(parts) == 1 and core.random.random() < 0.7:
            found = [core.solver.get_interpolant(handles[0])]
        else:
            found = core.solver.get_interpolants(handles)
        same = len(found) == len(parts)
        must("interpolant", same, f"{len(parts)} parts, {len(found)} interpolants")
        own = parts[0][0].sort
        made = [run.keep_term(own, handle, TermKind.TERM) for handle in found]
        _verify(core, parts, made, run.assertions)
        return tuple(made)


def _verify(
    engine: BitwuzlaEngine,
    parts: Sequence[Sequence[ApiTerm]],
    interpolants: Sequence[ApiTerm],
    assertions: Sequence[ApiTerm],
) -> None:
    """Misbehaviour where an interpolant does not follow, or does not contradict the rest."""
    second = SecondInstance(engine)
    before: list[ApiTerm] = []
    seen: set[int] = set()
    for part, interpolant in zip(parts, interpolants, strict=True):
        seen.update(t.handle.id() for t in part)
        rest = [t for t in assertions if t.handle.id() not in seen]
        common = _constants([t for t in assertions if t.handle.id() in seen]) & _constants(rest)
        if not _constants([interpolant]) <= common:
            raise Misbehaviour("interpolant", f"{interpolant.handle} has constants that are not common")
        premises = [t.handle for t in (*before, *part)]
        second.must_follow(premises, interpolant.handle, "interpolation", "interpolant")
        contradiction = [t.handle for t in (*rest, interpolant)]
        second.must_not_be(Answer.SAT, "interpolant", contradiction, "an interpolant with the rest")
        before = [interpolant]


def _constants(terms: Sequence[ApiTerm]) -> set[int]:
    return {n.id() for t in terms for n in nodes(t.handle, 10 * MAX_NODES) if n.is_const()}
