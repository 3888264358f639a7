"""The classes of findings, one file each; every file in this folder is found.

A file holds one ``FindingClass`` as ``CLASS``. Classes of findings that are about something else than a
formula are added with ``add``.
"""

from __future__ import annotations

from collections.abc import Sequence

from base.modules import declared_in
from difftest.triage.classes.base import FindingClass
from difftest.triage.folder import FindingFolder


def find_classes() -> dict[tuple[str, str], FindingClass]:
    """Every module of this folder that has a ``CLASS``, by what its findings are about, and by name."""
    return {(found.kind, found.name): found for found in declared_in(__name__, "CLASS")}


CLASSES = find_classes()
"""All classes."""


def add(*classes: FindingClass) -> None:
    """Make further classes known."""
    CLASSES.update({(found.kind, found.name): found for found in classes})


def class_of(name: str, kind: str = "formula") -> FindingClass:
    """The class of this name; one that has no behaviour of its own for a name that is not known."""
    found = CLASSES.get((kind, name))
    if found is None:
        found = FindingClass()
        found.name, found.kind = name, kind
    return found


def class_of_finding(found: FindingFolder) -> FindingClass:
    """The class of a finding."""
    return class_of(str(found.data["class"]), found.kind)


def every_class() -> list[FindingClass]:
    """All classes, the gravest first."""
    return sorted(CLASSES.values(), key=lambda found: (found.rank, found.name))


def worst_first(found: Sequence[FindingFolder]) -> list[FindingFolder]:
    """The gravest class first; of one class first those without options, and those seen most often."""

    def order(folder: FindingFolder) -> tuple[int, bool, int, str]:
        rank = class_of_finding(folder).rank
        return rank, bool(folder.accused.get("options")), -folder.duplicates, str(folder.data["id"])

    return sorted(found, key=order)
