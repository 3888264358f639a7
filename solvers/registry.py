"""The solvers that are known by name: every package in this folder that has a ``PROFILE``."""

from __future__ import annotations

import importlib
import pkgutil

import solvers
from solvers.profile import Profile
from solvers.report_form import PLAIN, Form


def _found() -> dict[str, Profile]:
    """The profiles by name; a folder's ``rank`` says where it stands in lists."""
    folders = sorted(module.name for module in pkgutil.iter_modules(solvers.__path__) if module.ispkg)
    modules = [importlib.import_module(f"solvers.{name}") for name in folders]
    profiles = [module.PROFILE for module in modules if hasattr(module, "PROFILE")]
    return {profile.family: profile for profile in sorted(profiles, key=lambda profile: profile.rank)}


PROFILES: dict[str, Profile] = _found()


def form_of(family: str | None) -> Form:
    """The report form of a solver's tracker; the plain one for other programs and where nobody is accused."""
    profile = PROFILES.get(family or "")
    return profile.form if profile is not None else PLAIN
