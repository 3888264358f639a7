"""Reports: each tracker's own form, made from the folder alone, and nothing in it can break out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from difftest import DifftestError, HuntFinished, HuntOptions, Solver, Stage, hunt
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import rewrite_report, title_of, writer_of
from difftest.triage.reduce import reduce
from difftest.triage.report import logic_name
from generator.strategy import GeneratedTest
from smtlib.mentions import theories_in
from solvers.registry import PROFILES, form_of
from solvers.report_form import PLAIN, Piece

TEXT = "(declare-const x Int)\n(assert (> x 1))\n(assert (= 3 (div x 2)))\n(check-sat)\n"


def _text(folder: Path) -> str:
    found = FindingFolder.read(folder)
    return writer_of(found).text()


def _title(folder: Path) -> str:
    return title_of(FindingFolder.read(folder))


Fake = Callable[..., Solver]
Make = Callable[..., GeneratedTest]


def write(folder: Path, formula: str = TEXT, stdout: str = "sat\n", **changes: Any) -> Path:
    """A finding's folder, an invalid model of z3 4.8.5 if nothing else is said."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "name": "z3-4.8.5",
        "spec": "z3==4.8.5",
        "family": "z3",
        "version": "Z3 version 4.8.5 - 64 bit",
        "package": "z3-solver",
        "release": "4.8.5",
        "options": [],
        "command": ["/x/z3", "model_validate=true", "original.smt2"],
        "shown": "z3 model_validate=true original.smt2",
        "ending": "exit status 1",
        "outcome": "invalid-model",
        "answers": ["sat"],
        "location": None,
        "detail": '(error "line 4 column 10: an invalid model was generated")',
        "seconds": 0.1,
    }
    entry.update(changes.pop("entry", {}))
    data = {
        "schema": 1,
        "id": "0123456789ab",
        "class": "invalid-model",
        "solver": entry["name"],
        "guilty": entry["name"],
        "reason": entry["detail"],
        "check": None,
        "key": "invalid-model|z3-4.8.5|Ints",
        "theories": list(theories_in(formula)),
        "platform": "Linux x86_64",
        "solvers": [entry],
        "test": {"seed": 1, "index": 7, "strategy": "skeletons", "issues": ["z3#17"], "known": []},
        **changes,
    }
    (folder / "finding.json").write_text(json.dumps(data))
    (folder / "original.smt2").write_bytes(formula.encode("utf-8", "surrogatepass"))
    (folder / f"{entry['name']}.stdout").write_bytes(stdout.encode("utf-8", "surrogatepass"))
    (folder / f"{entry['name']}.stderr").write_text("")
    return folder


def headings(text: str) -> list[str]:
    return re.findall(r"^(?:### |## |\*\*)(.+?)(?:\*\*)?$", text, re.M)


def test_z3_gets_the_fields_of_its_form(tmp_path: Path) -> None:
    text = rewrite_report(write(tmp_path / "f"))
    assert (tmp_path / "f" / "report.md").read_text() == text
    assert "# Invalid model issue on QF_LIA\n" in text
    assert headings(text) == [
        "Bug Category",
        "Bug Description",
        "Minimal Reproduction",
        "Expected Behavior",
        "Actual Behavior",
        "Z3 Version",
        "Platform",
        "Interface Used",
        "Installation Method",
        "Additional Context",
    ]
    assert "z3 4.8.5 answers `sat`" in text
    assert "$ z3 model_validate=true original.smt2\nsat\n[exit status 1]" in text
    assert "pip install z3-solver==4.8.5" in text
    assert "z3#17" in text


