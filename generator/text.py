"""The header comment of a generated test: what made it, and what its bones came from."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata

VERSION = metadata.version("exhume")

_ISSUES_SHOWN = 8


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
    shown = list(issues)
    named = " ".join(shown[:_ISSUES_SHOWN]) + (
        f" and {len(shown) - _ISSUES_SHOWN} more" if len(shown) > _ISSUES_SHOWN else ""
    )
    return (
        f"; exhume {VERSION} corpus {fingerprint[:16]} seed {seed} index {index} strategy {strategy}\n"
        f"; skeletons {_numbers(skeletons)}; atoms {_numbers(atoms)}; rules {_numbers(rules)}\n"
        f"; issues {named or 'none'}\n"
    )


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers)) or "none"
