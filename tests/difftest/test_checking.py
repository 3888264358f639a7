"""Checks of reports: one rule at a time, policies, what is known, and several reports together."""

from __future__ import annotations

import datetime
import time
from pathlib import Path

import pytest

from corpus.store import Corpus
from difftest.errors import DifftestError
from difftest.triage.checking import complaints_about
from difftest.triage.folder import FindingFolder
from difftest.triage.ledger import Became, Entry, Ledger, add_entry
from difftest.triage.sending import check_reports, reports_in
from difftest.triage.written import Written
from solvers.registry import form_of
from tests.difftest.test_history import path  # noqa: F401 (a fixture)
from tests.difftest.test_reports import write

GOOD = """# z3: segmentation fault in smt::theory_finite_set::final_check_eh on finite sets

Kind: crash; Options: default; Theories: FiniteSets, Ints; Language: extension of z3

## Input

```smt2
(declare-const s (FiniteSet Int))
(assert (= (set.size s) 1))
(check-sat)
```

## Command

`z3 formula.smt2`

## Expected

`sat`

## Actual

```console
$ z3 formula.smt2
```

Exit status 139 (SIGSEGV).

## Versions

- Version: Z3 version 5.4.0 - 64 bit (no commit printed)
- Platform: Linux x86_64 (Debian GNU/Linux 12)
- Installed: wheel from PyPI, `pip install z3-solver==5.4.0.0`
- First affected: 5.3.3
- Last good: 5.3.2
- Newest tried: 5.4.0, affected

## Stack

```text
#0  smt::theory_finite_set::final_check_eh
#1  smt::context::final_check
```

## Notes

- Z3Prover/z3#10232: another fault of the same theory

Found by exhume (API fuzzing).
"""


def test_a_good_report_has_nothing_to_do() -> None:
    assert list(complaints_about(Written.of(GOOD))) == []
    # Nor where an editor ended the lines in its own way, or a blank follows a language.
    assert list(complaints_about(Written.of(GOOD.replace("\n", "\r\n")))) == []
    assert list(complaints_about(Written.of(GOOD.replace("```smt2", "```smt2 ")))) == []


@pytest.mark.parametrize(
    ("before", "after", "rule", "what"),
    [
        ("# z3: seg", "# seg", "title", "begin the title with the solver"),
        ("# z3: seg", "# z9: seg", "title", "begin the title with a solver (z3, cvc5"),
        (" in smt::theory_finite_set::final_check_eh", "", "title", "name the function of the crash"),
        (" on finite sets", " on" + 100 * " x", "title", "shorten the title"),
        ("Kind: crash; Options", "Options", "fact line", "Kind: ...; Options: ...;"),
        ("Kind: crash", "Kind: bad luck", "fact line", "Kind is one of crash, wrong answer"),
        ("Options: default", "Options: `a=b`", "fact line", "each as `OPTION` (regular)"),
        ("FiniteSets, Ints", "FiniteSets, Int", "fact line", "'Int' is none"),
        ("extension of z3", "C++", "fact line", "Language is 'standard'"),
        ("extension of z3", "Python interface", "fact line", "only if, the input is a Python"),
        ("extension of z3", "standard; Safe mode: affected", "fact line", "write one line below the title"),
        ("## Stack", "## Severity\n\nHigh.\n\n## Stack", "sections", "'## Severity' is no section"),
        ("## Command\n\n`z3 formula.smt2`\n\n", "", "sections", "'## Command' is missing"),
        ("## Expected\n\n`sat`\n", "## Expected\n", "sections", "'## Expected' is missing or empty"),
        ("## Stack", "## Input\n\n## Stack", "sections", "bring the sections in the order"),
        ("```smt2\n(decl", "It is short.\n\n```smt2\n(decl", "input", "one code block and nothing else"),
        ("```smt2\n(decl", "```\n(decl", "input", "begin the block with ```smt2"),
        ("(check-sat)", "(check-sat)\n; " + 4_000 * "x", "input", "make the input smaller"),
        ("(check-sat)", "(check-sat", "input", "cannot be read"),
        ("`z3 formula.smt2`", "z3 formula.smt2", "command", "write the command line as `code`"),
        ("z3 formula.smt2", "exhume replay f", "command", "a command that does without exhume"),
        ("z3 formula.smt2", "python read.py f", "command", "show the Python program"),
        ("Kind: crash", "Kind: wrong answer", "expected", "a reason that can be checked"),
        ("```console", "```", "actual", "begins with ```console"),
        ("$ z3", "z3", "actual", "begin the block with '$ '"),
        ("$ z3 ", "$ z3 a=b ", "actual", "not that of '## Command'"),
        ("Exit status 139 (SIGSEGV).", "", "actual", "how the process ended"),
        ("- Platform: Linux x86_64 (Debian GNU/Linux 12)\n", "", "versions", "write '- Platform: ...'"),
        ("- First affected: 5.3.3", "- First affected: not known", "versions", "exhume bisect"),
        ("- Newest tried: 5.4.0, affected", "- Fixed in: 5.4.0", "versions", "fixed in 5.4.0: nothing"),
        ("5.4.0, affected", "5.4.0, not affected", "versions", "newest release is not affected"),
        ("- Newest tried: 5.4.0, affected\n", "", "versions", "write '- Newest tried: ...'"),
        ("#1  smt", "#1  0x0000000000ab in smt", "stack", "leave out the addresses"),
        ("\nFound by exhume (API fuzzing).\n", "", "last line", "end with 'Found by exhume"),
        (
            "another fault",
            "another\nfault",
            "paragraphs",
            "line breaks: 'fault of the same th'",
        ),
        ("another fault", "found with seed 7, another fault", "ours", "remove 'seed 7', a seed"),
        ("another fault", "see [that](../other/report.md)", "ours", "a relative link"),
        ("another fault", "minimised.trace", "ours", "a trace of exhume"),
        ("another fault", "starter tracker", "ours", "the starter tracker"),
        ("another fault", "see `values.smt2`", "ours", "it names values.smt2, which it does not show"),
        ("another fault", "another\n\nSeverity: high", "ours", "a severity"),
        ("another fault", "<!-- look -->", "ours", "a comment"),
    ],
)
def test_each_rule_says_what_to_do(before: str, after: str, rule: str, what: str) -> None:
    assert before in GOOD
    found = [one for one in complaints_about(Written.of(GOOD.replace(before, after))) if one.rule == rule]
    assert any(what in one.what for one in found), found


