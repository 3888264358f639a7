"""Control characters of strangers' text do not reach a terminal."""

from __future__ import annotations

from base.text import without_controls


def test_control_characters_are_replaced_and_lines_stay() -> None:
    assert without_controls("a\x1b[31mb\x9b2J\x7f\tc\n") == "a\ufffd[31mb\ufffd2J\ufffd\tc\n"
    assert without_controls("é→😀") == "é→😀"
