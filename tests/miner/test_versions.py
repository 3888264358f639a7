"""What sentences say of versions."""

from __future__ import annotations

import pytest

from miner.classify import classify
from miner.extract import extract_issue
from miner.versions import commit_verdicts, mentions, ordered, own_mentions
from tests.miner.mining_help import expected_of, issue_of, only_formula


def test_the_digits_of_a_hash_are_no_part_of_a_version() -> None:
    assert ordered("1.1.0.dev+a9b3") == ordered("1.1.0-dev.19.77ce02b1f") == ordered("1.1.0") == (1, 1, 0)
    assert ordered("2024-03-09") > ordered("4.8.9.20240309") > ordered("4.8.9")


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ("fails in 4.8.12 and 4.8.13 but 4.8.11 is fine", "4.8.12 bad, 4.8.13 bad, 4.8.11 good"),
        ("It works in 4.8.5, broken since 4.8.6.", "4.8.5 good, 4.8.6 bad"),
        ("fails with 1.0.3 on Linux, and 1.0.2 on Linux works", "1.0.3 bad, 1.0.2 good"),
        ("1.0.2 is fine, 1.0.3 crashes", "1.0.2 good, 1.0.3 bad"),
        ("Regression from 4.8.7 to 4.8.8", "4.8.7 former, 4.8.8 bad"),
        ("Slower since 1.7.1 -> 1.8", "1.7.1 former, 1.8 bad"),
        ("This works in 0.6.0 but not in 0.7.0", "0.6.0 good, 0.7.0 bad"),
        ("ten times slower than 4.8.5", "4.8.5 former"),
        ("4.8.8 is much faster than 4.8.10", "4.8.8 good, 4.8.10 bad"),
        ("3 seconds with 4.8.9 and 5 minutes with 4.8.10", "4.8.9 good, 4.8.10 bad"),
        ("I cannot reproduce this with 4.12.1", "4.12.1 fixed"),
        ("It no longer crashes in 4.12.1", "4.12.1 fixed"),
        ("It no longer works in 1.0.3", "1.0.3 bad"),
        ("4.8.13 does it in no time, 4.8.14 does not finish", "4.8.13 good, 4.8.14 bad"),
        ("Much slower on regexes: 4.8.14 against 4.8.13", "4.8.14 bad, 4.8.13 former"),
        ("I use 4.8.7 here", "4.8.7 "),
        # A name may hold the version.
        ("z3_str3_4.8.9 crashes, z3.4.8.8 does not", "4.8.9 bad, 4.8.8 good"),
        ("the package z3-solver@4.8.9 throws", "4.8.9 bad"),
        ("`Z3_open_log` (4.8.9) crashes", "4.8.9 bad"),
        ("`run.smt2` (1.2.0-dev.19.77ce02b1f) crashes", "1.2.0-dev.19.77ce02b1f bad"),
        ("z3-4.8.9.20240309 crashes on 2024-03-09", "4.8.9.20240309 bad"),
        # Any ordinary word may stand before a clear version, but no other program's name.
        ("Building 4.8.9 fails with gcc 12.1.0 and libpoly 0.1.13", "4.8.9 bad"),
        ("I use the Java bindings (4.8.9)", "4.8.9 "),
        ("4.8.6 0.5s 4.8.7 70s", "4.8.6 good, 4.8.7 bad"),
        ("Operating system: Linux box 5.4.0", ""),
        # Ends of lists, and sentences after one another.
        ("The last release that works is 4.8.5, and I use the newest one, 4.8.7", "4.8.5 former, 4.8.7 "),
        ("All versions from 4.8.5 to 4.8.7 have the bug", "4.8.5 bad, 4.8.7 bad"),
        ("4.8.5 stops at once. 4.8.6 does not, it runs for hours", "4.8.5 good, 4.8.6 bad"),
        ("It crashes in 4.8.6. Not with 4.8.5.", "4.8.6 bad, 4.8.5 good"),
        ("Older versions (4.8.5 and 4.8.6) behave the same", "4.8.5 , 4.8.6 "),
        ("It hangs in 4.8.7, whereas it takes 2 seconds with 4.8.6", "4.8.7 bad, 4.8.6 good"),
        ("4.8.5: 0.1s, 4.8.6: >300s (with an option unaffected)", "4.8.5 good, 4.8.6 bad"),
        ("With 4.8.5 the answer is sat, which is what I expect", "4.8.5 good"),
        ("cvc5 1.0.3 behaves like that", "1.0.3 bad"),
        ("I cannot get this with 4.8.7", "4.8.7 fixed"),
        ("The release 4.8.7 has it", "4.8.7 fixed"),
        ("The release 4.8.7 has it, too", "4.8.7 "),
        ("4.8.7 still has it", "4.8.7 bad"),
        ("It is in 4.8.6 and 4.8.7, and not in 4.8.5", "4.8.6 , 4.8.7 , 4.8.5 "),
        ("The bug is in 4.8.6 and 4.8.7, and not in 4.8.5", "4.8.6 bad, 4.8.7 bad, 4.8.5 good"),
        ("Since we use 4.8.7 (before: 4.8.6) it hangs", "4.8.7 bad, 4.8.6 former"),
        ("It dies after the update to the newest release (4.8.7) from 4.8.6", "4.8.7 bad, 4.8.6 former"),
        ("4.8.5 takes 2 s, 4.8.6 takes 4 s. 4.8.7 hangs.", "4.8.5 good, 4.8.6 good, 4.8.7 bad"),
        ("4.8.7 will be out soon", "4.8.7 fixed"),
        ("Built against 4.8.7, the example prints nothing", "4.8.7 "),
        ("4.8.5 takes 1 s, 4.8.6 takes 40 s, 4.8.7 takes 600 s", "4.8.5 good, 4.8.6 bad, 4.8.7 bad"),
        ("The maximum is 10.5 or 0.9 (the product is NaN), and the result was 0.5", ""),
        ("Ubuntu 20.04, GMP 6.1.2, and SMT-LIB version 2.6; it takes 1.5 seconds", ""),
    ],
)
def test_verdict_on_each_version(text: str, required: str) -> None:
    assert ", ".join(f"{one.version} {one.verdict}" for one in mentions(text)) == required


