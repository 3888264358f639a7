"""Finds what the modules of a package declare, so that a new one needs no list to be added to."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any


def declared_in(package: str, name: str) -> list[Any]:
    """What the modules of a package call ``name``, in the order of the modules; imports all of them."""
    modules = [
        import_module(f"{package}.{found.name}")
        for found in pkgutil.iter_modules(import_module(package).__path__)
    ]
    return [getattr(module, name) for module in modules if hasattr(module, name)]
