"""Finds SMT-LIB commands in pasted text, in linear time and without raising.

Unlike ``smtlib.reader`` it accepts broken text: it finds where a command starts and ends, which names it
declares and which are free in it, and ignores sorts. An unbalanced command ends at the next command that
starts a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from smtlib import default_theories
from smtlib.scanner import CHECKS, MARK

# The commands of SMT-LIB 2.7 that are useful for learning.
STANDARD = frozenset(
    """
    set-logic set-option declare-const declare-datatype declare-datatypes declare-fun declare-sort
    declare-sort-parameter define-const define-fun define-fun-rec define-funs-rec define-sort assert
    push pop reset reset-assertions check-sat check-sat-assuming
    """.split()
)
# Commands that query, print or exit; left out of the text for learning.
ASKING = frozenset(
    """
    set-info get-assertions get-assignment get-info get-model get-option get-proof
    get-unsat-assumptions get-unsat-core get-value echo exit check-sat-using simplify eval display
    help help-tactic apply labels get-objectives get-qe get-qe-disjunct get-interpolant
    get-interpolant-next get-interpolants get-abduct get-abduct-next get-difficulty
    get-learned-literals get-timeout-core get-timeout-core-assuming get-unsat-core-lemmas
    get-instantiations get-user-command block-model block-model-values get-consequences
    get-proof-graph get-model-domain-elements dbg-elim-unused-vars dbg-euf-project dbg-lp-qe
    dbg-model dbg-mbi dbg-nlsat dbg-pp-var dbg-set-qe dbg-skolemize dbg-tree-qe include
    set-user-tactic declare-tactic define-tactic dump-models model-add model-del query check-synth
    check-synth-next get-synth-solution poly/factor reduce minimize-core dbg-size dbg-shared-occs
    dbg-subst mbp qe-lite declare-oracle-fun
    """.split()
)
# Commands with constraints outside of SMT-LIB's core: fixed points, optimisation, SyGuS.
FOREIGN = frozenset(
    """
    declare-rel declare-var declare-pool declare-map declare-heap declare-codatatype
    declare-codatatypes rule assert-soft assert-not minimize maximize constraint synth-fun synth-inv
    inv-constraint declare-preds declare-funs declare-sorts define declare-datalog assume
    pop-assumptions declare-primed-var feature
    """.split()
)
COMMANDS = STANDARD | ASKING | FOREIGN
ASKS_SOMETHING = CHECKS | set("get-qe query check-synth simplify apply get-interpolant get-abduct".split())
ASSERTS = frozenset({"assert", "assert-soft", "assert-not", "rule", "constraint", "inv-constraint"})
# Only these start a formula in prose, as words such as "apply" and "reset" are also English.
STRONG = frozenset(word for word in COMMANDS if "-" in word) | {"assert"}

_PARENTHESIS = re.compile(r"[()]")
_HEAD = re.compile(r"\(\s{0,64}([A-Za-z][A-Za-z0-9/-]*)(?=[\s();]|$)")
# A line that starts with one of these ends an unbalanced command above it.
_RESTART = re.compile(
    r"\((?:set-logic|set-option|set-info|declare-[a-z-]+|define-[a-z-]+|assert|check-sat[a-z-]*|push|pop|exit"
    r"|get-[a-z-]+)(?=[\s()])"
)
# Models contain definitions and declarations, so only these end unbalanced output.
_RESTART_OUTPUT = re.compile(r"\((?:set-logic|set-option|declare-const|assert|check-sat[a-z-]*)(?=[\s()])")


def command_word(text: str, start: int) -> str:
    """The name of the command whose parenthesis opens at ``start``, or an empty string."""
    found = _HEAD.match(text, start)
    return found[1] if found and found[1] in COMMANDS else ""


def balanced_end(text: str, start: int, *, output: bool = False) -> tuple[int, bool]:
    """The end of the expression whose parenthesis opens at ``start``, and whether it is balanced."""
    restart = _RESTART_OUTPUT if output else _RESTART
    # Fast path: most commands are one line without strings, quoted symbols and comments. Only from the start
    # of a line: it reads to the end of it, which would take long for many commands on one line.
    if not start or text[start - 1] == "\n":
        line_end = text.find("\n", start)
        line = text[start:line_end] if line_end >= 0 else text[start:]
        if line[-1] == ")" and '"' not in line and "|" not in line and ";" not in line and _is_one(line):
            return start + len(line), True
    depth = 0
    for mark in MARK.finditer(text, start):
        at = mark.start()
        sign = text[at]
        if sign == "(":
            if depth and text[at - 1] == "\n" and restart.match(text, at):
                return at, False
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                return at + 1, True
        elif sign != ";" and mark.end() - at > 64:
            # An unclosed quote extends into the next commands: end it before them.
            newline = text.find("\n(", at, mark.end())
            while newline >= 0:
                if restart.match(text, newline + 1):
                    return newline + 1, False
                newline = text.find("\n(", newline + 1, mark.end())
    return len(text), False


def _is_one(line: str) -> bool:
    """Whether a line is exactly one balanced expression."""
    if line.count("(") != line.count(")"):
        return False
    depth = 0
    for sign in _PARENTHESIS.findall(line, 0, len(line) - 1):
        depth += 1 if sign == "(" else -1
        if depth == 0:
            return False
    return True


_LITERAL = re.compile(r'[0-9"#:\-+]|bv\d+\[')
_BINDERS = frozenset({"forall", "exists", "lambda", "choice", "set.comprehension", "witness"})
_NAMING = frozenset({":named", ":qid", ":skolemid", ":lblpos", ":lblneg", ":id"})


@cache
def _theory_constants() -> frozenset[str]:
    """The constants of theories, which occur where a variable could."""
    theories = default_theories()
    constants = {signature.name for signature in theories.signatures() if not signature.params}
    old = {name for name, now in theories.spellings.items() if not constants.isdisjoint(now)}
    return frozenset(constants | old | {"_", "unit", "emp", "re.full"})


@cache
def _sorts() -> frozenset[str]:
    """The words in the sorts of a datatype's fields that the script does not declare."""
    theories = default_theories()
    plain = {name for name, symbol in theories.sorts.items() if not symbol.arity and not symbol.indices}
    return frozenset(plain | set(theories.abbreviations) | {"par", "_", "Array", "BitVec"})


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a command declares and binds, and the constants that are free in it."""

    declared: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    main: str = ""


NOTHING = Names()
_DECLARES_ONE = frozenset(
    """
    declare-const declare-fun declare-sort declare-sort-parameter define-const define-fun
    define-fun-rec define-sort declare-rel declare-var declare-pool declare-map synth-fun synth-inv
    define
    """.split()
)
_WITH_TERM = frozenset({"assert", "assert-soft", "assert-not", "rule", "constraint", "check-sat-assuming"})


def names_of(word: str, tokens: Sequence[str]) -> Names:
    """The names in the tokens of a command; sorts are ignored."""
    if word in _DECLARES_ONE:
        name = unquoted(tokens[2]) if len(tokens) > 2 else ""
        return Names(frozenset({name} - {"", "(", ")"}), main=name)
    if word.startswith("declare-datatype") or word.startswith("declare-codatatype"):
        symbols = [
            unquoted(token) for token in tokens[2:] if token not in "()" and token[0] not in '0123456789":#'
        ]
        return Names(frozenset(symbols) - _sorts(), main=symbols[0] if symbols else "")
    if word == "define-funs-rec":
        heads = [unquoted(name) for opening, name in pairwise(tokens[2:]) if opening == "("]
        return Names(frozenset(heads) - {"("})
    if word in _WITH_TERM:
        return _names_of_term(tokens)
    return NOTHING


def unquoted(token: str) -> str:
    """A symbol without its bars, as ``|a|`` and ``a`` are one name."""
    return token[1:-1] if len(token) > 2 and token[0] == "|" == token[-1] else token


# The roles of an opening parenthesis inside a term.
_PLAIN, _SKIP, _QUANTIFIER, _LET, _BOUND_LIST, _LET_LIST = range(6)


def _names_of_term(tokens: Sequence[str]) -> Names:
    bound: set[str] = set()
    used: set[str] = set()
    named: set[str] = set()
    modes = [_PLAIN]
    index = 2  # after "(" and the word of the command
    count = len(tokens)
    while index < count:
        token = tokens[index]
        index += 1
        mode = modes[-1]
        if token == ")":
            if len(modes) > 1:
                modes.pop()
            continue
        if token == "(":
            head = tokens[index] if index < count else ")"
            entered, is_head_read = _enter(mode, head, bound, modes)
            modes.append(entered)
            index += is_head_read
            continue
        if token in _NAMING:
            if token == ":named" and index < count:
                named.add(unquoted(tokens[index]))
            index += 1
            continue
        if mode != _SKIP:
            used.add(token)
    if "match" in tokens or "par" in tokens:
        used.clear()  # this scan does not handle names that patterns bind
    used -= _theory_constants()
    free = {unquoted(token) for token in used if not _LITERAL.match(token)}
    return Names(frozenset(named), frozenset(bound), frozenset(free - bound))


def _enter(mode: int, head: str, bound: set[str], modes: list[int]) -> tuple[int, bool]:
    """The role of an opening parenthesis, and whether the token after it belongs to it."""
    is_symbol = head not in "()"
    if mode == _SKIP:
        return _SKIP, False
    if mode in (_BOUND_LIST, _LET_LIST):
        if is_symbol:
            bound.add(unquoted(head))
        return (_SKIP if mode == _BOUND_LIST else _PLAIN), is_symbol
    if mode in (_QUANTIFIER, _LET):
        modes[-1] = _PLAIN
        if not is_symbol or mode == _QUANTIFIER or head not in ("_", "as"):
            return (_BOUND_LIST if mode == _QUANTIFIER else _LET_LIST), False
    if head in ("_", "as"):
        return _SKIP, True
    if head in _BINDERS:
        return _QUANTIFIER, True
    if head == "let":
        return _LET, True
    return _PLAIN, is_symbol
