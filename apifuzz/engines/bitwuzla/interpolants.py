"""Interpolants: asked for, and checked by further instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

import bitwuzla
from bitwuzla import Kind

from apifuzz.actions import Made
from apifuzz.actions.own import Own
from apifuzz.call import FormulaLists
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine, check
from apifuzz.engines.bitwuzla.inspection import MAX_NODES, nodes
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, TermKind, Unsupported
from apifuzz.run import Run
from apifuzz.trace import TraceError


class Interpolants(Own):
    """``bitwuzla:interpolants (FORMULA ...) ...``: after unsat, of growing parts of the assertions.

    Of one part there is one interpolant: it follows from the part, and contradicts the other assertions. Of
    several, each with the next part gives the next one. They are returned as terms.
    """

    solver = "bitwuzla"
    places = (("unsat", 3),)
    after = (Answer.UNSAT,)
    parts: FormulaLists

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return (
            run.answer is Answer.UNSAT
            and not run.assumptions
            and len(run.assertions) > 1
            and cast(BitwuzlaEngine, run.engine.core).settings.is_on("produce-interpolants")
        )

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        left = _different(run.assertions)
        run.random.shuffle(left)
        parts: list[tuple[ApiTerm, ...]] = []
        while len(left) > 1 and (not parts or run.random.random() < 0.3):
            count = 1 + int(run.random.random() * (len(left) - 1))
            parts.append(tuple(left[:count]))
            del left[:count]
        return cls(tuple(parts)) if parts else None

    def act(self, run: Run, core: BitwuzlaEngine) -> Made | None:
        parts = self.parts
        if run.assumptions or not core.settings.is_on("produce-interpolants"):
            raise Unsupported("interpolants after assumptions, or without their option")
        for part in parts:
            if not part or not set(part) <= set(run.assertions):
                raise TraceError("parts of the assertions expected")
        handles = [[t.handle for t in part] for part in parts]
        if len(parts) == 1 and core.random.random() < 0.7:
            found = [core.solver.get_interpolant(handles[0])]
        else:
            found = core.solver.get_interpolants(handles)
        if len(found) != len(parts):
            raise Misbehaviour("interpolant", f"{len(parts)} parts, {len(found)} interpolants")
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
    before: list[ApiTerm] = []
    seen: set[int] = set()
    for part, interpolant in zip(parts, interpolants, strict=True):
        seen.update(t.handle.id() for t in part)
        rest = [t for t in assertions if t.handle.id() not in seen]
        if _unrelated(interpolant, [t for t in assertions if t.handle.id() in seen], rest):
            raise Misbehaviour("interpolant", f"{interpolant.handle} has constants that are not common")
        _require_unsat(engine, (*before, *part), interpolant, "does not follow")
        _require_unsat(engine, (*rest, interpolant), None, "does not contradict the rest")
        before = [interpolant]


def _unrelated(interpolant: ApiTerm, one: Sequence[ApiTerm], other: Sequence[ApiTerm]) -> bool:
    common = _constants(one) & _constants(other)
    return not _constants([interpolant]) <= common


def _constants(terms: Sequence[ApiTerm]) -> set[int]:
    return {n.id() for t in terms for n in nodes(t.handle, 10 * MAX_NODES) if n.is_const()}


def _require_unsat(
    engine: BitwuzlaEngine, terms: Sequence[ApiTerm], negated: ApiTerm | None, problem: str
) -> None:
    solver = bitwuzla.Bitwuzla(engine.session.manager, bitwuzla.Options())
    handles = [t.handle for t in terms]
    if negated is not None:
        handles.append(engine.session.manager.mk_term(Kind.NOT, [negated.handle]))
    solver.assert_formula(*handles)
    if check(solver) is Answer.SAT:
        raise Misbehaviour("interpolant", f"an interpolant {problem}")


def _different(terms: Sequence[ApiTerm]) -> list[ApiTerm]:
    return list({t.handle.id(): t for t in terms}.values())
