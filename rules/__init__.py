"""What past formulas are made of: skeletons, atoms, signatures, rules. Imports only ``smtlib``."""

from rules.atoms import OWN_NAME, Atom, Slot
from rules.decompose import Decomposer, Decomposition, Hole, decompose, decompose_script
from rules.signature import operator_of
from rules.skeletons import Binder, Skeleton, SkeletonError

__all__ = [
    "OWN_NAME",
    "Atom",
    "Binder",
    "Decomposer",
    "Decomposition",
    "Hole",
    "Skeleton",
    "SkeletonError",
    "Slot",
    "decompose",
    "decompose_script",
    "operator_of",
]
