"""Which solver a spec is about, as far as its language goes; goes with its last importers."""

from __future__ import annotations

from solvers.specs import parse_spec


def family_of(spec: str) -> str:
    """The solver whose language the solver of ``spec`` speaks."""
    return parse_spec(spec).kin
