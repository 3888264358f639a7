"""Findings whose test is a formula that solvers are given: the kind ``formula``."""

from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import KINDS, Kind
from difftest.triage.release_search import subject_of_formula
from difftest.triage.report import FormulaWriter

KINDS[FindingFolder.kind] = Kind(FormulaWriter, subject_of_formula)
