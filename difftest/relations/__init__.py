"""Relations: what the answers of one solver to a test and to scripts made from it have to do with each other.

One file each, which holds it as ``RELATION``.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from difftest.relations.base import Relation


def find_relations() -> list[Relation]:
    """Every module of this folder that has a ``RELATION``."""
    modules = [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    return [module.RELATION for module in modules if hasattr(module, "RELATION")]
