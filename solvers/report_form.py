"""Report forms of trackers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Piece(StrEnum):
    """The parts of a report; a form defines their order. An empty part is left out with its heading."""

    CATEGORY = "category"
    """One of the form's own words for the kind of fault."""
    DESCRIPTION = "description"
    """What goes wrong, in a sentence or two."""
    FORMULA = "formula"
    PRINTED = "printed"
    """The command lines and their output."""
    EXPECTED = "expected"
    """The right answer, and why."""
    COMMAND = "command"
    VERSION = "version"
    PLATFORM = "platform"
    """Operating system and processor."""
    INSTALLATION = "installation"
    BESIDE = "beside"
    """Other formulas that the evidence refers to."""
    SAFE_MODE = "safe_mode"
    """Whether the bug also shows in the solver's safe mode."""
    OPTIONS = "options"
    """The options that the bug needs."""
    RELEASES = "releases"
    """The first affected release, and the first without the bug."""
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
"""For trackers without a template: the order used by reports that maintainers answered."""


class Titles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Titles by kind of fault; ``{logic}``, ``{place}`` and ``{signal}`` are filled in.

    ``wrong_sat`` and ``wrong_unsat`` are for wrong answers if the right one is known, ``crash`` for crashes
    that name a place, ``death`` for those that do not. ``options`` is added if the fault needs options.
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

    ``sections`` maps headings (empty: none) to the pieces below them. ``heading`` is the format of a heading,
    ``{}`` for its text. ``categories`` maps classes of findings to the form's terms. ``reminder`` is for the
    person who reports; it comes first, as a comment that the tracker does not show. ``most_a_week``: how many
    reports its maintainers take from one who fuzzes (0: they do not say).
    """

    family: str
    repository: str
    titles: Titles = Titles()
    sections: Mapping[str, tuple[Piece, ...]] = msgspec.field(default_factory=lambda: PLAIN_SECTIONS)
    heading: str = "## {}"
    categories: Mapping[str, str] = {}
    reminder: str = ""
    most_a_week: int = 0


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
"""For solvers given by a command line, and for disagreements where the faulty solver is unknown."""
