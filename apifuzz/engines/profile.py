"""What is known of a solver beyond what it says itself: the file ``profile.toml`` of its engine."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from apifuzz.interface import Capabilities, LimitReached, Misbehaviour, Rejected, Unsupported
from base.documents import from_document


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two settings that the solver does not take together. A value ``*`` means any that is not the default,
    ``!x`` any but ``x``; others are patterns. The name ``logic`` is the logic's.
    """

    option: str
    value: str
    other: str
    other_value: str
    why: str


@dataclass(frozen=True, slots=True)
class Limit:
    """Part of a message that reports a known limit, not a wrong call. ``recoverable``: the solver noticed
    before it changed anything, so the run can continue. ``internal``: it reports a fault of its own.
    """

    message: str
    why: str
    recoverable: bool = False
    internal: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """``capabilities``: those that no option changes. ``words``: lists of words by name, to draw from.
    ``limits``: messages that are no fault of a call. ``dangerous``: options that are never drawn,
    ``dangerous_values``: values of others. ``ranges``: lowest and highest value to draw if the solver gives
    none or too wide ones. ``conflicts``: settings that do not go together. ``opens_log``: the first lines of
    a program that keeps the solver's own log of its calls in a file, ``{}`` for its name.
    """

    capabilities: Capabilities = field(default_factory=lambda: Capabilities(frozenset()))
    words: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    dangerous: frozenset[str] = frozenset()
    dangerous_values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    opens_log: str = ""

    def list_of(self, name: str) -> tuple[str, ...]:
        """One of the lists of words."""
        return tuple(self.words[name].split())

    def known_limit(self, message: str) -> Limit | None:
        """The limit that a message reports; None: the call itself may be wrong."""
        return next((limit for limit in self.limits if limit.message in message), None)

    def translate(self, message: str, changing: bool = False) -> BaseException:
        """What an exception with this message is to the fuzzer; ``changing``: of a call that changes the
        solver, which it may have done by half.
        """
        message = " ".join(message.split())
        limit = self.known_limit(message)
        if limit is None:
            return Rejected(message[:2000])
        if limit.internal:
            return Misbehaviour("crash", message)
        kind = Unsupported if limit.recoverable and not changing else LimitReached
        return kind(f"{limit.why}: {message[:300]}")


@lru_cache(maxsize=8)
def profile(solver: str) -> Profile:
    """The profile that is shipped with a solver's engine."""
    file = Path(__file__).parent / solver / "profile.toml"
    data = tomllib.loads(file.read_text("utf-8"))
    data["dangerous"] = [name for group in data.get("dangerous", ()) for name in group["options"]]
    data["conflicts"] = [conflict for row in data.get("conflicts", ()) for conflict in _conflicts(row)]
    return from_document(data, Profile)


def _conflicts(row: Mapping[str, Any]) -> Iterator[Conflict]:
    """The conflicts of a row: of one setting with another, or with each of several."""
    option, _, value = row["setting"].partition("=")
    for setting in row["with"] if isinstance(row["with"], list) else [row["with"]]:
        other, _, other_value = setting.partition("=")
        yield Conflict(option, value, other, other_value, row["why"])
