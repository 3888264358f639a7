"""The header comment of a generated test: what made it, and what its parts came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from base.text import first_of
from base.version import VERSION

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
    settings: Mapping[str, object] | None = None,
) -> str:
    """Comment lines that say what made the test and trace it back to its issues. ``settings`` are those
    that are not the defaults."""
    set_to = [f"settings {_set_to(settings)}"] if settings else []
    return (
        f"; exhume {VERSION} corpus {fingerprint[:16]} seed {seed} index {index} strategy {strategy}\n"
        f"; skeletons {_numbers(skeletons)}; atoms {_numbers(atoms)}; rules {_numbers(rules)}\n"
        f"{comment((f'issues {_issues(issues)}', *set_to))}"
    )


def seed_header(
    fingerprint: str,
    seed: int,
    strategy: str,
    origins: Iterable[str],
    issues: Iterable[str],
    settings: Mapping[str, object],
) -> tuple[str, str]:
    """What stands before and behind the test's number in the header of tests from the same seed formulas."""
    said = (
        f"settings {_set_to(settings) or 'none'}",
        f"from {' and '.join(origins)}",
        f"issues {_issues(issues)}",
    )
    before = f"; exhume {VERSION} seeds {fingerprint[:16]} seed {seed} index "
    return before, f" strategy {strategy}\n{comment(said)}"


def comment(lines: Iterable[str]) -> str:
    """``lines`` as comment lines of a header."""
    return "".join(map(comment_line, lines))


def comment_line(text: str) -> str:
    """``text`` as one line of a comment: names of files and symbols may hold anything."""
    shown = text if text.isprintable() else "".join([c if c.isprintable() else "?" for c in text])
    return f"; {shown}\n" if len(shown) <= _NOTE_LENGTH else f"; {shown[: _NOTE_LENGTH - 3]}...\n"


def _issues(issues: Iterable[str]) -> str:
    return first_of(list(issues), _ISSUES_SHOWN, " ") or "none"


def _set_to(settings: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers)) or "none"
