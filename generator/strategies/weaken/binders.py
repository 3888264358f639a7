"""The rules about binders and about functions in general, which no pattern can express.

Each has two functions: a cheap one for the effects it can have on a term, and its application,
which may raise :class:`NoTerm`. What they claim stands beside their names in ``rules/core.smt2``.

No binder stands below another of the same variable: seeds in which one does are refused, new variables get
names of their own, and terms that are copied to other places have no binders. So nothing is captured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from generator.refusals import constant_arguments
from generator.strategies.weaken.patterns import NoTerm, is_ordinary
from generator.strategies.weaken.ruleset import KEEPS, STRENGTHENS, WEAKENS, common_theories
from generator.strategies.weaken.site import Site, open_terms, replaced
from smtlib import BOOL, Kind, Sort, Term, TermTable, rewrite
from smtlib.signature import Bindings, Signature
from smtlib.terms import without_annotations

Effects = tuple[int, ...]
Finder = Callable[[Term], Effects]
Changer = Callable[[Term, Site], Term]

_NONE: Effects = ()
_OTHER: Final = {"forall": "exists", "exists": "forall"}


def _quantifier(term: Term) -> str:
    """``forall``, ``exists``, or empty."""
    return term.op.name if term.is_quantifier else ""


def _body(term: Term) -> Term:
    """A quantifier's body without annotations: its patterns fit this quantifier only."""
    return without_annotations(term.args[0])


def substituted(table: TermTable, root: Term, variable: Term, value: Term) -> Term:
    """``root`` with ``value`` for ``variable``; patterns that change are dropped."""

    def change(term: Term, args: tuple[Term, ...]) -> Term | None:
        if term is variable:
            return value
        if term.op.kind is Kind.ANNOTATION and args[1:] != term.args[1:]:
            return args[0]
        return None

    return rewrite(table, root, change)


# forall x. p => exists x. p


def _find_forall_exists(term: Term) -> Effects:
    return {"forall": (WEAKENS,), "exists": (STRENGTHENS,)}.get(_quantifier(term), _NONE)


def _forall_exists(term: Term, site: Site) -> Term:
    return site.binder(_OTHER[term.op.name], term.variables, _body(term))


# forall x. p => p[x := e]


def _instantiate(term: Term, site: Site) -> Term:
    variable = site.chance.choice(term.variables)
    if not is_ordinary(variable.sort):
        raise NoTerm
    rest = tuple(v for v in term.variables if v is not variable)
    value = site.terms.term(variable.sort, site.scope.union(rest), site.chance)
    body = term.args[0] if rest else _body(term)
    return site.binder(term.op.name, rest, substituted(site.table, body, variable, value))


# p[x := e] => exists x. p


def _find_composed(*effects: int) -> Finder:
    """Finds Boolean terms with arguments."""
    return lambda term: effects if term.sort is BOOL and term.args else _NONE


def _some_subterm(term: Term, site: Site) -> Term:
    """A proper subterm that means the same outside ``term``."""
    free = site.terms.facts.of(term).free
    found = [
        t
        for t in open_terms(term)
        if t is not term
        and t.op.kind is not Kind.ANNOTATION
        and is_ordinary(t.sort)
        and site.terms.facts.of(t).free <= free
    ]
    if not found:
        raise NoTerm
    return site.chance.choice(found)


def _abstracted(term: Term, site: Site) -> tuple[tuple[Term], Term, Term]:
    """A new variable, the subterm it stands for, and ``term`` with it in the subterm's place."""
    value = _some_subterm(term, site)
    variable = site.builder.fresh(value.sort)
    return (variable,), value, replaced(site.table, term, value, variable)


def _generalise(term: Term, site: Site) -> Term:
    variables, _, body = _abstracted(term, site)
    return site.binder("exists" if site.effect == WEAKENS else "forall", variables, body)


def _name_term(term: Term, site: Site) -> Term:
    variables, value, body = _abstracted(term, site)
    same = site.operator("=", *variables, value)
    if site.chance.random() < 0.5:
        return site.binder("exists", variables, site.operator("and", same, body))
    return site.binder("forall", variables, site.operator("=>", same, body))


# Equivalences of quantifiers


def _find_dual(term: Term) -> Effects:
    if term.op.kind is Kind.OPERATOR and term.op.name == "not":
        term = term.args[0]
    return (KEEPS,) if _quantifier(term) else _NONE


