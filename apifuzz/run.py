"""One run: the state that actions work on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from apifuzz.call import Call, HasSort
from apifuzz.chance import Chance
from apifuzz.engine import Engine, Stack
from apifuzz.feeding.terms import Feed
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Feature,
    Head,
    LimitReached,
    Misbehaviour,
    Option,
    TermKind,
    Unsupported,
)
from apifuzz.operators import Operators, known_theories, operators_for
from apifuzz.scope import PRODUCERS, Scope, draw_producers, draw_scope
from apifuzz.store import Store
from apifuzz.trace import Line, TraceError, call_text, print_return
from smtlib import Sort, default_theories
from smtlib.reader import is_simple_symbol


@dataclass(slots=True)
class Statistics:
    """Counts of one run, or of several added up."""

    states: Counter[str] = field(default_factory=Counter)
    """Steps taken in each state."""
    tried: Counter[str] = field(default_factory=Counter)
    """Calls per action, refused ones too."""
    refused: Counter[str] = field(default_factory=Counter)
    """Calls per action that the engine refused because the solver cannot do it."""
    idle: Counter[str] = field(default_factory=Counter)
    """How often each action found nothing to draw."""
    operators: Counter[str] = field(default_factory=Counter)
    """Terms made per operator, as ``theory name``."""
    sorts: Counter[str] = field(default_factory=Counter)
    """Sorts made, by the name of their head."""
    options: Counter[str] = field(default_factory=Counter)
    """Options set, by name."""
    fed: Counter[str] = field(default_factory=Counter)
    """Terms of a corpus that were made, and why others were not."""
    answers: Counter[str] = field(default_factory=Counter)
    """Answers of checks."""

    def add(self, other: Statistics) -> None:
        """Count what ``other`` counted, too."""
        for part in fields(self):
            getattr(self, part.name).update(getattr(other, part.name))


_FED_SHARE = 0.7
"""How often a run with a feed draws on the theories and features of one of the feed's terms."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How runs are drawn, as plain data.

    ``theories``: names of theory files to draw on; empty: a random subset per run. ``quantifiers``: with,
    without, or (None) at random. ``options``: whether options are drawn. ``fixed_options`` are set in every
    run, and never drawn; ``only_options``: draw only options whose name contains one of these words.
    ``calls``: the maximum number of calls; the shortest runs make two fifths of that.
    """

    theories: tuple[str, ...] = ()
    quantifiers: bool | None = None
    options: bool = True
    fixed_options: tuple[tuple[str, str], ...] = ()
    only_options: tuple[str, ...] = ()
    calls: int = 200


@dataclass(frozen=True, slots=True)
class Settings(Drawing):
    """The same with the ``feed``: terms of a corpus to draw on."""

    feed: Feed | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended.

    ``kind`` is ``done``, ``rejected`` (the solver reported that a call was wrong) or ``misbehaviour`` (of the
    kind ``error``). ``detail`` is the message; for ``done`` the limit that ended the run, if any. ``calls``
    counts the calls made, the last one is where the run ended. ``refused`` are the calls that the engine did
    not make: their line in the trace (0: not in it) and why.
    """

    kind: str
    detail: str = ""
    error: str = ""
    answers: tuple[str, ...] = ()
    calls: int = 0
    refused: tuple[tuple[int, str], ...] = ()
    statistics: Statistics = field(default_factory=Statistics)


