"""Rewrite rules that solvers print: read, drawn as instances, written as SMT-LIB."""
