"""What wrappers of solvers with actions of their own share."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apifuzz.actions import Action
    from apifuzz.model import Model


class OwnActions:
    """A wrapper whose solver has a module ``actions`` beside it: with ``ACTIONS``, and with ``adjust``, which
    gives them their places in a model. It is loaded when it is asked for, as it knows the wrapper.
    """

    name: str

    def _module(self) -> Any:
        return importlib.import_module(f"apifuzz.wrappers.{self.name}.actions")

    def extra_actions(self) -> tuple[Action, ...]:
        """The solver's own actions."""
        actions: tuple[Action, ...] = self._module().ACTIONS
        return actions

    def adjust(self, model: Model) -> None:
        """Put them where they make sense."""
        self._module().adjust(model)


def place(model: Model, places: Iterable[tuple[str, str, float]]) -> None:
    """Add actions to states with these weights: (state, action, weight). A model may lack them: of two
    solvers in lockstep, neither has its own.
    """
    for state, action, weight in places:
        if action in model.actions:
            model.add(state, action, weight)
