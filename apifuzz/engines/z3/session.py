"""One z3 context and what the engine keeps with it; z3's exceptions in the interface's terms."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import z3
from z3 import z3core

from apifuzz.chance import Chance
from apifuzz.engine import Engine
from apifuzz.engines.profile import profile
from apifuzz.interface import Misbehaviour, Unsupported
from smtlib import Sort


def message_of(error: BaseException) -> str:
    """The text of one of z3's exceptions, which may hold bytes."""
    value = getattr(error, "value", None) or (error.args[0] if error.args else "")
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return " ".join(text.split())


def misread(error: z3.Z3Exception, text: str) -> Misbehaviour:
    """The misbehaviour that z3 rejects ``text``, which it printed itself; no call of exhume is wrong. If z3
    gives up at a limit, or an assertion of its own fails, its exception is raised again.
    """
    message = message_of(error)
    if profile("z3").known_limit(message):
        raise error
    # The first of its errors, without the place in a text that is another each time.
    first = _PLACE.match(message)
    return Misbehaviour("print", f"does not read back: {first.group(1) if first else message}\n{text[:2000]}")


_PLACE = re.compile(r'\(error "line \d+ column \d+: ([^"]*)"\)')


def model_of(solver: Any) -> Any:
    """The model of a solver or an optimisation that answered sat; Misbehaviour for none."""
    try:
        return solver.model()
    except z3.Z3Exception as error:
        # The call beneath, which says why there is none.
        cause = error.__context__ or error
        message = message_of(cause)
        if message.startswith("Sort"):
            # This call passes no term: z3 itself makes one of the wrong sort.
            raise Misbehaviour("model", f"sat, but no model\n{message}") from error
        raise cause from error


@cache
def takes_context(function: Callable[..., Any]) -> bool:
    """Whether what z3's module has by a name would fall back on the process's main context."""
    try:
        return "ctx" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # no function; a built-in without a signature, such as operator.add
        return False


RESOURCE_LIMIT = 100_000
"""z3's own measure of work, per call: mostly a fraction of a second. It is not time: runs can be repeated."""

STEPS = 20_000
"""Rewriting steps of a simplification."""

_MOST_STEPS = 500_000
"""Rewriting steps of any call: far more than most need, as z3 sometimes crashes at this limit."""


@cache
def set_up_process() -> None:
    """Set what z3 has for a whole process only."""
    # Without it z3 writes to standard error.
    z3core.Z3_toggle_warning_messages(False)
    # Rewriting ignores the resource limit: it would unfold some recursive functions for ever.
    z3.set_param("model_evaluator.max_steps", STEPS)
    z3.set_param("rewriter.max_steps", _MOST_STEPS)


_spares: list[tuple[int, Any]] = []


def keep_spare() -> None:
    """Make a context that a fork of this process may use: each that a fork makes itself takes thousands of
    page faults, which is as long as twenty other calls. Signatures are read for all forks, too.
    """
    if not _spares:
        set_up_process()
        _spares.append((os.getpid(), z3.Context(rlimit=RESOURCE_LIMIT)))
        for function in filter(inspect.isfunction, vars(z3).values()):
            takes_context(function)


class HeldTerm:
    """A term held as a bare ``Z3_ast`` with a reference of our own, without z3's Python object around it."""

    __slots__ = ("ast", "context")

    def __init__(self, term: Any) -> None:
        self.context = term.ctx
        self.ast = term.as_ast()
        z3core.Z3_inc_ref(self.context.ref(), self.ast)

    def __del__(self) -> None:
        # At the interpreter's end z3's functions may be gone already.
        if z3core.Z3_dec_ref is not None and self.context.ref() is not None:
            z3core.Z3_dec_ref(self.context.ref(), self.ast)