def _dual(term: Term, site: Site) -> Term:
    inner = term if _quantifier(term) else term.args[0]
    body = site.operator("not", _body(inner))
    made = site.binder(_OTHER[inner.op.name], inner.variables, body)
    return site.operator("not", made) if inner is term else made


_SPLITS = {"forall": ("and", KEEPS), "exists": ("or", KEEPS)}
_LOOSENS = {"forall": ("or", STRENGTHENS), "exists": ("and", WEAKENS)}


def _is_junction(term: Term, name: str) -> bool:
    return term.op.kind is Kind.OPERATOR and term.op.name == name and len(term.args) > 1


def _find_quantified(junctions: Mapping[str, tuple[str, int]]) -> Finder:
    """Finds quantifiers over a junction; ``junctions`` has its name and the effect for each quantifier."""

    def find(term: Term) -> Effects:
        junction, effect = junctions.get(_quantifier(term), ("", KEEPS))
        return (effect,) if junction and _is_junction(_body(term), junction) else _NONE

    return find


def _over_parts(term: Term, site: Site) -> Term:
    """The quantifier over each part of its body's junction, cut in two at random."""
    body = _body(term)
    cut = 1 + int(site.chance.random() * (len(body.args) - 1))
    parts = []
    for args in (body.args[:cut], body.args[cut:]):
        part = args[0] if len(args) == 1 else site.table.make(body.op, args, BOOL)
        parts.append(site.binder(term.op.name, term.variables, part))
    return site.table.make(body.op, tuple(parts), BOOL)


def _find_nest(term: Term) -> Effects:
    name = _quantifier(term)
    if name and (len(term.variables) > 1 or _quantifier(_body(term)) == name):
        return (KEEPS,)
    return _NONE


def _nest(term: Term, site: Site) -> Term:
    name = term.op.name
    body = _body(term)
    if _quantifier(body) == name and (len(term.variables) == 1 or site.chance.random() < 0.5):
        return site.binder(name, term.variables + body.variables, _body(body))
    cut = 1 + int(site.chance.random() * (len(term.variables) - 1))
    return site.binder(name, term.variables[:cut], site.binder(name, term.variables[cut:], body))


def _find_empty(term: Term) -> Effects:
    return (KEEPS,) if term.sort is BOOL else _NONE


def _empty(term: Term, site: Site) -> Term:
    sorts = site.terms.sorts() or [BOOL]
    variable = site.builder.fresh(site.chance.choice(sorts))
    return site.binder(site.chance.choice(("forall", "exists")), (variable,), term)


# x = y => f(x) = f(y)


def _same_head(left: Term, right: Term) -> bool:
    """Whether two terms differ in arguments only, all of them of sorts with an equality."""
    return (
        left.op is right.op
        and left.op.kind in (Kind.SYMBOL, Kind.OPERATOR)
        and 0 < len(left.args) == len(right.args)
        and all(a.sort is b.sort and is_ordinary(a.sort) for a, b in zip(left.args, right.args, strict=True))
    )


def _find_congruence(term: Term) -> Effects:
    if term.op.kind is not Kind.OPERATOR or not term.args or not is_ordinary(term.args[0].sort):
        return _NONE
    down, up = (WEAKENS, STRENGTHENS) if term.op.name == "=" else (STRENGTHENS, WEAKENS)
    if term.op.name == "distinct" and len(term.args) != 2:
        return _NONE
    if len(term.args) == 2 and _same_head(*term.args):
        return (down, up)
    return (down,)


def _congruence(term: Term, site: Site) -> Term:
    is_equality = term.op.name == "="
    if (site.effect == WEAKENS) is not is_equality:
        pairs = [p for p in zip(term.args[0].args, term.args[1].args, strict=True) if p[0] is not p[1]]
        parts = tuple(site.operator(term.op.name, *pair) for pair in pairs)
        if not parts:
            raise NoTerm
        return parts[0] if len(parts) == 1 else site.operator("and" if is_equality else "or", *parts)
    around = _context(term.args[0].sort, site)
    return site.operator(term.op.name, *(around(a) for a in term.args))


@cache
def _signatures(sort: Sort) -> list[tuple[Signature, int]]:
    """The theories' functions that take ``sort``, each with the place where they do."""
    fitting = filter(_can_be_context, common_theories().signatures())
    return [(s, place) for s in fitting for place, p in enumerate(s.params) if p.match(sort, {})]


