"""An engine around another one: calls go through, but those that it has methods for."""

from __future__ import annotations

from apifuzz.call import Call
from apifuzz.engine import Engine, R
from apifuzz.interface import Capabilities, Option
from smtlib import Signature, Sort


class Around(Engine):
    """Passes calls on to ``inner``, whose name, random source and stack of assertions it has. A subclass
    looks at a call by a method for it, which hands it on by ``inner.perform``.
    """

    def __init__(self, inner: Engine) -> None:
        self.inner = inner
        self.name, self.answers, self.plan = inner.name, inner.answers, inner.plan
        # One source for both: what is seeded here is what the inner engine draws from.
        self.random, self.stack = inner.random, inner.stack

    def perform(self, call: Call[R]) -> R:
        """Make the call by a method of this engine's own, or hand it on."""
        own = getattr(self, call.method, None)
        made: R = self.inner.perform(call) if own is None else own(*call)
        return made

    @property
    def version(self) -> str:
        return self.inner.version

    @property
    def families(self) -> tuple[str, ...]:
        return self.inner.families

    @property
    def core(self) -> Engine:
        return self.inner.core

    def capabilities(self) -> Capabilities:
        return self.inner.capabilities()

    def options(self) -> tuple[Option, ...]:
        return self.inner.options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        return self.inner.takes(signature, sorts, result)

    def sibling(self) -> Engine:
        return self.inner.sibling()