@pytest.mark.parametrize(
    ("text", "required"),
    [
        # A good version that is newer than all others has the fix; one that is older shows which are bad.
        ("I use 4.8.5 here. With 4.8.7 it is right.", "4.8.5 , 4.8.7 fixed"),
        (
            "Tried 4.8.6 and 4.8.7, both give 3. With 4.8.5 it was 5, which is right.",
            "4.8.6 bad, 4.8.7 bad, 4.8.5 good",
        ),
        # Numbers of two series or two solvers do not compare, and a wrong goal should not be proved.
        ("I use 1.8 here. With 4.8.7 it is right.", "1.8 , 4.8.7 good"),
        ("I use 4.8.5 here. 4.8.7 proves it.", "4.8.5 , 4.8.7 good"),
        # An older one that is named later is there for a comparison, if it is not the same there.
        ("The script is from 4.8.7. On my other machine I have 4.8.5.", "4.8.7 , 4.8.5 former"),
        ("The script is from 4.8.7. On my other machine I have 4.8.5, too.", "4.8.7 , 4.8.5 "),
        (
            "The script is from 4.8.7. It is right in 4.8.6. 4.8.5 is not on my disk.",
            "4.8.7 bad, 4.8.6 good, 4.8.5 ",
        ),
        # What one version answers says what the others should.
        (
            "4.8.5: sat\n4.8.6: unsat\n4.8.7: sat\n\n4.8.7 is right.",
            "4.8.5 good, 4.8.6 bad, 4.8.7 fixed, 4.8.7 fixed",
        ),
        ("Tested with 4.8.5 and 4.8.7.", "4.8.5 , 4.8.7 bad"),
        ("The version 2024-01-12 hangs. The version 2023-06-19 is fine.", "2024-01-12 bad, 2023-06-19 good"),
    ],
)
def test_versions_of_a_text_explain_each_other(text: str, required: str) -> None:
    assert ", ".join(f"{one.version} {one.verdict}" for one in own_mentions(text, "")) == required


def test_verdicts_on_commits() -> None:
    assert commit_verdicts("f3a6b20 is in use here, d07c9e1 is the last one that answers.") == {
        "d07c9e1": "former"
    }
    # The commit before the first bad one is not named.
    assert commit_verdicts("Bisected to b4c7e1f0, the parent of it is fine.") == {}


def test_answers_and_names_go_with_their_version() -> None:
    first, second, third = mentions("z3 4.8.5: sat. z3 4.13.4: unsat. yices 2.6.1 agrees: sat")
    assert (first.solver, first.answers) == ("z3", ("sat",))
    assert (second.version, second.answers) == ("4.13.4", ("unsat",))
    assert third.solver == "yices"


SCRIPT = "\n```\n(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n```\n"


def test_versions_of_an_issue() -> None:
    body = "z3 4.8.9 says unsat, 4.8.8 said sat, and so does cvc5 1.0.1." + SCRIPT
    issue = issue_of("Wrong answer", body, "Indeed, it is satisfiable.", "Works in 4.8.10.")
    extraction = extract_issue(issue)
    (formula,) = extraction.formulas
    assert formula.expected is not None
    assert (formula.expected.answer, formula.expected.source) == ("sat", "comment:1")
    said = classify(issue, extraction)
    found = [said.version, said.last_good, said.fixed_in]
    assert [one and one.value for one in found] == ["4.8.9", "4.8.8", "4.8.10"]


def test_a_comment_says_who_is_right() -> None:
    body = "cvc5 answers unsat and z3 answers sat:" + SCRIPT
    formula = only_formula("Different answers", body, "cvc5 is right here.", tracker="cvc5/cvc5")
    assert expected_of(formula) == "unsat"


def test_what_a_run_or_a_reply_shows_of_a_version() -> None:
    session = "```\n$ z3 a.smt2\nunknown\n$ z3-4.8.10 a.smt2\n{}\n$ cat a.smt2\n{}\n```\n"
    script = "(declare-const x Int)\n(assert (> x 1))\n(check-sat)"

    def said(text: str, *replies: str) -> tuple[str | None, str | None, str | None]:
        issue = issue_of("Completeness regression", text, *replies)
        found = classify(issue, extract_issue(issue))
        values = (found.version, found.last_good, found.fixed_in)
        return tuple(one.value if one else None for one in values)  # type: ignore[return-value]

    # A version whose run answers is not the affected one; one whose run fails is.
    assert said(
        "The first commit that does not solve it (`git-bisect` from 4.8.10): 20e9f4ab\n"
        + session.format("sat", script)
    ) == (
        None,
        "4.8.10",
        None,
    )
    assert said(session.format("unknown", script)) == ("4.8.10", None, None)
    # A program may have printed its version alone.
    asked = "```\n$ z3 --version\n4.8.10\n$ z3 a.smt2\nunknown\n$ cat a.smt2\n{}\n```\n"
    assert said(asked.format(script)) == ("4.8.10", None, None)
    # The affected version that a reply names again is not the fixed one.
    used = "z3 4.8.7 crashes."
    assert said(used, "I could not reproduce this, and 4.8.7 is rather old now.") == ("4.8.7", None, None)
