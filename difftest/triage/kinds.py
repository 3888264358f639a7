"""What findings are about, a formula or calls to a solver's interface: one object each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from base.files import put_text
from difftest.errors import DifftestError
from difftest.triage.folder import REPORT, FindingFolder
from difftest.triage.report import Writer


class State(StrEnum):
    """What a release does with what shows a finding."""

    AFFECTED = "affected"
    FREE = "free"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is searched: the ``release`` of a solver that shows the finding, of which ``family``, by the
    ``text`` of ``file``; ``look`` says what another release does with that.
    """

    name: str
    family: str
    release: str
    file: str
    text: str
    look: Callable[[str], State]


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person types to see a finding: ``words`` with the input ``file`` among them (after ``<`` if it
    is read from standard input). ``spec`` is the solver, without options, whose program the first word is;
    empty for any other program, which is then the first word, or ``program`` if its path is known.
    """

    spec: str
    words: tuple[str, ...]
    file: str
    program: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """What differs between findings about formulas and findings about calls: what writes their reports, what
    releases are given (``subject`` raises DifftestError where there is nothing to try), and what is typed.
    """

    writer: type[Writer]
    subject: Callable[[FindingFolder], Subject]
    typed: Callable[[FindingFolder], Typed | None]


KINDS: dict[str, Kind] = {}
"""By the name that stands in ``finding.json``; filled by the modules that define them."""


def kind_of(found: FindingFolder) -> Kind:
    """What a finding is about."""
    if found.kind not in KINDS:
        raise DifftestError(f"{found.path}: findings about {found.kind} are not known here")
    return KINDS[found.kind]


def title_of(found: FindingFolder) -> str:
    """The title of a finding's report."""
    return kind_of(found).writer(found).title()


def rewrite_report(folder: Path) -> str:
    """Rewrite ``report.md`` from what the finding's folder holds; its text.

    The file is there whole or not at all. DifftestError where the folder holds no finding.
    """
    found = FindingFolder.read(folder)
    text = kind_of(found).writer(found).text()
    put_text(folder / REPORT, text)
    return text
