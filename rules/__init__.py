"""Decomposes formulas into skeletons and atoms, and mines association rules between atoms' signatures."""

from rules.apriori import MAX_RULES, MIN_CONFIDENCE, MIN_SUPPORT, Rule, RuleSet, mine
from rules.atoms import Atom, Slot
from rules.decompose import Decomposer, Decomposition, decompose_script
from rules.signature import operator_of
from rules.skeletons import Skeleton, SkeletonError

__all__ = [
    "MAX_RULES",
    "MIN_CONFIDENCE",
    "MIN_SUPPORT",
    "Atom",
    "Decomposer",
    "Decomposition",
    "Rule",
    "RuleSet",
    "Skeleton",
    "SkeletonError",
    "Slot",
    "decompose_script",
    "mine",
    "operator_of",
]
