"""The corpus: a DuckDB file of issues, formulas and what was learned from them.

Imports ``base``, ``smtlib``, ``solvers`` and ``rules``.
"""
