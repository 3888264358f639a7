"""Models as solvers print them, taken apart: definitions, the elements of uninterpreted sorts, and what of a
value only its own solver can read.

Read are the answers to ``get-model`` of z3, cvc5, bitwuzla, yices and Boolector (SMT-LIB form). What is not
SMT-LIB is translated: z3's ``root-obj``, ``(_ as-array f)`` and ``lambda`` for arrays, its ``S!val!0``;
cvc5's ``real_algebraic_number`` and ``(as @S_0 S)``; Boolector's functions for arrays. If that is not
possible, ``NotCheckable`` is raised, with a cause that can be counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from difftest.models.algebraic import AlgebraicNumber, from_interval, from_root_object
from smtlib.errors import ReadError
from smtlib.reader import SExp, SExpList, is_simple_symbol, read_sexps, sexp_text

_CVC5_ALGEBRAIC = re.compile(r"\(_ real_algebraic_number (<[^<>\n]*>)\)")
_CVC5_REPRESENTATIVE = re.compile(r"^; rep: (.+)$", re.M)
_CVC5_ELEMENT = re.compile(r"@(?:uc_)?(.+)_\d+\Z")
_Z3_ELEMENT = re.compile(r"(.+)!val![0-9]+\|?\Z")
# Printed by z3 before 4.8.9 or so in place of \u{..}; a string that means it literally looks the same.
_OLD_ESCAPE = re.compile(r'\\x[0-9a-fA-F]{2}|\\[abfnrtv"]')
_MAX_MODEL = 1 << 20


class NotCheckable(Exception):
    """No other solver can check this model; ``cause`` is a few words to count by."""

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that other parts of a model refer to by ``name``: the commands that bring it about."""

    name: str
    commands: tuple[str, ...]
    needs: frozenset[str]


@dataclass(slots=True)
class Model:
    """A model in SMT-LIB.

    ``units`` by the name they define; ``elements`` of each uninterpreted sort by its name: all that the model
    has, as z3 says by a formula and cvc5 by a comment.
    """

    units: dict[str, Unit] = field(default_factory=dict)
    elements: dict[str, list[str]] = field(default_factory=dict)


def read_model(
    text: str, declared: Sequence[str], sorts: Sequence[str], arrays: Collection[str] = ()
) -> Model:
    """The model that ``text`` (a solver's answer to ``get-model``) holds.

    ``declared`` are the symbols of the formula that need a value, ``arrays`` those of them that are arrays,
    ``sorts`` its uninterpreted sorts (no parameters). Raises NotCheckable.
    """
    if len(text) > _MAX_MODEL:
        raise NotCheckable("the model is too long")
    reader = _Reader(set(sorts), frozenset(arrays))
    plain = _CVC5_ALGEBRAIC.sub(lambda match: reader.algebraic_token(match[1]), text)
    try:
        sexps = read_sexps(plain)
    except ReadError as problem:
        raise NotCheckable("the model cannot be read", str(problem)) from problem
    lists = [sexp for sexp in sexps if isinstance(sexp, SExpList)]
    if not lists:
        raise NotCheckable("no model was printed", text.strip()[:80])
    if lists[0][:1] == ["error"]:
        raise NotCheckable("an error instead of a model", sexp_text(lists[0], 160))
    entries = lists[0][1:] if lists[0][:1] == ["model"] else lists[0]
    if not entries and len(lists) > 1:
        raise NotCheckable("the model is not in SMT-LIB's form")
    try:
        for representative in _CVC5_REPRESENTATIVE.findall(plain):
            reader.value(read_sexps(representative)[0], "")
        reader.entries(entries, set(declared))
    except ReadError as problem:
        raise NotCheckable("the model cannot be read", str(problem)) from problem
    except RecursionError:
        raise NotCheckable("arrays made of functions are nested too deep") from None
    return reader.model


def check_string(token: str) -> None:
    """NotCheckable if a printed token is a string with an escape that releases read differently."""
    if token[0] == '"' and _OLD_ESCAPE.search(token):
        raise NotCheckable("a string with escapes that mean different things in different releases")


def is_element(value: SExp) -> bool:
    """Whether a value is an element of an uninterpreted sort, as solvers name it."""
    if isinstance(value, str):
        return _Z3_ELEMENT.match(value) is not None
    return len(value) == 3 and value[0] == "as" and str(value[1]).strip("|").startswith("@")


