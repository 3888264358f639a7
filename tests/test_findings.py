"""The findings of docs/findings: the pinned releases print what the reports say.

What reports say of other formulas than their input is tested as well: a row names a block of SMT-LIB in the
report, 0 for the input. Findings with a program are in test_api_findings, too.
"""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from difftest import find_solver
from difftest.triage.ledger import Ledger
from difftest.triage.sending import check_reports
from tests.findings import FOLDER, WITH_PROGRAM, assert_safe_mode, report_of, skip_unless_installed

Ends = str | tuple[str] | signal.Signals
"""The first words that are printed, a text that is printed (a tuple), or a signal."""
SEGV, ABRT = signal.SIGSEGV, signal.SIGABRT
_BLOCK = re.compile(r"^```smt2\n(.*?)^```$", re.M | re.S)
INVALID = {"z3": "an invalid model was generated", "cvc5": "ERRORS SATISFYING ASSERTIONS WITH MODEL"}

# Folder, block, solver, options, how it ends.
ANSWERS: list[tuple[str, int, str, list[str], Ends]] = [
    ("boolector-quantifier-wrong-unsat", 0, "boolector", [], "unsat"),
    ("boolector-quantifier-wrong-unsat", 1, "boolector", [], "sat"),
    ("boolector-quantifier-wrong-unsat", 0, "z3", [], "sat"),
    ("boolector-quantifier-wrong-unsat", 0, "cvc5", [], "sat"),
    ("cvc5-abduct-limit-inconsistent", 0, "cvc5", [], "(define-fun A () Bool (bvult c (bvsrem c"),
    ("cvc5-aci-norm-string-proof", 0, "cvc5", ["--check-proofs"], "unsat"),
    ("cvc5-aci-norm-string-proof", 0, "cvc5", ["--check-proofs", "--proof-check=eager"], ("ACI_NORM",)),
    ("cvc5-aci-norm-string-proof", 0, "z3", [], "unsat"),
    (
        "cvc5-aci-norm-string-proof",
        1,
        "cvc5",
        ["--check-proofs", "--proof-check=eager"],
        ("ARITH_POLY_NORM",),
    ),
    ("cvc5-boolean-value-contradiction", 0, "cvc5", [], "sat ((q false) (r true) ((= r q) true))"),
    ("cvc5-boolean-value-contradiction", 1, "cvc5", [], "sat (((= r q) true) ((ite (= r q) 1 2) 2))"),
    ("cvc5-check-after-limit-model-abort", 0, "cvc5", ["--incremental"], ("model_manager.cpp:129",)),
    ("cvc5-core-misses-named-assertion", 0, "cvc5", [], "unsat ( second )"),
    ("cvc5-core-misses-named-assertion", 1, "cvc5", [], "sat"),
    (
        "cvc5-debug-check-models-incomplete-abort",
        0,
        "cvc5",
        ["--nl-ext=none", "--debug-check-models"],
        ("theory_engine.cpp:2276",),
    ),
    ("cvc5-debug-check-models-incomplete-abort", 0, "cvc5", ["--nl-ext=none"], "unknown"),
    ("cvc5-division-total-wrong-sat", 1, "cvc5", [], "sat ((x 0.0) ((/_total x x) 0.0))"),
    ("cvc5-interpolants-datatype-wrong-unsat", 0, "cvc5", ["--produce-interpolants"], "unsat"),
    ("cvc5-interpolants-datatype-wrong-unsat", 0, "cvc5", [], "sat"),
    ("cvc5-interpolants-datatype-wrong-unsat", 0, "z3", [], "sat"),
    (
        "cvc5-interpolants-datatype-wrong-unsat",
        1,
        "cvc5",
        [],
        "(define-fun A () Bool (let ((_let_1 (t x))) (and (= (s x) 1) (>= _let_1 1) (not (>= _let_1 2)))))",
    ),
    ("cvc5-nested-array-wrong-sat", 0, "cvc5", ["--arrays-exp"], "sat"),
    ("cvc5-nested-array-wrong-sat", 0, "cvc5", ["--arrays-exp", "--check-models"], (INVALID["cvc5"],)),
    ("cvc5-nested-array-wrong-sat", 0, "z3", [], "unsat"),
    ("cvc5-nth-values-contradict", 1, "cvc5", [], "sat ((x a) ((l x) (b a a)) ((r (l x)) (b a a)))"),
    ("cvc5-qe-limit-negated", 0, "cvc5", [], "(exists ((x Int)) (not (forall ((y Int)) (f x y))))"),
    ("cvc5-qe-division-by-zero", 0, "cvc5", [], "false"),
    ("cvc5-qe-division-by-zero", 1, "cvc5", [], "sat"),
    ("cvc5-qe-division-by-zero", 1, "z3", [], "sat"),
    ("cvc5-qe-string-recursion-segfault", 0, "cvc5", [], SEGV),
    ("cvc5-qe-string-recursion-segfault", 1, "cvc5", [], SEGV),
    ("cvc5-qe-string-recursion-segfault", 2, "cvc5", [], SEGV),
    ("cvc5-qe-recursive-definition-abort", 0, "cvc5", [], ("quantifiers_attributes.cpp",)),
    ("cvc5-qe-then-unsat", 0, "cvc5", [], "false unsat"),
    ("cvc5-qe-then-unsat", 0, "cvc5", ["--incremental"], "false sat"),
    ("cvc5-qe-then-unsat", 1, "cvc5", [], "sat"),
    ("cvc5-qualified-constructor-wrong-sat", 0, "cvc5", [], "sat"),
    ("cvc5-qualified-constructor-wrong-sat", 0, "z3", [], "unsat"),
    ("cvc5-qualified-constructor-wrong-sat", 1, "cvc5", [], "unsat"),
    ("cvc5-qualified-constructor-wrong-sat", 2, "cvc5", [], "sat"),
    ("cvc5-qualified-constructor-wrong-sat", 2, "z3", [], "unsat"),
    ("cvc5-pow2-refine-segfault", 0, "cvc5", [], SEGV),
    ("cvc5-sequence-pi-segfault", 0, "cvc5", [], SEGV),
    (
        "cvc5-quantified-set-value",
        0,
        "cvc5",
        [],
        ("((p true) (b (as set.empty (Set Int))))", "(define-fun p () Bool false)"),
    ),
    (
        "cvc5-quantified-set-value",
        1,
        "cvc5",
        [],
        "sat ((b (as set.empty (Set Int))) ((forall ((x Int)) (set.member x b)) true))",
    ),
    ("cvc5-second-core-misses-assertion", 0, "cvc5", [], "unsat ( one three ) ( one )"),
    ("cvc5-second-core-misses-assertion", 0, "z3", [], "unsat (one three) (one three)"),
    ("cvc5-set-card-invalid-model", 0, "cvc5", ["--check-models"], (INVALID["cvc5"],)),
    ("cvc5-sub-cbqi-scope-abort", 0, "cvc5", ["--sub-cbqi"], ("proof_node_manager.cpp:245",)),
    ("cvc5-sub-cbqi-scope-abort", 0, "cvc5", [], "sat"),
    ("cvc5-value-after-simplify", 1, "cvc5", ["--incremental"], SEGV),
    ("cvc5-value-after-simplify", 2, "cvc5", ["--incremental"], ABRT),
    ("z3-array-string-length-wrong-unsat", 0, "z3", [], "unsat"),
    ("z3-array-string-length-wrong-unsat", 0, "cvc5", [], "sat"),
    ("z3-array-string-length-wrong-unsat", 1, "z3", [], "unsat (two)"),
    ("z3-array-string-length-wrong-unsat", 1, "cvc5", [], "unsat ( one two )"),
    ("z3-constant-array-two-elements", 0, "z3", [], "unsat"),
    ("z3-constant-array-two-elements", 1, "z3", [], "sat"),
    ("z3-constant-array-two-elements", 1, "cvc5", ["--finite-model-find"], "sat"),
    ("z3-ctx-solver-simplify-empty-core", 0, "z3", [], "unsat ()"),
    ("z3-elim-predicates-abort", 0, "z3", [], ("generic_model_converter.cpp",)),
    ("z3-finite-set-function-sat", 1, "z3", [], "unsat"),
    ("z3-finite-set-function-sat", 2, "cvc5", [], "unsat"),
    ("z3-finite-set-sizes-unsat", 1, "cvc5", [], "sat"),
    ("z3-finite-set-sizes-unsat", 2, "z3", [], "unsat"),
    ("z3-fold-unfold-cores-segfault", 0, "z3", [], SEGV),
    ("z3-fp-consequences", 0, "z3", [], "sat (=> true (= x #b0)) sat"),
    ("z3-fp-function-rounding-mode-segfault", 0, "z3", [], SEGV),
    ("z3-fp-function-rounding-mode-segfault", 1, "cvc5", [], "sat"),
    ("z3-horn-array-declared-sort-segfault", 0, "z3", [], SEGV),
    ("z3-horn-equal-values-wrong-sat", 0, "z3", [], "sat"),
    ("z3-horn-equal-values-wrong-sat", 1, "z3", [], "unsat"),
    ("z3-horn-equal-values-wrong-sat", 1, "cvc5", ["--arrays-exp"], "unsat"),
    ("z3-horn-equal-values-wrong-sat", 2, "z3", [], "sat"),
    ("z3-horn-equal-values-wrong-sat", 3, "z3", [], "unsat"),
    ("z3-horn-equal-values-wrong-sat", 4, "z3", [], "unsat"),
    ("z3-horn-fp-min-unsat", 0, "z3", [], "unsat"),
    ("z3-horn-fp-min-unsat", 1, "z3", [], "sat"),
    ("z3-horn-proofs-unknown", 0, "z3", [], "unknown"),
    ("z3-horn-proofs-unknown", 1, "z3", [], "unsat"),
    ("z3-spacer-nested-array-unreachable", 0, "z3", [], ("mbp_arrays.cpp",)),
    ("z3-spacer-nested-array-unreachable", 0, "z3", ["fp.engine=bmc"], "sat"),
    ("z3-optimize-char-to-bv", 1, "z3", [], "sat"),
    ("z3-partial-order-model-list-segfault", 1, "z3", [], "sat ((p (pair nil nil)))"),
    (
        "z3-partial-order-sum-invalid-model",
        0,
        "z3",
        [],
        "sat ((a 1.0) (((_ partial-order 1) 0.0 (+ 1.0 a)) false))",
    ),
    ("z3-partial-order-sum-invalid-model", 0, "z3", ["model_validate=true"], (INVALID["z3"],)),
    ("z3-partial-order-sum-invalid-model", 1, "z3", [], "sat ((((_ partial-order 1) 0.0 a) true))"),
    ("z3-partial-order-unsat", 1, "z3", [], "sat"),
    ("z3-piecewise-linear-order-wrong-sat", 0, "z3", [], "sat ((a 0) (c 0))"),
    ("z3-piecewise-linear-order-wrong-sat", 0, "z3", ["model_validate=true"], (INVALID["z3"],)),
    ("z3-piecewise-linear-order-wrong-sat", 1, "z3", [], "unsat"),
    ("z3-finite-set-range-regex-segfault", 0, "z3", [], SEGV),
    ("z3-finite-set-range-regex-segfault", 1, "z3", [], "sat"),
    ("z3-partial-order-unsat", 1, "cvc5", [], "sat"),
    ("z3-intblast-bvand-endless", 0, "z3", ["smt.bv.solver=2", "-T:2"], "timeout"),
    ("z3-intblast-smulo-not-implemented", 0, "z3", ["smt.bv.solver=2"], ("Line: 611",)),
    ("z3-maximize-real-beside-integers", 0, "z3", [], "sat (objectives (a (+ 20.0 epsilon)) )"),
    ("z3-maximize-real-beside-integers", 1, "z3", [], "sat"),
    ("z3-maximize-real-beside-integers", 2, "z3", [], "sat (objectives (b (+ 19.0 epsilon)) )"),
    ("z3-maximize-strict-bound-model", 0, "z3", [], "sat ((a 0.0) ((< 0.0 a) false))"),
    ("z3-qe2-array-declared-sort-segfault", 0, "z3", [], SEGV),
    ("z3-qe2-array-declared-sort-segfault", 1, "z3", [], "sat"),
    ("z3-qe2-selects-wrong-result", 0, "z3", [], "sat unsat"),
    (
        "z3-qe2-selects-wrong-result",
        1,
        "z3",
        [],
        "(goals (goal :precision precise :depth 1) )",
    ),
    ("z3-qsat-array-declared-sort-wrong-sat", 0, "z3", [], "sat"),
    ("z3-qsat-array-declared-sort-wrong-sat", 1, "z3", [], "unsat"),
    ("z3-qsat-array-declared-sort-wrong-sat", 2, "z3", [], "unsat"),
    ("z3-quantified-array-one-element", 0, "z3", [], "unsat"),
    ("z3-quantified-array-one-element", 1, "z3", [], "unsat"),
    ("z3-quantified-array-one-element", 1, "cvc5", [], "unsat"),
    ("z3-optimize-as-array", 1, "z3", [], "sat (objectives ( 1) )"),
    ("z3-reduce-args-map-wrong-sat", 0, "z3", [], "sat unsat"),
    ("z3-reduce-args-map-wrong-sat", 1, "z3", [], "sat unsat"),
    ("z3-qe-stores-wrong-unsat", 0, "z3", [], "unsat sat"),
    (
        "z3-soft-constraints-contradict",
        0,
        "z3",
        [],
        "sat (objectives (x 0) (y 0) (first 0) (second 0) ) ((z 1.0))",
    ),
    ("z3-sat-smt-zero-division-unsat", 0, "z3", ["sat.smt=true"], "unsat"),
    ("z3-seq-contains-array-wrong-sat", 0, "z3", [], "sat"),
    ("z3-seq-contains-array-wrong-sat", 1, "z3", [], "unsat"),
    ("z3-sls-strings-not-implemented", 0, "z3", ["smt.sls.enable=true"], ("Line: 338",)),
    ("z3-sls-ubv-to-int-unreachable", 0, "z3", ["smt.sls.enable=true"], ("Line: 2128",)),
    ("z3-special-relation-get-model-segfault", 1, "z3", [], SEGV),
    ("z3-special-relation-get-model-segfault", 2, "z3", [], ("Sort mismatch at argument #1",)),
    ("z3-special-relation-quantifier-segfault", 0, "z3", [], SEGV),
    ("z3-string-consequences", 0, "z3", [], 'sat (=> true (= a "")) sat'),
    ("z3-string-consequences", 1, "z3", [], "sat (=> p (= b 0)) sat"),
    ("z3-tan-wrong-sat", 0, "z3", [], "sat"),
    ("z3-tan-wrong-sat", 0, "cvc5", [], "unsat"),
    ("z3-tan-wrong-sat", 1, "z3", [], "sat"),
    ("z3-tree-order-strict-edge-abort", 0, "z3", [], ("theory_special_relations.cpp",)),
    ("z3-tree-order-strict-edge-abort", 1, "z3", [], "sat"),
    ("z3-tree-order-wrong-sat", 0, "z3", [], "sat sat"),
    ("z3-tree-order-wrong-sat", 1, "z3", ["model_validate=true"], (INVALID["z3"],)),
    ("z3-tree-order-wrong-sat", 1, "z3", [], ("((_ tree-order 0) b c) true)",)),
    ("z3-tree-order-wrong-sat", 2, "z3", [], ("Line: 747",)),
]
# The same for the formulas of weak.md.
WEAK: list[tuple[str, str, list[str], Ends]] = [
    ("z3-euf-completion-wrong-sat", "z3", [], "sat"),
    ("z3-euf-completion-invalid-model", "z3", ["model_validate=true"], (INVALID["z3"],)),
    ("z3-euf-completion-double-negation-segfault", "z3", [], SEGV),
    ("z3-euf-completion-push-segfault", "z3", [], SEGV),
    ("z3-randomizer-simplifier-sat", "z3", [], "sat sat ((p false))"),
    ("z3-qfidl-division-unsat", "z3", [], "unsat"),
    ("z3-propagate-ineqs-division-sat", "z3", [], "sat unsat"),
    ("z3-div0-invalid-model", "z3", ["model_validate=true"], (INVALID["z3"],)),
    ("z3-bv1-blast-simplifier-sorts", "z3", [], ("Sorts (_ BitVec 4) and (_ BitVec 1)",)),
    ("z3-datalog-interval-relation-unsat", "z3", [], "unsat"),
    ("z3-horn-inlined-model", "z3", [], ("(define-fun P ((x!0 Int)) Bool\n    true)",)),
    ("z3-horn-inlined-model", "z3", ["fp.xform.inline_eager=false"], ("P ((x!0 Int)) Bool\n    false)",)),
    ("z3-project-quantifier-segfault", "z3", [], SEGV),
    ("z3-bvarray2uf-distinct-segfault", "z3", [], SEGV),
    ("z3-horn-float-literal-wrong-answer", "z3", [], "unsat"),
    ("cvc5-fp-round-to-integral", "cvc5", ["--fp-exp"], "unsat"),
    ("cvc5-fp-invalid-model", "cvc5", ["--fp-exp", "--check-models"], (INVALID["cvc5"],)),
    ("cvc5-debug-check-models-piand-abort", "cvc5", [], ABRT),
    ("cvc5-set-fold-order-invalid-model", "cvc5", ["--check-models"], (INVALID["cvc5"],)),
    ("z3-ufbv-map-invalid-model", "z3", ["model_validate=true"], (INVALID["z3"],)),
    ("cvc5-model-core-solved-symbol", "cvc5", [], "sat ( (define-fun b"),
    ("cvc5-error-proof-tracer-abort", "cvc5", ["--produce-proofs"], ABRT),
    (
        "cvc5-piand-width-error",
        "cvc5",
        ["--produce-unsat-cores", "--proof-granularity=dsl-rewrite-strict"],
        'unsat (error "expecting bit-width > 0")',
    ),
    ("cvc5-match-quoted-symbol", "cvc5", [], ("got `|x y|` (QUOTED_SYMBOL)",)),
]
# Those of cvc5 without a program; the others are in test_api_findings.
IN_SAFE_MODE = sorted({row[0] for row in ANSWERS if row[0].startswith("cvc5-")} - set(WITH_PROGRAM))