def test_cvc5_gets_those_of_its_template(tmp_path: Path) -> None:
    entry = {
        "name": "cvc5[fp-exp]", "spec": "cvc5[fp-exp]", "family": "cvc5", "package": "cvc5",
        "release": "1.4.2", "version": "This is cvc5 version 1.4.2", "shown": "cvc5 --fp-exp original.smt2",
        "options": ["--fp-exp"], "answers": ["unsat"], "outcome": "ok", "ending": "exit status 0",
    }  # fmt: skip
    other = {"name": "z3", "spec": "z3", "family": "z3", "answers": ["sat"], "version": "Z3 version 5.4.0"}
    folder = write(
        tmp_path / "f", entry=entry, **{"class": "soundness"}, check=0, reason="a third one says so"
    )
    data = json.loads((folder / "finding.json").read_text())
    data["solvers"].append({**data["solvers"][0], **other})
    (folder / "finding.json").write_text(json.dumps(data))
    text = _text(folder)
    assert "# (--fp-exp) Refutation unsoundness on QF_LIA\n" in text
    assert headings(text)[:5] == [
        "Describe the bug",
        "Expected behavior",
        "Command line arguments",
        "cvc5 version/commit",
        "Operating system",
    ]
    assert "cvc5 1.4.2 answers `unsat` to the formula below, which is satisfiable." in text
    assert "`sat`. A third one says so." in text
    assert "at most three reports" in text  # what its maintainers ask of those who fuzz


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        ({}, "Z3 version 4.8.5 - 64 bit\n"),
        ({"commit": None}, "Z3 version 4.8.5 - 64 bit (release build, no commit printed)\n"),
        ({"commit": None, "release": None}, "Z3 version 4.8.5 - 64 bit (no commit printed)\n"),
        ({"commit": "tag 4.8.5"}, "Z3 version 4.8.5 - 64 bit, git tag 4.8.5\n"),
        (
            {"commit": "0fd2fdf", "version": "Z3 4 - build hashcode 0fd2fdf"},
            "Z3 4 - build hashcode 0fd2fdf\n",
        ),
    ],
)
def test_the_version_comes_with_the_commit_or_with_that_there_is_none(
    reported: dict[str, Any], words: str, tmp_path: Path
) -> None:
    assert f"### Z3 Version\n\n{words}" in _text(write(tmp_path / "f", entry=reported))


CRASH = {"class": "crash", "reason": "ASSERTION VIOLATION"}


@pytest.mark.parametrize(
    ("family", "changes", "title"),
    [
        ("z3", {**CRASH, "entry": {"location": "a.cpp:7"}}, "Assertion violation at a.cpp:7"),
        ("z3", {**CRASH, "entry": {"detail": "signal SIGSEGV"}}, "Segmentation fault on QF_LIA"),
        ("cvc5", {**CRASH, "entry": {"location": "a.cpp:7"}}, "Fatal failure at a.cpp:7"),
        ("bitwuzla", {**CRASH, "entry": {"location": "a.cpp:7"}}, "Assertion violation at a.cpp:7"),
        ("yices", {"class": "invalid-model"}, "Incorrect model in QF_LIA"),
        ("yices", {"class": "soundness", "check": 0}, "Incorrect sat in QF_LIA"),
        ("z3", {"class": "soundness", "check": 0}, "Solution soundness issue on QF_LIA"),
        ("other", {"class": "invalid-model"}, "z3-4.8.5: invalid model on QF_LIA"),
        ("z3", {"class": "soundness", "check": 0, "guilty": None}, "z3-4.8.5: soundness issue on QF_LIA"),
        ("z3", {"class": "something-new"}, "z3 4.8.5: something new on QF_LIA"),
    ],
)
def test_titles_follow_the_trackers_customs(
    tmp_path: Path, family: str, changes: dict[str, Any], title: str
) -> None:
    entry = {"family": family, **changes.get("entry", {})}
    assert _title(write(tmp_path / "f", **{**changes, "entry": entry})) == title


def test_a_title_names_the_tactic_that_the_formula_asks_for(tmp_path: Path) -> None:
    formula = TEXT.replace("(check-sat)", "(check-sat-using (then simplify nnf))")
    assert formula != TEXT
    folder = write(tmp_path / "f", formula, **CRASH, entry={"detail": "signal SIGSEGV"})
    assert _title(folder) == "Segmentation fault on QF_LIA with check-sat-using=(then simplify nnf)"