class _Reader:
    def __init__(self, sorts: set[str], arrays: frozenset[str]) -> None:
        self.model = Model()
        self.sorts = sorts
        self.arrays = arrays
        self.bare_sorts = {sort.strip("|"): sort for sort in sorts}
        self.functions: dict[str, SExpList] = {}
        self.algebraic: dict[str, str] = {}
        self.fresh = 0
        self.needs: set[str] = set()

    def entries(self, entries: Sequence[SExp], declared: set[str]) -> None:
        for entry in entries:
            if not isinstance(entry, SExpList) or not entry or not isinstance(entry[0], str):
                raise NotCheckable("the model is not in SMT-LIB's form", sexp_text(entry, 80))
            if entry[0] in ("define-fun", "define-fun-rec", "define-const"):
                self._function(entry)
            elif entry[0] == "declare-fun" and len(entry) == 4:
                self._element(entry[1], entry[3])
            elif entry[0] not in ("forall", "declare-sort", "declare-datatypes", "declare-datatype"):
                raise NotCheckable("an unknown entry of the model", sexp_text(entry, 80))
        # Last, when all elements and all functions that arrays are made of are known.
        pending = [name for name in self.functions if name in declared]
        while pending:
            name = pending.pop()
            if name not in self.model.units:
                unit = self._unit(name, self.functions[name])
                self.model.units[name] = unit
                needs = sorted(unit.needs)
                pending += [n for n in needs if n in self.functions and n not in self.model.units]

    def _function(self, entry: SExpList) -> None:
        if entry[0] == "define-const" and len(entry) == 4:
            entry = SExpList(["define-fun", entry[1], SExpList(), entry[2], entry[3]])
        if len(entry) != 5 or not isinstance(entry[1], str) or isinstance(entry[2], str):
            raise NotCheckable("an unknown entry of the model", sexp_text(entry, 80))
        self.functions[entry[1]] = entry

    def _element(self, name: SExp, sort: SExp) -> None:
        if not isinstance(name, str) or not isinstance(sort, str) or sort not in self.sorts:
            raise NotCheckable("an element of a sort that is not uninterpreted", sexp_text(sort, 80))
        self.model.elements.setdefault(sort, []).append(name)

    def _unit(self, name: str, entry: SExpList) -> Unit:
        self.needs = set()
        parameters, result = entry[2], entry[3]
        if name in self.arrays and len(parameters) == 1:
            # Boolector defines an array as a function of its index.
            result = SExpList(["Array", parameters[0][1], result])
            body: SExp = self._array(parameters[0], entry[4], result)
            parameters = SExpList()
        else:
            body = self.value(entry[4], result)
        sort = sexp_text(result)
        command = f"(define-fun {name} {sexp_text(parameters)} {sort} {sexp_text(body)})"
        return Unit(name, (command,), frozenset(self.needs | set(_symbols(body))) - {name})

    # Values

    def value(self, sexp: SExp, sort: SExp) -> SExp:
        """``sexp``, of the given sort, in SMT-LIB."""
        return _rewrite(sexp, sort, self._leaf)

    def _leaf(self, sexp: SExp, sort: SExp | None) -> SExp | None:
        """What stands for ``sexp`` as a whole, or None where its parts are looked at."""
        if isinstance(sexp, str):
            return self._token(sexp)
        head = sexp[0] if sexp else ""
        if head == "root-obj":
            return self._named_number(sexp_text(sexp), lambda: from_root_object(sexp))
        if head == "as" and len(sexp) == 3 and isinstance(sexp[1], str) and sexp[1].startswith("@"):
            return self._cvc5_element(sexp[1], sexp[2])
        if head == "_" and len(sexp) == 3 and sexp[1] == "as-array":
            function = self.functions.get(str(sexp[2]))
            if function is None or len(function[2]) != 1:
                raise NotCheckable("as-array of an unknown function")
            sort = SExpList(["Array", function[2][0][1], function[3]])
            return self._array(function[2][0], function[4], sort)
        if head == "lambda" and len(sexp) == 3:
            if not isinstance(sort, SExpList) or sort[:1] != ["Array"] or len(sexp[1]) != 1:
                raise NotCheckable("a lambda whose sort does not follow")
            return self._array(sexp[1][0], sexp[2], sort)
        return None

    def _token(self, token: str) -> str:
        check_string(token)
        if token in self.algebraic:
            self.needs.add(token)
        elif (match := _Z3_ELEMENT.match(token)) and match[1].strip("|") in self.bare_sorts:
            # Of sorts that only arrays and functions mention, z3 lists no elements.
            known = self.model.elements.setdefault(self.bare_sorts[match[1].strip("|")], [])
            if token not in known:
                known.append(token)
        elif token[0] == "@" and (match := _CVC5_ELEMENT.match(token)) and match[1] in self.sorts:
            return self._cvc5_element(token, match[1])
        return token

    def _cvc5_element(self, name: str, sort: SExp) -> str:
        if not isinstance(sort, str) or sort not in self.sorts:
            raise NotCheckable("an element of a sort that is not uninterpreted", sexp_text(sort, 80))
        # A name that begins with @ may not be declared.
        made = f"|{sort.strip('|')}!{name.strip('|')}|"
        known = self.model.elements.setdefault(sort, [])
        if made not in known:
            known.append(made)
        return made

    def algebraic_token(self, text: str) -> str:
        """A name for cvc5's ``<POLYNOMIAL, (LOW, HIGH)>``."""
        return self._named_number(text, lambda: from_interval(text))

    def _named_number(self, text: str, read: Callable[[], AlgebraicNumber]) -> str:
        for name, known in self.algebraic.items():
            if known == text:
                self.needs.add(name)
                return name
        name = self._name("root")
        try:
            constraint = read().constraint(name)
        except (ValueError, ZeroDivisionError) as problem:  # NotAlgebraic, or a number of too many digits
            raise NotCheckable("an algebraic number that cannot be read", str(problem)) from problem
        self.algebraic[name] = text
        commands = (f"(declare-const {name} Real)", f"(assert {constraint})")
        self.model.units[name] = Unit(name, commands, frozenset())
        self.needs.add(name)
        return name

    def _name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}!!{self.fresh}"

    def _array(self, parameter: SExpList, body: SExp, sort: SExpList) -> str:
        """The name of a constant array that is ``body`` at each index ``parameter``."""
        outer = self.needs
        self.needs = set()
        variable, index = str(parameter[0]), parameter[1]
        element = sort[2]
        value = self.value(body, element)
        name, shown = self._name("array"), sexp_text(sort)
        chain = _store_chain(value, variable, shown)
        if chain is not None:
            commands: tuple[str, ...] = (f"(define-fun {name} () {shown} {chain})",)
        else:
            commands = (
                f"(declare-const {name} {shown})",
                f"(assert (forall (({variable} {sexp_text(index)})) "
                f"(= (select {name} {variable}) {sexp_text(value)})))",
            )
        needs = frozenset(self.needs | set(_symbols(value)))
        self.model.units[name] = Unit(name, commands, needs)
        for other in sorted(needs):
            if other in self.functions and other not in self.model.units:
                self.model.units[other] = self._unit(other, self.functions[other])
        self.needs = outer | {name}
        return name


