"""Terms made of others: applications and binders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

from apifuzz.actions import Action, Made, has_open
from apifuzz.actions.leaves import MakeValue, ensure_term
from apifuzz.actions.sorts import ensure_sort
from apifuzz.call import HeadArg, SortArg, Term, Terms, Text, Variables
from apifuzz.interface import APPLY, ApiSort, ApiTerm, Head, HeadKind, TermKind, Unsupported
from apifuzz.operators import is_known
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed, draw_sort_of
from apifuzz.store import rarely_used
from apifuzz.trace import TraceError
from apifuzz.values import has_values, random_value
from smtlib import BOOL, REAL, Signature, Sort, default_theories, make_sort
from smtlib.signature import Bindings, SortPattern

_MAKE_SHARE = 0.4
"""How often an argument that nothing fits is made for the purpose."""
_MORE_SHARE = 0.15
_MOST = 5
_LONGEST_FLOAT = 113
_LONGEST_EXPONENT = 15
_INDEX_TRIES = 8
_SMALL = (0, 1, 1, 2, 2, 3, 4, 5, 8)
_VALUES = {"re.range": tuple(f'"{c}"' for c in "abcz019"), "^": ("0", "1", "2", "3", "4")}
"""Values for operators that do not take every value: single characters, small exponents."""
_EQUALITIES = ("=", "distinct")


class Application(NamedTuple):
    """An operator applied: the sort of the result, the head, the arguments."""

    result: ApiSort
    head: Head
    args: tuple[ApiTerm, ...]


def draw_application(run: Run) -> Application | None:
    """An application of one of the run's operators; None where nothing fits the one that was drawn.

    May make missing sorts and constants. Raises :class:`Unsupported` where the solver lacks them.
    """
    signature = run.operators.draw(run.random)
    bindings: Bindings = {}
    qualifier: Sort | None = None
    if signature.needs_as or _binds_indices(signature):
        qualifier = _draw_result(run, signature.result)
        if qualifier is None or not signature.result.match(qualifier, bindings):
            return None
    elif signature.indices:
        # Indices that no sort gives but some argument needs, as in an argument (_ BitVec (+ e s)).
        bindings.update({i: int(i) for i in signature.indices if i.isdigit()})
    args = _draw_arguments(run, signature, bindings)
    if args is None:
        return None
    sorts = tuple([a.sort.sort for a in args])
    found = _draw_indices(run, signature, bindings, sorts, qualifier)
    if found is None:
        return None
    indices, result = found
    if not _is_bounded(run, result) or not run.engine.takes(signature, sorts, result):
        return None
    # Of several ranks that fit, the first one counts: (seq.unit c) of a character is a String.
    named = default_theories().find(signature.name, indices, sorts, result if signature.needs_as else None)
    if named is None or named[0] is not result:
        return None
    head = Head(HeadKind.OPERATOR, signature.name, indices, None, signature.needs_as)
    return Application(ensure_sort(run, result), head, args)


def _binds_indices(signature: Signature) -> bool:
    """Whether the result sort says what the indices are: ``(_ to_fp e s)``, ``(_ int_to_bv m)``."""
    return bool(signature.indices) and all(i in signature.result.indices for i in signature.indices)


def _draw_result(run: Run, pattern: SortPattern) -> Sort | None:
    """A sort for a result that does not follow from arguments: one that was made, or a new one."""
    made = run.store.made_by_head.get(pattern.name) if not pattern.is_parameter else run.store.plain_sorts
    if made and run.random.happens(0.8):
        return run.random.pick(made)
    return None if pattern.is_parameter else draw_sort_of(run, pattern.name)


# Arguments


def _draw_arguments(run: Run, signature: Signature, bindings: Bindings) -> tuple[ApiTerm, ...] | None:
    values = run.capabilities.value_arguments.get(signature.name, ())
    args: list[ApiTerm] = []
    for position, pattern in enumerate(_patterns(run, signature)):
        if signature.associativity and position > 1:
            # Operators like concat take arguments of any width: each is matched separately.
            bindings = dict(bindings) if signature.result.is_parameter or pattern.is_parameter else {}
        arg = _draw_argument(run, signature, pattern, bindings, position in values)
        if arg is None:
            return None
        args.append(arg)
    return tuple(args)


def _patterns(run: Run, signature: Signature) -> Sequence[SortPattern]:
    """The patterns of the arguments, with more or fewer of them where the operator takes that."""
    params = signature.params
    if signature.associativity and len(params) == 2:
        chance = run.random.random()
        if chance < 0.05:
            return params[: signature.minimum] if signature.minimum < 2 else params
        if chance < 0.05 + 2 * _MORE_SHARE:
            more = run.random.up_to(_MOST - 2)
            if signature.associativity == ":right-assoc":
                return (params[0],) * (1 + more) + (params[1],)
            return (*params, *(params[1],) * more)
    return params


def _draw_argument(
    run: Run, signature: Signature, pattern: SortPattern, bindings: Bindings, is_value: bool
) -> ApiTerm | None:
    sort = _draw_argument_sort(run, signature, pattern, bindings)
    if sort is None:
        return None
    store = run.store
    if is_value:
        pool = None if signature.name in _VALUES else store.pools.get(sort)
        found = rarely_used(pool.values, run.random) if pool is not None else None
        return found or _make_value(run, signature, sort)
    found = store.pick(sort, run.random)
    if found is None and run.random.happens(_MAKE_SHARE):
        return ensure_term(run, sort)
    return found


def _make_value(run: Run, signature: Signature, sort: Sort) -> ApiTerm | None:
    if not has_values(sort):
        return None
    if signature.name in _VALUES:
        text = run.random.pick(_VALUES[signature.name]) + (".0" if sort is REAL else "")
    else:
        text = random_value(sort, run.random)
    return run.make_term(MakeValue(ensure_sort(run, sort), text))


def _draw_argument_sort(
    run: Run, signature: Signature, pattern: SortPattern, bindings: Bindings
) -> Sort | None:
    """A sort that the pattern takes, under the bindings, which grow."""
    store, chance = run.store, run.random
    if pattern.is_parameter and pattern.name not in bindings:
        role = "equality" if signature.name in _EQUALITIES else signature.name
        for _ in range(4):
            if not store.populated:
                return None
            sort = chance.pick(store.populated)
            if allowed(run, role, sort):
                bindings[pattern.name] = sort
                return sort
        return None
    try:
        return pattern.instantiate(bindings)
    except (KeyError, TypeError):
        pass
    known = store.by_head.get(pattern.name, ())
    if known:
        start = chance.below(len(known))
        for step in range(min(len(known), 8)):
            sort = known[(start + step) % len(known)]
            trial = dict(bindings)
            if pattern.match(sort, trial):
                bindings.update(trial)
                return sort
    return _new_sort(run, pattern, bindings) if chance.happens(_MAKE_SHARE) else None


def _new_sort(run: Run, pattern: SortPattern, bindings: Bindings) -> Sort | None:
    """A sort that the pattern takes, though no term has it yet."""
    for name in sorted(pattern.parameters() - bindings.keys()):
        made = run.store.plain_sorts
        if not made:
            return None
        bindings[name] = run.random.pick(made)
    if pattern.indices:
        sort = draw_sort_of(run, pattern.name)
        return sort if sort is not None and pattern.match(sort, bindings) else None
    try:
        return pattern.instantiate(bindings)
    except KeyError:
        return None


# Indices and results


def _draw_indices(
    run: Run, signature: Signature, bindings: Bindings, sorts: tuple[Sort, ...], qualifier: Sort | None
) -> tuple[tuple[int, ...], Sort] | None:
    """Indices with which the operator takes these sorts, and the result sort."""
    as_sort = qualifier if signature.needs_as else None
    if not signature.indices:
        result = signature.apply((), sorts, as_sort)
        return None if result is None or (as_sort is not None and result is not as_sort) else ((), result)
    for _ in range(_INDEX_TRIES):
        indices = _candidate(run, signature, bindings, sorts)
        result = signature.apply(indices, sorts, as_sort)
        if result is not None and _is_bounded(run, result):
            return indices, result
    return None


def _candidate(
    run: Run, signature: Signature, bindings: Bindings, sorts: tuple[Sort, ...]
) -> tuple[int, ...]:
    chance = run.random
    width = sorts[0].indices[0] if sorts and sorts[0].indices else 8
    if signature.name == "extract":
        high = chance.below(width)
        return high, chance.below(high + 1)
    if signature.name == "re.loop" and len(signature.indices) == 2:
        low = chance.below(3)
        return low, low + chance.below(3)
    if signature.name in ("char", "Char"):
        return (chance.pick((0, 0x30, 0x61, 0x7F, 0xFF, 0x2FFFF)),)
    indices = []
    for index in signature.indices:
        bound = bindings.get(index)
        if index.isdigit():
            indices.append(int(index))
        elif isinstance(bound, int):
            indices.append(bound)
        elif chance.happens(0.2):
            indices.append(max(0, width - 1 + chance.below(3)))
        else:
            indices.append(chance.pick(_SMALL))
    return tuple(indices)


def _is_bounded(run: Run, sort: Sort) -> bool:
    if sort.name == "BitVec":
        return sort.indices[0] <= run.capabilities.max_width
    if sort.name == "FloatingPoint":
        # z3 knows no arithmetic where the exponent is longer than the significand; cvc5 no shorter fractions.
        exponent, significand = sort.indices
        return 3 <= significand <= _LONGEST_FLOAT and exponent <= min(significand, _LONGEST_EXPONENT)
    return True


_TRIES = 5
_MEMBER_SHARE = 0.3
_APPLY_SHARE = 0.1


class MakeTerm(Action[Any]):
    """``make-term SORT HEAD TERM...``: an operator, a function or a member of a datatype, applied."""

    sort: SortArg
    head: HeadArg
    args: Terms

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if run.store.functions and run.random.happens(_APPLY_SHARE):
            found = _draw_apply(run)
        elif run.store.datatypes and run.random.happens(_MEMBER_SHARE):
            found = _draw_member(run)
        else:
            tries = (draw_application(run) for _ in range(_TRIES))
            found = next((one for one in tries if one is not None), None)
        return None if found is None else cls(*found)

    def make(self, run: Run) -> Made:
        sort, head, args = self.sort, self.head, self.args
        call = self
        if head.kind is HeadKind.OPERATOR:
            counted = _require_operator(run, head, sort.sort, args)
        elif head.kind is HeadKind.APPLY:
            counted = _require_apply(sort.sort, args)
        else:
            head, counted = _require_member(run, head, sort.sort, args)
            call = replace(self, head=head)
        handle = run.engine.perform(call)
        free = free_in(args)
        if head.kind is HeadKind.APPLY and not free and args[0] in run.store.undefined:
            run.store.undefined.remove(args[0])
        made = run.keep_term(sort, handle, TermKind.TERM, head, args, free)
        run.statistics.operators[counted] += 1
        return (made,)


def free_in(terms: tuple[ApiTerm, ...]) -> frozenset[ApiTerm]:
    """The variables that are free in any of ``terms``."""
    free: frozenset[ApiTerm] = frozenset()
    for term in terms:
        if term.free:
            free = free | term.free if free else term.free
    return free


def _sorts(terms: tuple[ApiTerm, ...]) -> tuple[Sort, ...]:
    return tuple([t.sort.sort for t in terms])


def _shown(terms: tuple[ApiTerm, ...]) -> str:
    return " ".join(str(t.sort.sort) for t in terms[:6])[:200] or "no arguments"


def _require_operator(run: Run, head: Head, result: Sort, terms: tuple[ApiTerm, ...]) -> str:
    """Raise unless the operator takes the terms and gives ``result``; how it is counted."""
    sorts = _sorts(terms)
    found = default_theories().find(head.name, head.indices, sorts, result if head.qualified else None)
    if found is None or found[0] is not result:
        if head.name not in default_theories().functions:
            raise TraceError(f"unknown operator {head.name[:60]}")
        raise TraceError(f"{head.name[:60]} does not take {_shown(terms)} to {result}")
    signature = found[1]
    if run.replaying:
        # Older versions drew some functions that are only read now; their traces have them.
        of_theory = (
            signature.theory in run.capabilities.theories or signature.name in default_theories().read_only
        )
        known = of_theory and signature.name not in run.capabilities.without
        if not known or not is_known(signature.only, run.engine.families):
            raise Unsupported(f"without {head.name}")
        if not run.engine.takes(signature, sorts, result):
            raise Unsupported(f"without {head.name} at {_shown(terms)}")
    return f"{signature.theory} {signature.name}"


def _require_apply(result: Sort, terms: tuple[ApiTerm, ...]) -> str:
    if not terms or not terms[0].sort.sort.is_function:
        raise TraceError("apply takes a function as its first argument")
    if (*_sorts(terms[1:]), result) != terms[0].sort.sort.args:
        raise TraceError(f"a function {terms[0].sort.sort} is not applied to {_shown(terms[1:])}")
    return "Functions apply"


def _require_member(run: Run, head: Head, result: Sort, terms: tuple[ApiTerm, ...]) -> tuple[Head, str]:
    """The head with its datatype, and how it is counted; raises where the sorts do not fit."""
    datatype = result if head.kind is HeadKind.CONSTRUCTOR else terms[0].sort.sort if terms else None
    members = run.store.datatypes.members(datatype) if datatype is not None else ()
    sorts = _sorts(terms)
    for constructor in members:
        if head.kind in (HeadKind.CONSTRUCTOR, HeadKind.TESTER):
            fits = constructor.name == head.name and (
                sorts == constructor.sorts
                if head.kind is HeadKind.CONSTRUCTOR
                else (len(terms), result) == (1, BOOL)
            )
        else:
            field = dict(constructor.fields).get(head.name)
            takes = (datatype,) if head.kind is HeadKind.SELECTOR else (datatype, field)
            gives = field if head.kind is HeadKind.SELECTOR else datatype
            fits = field is not None and sorts == takes and result is gives
        if fits:
            return replace(head, datatype=datatype), f"Datatypes {head.kind.value}"
    raise TraceError(f"({head.kind.value} {head.name[:60]}) does not take {_shown(terms)} to {result}")


# Drawing applications of functions and members


def _draw_apply(run: Run) -> Application | None:
    function = rarely_used(run.store.functions, run.random)
    if function is None:
        return None
    terms = _draw_terms(run, function.sort.sort.args[:-1])
    if terms is None:
        return None
    return Application(ensure_sort(run, function.sort.sort.args[-1]), APPLY, (function, *terms))


def _draw_terms(run: Run, sorts: tuple[Sort, ...]) -> tuple[ApiTerm, ...] | None:
    terms = []
    for sort in sorts:
        found = run.store.pick(sort, run.random)
        if found is None:
            if run.random.happens(0.5):
                return None
            found = ensure_term(run, sort)
        terms.append(found)
    return tuple(terms)


def _draw_member(run: Run) -> Application | None:
    """A constructor, selector, tester or updater of a datatype that was made."""
    store, chance = run.store, run.random
    sort = chance.pick_if_any([s for s in store.plain_sorts if store.datatypes.members(s)])
    if sort is None:
        return None
    constructor = chance.pick(store.datatypes.members(sort))
    own = ensure_sort(run, sort)
    share = chance.random()
    if share < 0.4 or sort not in store.pools:
        terms = _draw_terms(run, constructor.sorts)
        head = Head(HeadKind.CONSTRUCTOR, constructor.name)
        return None if terms is None else Application(own, head, terms)
    term = store.pick(sort, chance)
    if term is None:
        return None
    if share < 0.6 or not constructor.fields:
        return Application(ensure_sort(run, BOOL), Head(HeadKind.TESTER, constructor.name), (term,))
    name, field = chance.pick(constructor.fields)
    if share < 0.85:
        return Application(ensure_sort(run, field), Head(HeadKind.SELECTOR, name), (term,))
    new = _draw_terms(run, (field,))
    return None if new is None else Application(own, Head(HeadKind.UPDATER, name), (term, *new))


class MakeBinder(Action[Any]):
    """``make-binder SORT BINDER (VARIABLE ...) BODY``: quantifiers, and the other binders of the solver
    (``lambda``, ``set.comprehension``).

    SORT is the result's: Bool; of ``lambda`` a function's; of ``set.comprehension`` a set's.
    """

    likely = (has_open,)
    sort: SortArg
    binder: Text
    variables: Variables
    body: Term

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        store, chance = run.store, run.random
        binder = chance.pick(run.capabilities.binders)
        body = store.pick_open(store.populated if binder == "lambda" else [BOOL], chance)
        if body is None:
            return None
        variables = [v for v in store.open_variables if v in body.free]
        if len(variables) > 1 and chance.happens(0.3):
            variables.remove(chance.pick(variables))
        bound = tuple(variables[:1] if binder == "set.comprehension" else variables)
        return cls(ensure_sort(run, _binder_sort(binder, bound, body)), binder, bound, body)

    def require(self, run: Run) -> None:
        if self.binder not in run.capabilities.binders:
            raise Unsupported(f"without {self.binder[:60]}")
        if self.sort.sort is not _binder_sort(self.binder, self.variables, self.body):
            raise TraceError(
                f"{self.binder} over a body of sort {self.body.sort.sort} has not the sort {self.sort.sort}"
            )

    def keep(self, run: Run, result: Any) -> Made:
        free = self.body.free - frozenset(self.variables)
        run.store.bind(self.variables)
        made = run.keep_term(self.sort, result, TermKind.TERM, None, (), free)
        run.statistics.operators[f"Binders {self.binder}"] += 1
        return (made,)


def _binder_sort(binder: str, variables: tuple[ApiTerm, ...], body: ApiTerm) -> Sort:
    sorts = _sorts(variables)
    if binder == "lambda":
        return make_sort("->", (), (*sorts, body.sort.sort))
    if body.sort.sort is not BOOL:
        raise TraceError(f"the body of {binder[:60]} has the sort {body.sort.sort}, expected Bool")
    if binder == "set.comprehension":
        return make_sort("Set", (), sorts[:1])
    return BOOL
