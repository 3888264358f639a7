"""Decomposes an assertion into its skeleton and the atoms in the skeleton's holes.

Applications of non-recursive defined functions are expanded first. Annotations (``:named``, ``:pattern`` ...)
are dropped, and ``let`` is expanded by the checker already. All traversals are iterative and bounded, for an
atom and for a script; what exceeds a limit is skipped with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from rules._expansion import Expander, OverBudgetError
from rules._names import AtomNames, ScriptNames, SkipError
from rules._printing import MAX_GRAPH, MAX_TREE, TOO_LARGE, CanonicalPrinter
from rules.atoms import Atom, Slot
from rules.signature import Signatures
from rules.skeletons import CONNECTIVES, Skeleton
from smtlib import BOOL, CheckedScript, Declaration, Kind, Term, default_theories, postorder
from smtlib.sorts import subsorts
from smtlib.terms import without_annotations

MAX_HOLES = 2_000
"""Skeletons with more holes are skipped: expanding shared connectives to a tree can be exponential."""

MAX_SKELETON_NODES = 10_000
"""Skeletons with more connectives, quantifiers and holes are skipped."""

MAX_SCRIPT = 50_000
"""Maximum number of terms in the large atoms of one script, terms that atoms share counted for each; further
large atoms are skipped."""

MAX_ATOM_TEXT = 20_000
"""Atoms that take more characters with their prelude are skipped."""


@dataclass(frozen=True, slots=True)
class Hole:
    """The content of a hole: the atom, and for each slot the name of the symbol in the script.

    ``atom``: None if the content was skipped; ``skipped`` is then the reason.
    """

    atom: Atom | None
    names: tuple[str, ...] = ()
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A decomposed assertion.

    ``skeleton``: None if the assertion was skipped; ``skipped`` is then the reason. ``binders``: for each
    binder of the skeleton, the names and sorts of the variables in the script.
    """

    skeleton: Skeleton | None
    holes: tuple[Hole, ...] = ()
    binders: tuple[tuple[tuple[str, str], ...], ...] = ()
    skipped: str = ""

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms that were not skipped, in order of their holes."""
        return tuple(h.atom for h in self.holes if h.atom is not None)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why the assertion or some of its atoms were skipped."""
        if self.skipped:
            return (self.skipped,)
        return tuple(h.skipped for h in self.holes if h.skipped)


def decompose_script(script: CheckedScript) -> Iterator[Decomposition]:
    """Decompose the script's assertions in order."""
    decomposer = Decomposer(script)
    return (decomposer.decompose(assertion) for assertion in script.assertions)


