"""What actions share that only one solver has: they are declared, and reach below the engine's calls."""

from __future__ import annotations

from typing import Any, ClassVar

from apifuzz.actions import Action, Made
from apifuzz.interface import Unsupported
from apifuzz.run import Run


class Own(Action[None]):
    """An action of one solver, named with the solver's name and a colon in front."""

    places: ClassVar[tuple[tuple[str, float], ...]] = (("terms", 1.0),)
    """The states of the model where it comes, with weights."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Options that must be set: ``name=value``."""

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return super().is_possible(run) and all(run.is_set(setting) for setting in cls.needs)

    def require(self, run: Run) -> None:
        super().require(run)
        for setting in self.needs:
            if not run.is_set(setting):
                raise Unsupported(f"without {setting}")

    def make(self, run: Run) -> Made:
        self.require(run)
        core = run.engine.core
        try:
            return self.act(run, core) or ()
        except core.exceptions as error:
            raise core.translate(error, self) from error

    def act(self, run: Run, core: Any) -> Made | None:
        """Make the solver's calls on its engine ``core``, and look at what comes of them. The solver's
        exceptions are translated around it.
        """
        raise NotImplementedError
