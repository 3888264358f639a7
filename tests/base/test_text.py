"""Control characters of strangers' text do not reach a terminal; of many names, the first are shown."""

from __future__ import annotations

from base.text import first_of, without_controls


def test_control_characters_are_replaced_and_lines_stay() -> None:
    assert without_controls("a\x1b[31mb\x9b2J\x7f\tc\n") == "a\ufffd[31mb\ufffd2J\ufffd\tc\n"
    assert without_controls("é→😀") == "é→😀"


def test_the_first_of_many_names_are_shown() -> None:
    assert first_of((), 2) == ""
    assert first_of(["a", "b"], 2) == "a, b"
    assert first_of(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert first_of(["a", "b", "c"], 2, " ") == "a b and 1 more"