class Decomposer:
    """Decomposes the assertions of one script."""

    def __init__(self, script: CheckedScript) -> None:
        self.theories = default_theories()
        self.names = ScriptNames(script)
        self.signatures = Signatures(self.names)
        self._expander = Expander(script)
        self._holes: dict[Term, Hole] = {}
        self._left = MAX_SCRIPT

    def decompose(self, assertion: Term) -> Decomposition:
        """Decompose ``assertion``."""
        # Over budget, defined functions stay functions, and their definitions are in the atoms' preludes.
        with suppress(OverBudgetError):
            assertion = self._expander.expand(assertion)
        try:
            text, terms, binders = skeleton_of(assertion)
        except SkipError as skip:
            return Decomposition(None, skipped=str(skip))
        return Decomposition(Skeleton.parse(text), tuple([self.hole(t) for t in terms]), binders)

    def hole(self, term: Term) -> Hole:
        """The atom of a Bool term."""
        found = self._holes.get(term)
        if found is None:
            try:
                found = self._atom(term)
            except SkipError as skip:
                found = Hole(None, skipped=str(skip))
            self._holes[term] = found
        return found

    def _count(self, term: Term) -> None:
        """Count the terms of a large atom. Raises :class:`SkipError` if there are too many."""
        most = min(MAX_GRAPH, max(MAX_TREE, self._left))
        size = sum(1 for _ in islice(postorder([term]), most + 1))
        if size > MAX_TREE:
            self._left -= size
        if size > most:
            raise SkipError(TOO_LARGE)

    def _atom(self, term: Term) -> Hole:
        self._count(term)
        names = AtomNames(self.names)
        if self.names.definitions:
            names.add_definitions(term, lambda body, fixed: CanonicalPrinter(names, fixed).text(body))
        printer = CanonicalPrinter(names, dict(names.functions.items()))
        text = printer.text(term)
        parts = text.split("\0")
        slots = tuple([self._slot(key, names) for key in printer.slots])
        parameters = " ".join([f"(x{i} {slot.sort})" for i, slot in enumerate(slots)])
        parts[1::2] = ["x" + n for n in parts[1::2]]
        signature = self.signatures.full(term, names)
        if len(text) + sum(map(len, names.prelude)) > MAX_ATOM_TEXT:
            raise SkipError(TOO_LARGE)
        segments = tuple(parts[::2])
        occurrences = tuple([int(n[1:]) for n in parts[1::2]])
        atom = Atom(
            f"(lambda ({parameters}) {''.join(parts)})",
            segments,
            occurrences,
            slots,
            tuple(names.prelude),
            signature,
            self.signatures.coarse(term),
            self._theories(printer, slots),
            printer.size,
        )
        return Hole(atom, tuple([_name(key) for key in printer.slots]))

    def _slot(self, key: Declaration | Term, names: AtomNames) -> Slot:
        if isinstance(key, Term):
            return Slot((), names.sort(key.sort), True)
        return Slot(tuple([names.sort(s) for s in key.params]), names.sort(key.result))

    def _theories(self, printer: CanonicalPrinter, slots: tuple[Slot, ...]) -> frozenset[str]:
        found = {self._theory_of_sort(s.name) for sort in printer.sorts for s in subsorts(sort)} - {""}
        for name in printer.operators:
            candidates = {s.theory for s in self.theories.functions.get(name, ())}
            if candidates and not candidates & found:
                found.add(min(candidates))
        if printer.uses_datatypes:
            found.add("Datatypes")
        if any(slot.params for slot in slots):
            found.add("UF")
        return frozenset(found)

    def _theory_of_sort(self, name: str) -> str:
        """The theory that a sort shows; empty if none."""
        if name in self.names.groups:
            return "Datatypes"
        symbol = self.theories.sorts.get(name)
        return symbol.theory if symbol is not None else "UF" if name in self.names.user_sorts else ""


def skeleton_of(
    assertion: Term,
) -> tuple[str, list[Term], tuple[tuple[tuple[str, str], ...], ...]]:
    """The canonical text of the skeleton, the terms in its holes, and the variables of its binders."""
    pieces: list[str] = []
    holes: list[Term] = []
    binders: list[tuple[tuple[str, str], ...]] = []
    nodes = 0
    stack: list[str | Term] = [assertion]
    while stack:
        term = stack.pop()
        if isinstance(term, str):
            pieces.append(term)
            continue
        nodes += 1
        if nodes > MAX_SKELETON_NODES or len(holes) > MAX_HOLES:
            raise SkipError("skeleton too large")
        term = without_annotations(term)
        op = term.op
        if op.kind is Kind.OPERATOR and op.name in CONNECTIVES and term.args and term.sort is BOOL:
            pieces.append("(" + op.name)
        elif term.is_quantifier:
            pieces.append(f"({op.name} {len(term.variables)}")
            binders.append(tuple([(v.op.name, str(v.sort)) for v in term.variables]))
        else:
            pieces.append(f"(hole {len(holes)})")
            holes.append(term)
            continue
        stack.append(")")
        for arg in reversed(term.args):
            stack.append(arg)
            stack.append(" ")
    return "".join(pieces), holes, tuple(binders)


def _name(key: Declaration | Term) -> str:
    return key.op.name if isinstance(key, Term) else key.name
