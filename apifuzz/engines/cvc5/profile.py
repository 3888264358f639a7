"""What is known of cvc5 beyond what it tells itself: the file ``profile.toml``, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two settings that cvc5 does not take together. A value ``*`` means any that is not the default, ``!x``
    any but ``x``; others are patterns. The name ``logic`` is the logic's.
    """

    option: str
    value: str
    other: str
    other_value: str
    why: str


@dataclass(frozen=True, slots=True)
class Limit:
    """A part of the messages that are no fault of a call. ``goes_on``: cvc5 said so before it began, so that
    the run can go on.
    """

    message: str
    why: str
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """``limits``: messages that are no fault of a call. ``dangerous``: options never
    to be drawn, ``dangerous_values`` values of others. ``ranges``: lowest and highest value to draw where
    cvc5 gives none, or too wide ones. ``conflicts``: what does not go together.
    """

    limits: tuple[Limit, ...]
    dangerous: frozenset[str]
    dangerous_values: Mapping[str, frozenset[str]]
    ranges: Mapping[str, tuple[float, float]]
    conflicts: tuple[Conflict, ...]

    def known_limit(self, message: str) -> Limit | None:
        """The limit that a message tells of; None: it may be the fault of the call."""
        return next((limit for limit in self.limits if limit.message in message), None)


@lru_cache(maxsize=1)
def profile() -> Profile:
    """The profile that is shipped."""
    data = tomllib.loads(Path(__file__).with_name("profile.toml").read_text("utf-8"))
    return Profile(
        limits=tuple(
            Limit(entry["message"], entry["why"], entry.get("goes-on", False)) for entry in data["limits"]
        ),
        dangerous=frozenset(name for group in data["dangerous"] for name in group["options"]),
        dangerous_values={name: frozenset(values) for name, values in data["dangerous-values"].items()},
        ranges={name: (low, high) for name, (low, high) in data["ranges"].items()},
        conflicts=tuple(
            Conflict(*_setting(entry["setting"]), *_setting(entry["with"]), entry["why"])
            for entry in data["conflicts"]
        ),
    )


def _setting(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value
