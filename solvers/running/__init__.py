"""Solver processes: starts them, enforces limits, and interprets their output."""
