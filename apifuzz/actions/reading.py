"""Arguments of actions, read from the tokens of a trace line."""

from __future__ import annotations

from collections.abc import Sequence

from apifuzz.interface import ApiTerm, TermKind
from apifuzz.run import Run
from apifuzz.trace import TraceError, split_line, unquote_name
from smtlib import BOOL
from smtlib.reader import is_symbol

_MAX_COUNT = 1000


def require_count(args: Sequence[str], low: int, high: int | None = None) -> None:
    """Raise :class:`TraceError` unless there are ``low`` (to ``high``; None: or more) arguments."""
    if len(args) < low:
        raise TraceError(f"{low} arguments are wanted, {len(args)} are here")
    if high is not None and len(args) > high:
        raise TraceError(f"at most {high} arguments are wanted, {len(args)} are here")


def read_list(token: str) -> list[str]:
    """The parts of a list in parentheses."""
    if token[0] != "(":
        raise TraceError(f"a list in parentheses is wanted, {token[:60]} is here")
    return split_line(token[1:-1])


def read_count(token: str) -> int:
    """A numeral from 1 to 1000."""
    if not (token.isascii() and token.isdigit() and len(token) < 5 and 1 <= int(token) <= _MAX_COUNT):
        raise TraceError(f"a numeral from 1 to {_MAX_COUNT} is wanted, {token[:20]} is here")
    return int(token)


def read_name(token: str) -> str:
    """A symbol, without its bars."""
    if token[0] in '("' or not is_symbol(token):
        raise TraceError(f"a symbol is wanted, {token[:60]} is here")
    return unquote_name(token)


def read_terms(run: Run, tokens: Sequence[str]) -> tuple[ApiTerm, ...]:
    """Terms by their ids; none of them may have a variable that was bound elsewhere."""
    terms = tuple([run.store.term(token) for token in tokens])
    for term in terms:
        if term.free and run.store.is_bound(term):
            raise TraceError(f"a variable of {term} is bound already")
    return terms


def read_closed(run: Run, tokens: Sequence[str]) -> tuple[ApiTerm, ...]:
    """Terms without free variables, by their ids."""
    terms = read_terms(run, tokens)
    for term in terms:
        if term.free:
            raise TraceError(f"{term} has free variables")
    return terms


def read_formulas(run: Run, tokens: Sequence[str]) -> tuple[ApiTerm, ...]:
    """Closed terms of sort Bool, by their ids."""
    terms = read_closed(run, tokens)
    for term in terms:
        if term.sort.sort is not BOOL:
            raise TraceError(f"{term} has the sort {term.sort.sort}, Bool is wanted")
    return terms


def read_variables(run: Run, token: str) -> tuple[ApiTerm, ...]:
    """A list of different variables that nothing binds yet."""
    variables = read_terms(run, read_list(token))
    for variable in variables:
        if variable.kind is not TermKind.VARIABLE:
            raise TraceError(f"{variable} is no variable")
    if not variables or len(set(variables)) != len(variables):
        raise TraceError("a list of different variables is wanted")
    return variables