class Run:
    """The state of one run, which actions read and change.

    ``actions`` are the call classes by name. ``random`` is for drawing only. What is asserted is on the
    engine's stack.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        seed: int,
        write: Callable[[str], None] | None = None,
        actions: Mapping[str, type[Call[Any]]] | None = None,
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.random = Chance(seed)
        self.capabilities = engine.capabilities()
        self.actions = actions or {}
        self.scope = Scope()
        self.store = Store()
        self.statistics = Statistics()
        self.replaying = False
        self.foreign = False
        """Whether what is replayed is a trace of another solver."""
        self.exists = False
        self._lacks_instance = False
        """Whether the engine refused to make an instance."""
        self.logic = ""
        self.options: dict[str, str] = {}
        self.answers: list[str] = []
        self.checks = 0
        self.calls = 0
        self.refused: list[tuple[int, str]] = []
        self.impossible: set[Sort] = set()
        """Sorts that the engine refused to make."""
        self.available_options = engine.options()
        self._features = self._current_features()
        self._operators: Operators | None = None
        self._write = write or (lambda text: None)
        self._names = 0

        self.producers: tuple[tuple[str, str], ...] = ()
        """The options for features that this run switches on."""
        self.drawn_options: tuple[Option, ...] = ()
        """The options that this run may draw."""

    def prepare(self) -> None:
        """Draw what the run draws on."""
        settings = self.settings
        known = known_theories(self.engine.families, self.capabilities)
        features = self.capabilities.features
        theories, needed = settings.theories, frozenset[Feature]()
        if not theories and settings.feed is not None and self.random.happens(_FED_SHARE):
            theories, needed = settings.feed.draw_needs(self.random)
            theories = tuple(name for name in theories if name in known)
        self.scope = draw_scope(known, features, theories, settings.quantifiers, self.random, needed)
        self.producers = draw_producers(self.available_options, settings.options, self.random)
        kept = {name for name, _ in (*self.capabilities.required_options, *settings.fixed_options)}
        words = settings.only_options
        self.drawn_options = tuple(
            o
            for o in self.available_options
            if o.name not in kept
            and o.name not in PRODUCERS
            and (not words or any(word in o.name for word in words))
        )

    @property
    def required_options(self) -> list[tuple[str, str]]:
        """The options that this run still has to set before others."""
        given = (*self.capabilities.required_options, *self.settings.fixed_options, *self.producers)
        return [(name, value) for name, value in given if name not in self.options]

    def forget(self) -> None:
        """Forget the instance, and all that was made with it."""
        self.exists = False
        self.store.clear()
        self.impossible.clear()
        self.options.clear()
        self.logic = ""
        self.checks = 0

    # What there is

    @property
    def is_empty(self) -> bool:
        """Whether nothing was made yet, so that options and logic can be set."""
        return self.store.is_empty and not self.checks

    @property
    def may_change(self) -> bool:
        """Whether assertions can be added and checked: always, for an incremental solver."""
        return not self.checks or Feature.INCREMENTAL in self._features

    @property
    def stack(self) -> Stack:
        """What is asserted, and the last check's answer."""
        return self.engine.stack

    @property
    def operators(self) -> Operators:
        """The operators that the run draws on."""
        if self._operators is None:
            self._operators = operators_for(self.engine.families, self.capabilities, self.scope.theories)
        return self._operators

    def has(self, feature: Feature) -> bool:
        """Whether the solver has the feature now, as its options stand."""
        return feature in self._features

    def is_set(self, setting: str) -> bool:
        """Whether an option is set as ``name=value`` says."""
        name, _, value = setting.partition("=")
        return self.options.get(name) == value

    def draws_on(self, feature: Feature) -> bool:
        """Whether the solver has the feature and this run draws on it."""
        return feature in self.scope.features and feature in self._features

    def options_changed(self) -> None:
        """Ask the solver again what it can do."""
        self.capabilities = self.engine.capabilities()
        self._features = self._current_features()

    def _current_features(self) -> frozenset[Feature]:
        listed = {o.name: o.default for o in self.available_options if o.name in PRODUCERS}
        off = {PRODUCERS[n] for n, default in listed.items() if self.options.get(n, default) != "true"}
        return self.capabilities.features - off

    def require_answer(self, *answers: Answer) -> None:
        """Raise :class:`Unsupported` unless the last answer, still valid, is one of these."""
        if self.engine.answers and self.stack.answer not in answers:
            now = self.stack.answer or "no answer"
            raise Unsupported(f"asked after {' or '.join(answers)} only; there is {now}")

    def require(self, feature: Feature) -> None:
        """Raise :class:`Unsupported` unless the solver has the feature now."""
        if feature not in self._features:
            raise Unsupported(f"without {feature}")

    def fresh_name(self, prefix: str, plain: bool = False) -> str:
        """A new name, unless ``plain`` now and then one that needs bars. Only for drawing."""
        while True:
            self._names += 1
            name = f"{prefix}{self._names}"
            if not plain and self.random.happens(0.02):
                name = f"{prefix} {self._names}"
            if name not in self.store.names:
                return name

    def take_sort_name(self, name: str) -> None:
        """Use ``name`` for a new sort. Raises :class:`TraceError` where it is taken."""
        if not is_simple_symbol(name):
            raise TraceError(f"expected a plain symbol for a sort, found {name[:60]}")
        if name in default_theories().sorts or name == "->":
            raise TraceError(f"{name[:60]} is a sort of a theory")
        self.store.take_name(name)

    # Keeping what was made

    def keep_sort(self, sort: Sort, handle: Any) -> ApiSort:
        """Keep a sort that the solver made."""
        known = sort.name in default_theories().sorts or sort.is_function
        self.statistics.sorts[sort.name if known else "declared"] += 1
        return self.store.add_sort(sort, handle)

    def keep_term(
        self,
        sort: ApiSort,
        handle: Any,
        kind: TermKind,
        head: Head | None = None,
        args: tuple[ApiTerm, ...] = (),
        free: frozenset[ApiTerm] = frozenset(),
    ) -> ApiTerm:
        """Keep a term that the solver made. Raises :class:`Misbehaviour` where it has another sort."""
        term = self.store.add_term(sort, handle, kind, head, args, free)
        if kind is not TermKind.FUNCTION and not self.engine.perform(HasSort(term, sort)):
            raise Misbehaviour("sort", f"{term} has not the sort {sort.sort}")
        return term

    # Calling

    def make(self, call: Call[Any]) -> tuple[ApiSort | ApiTerm, ...]:
        """Make a new call: write its line, make it, write and return what it made.

        Raises what the call raises; after :class:`Unsupported` and :class:`LimitReached` the line is marked
        as refused.
        """
        return self._make(Line(self.random.getrandbits(32), call.name, call.tokens()), lambda: call)

    def make_sort(self, call: Call[Any]) -> ApiSort:
        """Make a new call that makes a sort."""
        (made,) = self.make(call)
        assert isinstance(made, ApiSort)
        return made

    def make_term(self, call: Call[Any]) -> ApiTerm:
        """Make a new call that makes a term."""
        (made,) = self.make(call)
        assert isinstance(made, ApiTerm)
        return made

    def repeat(self, line: Line) -> tuple[ApiSort | ApiTerm, ...]:
        """Make a call of a trace again; what it makes gets the same ids.

        Raises what the call raises, and :class:`TraceError` for an unknown call.
        """
        action = self.actions.get(line.action)
        if action is None:
            if ":" in line.action:
                reason = f"only {line.action.partition(':')[0]} has it"
                self.refused.append((line.number, f"{line.action}: {reason}"))
                raise Unsupported(reason)
            raise TraceError(f"unknown action {line.action}")
        return self._make(line, lambda: action.read(self.store, line.args))

    def _make(self, line: Line, get: Callable[[], Call[Any]]) -> tuple[ApiSort | ApiTerm, ...]:
        is_new = line.action == "new"
        is_lost = self._lacks_instance and not self.exists and not is_new
        if self.exists == is_new and not is_lost:
            raise TraceError(f"there is {'already an' if self.exists else 'no'} instance")
        self._write(call_text(line) + "\n")
        self.calls += 1
        self.statistics.tried[line.action] += 1
        self.engine.random.seed(line.seed)
        self.store.expect(line.returns)
        try:
            if is_lost:
                raise Unsupported("the instance could not be made")
            made = get().make(self)
        except (Unsupported, LimitReached) as reason:
            self._lacks_instance |= is_new
            self.statistics.refused[line.action] += 1
            self.refused.append((line.number, f"{line.action}: {reason}"))
            self._write(f"refused ; {' '.join(str(reason).split())[:200]}\n")
            raise
        self._lacks_instance &= not is_new
        if made:
            self._write(print_return(map(str, made)) + "\n")
        return made

    def ending(self, kind: str, detail: str = "", error: str = "") -> Ending:
        """How the run ended, with what it counted."""
        return Ending(
            kind, detail, error, tuple(self.answers), self.calls, tuple(self.refused), self.statistics
        )
