"""Formulas of findings, made small."""
