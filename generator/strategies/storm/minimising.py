"""Making a test that shows a bug smaller without losing that it is satisfiable.

Source: Mansur et al. (ESEC/FSE 2020), Algorithm 2. The test is a seed itself: STORM is run on it with a
smaller bound, and the smallest of the instances that still show the bug takes its place. Binary search first
over the number of assertions, then over their depth. Every instance is satisfiable by construction, so no
second solver needs to be trusted, as delta debugging would have it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from generator.errors import GenerationError
from generator.seeds.script import SeedScript, read_seed
from generator.strategies.storm.pools import Bounds, construct, fragment
from generator.strategies.storm.solving import SolvingProcess
from generator.strategies.storm.valuation import NoValuation, value_terms
from smtlib import ReadError, check_script, print_command, read_script

TRIES = 60
"""Instances tried with one bound. The paper tries NM, 300 to 1000; each check starts solvers."""

_PLAIN_SHARE = 0.5
"""Share of a bound's tries without a construction pool: assertions of the test as they stand."""


@dataclass(frozen=True, slots=True)
class Minimised:
    """What a minimisation came to."""

    text: str
    checks: int
    finished: bool


@dataclass(slots=True)
class _Instance:
    """A text that shows the bug, as a seed; its number of assertions and their greatest depth."""

    text: str
    script: SeedScript
    assertions: int
    depth: int


def minimise(
    text: str,
    shows: Callable[[str], bool],
    is_over: Callable[[], bool] = lambda: False,
    tries: int = TRIES,
) -> Minimised:
    """The smallest satisfiable formula that STORM makes of ``text`` and ``shows`` still says yes to.

    ``is_over`` ends the search early. A text with several ``check-sat`` gives texts with several.
    Raises :class:`GenerationError` where ``text`` cannot be used, or nothing of it has a value.
    """
    search = _Search(text, shows, is_over, tries)
    search.over_assertions()
    search.over_depth()
    return Minimised(search.best.text, search.checks, not is_over())


class _Search:
    def __init__(
        self, text: str, shows: Callable[[str], bool], is_over: Callable[[], bool], tries: int
    ) -> None:
        self.shows = shows
        self.is_over = is_over
        # 1: the seed that it has always had.
        self.chance = random.Random("1/storm minimising")
        self.tries = tries
        self.checks = 0
        self.process = SolvingProcess()
        flat, checks = flattened(text)
        self.incremental = checks > 1
        self.best = self._instance(text, flat)

    def _instance(self, text: str, flat: str) -> _Instance:
        script = read_seed(flat)
        if isinstance(script, str):
            raise GenerationError(f"storm cannot minimise this formula: {script}")
        return _Instance(text, script, len(script.assertions), self._depth(script))

    def _depth(self, script: SeedScript) -> int:
        try:
            valuation = value_terms(script, self.process, cross_check=False)
        except NoValuation as problem:
            raise GenerationError(f"storm cannot minimise this formula: {problem}") from problem
        initial = fragment(script, valuation, 1 << 30, self.chance).initial
        if not initial:
            raise GenerationError("storm cannot minimise this formula: nothing of it has a value")
        return max(formula.depth for formula in initial)

    def over_assertions(self) -> None:
        """Alg. 2 for Amax."""
        low = 1
        while low < self.best.assertions and not self.is_over():
            middle = (low + self.best.assertions) // 2
            found = self._fuzz(Bounds(middle, max(2, self.best.depth)), lambda i: (i.assertions, len(i.text)))
            if found is None:
                low = middle + 1
            else:
                self.best = found

    def over_depth(self) -> None:
        """Alg. 2 for Dmax; the number of assertions found before is kept to."""
        low, high = 1, self.best.depth
        while low < high and not self.is_over():
            middle = (low + high) // 2
            found = self._fuzz(Bounds(self.best.assertions, middle), lambda i: (i.depth, len(i.text)))
            if found is None:
                low = middle + 1
            else:
                # Negating what is false makes an assertion deeper than the bound.
                self.best, high = found, middle

    def _fuzz(self, bounds: Bounds, size: Callable[[_Instance], tuple[int, int]]) -> _Instance | None:
        """The smallest instance within ``bounds`` of the best so far that shows the bug."""
        script = self.best.script
        shown: dict[str, None] = {}
        for variant in range(2):
            try:
                valuation = value_terms(script, self.process, variant, cross_check=False)
            except NoValuation:
                continue
            fragments = fragment(script, valuation, bounds.dmax, self.chance)
            if not fragments.initial:
                continue
            chance = self.chance.random
            constructed = construct(fragments.initial, bounds, chance)
            for number in range(self.tries // 2):
                if self.is_over():
                    break
                pool = [] if number < _PLAIN_SHARE * self.tries // 2 else constructed
                made, _ = fragments.instance(pool, bounds.amax, self.incremental, chance)
                if made not in shown:
                    self.checks += 1
                    if self.shows(made):
                        shown[made] = None
        instances = []
        for made in shown:
            with suppress(GenerationError):
                instances.append(self._instance(made, flattened(made)[0]))
        return min(instances, key=size, default=None)


def flattened(text: str) -> tuple[str, int]:
    """``text`` with all its assertions before one ``check-sat``, and how many it had.

    STORM's assertions hold together, whatever levels they stand on. Raises :class:`GenerationError`.
    """
    try:
        checked = check_script(read_script(text))
    except ReadError as error:
        raise GenerationError(f"storm cannot minimise this formula: {error}") from error
    lines = []
    checks = 0
    for command in checked.commands:
        if command.name == "check-sat":
            checks += 1
        elif command.name not in ("push", "pop", "check-sat-assuming", "exit"):
            lines.append(print_command(command) + "\n")
    return f"{''.join(lines)}(check-sat)\n", checks
