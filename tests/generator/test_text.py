"""Headers of generated tests: each part on a line of its own."""

from __future__ import annotations

from generator.text import header


def test_a_label_with_line_ends_stays_in_its_comment() -> None:
    text = header("feed" * 16, 0, 1, "skeletons", (1,), (2, 3), (), ["z3#1", "a\n(exit)"], {"atoms": 2})
    lines = text.splitlines()
    assert lines[1:] == [
        "; skeletons 1; atoms 2 3; rules none",
        "; issues z3#1 a?(exit)",
        "; settings atoms=2",
    ]
    assert all(line.startswith("; ") for line in lines)
