"""The small scripts that ask a solver whether it accepts a part of a test.

A part is an atom, a skeleton, or an operator at certain sorts (a :class:`Node`). Symbols stand for its
arguments, so nothing can be simplified away before the solver's theories see the operator. What is used below
quantifiers is asked about below quantifiers, too: several solvers take a theory only without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from generator.naming import Declarations
from generator.refusals import constant_arguments
from generator.seeds.script import UNBINDABLE
from generator.templates import AtomTemplate, Rank, SkeletonTemplate
from smtlib import Kind, Sort, Term, check_script, default_theories, postorder, read_script
from smtlib.commands import declaration_text
from smtlib.printer import PLAIN
from smtlib.sorts import INT, REAL, subsorts

CANARY = "(set-logic ALL)\n(declare-fun t () Bool)\n(assert t)\n(check-sat)\n"
"""A solver that refuses this refuses everything."""

# What stands for an argument that cannot be a symbol, and for a number that is a literal: some solvers take a
# product or a division only with one of those.
_REGULAR = '(str.to_re "a")'
_NUMBERS = {INT: "=2", REAL: "=2.0"}
_SAME_ARGUMENTS = 3
_BOOL: Rank = ((), "Bool")
_WIDTH = re.compile(r"\(_ BitVec \d+\)")


class Node(NamedTuple):
    """An operator with its indices as written, its arguments and its result's sort, as text.

    An argument is a sort, or ``=`` and a literal as written. The empty operator is a function of the script.
    """

    head: str
    arguments: tuple[str, ...]
    result: str


def nodes_of(terms: Iterable[Term]) -> Iterator[Node]:
    """What to ask about ``terms``, each by itself. Terms of sorts that the script declares are left out: how
    they are taken shows when the whole script is read."""
    for term in terms:
        kind = term.op.kind
        if kind in (Kind.BINDER, Kind.MATCH, Kind.ANNOTATION, Kind.LITERAL):
            sorts = [variable.sort for variable in term.variables]
        else:
            sorts = [term.sort, *(arg.sort for arg in term.args)]
        if not all(map(is_of_theories, sorts)):
            continue
        if kind is Kind.OPERATOR:
            if not _is_special(term):
                yield _node(PLAIN.head(term), term, term.op.name)
        elif kind is Kind.SYMBOL and term.args:
            yield Node("", tuple([PLAIN.sort(arg.sort) for arg in term.args]), PLAIN.sort(term.sort))
        elif kind in (Kind.BINDER, Kind.SYMBOL, Kind.VARIABLE):
            for sort in sorts:
                yield Node("=", (PLAIN.sort(sort),) * 2, "Bool")


def _is_special(term: Term) -> bool:
    """Whether a term is no operator over terms: an array mapped by a function, a binder of functions."""
    return term.op.declaration is not None if term.op.kind is Kind.OPERATOR else term.op.name == "lambda"


def node_with_head(term: Term, head: str, name: str) -> Node | None:
    """What to ask about ``term`` with the operator called ``name`` and written ``head`` for its own."""
    if all(is_of_theories(sort) for sort in (term.sort, *(arg.sort for arg in term.args))):
        return _node(head, term, name)
    return None


def _node(head: str, term: Term, name: str) -> Node:
    values = constant_arguments(name)
    described = [_described(arg, position in values) for position, arg in enumerate(term.args)]
    if len(described) > _SAME_ARGUMENTS and len(set(described)) == 1:
        described = described[:_SAME_ARGUMENTS]
    result = PLAIN.sort(term.sort)
    sorts = {*described, result} - {"Bool"}
    has_one_width = len(sorts) == 1 and all(map(_WIDTH.fullmatch, sorts)) and "(_ BitVec 1)" not in sorts
    if has_one_width and head[0] != "(":
        # One width is as good as another.
        described = ["(_ BitVec 8)" if sort in sorts else sort for sort in described]
        result = "(_ BitVec 8)" if result in sorts else result
    return Node(head, tuple(described), result)


def _described(arg: Term, is_value: bool) -> str:
    if is_value and not arg.args and arg.op.kind in (Kind.LITERAL, Kind.OPERATOR):
        return f"={PLAIN.head(arg)}"
    negated = arg.op.name == "-" and len(arg.args) == 1
    literal = (arg.args[0] if negated else arg).op
    if literal.kind is Kind.LITERAL and arg.sort in _NUMBERS:
        return _NUMBERS[arg.sort] if literal.text.strip("0.") else f"={PLAIN.head(arg)}"
    return PLAIN.sort(arg.sort)


def is_of_theories(sort: Sort) -> bool:
    """Whether all that a sort is made of is declared by the theories, not by a script."""
    known = default_theories().sorts
    return not sort.is_function and all(s.name in known for s in subsorts(sort))


def question_of_nodes(nodes: Iterable[Node], bound: bool) -> str:
    """A script with one application of each operator; ``bound``: to variables of quantifiers."""
    functions: dict[str, Rank] = {}
    formulas = []
    for number, node in enumerate(nodes):
        variables: dict[str, Rank] = {}
        written = []
        for place, argument in enumerate(node.arguments):
            if argument == "RegLan":
                written.append(_REGULAR)
            elif argument[0] == "=":
                written.append(argument[1:])
            else:
                written.append(f"x{number}_{place}")
                variables[written[-1]] = ((), argument)
        head = node.head
        if not head:
            head = f"f{number}"
            functions[head] = (node.arguments, node.result)
        formula = f"({head} {' '.join(written)})" if written else head
        if node.result == "RegLan":
            functions[f"r{number}"] = ((), "String")
            formula = f"(str.in_re r{number} {formula})"
        elif node.result != "Bool":
            functions[f"r{number}"] = ((), node.result)
            formula = f"(= r{number} {formula})"
        formulas.append((variables, formula))
    return _question([], functions, formulas, bound)


def question_of_atom(template: AtomTemplate, bound: bool) -> str:
    """A script that is about an atom; ``bound``: below quantifiers over what they can bind of its symbols."""
    declarations = Declarations()
    names = [declarations.new(rank) for rank in template.ranks]
    symbols = dict(zip(names, template.ranks, strict=True))
    return _question(template.atom.prelude, {}, [(symbols, template.atom.join(names))], bound)


def nodes_of_part(template: AtomTemplate | SkeletonTemplate) -> tuple[list[Node] | None, bool]:
    """What to ask about an atom or a skeleton, and whether it has quantifiers. None where a whole atom is to
    be asked about: it declares something, or has what is no operator over terms."""
    if isinstance(template, SkeletonTemplate):
        text = question_of_skeleton(template)
    elif template.atom.prelude:
        return None, False
    else:
        text = question_of_atom(template, bound=False)
    terms = list(postorder(check_script(read_script(text)).assertions))
    if any(
        term.op.kind is Kind.MATCH or not is_of_theories(term.sort) or _is_special(term) for term in terms
    ):
        return None, False
    return list(nodes_of(terms)), any(term.variables for term in terms)


def question_of_skeleton(template: SkeletonTemplate) -> str:
    """A script with the skeleton over Boolean symbols."""
    skeleton = template.skeleton
    names = [f"t{number}" for number in range(skeleton.holes)]
    binders = [
        " ".join(f"(z{number}_{place} Bool)" for place in range(binder.variables))
        for number, binder in enumerate(skeleton.binders)
    ]
    return _question([], dict.fromkeys(names, ((), "Bool")), [({}, skeleton.fill(names, binders))], False)


def _question(
    commands: Iterable[str],
    symbols: Mapping[str, Rank],
    formulas: Iterable[tuple[Mapping[str, Rank], str]],
    bound: bool,
) -> str:
    """A script that is about whether each formula is true; ``bound``: below a quantifier over its variables.

    Of ``(assert (= r TERM))`` a solver may do away with TERM by eliminating ``r``, of ``(or p FORMULA)`` by
    setting ``p``. Each formula has its own ``p`` and ``q``: a true and a false one must not contradict.
    """
    declared = dict(symbols)
    asserted = []
    for number, (variables, formula) in enumerate(formulas):
        p, q = f"holds{number}", f"fails{number}"
        declared |= {p: _BOOL, q: _BOOL}
        over = [f"({n} {r})" for n, (params, r) in variables.items() if not params and r not in UNBINDABLE]
        if bound:
            # Of atoms without variables there are tests with quantifiers, too.
            around = f"(forall ({' '.join(over or ['(z Bool)'])}) %s)"
            variables = {n: rank for n, rank in variables.items() if rank[0] or rank[1] in UNBINDABLE}
        else:
            around = "%s"
        declared.update(variables)
        asserted.append(f"(or (not {p}) (not {q}))")
        asserted += [around % f"(or {p} {formula})", around % f"(or {q} (not {formula}))"]
    lines = [
        *("(set-logic ALL)", *commands),
        *(declaration_text(name, *rank) for name, rank in declared.items()),
        *(f"(assert {text})" for text in asserted),
        "(check-sat)",
    ]
    return "\n".join(lines) + "\n"