def test_issues_below_are_mentioned_only_if_there_are_some(tmp_path: Path) -> None:
    near = [{"issue": "z3#1", "why": "the same place", "title": "", "url": "", "score": 0.9}]
    assert "Look whether a known issue is the same fault" in _text(write(tmp_path / "f"))
    assert "Look whether the issues named below are" in _text(write(tmp_path / "g", resembles=near))


def test_evidence_and_what_it_is_about_are_reported(tmp_path: Path) -> None:
    reason = "cvc5 refutes the model"
    entry = {"name": "cvc5", "spec": "cvc5", "family": "cvc5", "version": "cvc5 1.4.2"}
    reported = {
        "oracle": "model-cross-check",
        "reason": reason,
        "evidence": [reason, "z3 says `unsat` to it"],
    }
    folder = write(tmp_path / "f", entry=entry, safe_mode=False, **reported)
    (folder / "with-model.smt2").write_text("(assert (= x 7))\n")
    text = _text(folder)
    assert "A model that satisfies the assertions. cvc5 refutes the model.\n\n- z3 says `unsat` to it" in text
    assert "(The formula with the model inserted, `with-model.smt2`)\n\n```smt2\n(assert (= x 7))" in text
    assert "With `--safe-mode=safe` it does not show." in text
    assert "by its own check" not in text


def add_solver(folder: Path, **entry: Any) -> Path:
    """One more solver in a finding's folder, the first one's entry but for ``entry``."""
    data = json.loads((folder / "finding.json").read_text())
    data["solvers"].append({**data["solvers"][0], **entry})
    (folder / "finding.json").write_text(json.dumps(data))
    (folder / f"{entry['name']}.stdout").write_text(f"{entry['answers'][0]}\n")
    return folder


def section(text: str, heading: str) -> str:
    """What stands under a heading of z3's form."""
    return text.partition(f"### {heading}\n\n")[2].partition("\n\n###")[0].strip()


OWN = {
    "name": "z3", "spec": "z3", "version": "Z3 version 5.4.0 - 64 bit", "shown": "z3 original.smt2",
    "ending": "exit status 0", "outcome": "ok", "detail": "", "seconds": 6.6,
}  # fmt: skip
OLDER = {
    "name": "z3-4.8.5", "spec": "z3==4.8.5", "version": "Z3 version 4.8.5 - 64 bit", "answers": ["sat"],
    "seconds": 0.12,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "own", "description", "expected"),
    [
        (
            {"class": "slowdown", "reason": "6.6 s (ok); z3-4.8.5 takes 0.12 s"},
            "sat",
            "z3 5.4.0 is far slower on the formula below than an older release: 6.6 s (ok); z3-4.8.5 takes"
            " 0.12 s.",
            "`sat`, in about the time that `z3-4.8.5` takes: 0.12 s instead of 6.60 s.",
        ),
        (
            {"class": "incompleteness", "oracle": "incompleteness", "check": 0, "reason": "old said sat"},
            "unknown",
            "z3 5.4.0 gives up on the formula below, which an older release decides: old said sat.",
            "`sat`, as `z3-4.8.5` answers.",
        ),
        (
            {"class": "soundness", "oracle": "soundness", "check": 0, "reason": "cvc5 says otherwise"},
            "unsat",
            "z3 5.4.0 answers `unsat` to the formula below, which is satisfiable.",
            "`sat`. cvc5 says otherwise.",
        ),
        (
            {"class": "soundness", "oracle": "soundness", "check": 0, "guilty": None, "reason": ""},
            "unsat",
            "Solvers disagree on the formula below: z3 `unsat`, z3-4.8.5 `sat`. It is not known yet which is",
            "The same answer from all solvers; it is not known which is right.",
        ),
    ],
)
def test_two_releases_of_one_solver_are_distinguished(
    tmp_path: Path, changes: dict[str, Any], own: str, description: str, expected: str
) -> None:
    folder = write(tmp_path / "f", stdout=f"{own}\n", entry={**OWN, "answers": [own]}, **changes)
    text = _text(add_solver(folder, **OLDER))
    assert description in text
    blocks = (
        f"`z3` (version 5.4.0), 6.60 s:\n\n```console\n$ z3 original.smt2\n{own}\n```\n\n"
        "`z3-4.8.5` (version 4.8.5), 0.12 s:\n\n```console\n$ z3 original.smt2\nsat\n```"
    )
    if changes.get("guilty", "z3") is None:  # nobody's tracker: the plain form
        assert f"{blocks}\n\n## Expected\n\n{expected}\n\n## Version" in text
    else:
        assert section(text, "Actual Behavior") == blocks
        assert section(text, "Expected Behavior") == expected


