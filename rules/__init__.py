"""Decomposes formulas into skeletons and atoms, and mines association rules between atoms' signatures."""

from rules.apriori import MIN_CONFIDENCE, MIN_SUPPORT, Rule, RuleSet, mine
from rules.atoms import OWN_NAME, Atom, Slot
from rules.compare import Comparison, compare
from rules.decompose import Decomposer, Decomposition, Hole, decompose, decompose_script
from rules.signature import operator_of
from rules.skeletons import Binder, Skeleton, SkeletonError

__all__ = [
    "MIN_CONFIDENCE",
    "MIN_SUPPORT",
    "OWN_NAME",
    "Atom",
    "Binder",
    "Comparison",
    "Decomposer",
    "Decomposition",
    "Hole",
    "Rule",
    "RuleSet",
    "Skeleton",
    "SkeletonError",
    "Slot",
    "compare",
    "decompose",
    "decompose_script",
    "mine",
    "operator_of",
]
