"""The form of a report, and what each tracker asks of one: fields, policies, regression tests.

All reports have one form (docs/triage.md, "The form of a report"), so that one set of rules checks them. A
solver's folder says, in ``profile.toml`` under ``tracker``, how its tracker's own fields are filled from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

import msgspec


class Kind(StrEnum):
    """What goes wrong, in the fact line of a report."""

    CRASH = "crash"
    ANSWER = "wrong answer"
    MODEL = "invalid model"
    RESULT = "wrong result"
    """A wrong core, optimum, value, interpolant and the like."""
    MEMORY = "memory"
    PRINTING = "printing"
    INTERFACE = "interface"
    PERFORMANCE = "performance"
    INCOMPLETENESS = "incompleteness"


class Section(StrEnum):
    """The sections of a report, in their order."""

    INPUT = "Input"
    COMMAND = "Command"
    EXPECTED = "Expected"
    ACTUAL = "Actual"
    VERSIONS = "Versions"
    STACK = "Stack"
    NOTES = "Notes"


class Fact(StrEnum):
    """The items of the fact line, in their order."""

    KIND = "Kind"
    OPTIONS = "Options"
    THEORIES = "Theories"
    LANGUAGE = "Language"
    SAFE_MODE = "Safe mode"


class Row(StrEnum):
    """The rows of the section about versions, in their order."""

    VERSION = "Version"
    PLATFORM = "Platform"
    INSTALLED = "Installed"
    FIRST_AFFECTED = "First affected"
    LAST_GOOD = "Last good"
    NEWEST = "Newest tried"
    FIXED = "Fixed in"


class Part(StrEnum):
    """What else fills a field: the title, the fact line, the words for the kind and the interface, the boxes
    that ask whether an earlier release worked, the last line (below all fields if none has it).
    """

    TITLE = "Title"
    FACTS = "Facts"
    CATEGORY = "Category"
    INTERFACE = "Interface"
    WORKED = "Worked before"
    FOUND = "Found by"


OPTIONAL = frozenset({Section.STACK, Section.NOTES})
"""The sections that a report may lack; a report of a crash has a stack."""
OptionClass = Literal["regular", "expert", "experimental"]
"""How a solver's authors call an option that is not a default."""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the maintainers of a solver wrote about a sort of report, and where (``source``).

    It applies where all that it names is there: ``pattern`` is searched for in the input and the options,
    ``classes`` are of options, ``kinds`` what goes wrong. ``unfinished``: what the pattern matches is not
    finished, so that an option that it matches is experimental.
    """

    says: str
    source: str
    pattern: re.Pattern[str] | None = None
    classes: tuple[OptionClass, ...] = ()
    kinds: tuple[Kind, ...] = ()
    unfinished: bool = False


class RegressionTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a project keeps its regression tests.

    ``file`` is the path of the formula, ``expected`` that of the output beside it (empty: none), with
    ``{theory}`` and ``{name}``; ``name`` is the name for an issue with a ``{number}`` and what it is about
    (``{words}``). ``comment`` is the head of the file, with ``{options}`` and one line per ``{line}`` of the
    output; ``status``: the answer stands as ``(set-info :status ...)``; ``options_inside``: options are set
    by commands. ``folders`` are the names of theories there. ``then`` says what else it takes.
    """

    file: str
    name: str
    expected: str = ""
    comment: tuple[str, ...] = ()
    status: bool = False
    options_inside: bool = False
    folders: Mapping[str, str] = {}
    other: str = ""
    """The folder for theories that ``folders`` does not name, and for several."""
    then: str = ""


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tracker's form.

    ``fields`` maps its fields to the parts of a report that fill them: a ``Part``, a section, or a row of
    Versions. ``heading`` is the format of a field's heading. ``categories`` are the form's words for kinds,
    ``interfaces`` those for the languages of inputs (``smt2``, ``python``). ``as_code`` are fields that the
    tracker itself shows as code. ``worked`` are the boxes to tick if a release without the fault is known.
    ``unfinished`` is what its authors call options that are not finished. ``most_a_week``: how many reports
    its maintainers take from one who fuzzes (0: they do not say).
    """

    family: str
    repository: str
    fields: Mapping[str, tuple[str, ...]] = {}
    heading: str = "## {}"
    categories: Mapping[Kind, str] = {}
    interfaces: Mapping[str, str] = {}
    as_code: tuple[str, ...] = ()
    worked: tuple[str, ...] = ()
    unfinished: OptionClass = "experimental"
    policies: tuple[Policy, ...] = ()
    regression: RegressionTest | None = None
    most_a_week: int = 0

    def __post_init__(self) -> None:
        known = {*Part, *Section, *Row}
        if unknown := [field for field in self.as_code if field not in self.fields]:
            raise ValueError(f"as_code: the form has no field {unknown[0]!r}")
        for field, parts in self.fields.items():
            if wrong := [part for part in parts if part not in known]:
                raise ValueError(f"field {field!r}: a report has no part {wrong[0]!r}")


PLAIN = Form(family="other", repository="")
"""For solvers given by a command line, and for disagreements where the faulty solver is unknown."""