class Session:
    """A context with the sorts, declarations and parser that belong to it; shared by sibling engines.

    ``config`` are the parameters of the context (``proof``...), which must be known when it is made: it is
    made when it is first used.
    """

    def __init__(self, owner: Engine, config: dict[str, str]) -> None:
        self._owner = owner
        self._config = config
        self._context: Any = None
        self.sorts: dict[Sort, Any] = {}
        """Every sort made, by what it is: for ``as`` qualifiers and members of datatypes."""
        self.declared: dict[str, Any] = {}
        """Constants and functions by name, for z3's parser to read terms back."""
        self.named_sorts: dict[str, Any] = {}
        """Uninterpreted sorts and datatypes by name, for the parser too."""
        self.templates: dict[tuple[object, ...], tuple[Any, tuple[Any, ...]]] = {}
        self._fresh = 0

    @property
    def random(self) -> Chance:
        """The engine's source of randomness, seeded for the action that is under way."""
        return self._owner.random

    @property
    def plain(self) -> bool:
        """Whether calls are made for a program."""
        return self._owner.plain

    @property
    def context(self) -> Any:
        """The z3.Context; in a program that of the process."""
        if self._context is None:
            set_up_process()
            # The spare one once, in a fork: in the process itself calls are recorded.
            has_spare = not self._config and _spares and _spares[0][0] != os.getpid()
            if self.plain:
                z3.set_param(rlimit=RESOURCE_LIMIT, **self._config)
                self._context = z3.main_ctx()
            elif has_spare:
                self._context = _spares.pop()[1]
            else:
                self._context = z3.Context(rlimit=RESOURCE_LIMIT, **self._config)
        return self._context

    @property
    def ref(self) -> Any:
        """The Z3_context, for calls of z3core."""
        return self.context.ref()

    @property
    def is_made(self) -> bool:
        """Whether the context exists yet."""
        return self._context is not None

    def fresh_name(self, prefix: str) -> str:
        """A name that no trace uses: a quoted symbol would be needed to write it."""
        self._fresh += 1
        return f"{prefix}!{self._fresh}"

    # Terms

    def term(self, handle: Any) -> Any:
        """The ExprRef of a handle."""
        return z3.z3._to_expr_ref(handle.ast, self.context) if isinstance(handle, HeldTerm) else handle

    def wrap(self, ast: Any) -> Any:
        """The ExprRef of what a call of z3core returned; takes a reference at once."""
        return z3.z3._to_expr_ref(ast, self.context)

    def hold(self, term: Any) -> Any:
        """The handle to keep for a term: z3's object, or now and then the bare ast."""
        is_bare = self.random.happens(0.2) and not self.plain
        return HeldTerm(term) if is_bare else term

    def array_of(self, terms: Sequence[Any]) -> Any:
        """A C array of asts."""
        return (z3.Ast * len(terms))(*[t.as_ast() for t in terms])

    def differ(self, left: Any, right: Any) -> bool:
        """Whether two terms of one sort are seen to differ in meaning: a model says so, within bounds."""
        if left.eq(right) or z3.simplify(left, max_steps=STEPS).eq(z3.simplify(right, max_steps=STEPS)):
            return False
        solver, equation = z3.SimpleSolver(self.context), left == right
        solver.add(z3.Not(equation))
        if solver.check().r != z3.Z3_L_TRUE:
            return False
        return bool(z3.is_false(model_of(solver).eval(equation, True)))


# What z3 prints and does not read


UNKNOWN_SORT = re.compile(r"unknown sort '(.*?)'")
_UNREADABLE = (
    *("root-obj", "as-array", "!val!"),
    *("(declare-rec", "(define-funs-rec", "(declare-sort (", "(update-field "),
)
"""What z3 prints of values of models, of recursive functions, which the context has already, of sorts made by
a declared constructor, and of updates in the form for benchmarks, which leaves the field out.
"""


def require_readable(session: Session, text: str) -> None:
    """Unsupported for what z3 prints and its parser does not take."""
    for mark in _UNREADABLE:
        if mark in text:
            raise Unsupported(f"z3 prints what it does not read: {mark}")
    if any(sort.name == "List" or (sort.args and sort.name in session.named_sorts) for sort in session.sorts):
        raise Unsupported("z3 prints constructors without the sort that its parser needs")