def test_programs_of_their_own_names_need_no_labels(tmp_path: Path) -> None:
    folder = write(tmp_path / "f", entry={**OWN, "answers": ["unsat"]}, **{"class": "soundness"}, check=0)
    cvc5 = {"name": "cvc5", "shown": "cvc5 original.smt2", "answers": ["sat"], "family": "cvc5"}
    shown = section(_text(add_solver(folder, **cvc5)), "Actual Behavior")
    assert shown.startswith("```console\n$ z3 original") and "version" not in shown


@pytest.mark.parametrize(
    ("follows", "kind", "expected"),
    [
        (
            "sat",
            "weakened",
            "`sat`: the formula that it was weakened from is satisfiable, and a model of that one is one of"
            " this.",
        ),
        (
            "unsat",
            "strengthened",
            "`unsat`: the formula that it was strengthened from is unsatisfiable, and a model of this would"
            " be one of that.",
        ),
    ],
)
def test_an_answer_that_follows_is_expected(tmp_path: Path, follows: str, kind: str, expected: str) -> None:
    reason = f"it says {follows} to the formula that this one was {kind} from, and unknown to this one"
    reported = {"class": "incompleteness", "oracle": "implication", "reason": reason, "evidence": [reason]}
    folder = write(tmp_path / "f", check=0, entry={**OWN, "answers": ["unknown"]}, **reported)
    (folder / "parent.smt2").write_text("(check-sat)\n")
    text = _text(folder)
    assert f"z3 5.4.0 gives up on the formula below, whose answer follows from another: {reason}." in text
    beside = "(The formula that it was made from, `parent.smt2`)\n\n```smt2\n(check-sat)\n```"
    assert section(text, "Expected Behavior") == f"{expected}\n\n{beside}"


@pytest.mark.parametrize(
    ("family", "culprit", "reported", "words"),
    [
        ("cvc5", "s", {"safe_mode": True}, "With `--safe-mode=safe` it shows, too."),
        ("cvc5", "s", {"safe_mode": False}, "With `--safe-mode=safe` it does not show."),
        (
            "cvc5",
            "s",
            {"safe_mode": False, "safe_mode_refuses": "no `sets`"},
            "With `--safe-mode=safe` it does not show: that refuses it (`` no `sets` ``).",
        ),
        ("cvc5", "s", {"safe_mode": None}, "Whether it shows with `--safe-mode=safe` is not known: that was"),
        ("cvc5", None, {"safe_mode": True}, "With `--safe-mode=safe` it shows, too."),
        # What is said of the original is not said of the formula that is shown.
        (
            "cvc5",
            "s",
            {"safe_mode": True, "reduced": {"safe_mode": False, "confirmed": True, "size_before": 9}},
            "With `--safe-mode=safe` it does not show.",
        ),
        (
            "cvc5",
            "s",
            {"safe_mode": True, "reduced": {"confirmed": True, "size_before": 9}},
            "Whether it shows with `--safe-mode=safe` is not known: that was",
        ),
        ("z3", "s", {"safe_mode": True}, ""),
    ],
)
def test_each_finding_of_cvc5_says_what_is_known_of_its_safe_mode(
    tmp_path: Path, family: str, culprit: str | None, reported: dict[str, Any], words: str
) -> None:
    if "reduced" in reported:
        reported["reduced"]["size_after"] = 5
    folder = write(tmp_path / "f", entry={"name": "s", "family": family}, **{**reported, "guilty": culprit})
    (folder / "reduced.smt2").write_text("(check-sat)\n")
    text = _text(folder)
    assert words in text
    assert text.count("safe-mode") == bool(words)


