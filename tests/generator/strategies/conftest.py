"""The formulas of the small corpus that both solvers have, as seeds."""

from __future__ import annotations

import pytest

from generator import SeedSource
from tests.generator.small import formulas, is_shared, seeds_of


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SeedSource:
    return seeds_of(filter(is_shared, formulas()), tmp_path_factory.mktemp("seeds"))
