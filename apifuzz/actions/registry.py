"""All actions that every solver may have."""

from __future__ import annotations

from apifuzz.actions import (
    Action,
    feeding,
    functions,
    inspection,
    levels,
    life,
    options,
    solving,
    sorts,
    terms,
)

ACTIONS: dict[str, Action] = {
    action.name: action
    for module in (life, options, sorts, terms, functions, inspection, solving, levels, feeding)
    for action in module.ACTIONS
}
"""By name."""