def test_a_reduced_and_bisected_finding_says_so(tmp_path: Path) -> None:
    resembles = [{"issue": "z3#9", "why": "crash in the same file", "score": 0.6, "title": "A | title <b>"}]
    reduced = {
        "confirmed": True, "size_before": 90, "size_after": 30, "theories": ["Reals"],
        "options": {"z3-4.8.5": ["model_validate=true"]},
        "runs": {"z3-4.8.5": {"shown": "z3 model_validate=true reduced.smt2", "ending": "exit status 1"}},
    }  # fmt: skip
    folder = write(tmp_path / "f", reduced=reduced, resembles=resembles)
    (folder / "reduced.smt2").write_text("(assert (= 1.0 (/ 1.0 0.0)))\n(check-sat)\n")
    (folder / "z3-4.8.5.reduced.stdout").write_text("sat\nshort\n")
    tried = [("4.8.4", "free"), ("4.8.5", "affected"), ("4.8.6", "skipped"), ("4.8.7", "free")]
    report = {
        "first_affected": "4.8.5", "since_the_oldest": False,
        "last_affected": "4.8.5", "first_fixed": "4.8.7",
        "tried": [{"release": release, "state": state} for release, state in tried],
    }  # fmt: skip
    (folder / "bisect.json").write_text(json.dumps({"complete": True, "report": report}))
    text = _text(folder)
    assert "QF_LRA" in _title(folder)
    assert "(/ 1.0 0.0)" in text and "(div x 2)" not in text
    assert "$ z3 model_validate=true reduced.smt2\nsat\nshort" in text
    assert "Reduced from 90 to 30 bytes." in text
    assert "- z3-4.8.5: `model_validate=true`" in text
    assert "Affected since 4.8.5; fixed in 4.8.7. It worked in 4.8.4." in text
    assert "Tried: 4.8.4 free, 4.8.5 affected, 4.8.7 free." in text
    assert "- z3#9: crash in the same file (A | title &lt;b>)" in text


def test_it_stands_on_what_is_there(tmp_path: Path) -> None:
    """A folder of an older exhume, with files missing and others broken, still gives a report."""
    folder = write(tmp_path / "f")
    data = json.loads((folder / "finding.json").read_text())
    for key in ("family", "shown", "ending", "options", "package", "release", "version"):
        del data["solvers"][0][key]
    for key in ("platform", "test", "theories"):
        del data[key]
    (folder / "finding.json").write_text(json.dumps(data))
    (folder / "bisect.json").write_text("{")
    (folder / "z3-4.8.5.stdout").unlink()
    text = _text(folder)
    assert "# Invalid model issue on QF_UF" in text
    assert "$ /x/z3 model_validate=true original.smt2" in text
    with pytest.raises(DifftestError, match="no finding can be read"):
        _text(tmp_path)


