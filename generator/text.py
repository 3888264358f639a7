"""The header comment of a generated test: what made it, and what its bones came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import metadata

VERSION = metadata.version("exhume")

_ISSUES_SHOWN = 8
_NOTE_LENGTH = 200


def header(
    fingerprint: str,
    seed: int,
    index: int,
    strategy: str,
    skeletons: Iterable[int],
    atoms: Iterable[int],
    rules: Iterable[int],
    issues: Iterable[str],
) -> str:
    """Comment lines that let the test be made again and traced back to its issues."""
    return (
        f"; exhume {VERSION} corpus {fingerprint[:16]} seed {seed} index {index} strategy {strategy}\n"
        f"; skeletons {_numbers(skeletons)}; atoms {_numbers(atoms)}; rules {_numbers(rules)}\n"
        f"; issues {_issues(issues)}\n"
    )


def seed_header(
    fingerprint: str,
    seed: int,
    index: int,
    strategy: str,
    origins: Iterable[str],
    issues: Iterable[str],
    settings: Mapping[str, object],
    notes: Iterable[str] = (),
) -> str:
    """Comment lines of a test made from seed formulas: how to make it again, and what was done to them."""
    set_to = " ".join(f"{name}={value}" for name, value in settings.items())
    lines = [
        f"exhume {VERSION} seeds {fingerprint[:16]} seed {seed} index {index} strategy {strategy}",
        f"settings {set_to or 'none'}",
        f"from {' and '.join(origins)}",
        f"issues {_issues(issues)}",
        *notes,
    ]
    return "".join([f"; {_one_line(line)}\n" for line in lines])


def _one_line(text: str) -> str:
    """``text`` as it can stand in a comment: names of files and symbols may hold anything."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)
    return shown if len(shown) <= _NOTE_LENGTH else shown[: _NOTE_LENGTH - 3] + "..."


def _issues(issues: Iterable[str]) -> str:
    shown = list(issues)
    more = f" and {len(shown) - _ISSUES_SHOWN} more" if len(shown) > _ISSUES_SHOWN else ""
    return " ".join(shown[:_ISSUES_SHOWN]) + more or "none"


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers)) or "none"
