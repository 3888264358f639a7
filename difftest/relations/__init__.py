"""Relations: what the answers of one solver to a test and to scripts made from it have to do with each other.

One file each, which holds it as ``RELATION``.
"""

from __future__ import annotations

from base.modules import declared_in
from difftest.relations.base import Relation


def find_relations() -> list[Relation]:
    """Every module of this folder that has a ``RELATION``."""
    return declared_in(__name__, "RELATION")
