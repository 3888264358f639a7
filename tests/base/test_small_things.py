from __future__ import annotations

from importlib import metadata

import pytest

from base.errors import ExhumeError, Exit
from base.nearest import did_you_mean, nearest
from base.version import VERSION


def test_the_version_is_that_of_the_installed_package() -> None:
    assert metadata.version("exhume") == VERSION


@pytest.mark.parametrize(
    ("name", "hint"),
    [("skeleton", "; did you mean skeletons?"), ("wekaen", "; did you mean weaken?"), ("xyz", "")],
)
def test_a_misspelt_name_gets_a_hint(name: str, hint: str) -> None:
    assert did_you_mean(nearest(name, ["skeletons", "weaken"])) == hint


def test_several_names_may_be_meant() -> None:
    assert (
        did_you_mean(nearest("storn", ["storm", "store", "weaken"], most=2))
        == "; did you mean storm or store?"
    )


def test_an_error_ends_the_command_line_with_its_exit_code() -> None:
    assert ExhumeError("x").exit_code == Exit.USAGE == 2
