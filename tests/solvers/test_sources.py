"""Where the sources of a solver are: a folder, or the source package of a release, fetched once."""

from __future__ import annotations

from pathlib import Path

import pytest

from solvers.errors import EnvironmentProblem, SolverMissing
from solvers.sources import sources_of
from tests.solvers.packages import make_source_package


def test_a_source_package_is_fetched_once(tmp_path: Path, index: Path) -> None:
    package = make_source_package(index, {"core/src/main.cpp": "int main() {}\n"})
    found = sources_of("z3==0.9.0")
    assert found == tmp_path / "cache" / "sources" / "z3-0.9.0" / "z3-solver-0.9.0" / "core" / "src"
    assert [path.name for path in found.iterdir()] == ["main.cpp"]
    package.unlink()
    # A build has the sources of its release, and options change nothing.
    assert sources_of("z3==0.9.0+debug") == sources_of("z3==0.9.0[smt.arith.solver=2]") == found
    with pytest.raises(EnvironmentProblem):
        sources_of("z3==0.8.0")
    kept = {path.name for path in (tmp_path / "cache" / "sources").iterdir() if not path.name.startswith(".")}
    assert kept == {"z3-0.9.0"}


def test_a_folder_is_a_checkout_or_the_sources_themselves(tmp_path: Path) -> None:
    (tmp_path / "checkout" / "src").mkdir(parents=True)
    assert sources_of("z3-new=z3", tmp_path / "checkout") == tmp_path / "checkout" / "src"
    assert sources_of("z3-new=z3", tmp_path / "checkout" / "src") == tmp_path / "checkout" / "src"
    assert sources_of("mine=solve", tmp_path / "checkout") == tmp_path / "checkout"
    for spec in ("mine=solve", "z3-new=z3"):
        with pytest.raises(SolverMissing, match="nothing says where the sources of"):
            sources_of(spec)
