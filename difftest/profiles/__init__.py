"""What each solver that is known by name can do: one file per solver, registered here and nowhere else."""

from __future__ import annotations

from difftest.profiles import bitwuzla, cvc5, yices, z3
from difftest.profiles.base import Located, Profile

PROFILES: dict[str, Profile] = {
    module.PROFILE.family: module.PROFILE for module in (z3, cvc5, bitwuzla, yices)
}

__all__ = ["PROFILES", "Located", "Profile"]
