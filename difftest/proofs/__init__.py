"""Proofs: every step of a solver's proof of ``unsat`` is a formula that other solvers are asked about."""
