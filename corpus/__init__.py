"""The corpus: a DuckDB file of issues, formulas and what was learned from them.

Imports ``smtlib`` and ``rules``; nothing above them.
"""
