"""Applications of operators, drawn bottom-up: arguments that were made, indices that fit, bounded results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apifuzz.actions.leaves import MakeValue, ensure_term
from apifuzz.actions.sorts import ensure_sort
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed, draw_sort_of
from apifuzz.values import has_values, random_value
from smtlib import REAL, Signature, Sort, default_theories
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
"""Values that fit where not every one does: single characters, small exponents."""
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
            # Operators like concat take arguments of any width: each is matched anew.
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
        found = None if signature.name in _VALUES else store.pick_value(sort, run.random)
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
