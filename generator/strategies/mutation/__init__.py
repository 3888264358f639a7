"""Changing terms: where in a formula a term stands, what operators and literals can stand there."""