@pytest.mark.parametrize("line", ["a." * 50_000, "run 1 " * 16_000, "\n" * 100_000])
def test_long_lines_take_linear_time(line: str) -> None:
    text = GOOD.replace(" in smt::theory_finite_set::final_check_eh", f" {' '.join(line.split())}")
    begin = time.process_time()
    found = {one.rule for one in complaints_about(Written.of(text.replace("another fault", f"{line}seed 1")))}
    assert "ours" in found
    assert time.process_time() - begin < 5


def test_a_crash_needs_a_stack() -> None:
    start = GOOD.index("## Stack")
    text = GOOD[:start] + GOOD[GOOD.index("## Notes") :]
    (found,) = complaints_about(Written.of(text))
    assert (found.rule, found.what[:20]) == ("stack", "show the stack of th")
    assert not [one for one in complaints_about(Written.of(text.replace("crash;", "wrong result;")))
                if one.rule == "stack"]  # fmt: skip


def test_nothing_at_all_is_checked_too() -> None:
    assert {one.rule for one in complaints_about(Written.of(""))} == {
        *("title", "fact line", "sections", "last line"),
    }  # fmt: skip


def put(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(text)
    return folder / "report.md"


def said(*files: Path, ledger: Ledger | None = None, corpus: Corpus | None = None) -> list[tuple[str, str]]:
    checked = check_reports(files, ledger or Ledger(), corpus)
    return [(one.rule, one.what) for report in checked for one in report.complaints]


CVC5 = GOOD.replace("# z3: ", "# cvc5: ").replace("of z3\n", "of cvc5; Safe mode: not known\n")


@pytest.mark.parametrize(
    ("text", "before", "after", "source"),
    [
        (GOOD, "(check-sat)", "(check-sat-using euf-completion)", "Z3Prover/z3#7806"),
        (GOOD, "Options: default", "Options: `sat.euf=true` (experimental)", "Z3Prover/z3#6116"),
        (GOOD, "(check-sat)", "(define-fun-rec f ((x Int)) Int 0)\n(check-sat)", "Z3Prover/z3#4150"),
        (CVC5, "Options: default", "Options: `--fp-exp` (expert)", "cvc5/cvc5#3623"),
        (CVC5, "Options: default", "Options: `--other` (expert)", "wiki page Fuzzing-cvc5"),
        (GOOD, "$ z3 formula.smt2\n", "$ z3 formula.smt2\nfree(): invalid pointer\n", "in private"),
    ],
)
def test_policies_of_the_maintainers_apply(
    tmp_path: Path, text: str, before: str, after: str, source: str
) -> None:
    assert before in text and said(put(tmp_path / "a", text)) == []
    policies = [what for rule, what in said(put(tmp_path / "b", text.replace(before, after, 1)))
                if rule == "policy"]  # fmt: skip
    assert any(source in what for what in policies), policies


def test_a_regular_option_of_cvc5_needs_no_policy(tmp_path: Path) -> None:
    text = CVC5.replace("Options: default", "Options: `--sub-cbqi` (regular)")
    assert said(put(tmp_path, text)) == []


def test_the_ledger_is_read_by_key_and_by_title(tmp_path: Path) -> None:
    file = put(tmp_path / "by-hand", GOOD)
    entry = Entry("crash|z3|x", Became.REPORTED, at="https://example.org/7", title=GOOD.split("\n")[0][2:])
    assert said(file, ledger=Ledger([entry])) == [
        ("ledger", "the ledger lists it: reported https://example.org/7")
    ]
    folder = write(tmp_path / "finding")
    put(folder, GOOD)
    ledger = tmp_path / "findings.toml"
    add_entry(ledger, FindingFolder.read(folder), Became.WONT_FIX, "", datetime.date(2026, 11, 23))
    found = said(folder / "report.md", ledger=Ledger.read(ledger))
    assert ("ledger", "the ledger lists it: wont-fix 2026-11-23") in found


def test_known_issues_are_named_unless_the_report_does(tmp_path: Path, path: Path) -> None:  # noqa: F811
    text = GOOD.replace("Exit status", "Assertion failed\n\nExit status").replace(
        "in smt::theory_finite_set::final_check_eh", "at theory_seq.cpp:333"
    )
    with Corpus.open(path) as corpus:
        (found,) = said(put(tmp_path / "a", text), corpus=corpus)
        assert found[0] == "known issue"
        assert "Z3Prover/z3#1, 'Issue 1': crash at the same place, theory_seq.cpp:333" in found[1]
        named = text.replace("Z3Prover/z3#10232", "Z3Prover/z3#1")
        assert said(put(tmp_path / "b", named), corpus=corpus) == []
        option = GOOD.replace("Options: default", "Options: `nla.rare=true` (regular)")
        assert said(put(tmp_path / "c", option), corpus=corpus) == []


def test_one_cause_is_one_report_and_no_more_than_the_tracker_takes(tmp_path: Path) -> None:
    files = [put(tmp_path / str(number), CVC5.replace("= (set", f"= {number} (set")) for number in range(4)]
    found = said(*files)
    assert [what for _, what in found if what.startswith("the same stack")] == [
        f"the same stack as {files[0]}: one cause is one report"
    ] * 3
    assert [what for _, what in found if "a week" in what] == [
        "cvc5/cvc5 takes 3 reports a week: send it later"
    ]
    same = [put(tmp_path / name, GOOD) for name in ("x", "y")]
    assert ("together", f"the same input as {same[0]}: one cause is one report") in said(*same)


def test_reports_are_found_in_folders_of_folders(tmp_path: Path) -> None:
    first, second = put(tmp_path / "c" / "findings" / "a", GOOD), put(tmp_path / "d" / "b", GOOD)
    assert reports_in([tmp_path / "c", tmp_path / "d", second, second.parent]) == [first, second]
    with pytest.raises(DifftestError, match=r"no report\.md there"):
        reports_in([tmp_path])


def test_the_form_of_a_tracker_is_filled(tmp_path: Path) -> None:
    text = Written.of(GOOD).in_form(form_of("z3"))
    parts = dict(part.partition("\n\n")[::2] for part in text.split("### ")[1:])
    assert parts["Bug Category"].strip() == "Crash/Assertion failure"
    assert parts["Interface Used"].strip() == "Command line (z3 executable)"
    # The title does not repeat the solver, and the tracker shows this field as code.
    assert text.startswith("# segmentation fault in ")
    assert parts["Minimal Reproduction"].startswith("(declare-const s")
    assert parts["Platform"].strip() == "Linux x86_64 (Debian GNU/Linux 12)"
    assert parts["Additional Context"].startswith("First affected: 5.3.3\n\nLast good: 5.3.2")
    assert text.count("Found by exhume") == parts["Additional Context"].count("Found by exhume") == 1
    assert "- [x] This worked in a previous version of Z3\n- [x] " in parts["Regression Check"]
    never = GOOD.replace("Last good: 5.3.2", "Last good: none (back to 4.8.5)")
    assert never != GOOD
    assert "- [ ] This worked in a previous version of Z3\n- [ ] " in Written.of(never).in_form(form_of("z3"))
    text = Written.of(GOOD).in_form(form_of("cvc5"))
    assert "**cvc5 version/commit**\n\nZ3 version" in text
    # Sections that share a field begin with their names; one that is alone does not.
    assert "**Command line arguments**\n\n`z3 formula.smt2`" in text
    assert "Input:\n\n```smt2\n" in text and "Expected:\n\n`sat`" in text and "Command:" not in text
    # A tracker without a form gets the report as it is.
    assert Written.of(GOOD).in_form(form_of("bitwuzla")) == GOOD
