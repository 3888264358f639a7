"""Checks the rewrite rules that a solver's proofs rely on."""

from __future__ import annotations

from difftest.audit.audit import RuleAudit, Settings, audit
from generator.rewriting.rules import read_rules, select_rules

__all__ = ["RuleAudit", "Settings", "audit", "read_rules", "select_rules"]
