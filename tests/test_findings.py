"""The findings of docs/findings: the pinned releases print what the reports say."""

from __future__ import annotations

import importlib.metadata
import re
import signal
import subprocess
from pathlib import Path

import pytest

from difftest import find_solver

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "findings"
RELEASES = {
    "z3": ("z3-solver", "5.4.0"),
    "cvc5": ("cvc5", "1.4.2"),
    "boolector": ("pyboolector", "3.2.4"),
}

# Folder, file, solver, options, how it ends: by an answer, or otherwise.
ANSWERS = [
    ("boolector-quantifier-wrong-unsat", "formula.smt2", "boolector", [], "unsat"),
    ("boolector-quantifier-wrong-unsat", "witness.smt2", "boolector", [], "sat"),
    ("boolector-quantifier-wrong-unsat", "formula.smt2", "z3", [], "sat"),
    ("boolector-quantifier-wrong-unsat", "formula.smt2", "cvc5", [], "sat"),
    ("cvc5-set-card-invalid-model", "formula.smt2", "cvc5", ["--check-models"], "invalid-model"),
    ("cvc5-set-card-invalid-model", "plain.smt2", "cvc5", ["--check-models"], "sat"),
    ("cvc5-set-card-invalid-model", "refuted.smt2", "cvc5", [], "unsat"),
    ("cvc5-core-misses-named-assertion", "formula.smt2", "cvc5", [], "unsat ( second )"),
    ("cvc5-core-misses-named-assertion", "formula.smt2", "z3", [], "unsat (first second)"),
    ("cvc5-core-misses-named-assertion", "core.smt2", "cvc5", [], "sat"),
    ("cvc5-qe-then-unsat", "formula.smt2", "cvc5", [], "false unsat"),
    ("cvc5-qe-then-unsat", "formula.smt2", "cvc5", ["--incremental"], "false sat"),
    ("cvc5-qe-then-unsat", "plain.smt2", "cvc5", [], "sat"),
    ("cvc5-qe-then-unsat", "plain.smt2", "z3", [], "sat"),
    ("cvc5-qe-division-by-zero", "formula.smt2", "cvc5", [], "false"),
    ("cvc5-qe-division-by-zero", "equivalent.smt2", "cvc5", [], "sat"),
    ("cvc5-qe-division-by-zero", "equivalent.smt2", "z3", [], "sat"),
    ("z3-constant-array-two-elements", "formula.smt2", "z3", [], "unsat"),
    ("z3-constant-array-two-elements", "finite.smt2", "z3", [], "sat"),
    ("z3-quantified-array-one-element", "formula.smt2", "z3", [], "unsat"),
    ("z3-quantified-array-one-element", "finite.smt2", "z3", [], "sat"),
    ("z3-quantified-array-one-element", "formula.smt2", "cvc5", [], "unknown"),
    ("z3-tree-order-invalid-model", "formula.smt2", "z3", ["model_validate=true"], "invalid-model"),
    ("z3-tree-order-invalid-model", "values.smt2", "z3", [], "contradicted"),
    ("z3-tree-order-invalid-model", "axioms.smt2", "z3", [], "sat"),
    ("z3-tree-order-invalid-model", "axioms.smt2", "cvc5", [], "sat"),
    ("z3-tan-wrong-sat", "formula.smt2", "z3", [], "sat"),
    ("z3-tan-wrong-sat", "formula.smt2", "cvc5", [], "unsat"),
    ("z3-tan-wrong-sat", "sine.smt2", "z3", [], "sat"),
    ("z3-tan-wrong-sat", "model.smt2", "z3", ["model_validate=true"], "invalid-model"),
    ("z3-qfidl-division-unsat", "formula.smt2", "z3", [], "unsat"),
    ("z3-qfidl-division-unsat", "plain.smt2", "z3", ["model_validate=true"], "sat"),
    ("z3-qfidl-division-unsat", "plain.smt2", "cvc5", [], "sat"),
    (
        "z3-euf-completion-invalid-model",
        "formula.smt2",
        "z3",
        ["model_validate=true"],
        "invalid-model",
    ),
    ("z3-euf-completion-wrong-sat", "formula.smt2", "z3", [], "sat"),
    ("z3-euf-completion-wrong-sat", "equations.smt2", "z3", ["model_validate=true"], "invalid-model"),
    ("z3-euf-completion-wrong-sat", "plain.smt2", "z3", [], "unsat"),
    ("z3-euf-completion-wrong-sat", "plain.smt2", "cvc5", [], "unsat"),
    ("z3-euf-completion-double-negation-segfault", "formula.smt2", "z3", [], "segmentation fault"),
    ("z3-sls-strings-not-implemented", "formula.smt2", "z3", ["smt.sls.enable=true"], "Line: 338"),
    ("z3-sls-strings-not-implemented", "from-code.smt2", "z3", ["smt.sls.enable=true"], "Line: 508"),
    ("z3-sls-strings-not-implemented", "suffixof.smt2", "z3", ["smt.sls.enable=true"], "Line: 137"),
    ("z3-sls-strings-not-implemented", "less.smt2", "z3", ["smt.sls.enable=true"], "Line: 378"),
    ("z3-sls-strings-not-implemented", "union.smt2", "z3", ["smt.sls.enable=true"], "Line: 410"),
    ("z3-sls-ubv-to-int-unreachable", "formula.smt2", "z3", ["smt.sls.enable=true"], "Line: 2128"),
    ("cvc5-sub-cbqi-scope-abort", "formula.smt2", "cvc5", ["--sub-cbqi"], "proof_node_manager.cpp:245"),
    ("cvc5-sub-cbqi-scope-abort", "formula.smt2", "cvc5", [], "sat"),
    (
        "cvc5-debug-check-models-incomplete-abort",
        "formula.smt2",
        "cvc5",
        ["--nl-ext=none", "--debug-check-models"],
        "theory_engine.cpp:2276",
    ),
    ("cvc5-debug-check-models-incomplete-abort", "formula.smt2", "cvc5", ["--nl-ext=none"], "unknown"),
    ("cvc5-fp-round-to-integral", "formula.smt2", "cvc5", ["--fp-exp"], "unsat"),
    ("cvc5-fp-round-to-integral", "fixed.smt2", "cvc5", ["--fp-exp"], "sat"),
    ("cvc5-fp-round-to-integral", "formula.smt2", "z3", [], "sat"),
    ("cvc5-fp-invalid-model", "formula.smt2", "cvc5", ["--fp-exp", "--check-models"], "invalid-model"),
    ("cvc5-fp-invalid-model", "fixed.smt2", "cvc5", ["--fp-exp"], "sat"),
    ("cvc5-fp-invalid-model", "refuted.smt2", "cvc5", ["--fp-exp"], "unsat"),
    ("cvc5-fp-invalid-model", "formula.smt2", "z3", ["model_validate=true"], "sat"),
    (
        "cvc5-nested-array-invalid-model",
        "formula.smt2",
        "cvc5",
        ["--arrays-exp", "--check-models"],
        "invalid-model",
    ),
    ("cvc5-nested-array-invalid-model", "fixed.smt2", "cvc5", ["--arrays-exp"], "sat"),
    ("cvc5-nested-array-invalid-model", "refuted.smt2", "cvc5", ["--arrays-exp"], "unsat"),
    ("cvc5-nested-array-invalid-model", "formula.smt2", "z3", ["model_validate=true"], "sat"),
    ("cvc5-nested-array-invalid-model", "fixed.smt2", "z3", [], "sat"),
    ("cvc5-nested-array-invalid-model", "refuted.smt2", "z3", [], "unsat"),
]


