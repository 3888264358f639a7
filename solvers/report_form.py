"""What a tracker's form is made of."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Piece(StrEnum):
    """The parts of a report that a form puts in its own order; one that has nothing to say is left out with
    its heading.
    """

    CATEGORY = "category"
    """One of the form's own words for the kind of fault."""
    DESCRIPTION = "description"
    """What goes wrong, in a sentence or two."""
    FORMULA = "formula"
    PRINTED = "printed"
    """The command lines and what they printed."""
    EXPECTED = "expected"
    """What is right, and why."""
    COMMAND = "command"
    VERSION = "version"
    PLATFORM = "platform"
    """Operating system and processor."""
    INSTALLATION = "installation"
    BESIDE = "beside"
    """Other formulas that the evidence is about."""
    SAFE_MODE = "safe_mode"
    """Whether it shows in the solver's safe mode, too."""
    OPTIONS = "options"
    """The options without which it does not show."""
    RELEASES = "releases"
    """The first release affected, the first one free of it."""
    RESEMBLES = "resembles"
    ORIGIN = "origin"
    """How it was found."""


PLAIN_SECTIONS: Mapping[str, tuple[Piece, ...]] = {
    "": (Piece.DESCRIPTION, Piece.FORMULA, Piece.PRINTED),
    "Expected": (Piece.EXPECTED, Piece.BESIDE),
    "Version": (Piece.VERSION, Piece.INSTALLATION, Piece.PLATFORM),
    "Options that it takes": (Piece.OPTIONS, Piece.SAFE_MODE),
    "Affected releases": (Piece.RELEASES,),
    "Related issues": (Piece.RESEMBLES,),
    "How it was found": (Piece.ORIGIN,),
}
"""For trackers without a template: the order of the reports that their maintainers answered."""


class Titles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Titles by kind of fault, with ``{logic}``, ``{place}`` and ``{signal}`` to be filled in.

    ``wrong_sat`` and ``wrong_unsat`` are for wrong answers of which the right one is known, ``crash`` is for
    crashes that name a place, ``death`` for those that do not. ``options`` is put behind the title where the
    fault takes options, ``{options}`` filled in.
    """

    soundness: str = "Soundness issue on {logic}"
    wrong_sat: str = "Soundness issue (wrong sat) on {logic}"
    wrong_unsat: str = "Soundness issue (wrong unsat) on {logic}"
    invalid_model: str = "Invalid model issue on {logic}"
    crash: str = "Assertion violation at {place}"
    death: str = "{signal} on {logic}"
    incompleteness: str = "Regression: unknown on {logic}"
    slowdown: str = "Performance regression on {logic}"
    options: str = " with {options}"
    options_first: bool = False


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tracker's form.

    ``sections`` are headings (empty: none) and what stands below them. ``heading`` is how a heading is
    written, ``{}`` for its words. ``categories`` are the form's words by class of finding. ``reminder`` is
    for the person who reports; it comes first, as a comment that the tracker does not show.
    """

    family: str
    repository: str
    titles: Titles = Titles()
    sections: Mapping[str, tuple[Piece, ...]] = msgspec.field(default_factory=lambda: PLAIN_SECTIONS)
    heading: str = "## {}"
    categories: Mapping[str, str] = {}
    reminder: str = ""


PLAIN = Form(
    family="other",
    repository="",
    titles=Titles(
        soundness="{solver}: soundness issue on {logic}",
        wrong_sat="{solver}: wrong sat on {logic}",
        wrong_unsat="{solver}: wrong unsat on {logic}",
        invalid_model="{solver}: invalid model on {logic}",
        crash="{solver}: crash at {place}",
        death="{solver}: {signal} on {logic}",
        incompleteness="{solver}: unknown on {logic}",
        slowdown="{solver}: slow on {logic}",
    ),
)
"""For solvers given by a command line, and for disagreements whose guilty side is not known."""
