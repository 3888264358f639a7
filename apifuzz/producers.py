"""SMT-LIB's options that switch features on."""

from __future__ import annotations

from collections.abc import Sequence

from apifuzz.chance import Chance
from apifuzz.interface import Feature, Option

PRODUCERS = {
    "incremental": Feature.INCREMENTAL,
    "produce-models": Feature.MODELS,
    "produce-unsat-cores": Feature.UNSAT_CORES,
    "produce-unsat-assumptions": Feature.UNSAT_ASSUMPTIONS,
}
"""Where a solver lists one of these options, it has the feature only while the option is true."""

FOR_WITNESSES = ("produce-models", "produce-unsat-cores", "produce-unsat-assumptions")
"""Those without which there is nothing to ask for after a check; solvers that read SMT-LIB know them."""

_SHARES = dict(zip(PRODUCERS, (0.9, 0.8, 0.5, 0.5), strict=True))


def draw_producers(options: Sequence[Option], fuzzed: bool, chance: Chance) -> tuple[tuple[str, str], ...]:
    """Which features a run switches on: all where options are not ``fuzzed``, else most of them."""
    listed = [o.name for o in options if o.name in PRODUCERS]
    return tuple((name, "true") for name in listed if not fuzzed or chance.happens(_SHARES[name]))