def skip_unless_installed(solver: str) -> None:
    """Skip where the reports are about another release than the installed one."""
    distribution, release = RELEASES[solver]
    try:
        installed = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed")
    if not installed.startswith(release):
        pytest.skip(f"the report is about {solver} {release}, installed is {installed}")


def printed(solver: str, options: list[str], file: Path) -> str:
    """What the installed solver prints, and whether it dies."""
    start = find_solver(solver).argv
    done = subprocess.run(
        [*start, *options, file.name], cwd=file.parent, capture_output=True, text=True, timeout=60
    )
    died = "segmentation fault" if done.returncode == -signal.SIGSEGV else ""
    return done.stdout + done.stderr + died


@pytest.mark.parametrize(("folder", "file", "solver", "options", "answer"), ANSWERS)
def test_a_finding_is_still_what_its_report_says(
    folder: str, file: str, solver: str, options: list[str], answer: str
) -> None:
    skip_unless_installed(solver)
    text = printed(solver, options, FOLDER / folder / file)
    if answer == "invalid-model":
        said = (
            "an invalid model was generated" if solver == "z3" else "ERRORS SATISFYING ASSERTIONS WITH MODEL"
        )
        assert said in text
    elif answer == "segmentation fault" or re.search(r"^Line: |\.cpp:\d+$", answer):
        assert answer in text
    elif answer == "contradicted":
        assert "((_ tree-order 0) b c) true)" in text  # the formula asserts that it is false
    else:
        assert text.split()[: len(answer.split())] == answer.split()


