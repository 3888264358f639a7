"""The classes of findings, one file each; every file in this folder is found.

A file holds one ``FindingClass`` as ``CLASS``. Classes of findings that are about something else than a
formula are added with ``add``.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from difftest.triage.classes.base import FindingClass
from difftest.triage.folder import FindingFolder

_ADDED: dict[tuple[str, str], FindingClass] = {}


def add(*classes: FindingClass) -> None:
    """Make further classes known."""
    _ADDED.update({(found.kind, found.name): found for found in classes})


def class_of(name: str, kind: str = "formula") -> FindingClass:
    """The class of this name; one that has no behaviour of its own for a name that is not known."""
    found = _ADDED.get((kind, name)) or _listed().get((kind, name))
    if found is None:
        found = FindingClass()
        found.name, found.kind = name, kind
    return found


def class_of_finding(found: FindingFolder) -> FindingClass:
    """The class of a finding."""
    return class_of(str(found.data["class"]), found.kind)


def every_class() -> list[FindingClass]:
    """All classes, the gravest first."""
    return sorted([*_listed().values(), *_ADDED.values()], key=lambda found: (found.rank, found.name))


@functools.cache
def _listed() -> dict[tuple[str, str], FindingClass]:
    names = (module.name for module in pkgutil.iter_modules(__path__) if module.name != "base")
    found = [importlib.import_module(f"{__name__}.{name}").CLASS for name in names]
    return {(entry.kind, entry.name): entry for entry in found}