def _rewrite(root: SExp, sort: SExp | None, leaf: Callable[[SExp, SExp | None], SExp | None]) -> SExp:
    """Rebuild ``root``, each part replaced by what ``leaf`` makes of it and its sort (None: not known)."""
    holder = SExpList([root])
    stack: list[tuple[SExpList, int, SExp | None]] = [(holder, 0, sort)]
    while stack:
        parent, index, expected = stack.pop()
        part = parent[index]
        made = leaf(part, expected)
        if made is not None:
            parent[index] = made
            continue
        copied = SExpList(part)
        parent[index] = copied
        stack += [(copied, place, of) for place, of in enumerate(_sorts_of_parts(copied, expected))]
    rebuilt: SExp = holder[0]
    return rebuilt


def _sorts_of_parts(sexp: SExpList, sort: SExp | None) -> list[SExp | None]:
    """The sorts of the parts of a value as far as they follow from its own."""
    parts: list[SExp | None] = [None] * len(sexp)
    if not sexp:
        return parts
    head = sexp[0]
    if head == "store" and len(sexp) == 4 and isinstance(sort, SExpList) and len(sort) == 3:
        return [None, sort, sort[1], sort[2]]
    if head in ("ite", "let"):
        parts[-1] = sort
        parts[2 if head == "ite" and len(sexp) == 4 else -1] = sort
    elif isinstance(head, SExpList) and head[:2] == ["as", "const"] and len(head) == 3 and len(sexp) == 2:
        of = head[2]
        parts[1] = of[2] if isinstance(of, SExpList) and len(of) == 3 else None
    return parts


def _store_chain(body: SExp, variable: str, sort: str) -> str | None:
    """``(ite (= x 3) a (ite (= x 4) b c))`` as stores into a constant array, or None if it is no such."""
    stores: list[tuple[str, str]] = []
    while isinstance(body, SExpList) and body[:1] == ["ite"] and len(body) == 4:
        condition = body[1]
        if not isinstance(condition, SExpList) or condition[:1] != ["="] or len(condition) != 3:
            return None
        sides = [side for side in condition[1:] if side != variable]
        if len(sides) != 1 or variable in set(_symbols(sides[0])) or variable in set(_symbols(body[2])):
            return None
        stores.append((sexp_text(sides[0]), sexp_text(body[2])))
        body = body[3]
    if variable in set(_symbols(body)):
        return None
    # The first condition that holds decides, so it is stored last.
    opening = "(store " * len(stores)
    closing = "".join(f" {index} {value})" for index, value in reversed(stores))
    return f"{opening}((as const {sort}) {sexp_text(body)}){closing}"


def _symbols(sexp: SExp) -> Iterator[str]:
    """The tokens of ``sexp`` that may be symbols."""
    stack: list[SExp] = [sexp]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if item[0] == "|" or is_simple_symbol(item):
                yield item
        else:
            stack.extend(item)