@pytest.mark.parametrize("folder", sorted({row[0] for row in ANSWERS}))
def test_a_finding_folder_is_whole(folder: str) -> None:
    names = {file.name for file in (FOLDER / folder).iterdir()}
    assert {"formula.smt2", "command.txt", "report.md", "z3-5.4.0.txt", "cvc5-1.4.2.txt"} <= names
    report = (FOLDER / folder / "report.md").read_text("utf-8")
    assert (FOLDER / folder / "formula.smt2").read_text("utf-8").strip() in report


@pytest.mark.parametrize(
    ("folder", "option"),
    [
        ("cvc5-fp-invalid-model", "fp-exp"),
        ("cvc5-fp-round-to-integral", "fp-exp"),
        ("cvc5-nested-array-invalid-model", "arrays-exp"),
    ],
)
def test_what_needs_an_option_for_experts_does_not_show_in_safe_mode(folder: str, option: str) -> None:
    refusal = f"expert option {option} cannot be set in safe mode."
    reported = f"With `--safe-mode=safe` it does not show: `{refusal}`"
    assert reported in (FOLDER / folder / "report.md").read_text("utf-8")
    skip_unless_installed("cvc5")
    assert refusal in printed("cvc5", ["--safe-mode=safe", f"--{option}"], FOLDER / folder / "formula.smt2")


def test_what_safe_mode_says_to_the_crashes() -> None:
    skip_unless_installed("cvc5")
    refused, shown = "cvc5-sub-cbqi-scope-abort", "cvc5-debug-check-models-incomplete-abort"
    said = "cannot set option sub-cbqi in safe mode, as this option does not support proofs"
    assert f"it does not show: `{said}`" in (FOLDER / refused / "report.md").read_text("utf-8")
    assert said in printed("cvc5", ["--safe-mode=safe", "--sub-cbqi"], FOLDER / refused / "formula.smt2")
    options = ["--safe-mode=safe", "--nl-ext=none", "--debug-check-models"]
    assert "theory_engine.cpp:2276" in printed("cvc5", options, FOLDER / shown / "formula.smt2")


def test_every_finding_of_cvc5_says_what_its_safe_mode_does() -> None:
    reports = list(FOLDER.glob("cvc5-*/report.md"))
    assert reports
    for report in reports:
        said = re.findall(r"^With `--safe-mode=safe` it (?:shows|does not)", report.read_text("utf-8"), re.M)
        assert len(said) == 1, report


def test_every_finding_is_listed_and_replayed() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/command.txt")}  # the others: test_api_findings
    index = (FOLDER / "README.md").read_text("utf-8")
    assert folders == {row[0] for row in ANSWERS}
    assert all(f"({folder}/report.md)" in index for folder in folders)
