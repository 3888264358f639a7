"""The one form that seeds are brought into: declarations, then what one check-sat asks about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar, TypeVarTuple

from smtlib import (
    CheckedCommand,
    CheckedScript,
    Declaration,
    Definition,
    Kind,
    ReadError,
    Sort,
    Term,
    TermTable,
    check_script,
    default_theories,
    postorder,
    print_command,
    print_term,
    read_script,
    rewrite,
)
from smtlib.commands import RECURSIVE
from smtlib.environment import Datatype
from smtlib.scanner import CHECKS
from smtlib.shapes import OBJECTIVES
from smtlib.terms import declarations_in, free_in

MAX_PARENTHESES = 60_000
"""Texts with more opening ones are not read: that alone would take seconds."""

MAX_TERMS = 40_000
"""Seeds with more distinct terms are skipped: a mutant of one takes half a second to print."""

MAX_DEPTH = 5_000
"""Seeds nested deeper are skipped: each mutation visits the whole path, and solvers run out of stack."""

MAX_BINDERS = 100
"""Deepest nesting of quantifiers; beyond, the sets of bound variables would grow quadratically."""

MAX_WIDTH = 4096
"""Seeds with wider bit-vectors are skipped: solvers need seconds to read one operation."""

_KEPT = frozenset(
    (
        *("declare-sort", "define-sort", "declare-fun", "declare-const", "define-fun", "define-const"),
        *("define-fun-rec", "define-funs-rec", "declare-datatype", "declare-datatypes"),
        *("declare-codatatype", "declare-codatatypes"),
    )
)

_UNUSABLE = frozenset(("assert-not", "declare-map", "declare-type-var"))

UNBINDABLE = frozenset(("RegLan", "->"))
"""Sorts of which no variable can be bound."""

_T = TypeVar("_T")
_Rest = TypeVarTuple("_Rest")


@dataclass(frozen=True, eq=False)
class SeedScript:
    """A seed as terms. Shared by all who use the seed, so never made larger: ``table.copy()`` gives a table
    with the same terms in which new ones can be made. What is made in a fresh copy is numbered the same
    each time, so printing it gives the same text on every machine.

    ``prelude`` declares sorts, datatypes and symbols, in order. ``assertions`` are those in force at the
    one check-sat, assumptions included; ``terms`` all terms in them, each once, arguments before what uses
    them. No assertion has ``:named`` annotations; in assertions, no bound variable is named
    like a symbol of the script, and no binder stands below another of the same variable. ``objectives`` say
    what its check-sat optimises.
    """

    table: TermTable
    prelude: tuple[CheckedCommand, ...]
    assertions: tuple[Term, ...]
    terms: tuple[Term, ...]
    definitions: Mapping[Declaration, Definition]
    datatypes: Mapping[str, Datatype]
    logic: str
    objectives: tuple[CheckedCommand, ...] = ()
    found: dict[object, Any] = field(default_factory=dict, init=False, repr=False)
    """Results of functions :func:`once_per_seed`."""

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        """The declared and defined functions; constructors, selectors and testers are in ``datatypes``."""
        return tuple(d for command in self.prelude for d in command.declarations)

    @cached_property
    def sort_names(self) -> frozenset[str]:
        """The names of the sorts and datatypes that it declares or defines."""
        sorts = {command.sort.name for command in self.prelude if command.sort is not None}
        return frozenset(sorts | {datatype.name for c in self.prelude for datatype in c.datatypes})

    @cached_property
    def declared(self) -> tuple[Declaration, ...]:
        """The functions that are declared and not defined."""
        return tuple(d for d in self.declarations if d.origin == "declare")

    @cached_property
    def bodies(self) -> tuple[Term, ...]:
        """The bodies of the defined functions."""
        return tuple(d.body for command in self.prelude for d in command.definitions)

    @cached_property
    def is_recursive(self) -> bool:
        """Whether it has recursive definitions, which maybe no functions meet."""
        return any(command.name in RECURSIVE for command in self.prelude)

    @cached_property
    def all_terms(self) -> tuple[Term, ...]:
        """The terms in the assertions and in the bodies of definitions, arguments first."""
        return tuple(postorder([*self.assertions, *self.bodies]))

    @cached_property
    def closed(self) -> tuple[Term, ...]:
        """The terms in the assertions that have no free variable, but for literals and annotations."""
        free: dict[Term, frozenset[Term]] = {}
        for term in self.terms:
            free[term] = free_in(term, free)
        kinds = (Kind.SYMBOL, Kind.OPERATOR, Kind.BINDER)
        return tuple(term for term in self.terms if not free[term] and term.kind in kinds)

    @cached_property
    def constants(self) -> tuple[Declaration, ...]:
        """The declared constants that no definition uses."""
        used = set(declarations_in(self.bodies))
        return tuple(d for d in self.declared if not d.params and d not in used)

    @cached_property
    def bindable(self) -> tuple[Declaration, ...]:
        """The constants that can become variables of a quantifier."""
        return tuple(d for d in self.constants if d.result.name not in UNBINDABLE)

    @cached_property
    def is_quantified(self) -> bool:
        """Whether a term binds variables."""
        return any(term.variables for term in self.all_terms)

    @cached_property
    def prelude_text(self) -> str:
        """``set-logic`` and the declarations, one a line."""
        commands = "".join([print_command(command) + "\n" for command in self.prelude])
        return f"(set-logic {self.logic})\n{commands}"

    def prelude_without(self, left_out: Collection[Declaration]) -> list[str]:
        """The commands of the prelude but those that declare one of these functions."""
        kept = (c for c in self.prelude if not any(d in left_out for d in c.declarations))
        return [print_command(command) for command in kept]

    @cached_property
    def assertion_texts(self) -> dict[Term, str]:
        """The text of each assertion."""
        return {term: print_term(term) for term in dict.fromkeys(self.assertions)}

    def text(
        self,
        assertions: Sequence[Term] | None = None,
        declarations: str = "",
        printed: Callable[[Term], str] | None = None,
    ) -> str:
        """The script with these assertions instead of its own, and more ``declarations`` before them.

        ``printed`` gives the text of an assertion.
        """
        printed = printed or self._printed
        asserted = self.assertions if assertions is None else assertions
        lines = "".join([f"(assert {printed(term)})\n" for term in asserted])
        return f"{self.prelude_text}{declarations}{lines}(check-sat)\n"

    def _printed(self, term: Term) -> str:
        return self.assertion_texts.get(term) or print_term(term)


def once_per_seed(find: Callable[[SeedScript, *_Rest], _T]) -> Callable[[SeedScript, *_Rest], _T]:
    """Call ``find`` once for the same seed and arguments. Results are kept as long as the seed."""

    @wraps(find)
    def look_up(script: SeedScript, *rest: *_Rest) -> _T:
        key = (find, rest)
        if key not in script.found:
            script.found[key] = find(script, *rest)
        found: _T = script.found[key]
        return found

    return look_up


def read_seed(text: str) -> SeedScript | str:
    """The seed of this text, or why it cannot be used."""
    if text.count("(") > MAX_PARENTHESES:
        return "too many terms"
    try:
        checked = check_script(read_script(text))
    except ReadError:
        return "cannot be read"
    if checked.errors:
        return "not well sorted"
    found = _script(checked)
    if isinstance(found, SeedScript) and _captures(found):
        # Declarations stand first now, so reading it once more renames the variables that clash.
        found = _script(check_script(read_script(found.text())))
    return found


def _script(checked: CheckedScript) -> SeedScript | str:
    prelude: list[CheckedCommand] = []
    levels: list[list[Term]] = [[]]
    objectives: list[list[CheckedCommand]] = [[]]
    checks = 0
    for command in checked.commands:
        if command.name in _KEPT and not checks:
            prelude.append(command)
        elif command.name == "assert":
            levels[-1].append(command.terms[0])
        elif command.name in OBJECTIVES and not checks:
            objectives[-1].append(command)
        elif command.name == "push":
            levels.extend([] for _ in range(_count(command)))
            objectives.extend([] for _ in range(_count(command)))
        elif command.name == "pop" and not checks:
            del levels[len(levels) - _count(command) :]
            del objectives[len(objectives) - _count(command) :]
        elif command.name in ("reset", "reset-assertions") and not checks:
            return "resets before its check-sat"
        elif command.name in _UNUSABLE or (command.declarations and command.name not in _KEPT):
            return f"uses {command.name}"
        elif command.name in CHECKS:
            checks += 1
            asked = [term for level in levels for term in level]
            asked += command.terms
    if checks != 1:
        return "no check-sat" if not checks else "several check-sat"
    if not asked:
        return "no assertions"
    if _declares_twice(prelude):
        return "a name declared twice"
    goals = tuple(command for level in objectives for command in level)
    return _bounded(checked, tuple(prelude), asked, goals)


def _declares_twice(prelude: Sequence[CheckedCommand]) -> bool:
    """Whether a sort or a symbol is declared again after its level was popped: seeds have one level."""
    sorts: list[str] = []
    symbols: list[str] = []
    for command in prelude:
        sorts += [command.sort.name] if command.sort else []
        symbols += [d.name for d in command.declarations]
        sorts += [datatype.name for datatype in command.datatypes]
        # Constructors of one command may share the name of a selector.
        symbols += {symbol.name for datatype in command.datatypes for symbol in datatype.symbols}
    return len(set(sorts)) < len(sorts) or len(set(symbols)) < len(symbols)


def _bounded(
    checked: CheckedScript,
    prelude: tuple[CheckedCommand, ...],
    asked: Sequence[Term],
    goals: tuple[CheckedCommand, ...],
) -> SeedScript | str:
    """The seed of what a script asks, unless it is too large or has sorts that strategies cannot take."""
    terms: list[Term] = []
    depth: dict[Term, int] = {}
    binders: dict[Term, int] = {}
    sorts: set[Sort] = set()
    named = False
    for term in postorder(asked):
        if len(terms) == MAX_TERMS:
            return "too many terms"
        terms.append(term)
        sorts.add(term.sort)
        if not term.args:
            depth[term], binders[term] = 1, 0
            continue
        depth[term] = 1 + max([depth[a] for a in term.args])
        if depth[term] > MAX_DEPTH:
            return "nested too deep"
        below = max([binders[a] for a in term.args])
        if term.variables or term.patterns:
            below += 1
            sorts.update([v.sort for v in term.variables])
        binders[term] = below
        if below > MAX_BINDERS:
            return "quantifiers nested too deep"
        named = named or any(key == ":named" for key, _ in term.op.attributes)
    if _binds_again(terms):
        return "a variable bound again in the scope of its binder"
    if any(s.name == "BitVec" and s.indices[0] > MAX_WIDTH for s in sorts):
        return f"bit-vectors wider than {MAX_WIDTH} bits"
    for command in prelude:
        for d in command.declarations:
            sorts.update((*d.params, d.result))
    # Strategies know the theories' sorts by name, but for lists, which many formulas declare as their own.
    # Defined sorts are written out.
    own = {c.sort.name for c in prelude if c.sort is not None and c.sort.body is None}
    own.update(datatype.name for c in prelude for datatype in c.datatypes)
    if not own.isdisjoint(default_theories().sorts.keys() - {"List"}):
        return "a sort with the name of a theory's"
    if any(s.name == "Array" and len(s.args) > 2 for s in sorts):
        return "arrays with several indices"
    higher = any(s.is_function for s in sorts)
    table = checked.table
    assertions = tuple(_unnamed(table, term) if named else term for term in asked)
    logic = "HO_ALL" if higher else "ALL"
    return SeedScript(
        *(table, prelude, assertions, tuple(postorder(assertions) if named else terms)),
        *(checked.definitions, checked.datatypes, logic, goals),
    )


def _unnamed(table: TermTable, root: Term) -> Term:
    """``root`` without ``:named``: a mutant may hold a term several times, but a name once."""

    def change(term: Term, args: tuple[Term, ...]) -> Term | None:
        if term.op.kind is not Kind.ANNOTATION:
            return None
        rest = tuple(a for a in term.op.attributes if a[0] != ":named")
        if rest == term.op.attributes:
            return None
        if not rest:
            return args[0]
        return table.make(table.op(Kind.ANNOTATION, "!", None, (), None, rest), args, term.sort)

    return rewrite(table, root, change)


def _captures(script: SeedScript) -> bool:
    """Whether a bound variable has the name of a symbol."""
    names = {d.name for d in script.declarations}
    names.update(symbol.name for datatype in script.datatypes.values() for symbol in datatype.symbols)
    return any(v.op.name in names for term in script.terms for v in term.bound)


def _binds_again(terms: Sequence[Term]) -> bool:
    """Whether a binder stands below another of the same variable; ``terms`` has arguments first.

    Reading renames the variables of nested binders, but the value of a ``let`` is read before the binders
    that it stands below.
    """
    binders = Counter(v for term in terms for v in dict.fromkeys(term.bound))
    bits = {v: 1 << number for number, v in enumerate(v for v, count in binders.items() if count > 1)}
    if not bits:
        return False
    bound: dict[Term, int] = {}
    for term in terms:
        below = own = 0
        for arg in term.args:
            below |= bound[arg]
        for variable in term.bound:
            own |= bits.get(variable, 0)
        if own & below:
            return True
        bound[term] = own | below
    return False


def _count(command: CheckedCommand) -> int:
    return int(str(command.sexp[1])) if len(command.sexp) > 1 else 1