HOSTILE = (
    "```\n<script>alert(1)</script>\n````\n# Not a heading\n",
    "<!-- -->\n--> <img src=x onerror=alert(1)>\n",
    "~~~\n\x1b[31m\x00\r@everyone ](http://example.invalid)\n",
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_gets_out_of_its_code_block(tmp_path: Path, hostile: str) -> None:
    entry = {
        "detail": hostile,
        "location": hostile,
        "version": hostile,
        "ending": hostile,
        "release": hostile,
    }
    folder = write(
        tmp_path / "f",
        formula=hostile,
        stdout=hostile,
        entry=entry,
        **{"class": "crash"},
        reason=hostile,
        platform=hostile,
        resembles=[{"issue": hostile, "why": hostile, "score": 1, "title": hostile}],
        evidence=[hostile],
    )
    text = _text(folder)
    tokens = MarkdownIt("commonmark").parse(text)
    assert [token.tag for token in tokens if token.type == "heading_open"].count("h1") == 1
    raw = [t.content for t in tokens if t.type == "html_block"]
    assert [content for content in raw if "For Z3Prover/z3's form" not in content] == []
    inline = [child for token in tokens for child in token.children or () if child.type == "html_inline"]
    assert inline == []
    assert not re.search(r"[\x00\x1b\r]", text)


@given(formula=st.text(max_size=60), printed=st.text(max_size=60))
def test_any_text_is_printed_whole(
    tmp_path_factory: pytest.TempPathFactory, formula: str, printed: str
) -> None:
    folder = write(tmp_path_factory.mktemp("f"), formula=formula, stdout=printed)
    tokens = MarkdownIt("commonmark").parse(_text(folder))
    fences = {token.info: token.content for token in tokens if token.type == "fence"}
    assert set(fences) == {"smt2", "console"}
    assert [token.type for token in tokens].count("html_block") == 1  # the reminder


def test_long_texts_are_cut_and_said_to_be(tmp_path: Path) -> None:
    long = "(assert true)\n" * 3_000
    text = _text(write(tmp_path / "f", formula=long, stdout="x" * 9_000 + "\nline\n" * 500))
    assert len(text) < 40_000
    assert "attach `original.smt2`" in text
    assert re.search(r"\.\.\. \(\d+ more lines\)", text)


def test_every_form_has_the_pieces_that_a_report_cannot_do_without() -> None:
    for form in (*(profile.tracker for profile in PROFILES.values()), PLAIN):
        pieces = [piece for group in form.sections.values() for piece in group]
        assert len(pieces) == len(set(pieces))
        needed = set(Piece) - {Piece.CATEGORY, Piece.COMMAND, Piece.SAFE_MODE}
        assert needed <= set(pieces), form.family
        assert Piece.SAFE_MODE in pieces or form.family == "z3"
    assert form_of("z3").repository == "Z3Prover/z3"
    assert form_of("mine") is PLAIN and form_of(None) is PLAIN


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (["Core"], "QF_UF"),
        (["ArraysEx", "FixedSizeBitVectors", "UF"], "QF_AUFBV"),
        (["Ints", "Reals", "Nonlinear"], "QF_NIRA"),
        (["Ints", "UnicodeStrings"], "QF_SLIA"),
        (["Quantifiers", "UF", "Datatypes", "Ints"], "UFDTLIA"),
        (["Quantifiers"], "UF"),
        (["Sets"], "sets"),
        (["Reals", "Transcendental"], "QF_NRA"),
        (["Sequences", "Ints"], "QF_LIA with sequences"),
        (["FloatingPoint", "FixedSizeBitVectors"], "QF_BVFP"),
    ],
)
def test_logics_are_called_by_the_names_that_people_use(found: list[str], name: str) -> None:
    assert logic_name(found) == name


def test_a_hunt_and_a_reduction_write_it(tmp_path: Path, fake: Fake, make_test: Make) -> None:
    honest = fake("say('sat')", "honest")
    liar = fake("say('unsat' if '(div ' in text else 'sat')", "liar")
    options = HuntOptions(out=tmp_path / "out", stages=(Stage(10.0, 1.0),), reduction=0)
    known = make_test(TEXT, known=("sat",))
    last = [event for event in hunt([known], [honest, liar], options) if isinstance(event, HuntFinished)]
    (record,) = last[0].summary.findings
    assert record.finding_class == "soundness"
    first = (record.path / "report.md").read_text()
    assert "# liar: wrong unsat on QF_LIA" in first
    assert "(> x 1)" in first
    reduce(record.path, seconds=60, ddsmt=False)
    again = (record.path / "report.md").read_text()
    assert "(> x 1)" not in again and "(div " in again
    assert "reduced.smt2\nunsat" in again