def _can_be_context(signature: Signature) -> bool:
    """Whether a function can be applied to any terms, with nothing to choose but the other arguments."""
    if signature.name == "ite" or constant_arguments(signature.name):
        return False
    of_any_sort = any(p.is_parameter for p in signature.params[:1])
    return not (signature.indices or signature.needs_as or of_any_sort)


def _context(sort: Sort, site: Site) -> Callable[[Term], Term]:
    """A function of the theories or of the script as a function of one argument of ``sort``."""
    chance = site.chance
    own = [(d, i) for d in site.functions for i, p in enumerate(d.params) if p is sort]
    if own and chance.random() < 0.5:
        declaration, place = chance.choice(own)
        if not is_ordinary(declaration.result):
            raise NoTerm
        args = [site.terms.term(p, site.scope, chance) for p in declaration.params]
        return lambda x: site.table.symbol(declaration, (*args[:place], x, *args[place + 1 :]))
    known = _signatures(sort)
    if not known:
        raise NoTerm
    signature, place = chance.choice(known)
    others = _other_arguments(signature, place, sort, site)

    def around(x: Term) -> Term:
        made = site.operator(signature.name, *others[:place], x, *others[place:])
        if not is_ordinary(made.sort):
            raise NoTerm
        # Of formats, cvc5 knows two without an option: those that a formula has, it has taken.
        if made.sort.name == "FloatingPoint" and made.sort not in site.terms.sorts():
            raise NoTerm
        return made

    return around


def _other_arguments(signature: Signature, place: int, sort: Sort, site: Site) -> list[Term]:
    bindings: Bindings = {}
    signature.params[place].match(sort, bindings)
    args = []
    for i, pattern in enumerate(signature.params):
        if i == place:
            continue
        try:
            sort = pattern.instantiate(bindings)
        except KeyError:
            # A width or sort of its own: that of some term of the formula.
            fitting = [s for s in site.terms.sorts() if pattern.match(s, dict(bindings))]
            if not fitting:
                raise NoTerm from None
            sort = site.chance.choice(fitting)
            pattern.match(sort, bindings)
        args.append(site.terms.term(sort, site.scope, site.chance))
    return args


# x = y and p[x] <=> x = y and p[y]


def _find_replace_equal(term: Term) -> Effects:
    if not _is_junction(term, "and"):
        return _NONE
    return (KEEPS,) if any(a.op.name == "=" and len(a.args) == 2 for a in term.args) else _NONE


def _replace_equal(term: Term, site: Site) -> Term:
    equations = [i for i, a in enumerate(term.args) if a.op.name == "=" and len(a.args) == 2]
    place = site.chance.choice(equations)
    old, new = site.chance.sample(term.args[place].args, 2)
    if site.terms.facts.of(new).nodes > 30 or not site.terms.facts.of(new).is_plain:
        raise NoTerm
    args = list(term.args)
    others = [i for i in range(len(args)) if i != place]
    site.chance.shuffle(others)
    for i in others:
        made = replaced(site.table, args[i], old, new)
        if made is not args[i]:
            args[i] = made
            return site.table.make(term.op, tuple(args), BOOL)
    raise NoTerm


CHANGES: dict[str, tuple[tuple[str, ...], Finder, Changer]] = {
    "forall_exists": (("forall", "exists"), _find_forall_exists, _forall_exists),
    "instantiate": (("forall", "exists"), _find_forall_exists, _instantiate),
    "generalise": ((), _find_composed(WEAKENS, STRENGTHENS), _generalise),
    "name_term": ((), _find_composed(KEEPS), _name_term),
    "dual_quantifier": (("forall", "exists", "not"), _find_dual, _dual),
    "split_quantifier": (("forall", "exists"), _find_quantified(_SPLITS), _over_parts),
    "loosen_quantifier": (("forall", "exists"), _find_quantified(_LOOSENS), _over_parts),
    "nest_quantifier": (("forall", "exists"), _find_nest, _nest),
    "empty_quantifier": ((), _find_empty, _empty),
    "congruence": (("=", "distinct"), _find_congruence, _congruence),
    "replace_equal": (("and",), _find_replace_equal, _replace_equal),
}
"""By the name in ``:by``: the heads of terms it can apply to (none: all), its finder and its changer."""