def blocks(folder: str) -> list[str]:
    """The formulas in a report, in order."""
    return _BLOCK.findall(report_of(folder))


def ran(solver: str, options: list[str], text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The installed solver on ``text``."""
    file = folder / "formula.smt2"
    file.write_text(text, "utf-8")
    command = [*find_solver(solver).argv, *options, str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def is_end(done: subprocess.CompletedProcess[str], ends: Ends) -> bool:
    """Whether a run ended as a row says."""
    if isinstance(ends, signal.Signals):
        return done.returncode == -ends
    printed = done.stdout + done.stderr
    if isinstance(ends, tuple):
        return ends[0] in printed
    return printed.split()[: len(ends.split())] == ends.split()


@pytest.mark.parametrize(("folder", "block", "solver", "options", "ends"), ANSWERS)
@pytest.mark.few(45)
def test_a_finding_is_still_what_its_report_says(
    folder: str,
    block: int,
    solver: str,
    options: list[str],
    ends: Ends,
    tmp_path: Path,
) -> None:
    skip_unless_installed(solver)
    # Local search goes by time: rarely it finds a model before it fails.
    for _ in range(5 if "smt.sls.enable=true" in options else 1):
        done = ran(solver, options, blocks(folder)[block], tmp_path)
        if is_end(done, ends):
            break
    assert is_end(done, ends), done


@pytest.mark.parametrize(("name", "solver", "options", "ends"), WEAK)
@pytest.mark.few(12)
def test_a_weak_finding_still_shows(
    name: str, solver: str, options: list[str], ends: Ends, tmp_path: Path
) -> None:
    section = (FOLDER / "weak.md").read_text("utf-8").partition(f"## {name}\n")[2].partition("\n## ")[0]
    skip_unless_installed(solver)
    done = ran(solver, options, _BLOCK.findall(section)[0], tmp_path)
    assert is_end(done, ends), done


@pytest.mark.parametrize("folder", IN_SAFE_MODE)
def test_a_report_says_what_safe_mode_does(folder: str, tmp_path: Path) -> None:
    skip_unless_installed("cvc5")
    _, block, solver, options, ends = next(row for row in ANSWERS if row[0] == folder)
    done = ran(solver, ["--safe-mode=safe", *options], blocks(folder)[block], tmp_path)
    assert_safe_mode(folder, is_end(done, ends), done.stdout + done.stderr)


def test_the_reports_have_their_form() -> None:
    """What is left to do is a person's: what maintainers want, how many a week, what is fixed already."""
    checked = check_reports(sorted(FOLDER.glob("*/report.md")), Ledger(), None)
    found = [
        f"{one.file.parent.name}: {todo.rule}: {todo.what}" for one in checked for todo in one.complaints
    ]
    fixed = (
        r": it is fixed in main |bitwuzla-.*: (?:it is fixed in 0\.10\.0|the newest release is not affected)"
    )
    wrong = [line for line in found if not re.search(rf": policy: | reports a week|{fixed}", line)]
    assert checked and wrong == []


@pytest.mark.parametrize("solver", ["cvc5", "bitwuzla"])
def test_reports_show_the_program_that_reads_the_input(solver: str) -> None:
    program = (FOLDER.parent.parent / "solvers" / solver / "reader.py").read_text("utf-8")
    files = list(FOLDER.glob(f"{solver}-*/formula.smt2"))
    assert files
    for file in files:
        assert f"```python\n{program}```\n" in file.with_name("report.md").read_text("utf-8"), (
            file.parent.name
        )


def test_every_finding_is_listed_and_run() -> None:
    index = (FOLDER / "README.md").read_text("utf-8")
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert f"\n{len(folders)} bugs of " in index
    assert {row[0] for row in ANSWERS} >= folders - set(WITH_PROGRAM)
    assert re.findall(r"^\| \[([\w-]+)\]\(\1/report\.md\) ", index, re.M) == [
        *dict.fromkeys(sorted(folders, key=order))
    ]


def order(folder: str) -> tuple[int, str]:
    """Where the index has a finding."""
    return ["z3", "cvc5", "bitwuzla", "boolector", "oxiz"].index(folder.partition("-")[0]), folder


def test_the_ledger_of_causes_knows_these_findings() -> None:
    weak = (FOLDER / "weak.md").read_text("utf-8")
    shown: dict[str, bool] = {}
    for entry in Ledger.read(FOLDER / "findings.toml").entries:
        assert entry.cause is not None
        if entry.at.startswith("weak.md: "):
            text = weak.partition(f"\n## {entry.at.removeprefix('weak.md: ')}\n")[2].partition("\n## ")[0]
        else:
            text = report_of(entry.at)
        assert text, entry.at
        # One of several entries is enough: a cause has forms that its report does not show.
        shown[entry.at] = shown.get(entry.at, False) or all(name in text for name in entry.cause.names)
    assert [at for at, is_shown in shown.items() if not is_shown] == []
