"""Changes between folders of sources, what they name, and the order of formulas by that."""

from __future__ import annotations

import random
import time
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from difftest.bugs.records import Trigger
from difftest.campaign.files import FileTests
from difftest.directed import changes
from difftest.directed.changes import Change, find_changes, functions_of
from difftest.directed.coverage import Function, Ran
from difftest.directed.direction import Difference, Direction, additional_order
from difftest.directed.names import Names
from difftest.errors import DifftestError
from difftest.found_files import FoundFiles
from difftest.regress import KnownFormulas

REWRITER = """
// Rewrites.
#include "ast/rewriter/seq_rewriter.h"
namespace seq {
class seq_rewriter {
    int depth() const { return 3; }
    expr * mk_seq_replace_all(expr * a) { return a; }
};
template<typename T> expr & seq_rewriter::mk_seq_index(T * a) { return *a; }
}
extern "C" { void reset() {} }
"""
PLUGIN = """
void seq_decl_plugin::init() {
    m_sigs[OP_SEQ_REPLACE_ALL] = alloc(psig, m, "str.replace_all", 0, 3, str3T, strT);
    m_sigs[OP_SEQ_INDEX] = alloc(psig, m, "str.indexof", 0, 3, str3T, strT);
}
void fpa_decl_plugin::get_op_names() {
    op_names.push_back(builtin_name("fp.isZero", OP_FPA_IS_ZERO));
    op_names.push_back(builtin_name("bvadd", OP_BADD));
}
"""


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def change(
    file: str = "util/a.cpp", function: str = "", identifiers: str = "", literals: tuple[str, ...] = ()
) -> Change:
    return Change(file, function, frozenset(identifiers.split()), frozenset(literals))


def test_functions_have_the_names_of_their_classes() -> None:
    found = functions_of(REWRITER.encode())
    names = {"seq_rewriter::depth", "seq_rewriter::mk_seq_replace_all", "seq_rewriter::mk_seq_index", "reset"}
    assert found.keys() == names | {""}
    assert list(found["seq_rewriter::depth"]) == ["int depth() const { return 3; }"]
    assert "class seq_rewriter {" in found[""] and "// Rewrites." not in found[""]


def test_only_what_differs_is_a_change(tmp_path: Path) -> None:
    files = {"ast/a.cpp": REWRITER, "ast/same.cpp": "void f() {}\n", "test/t.cpp": "int a;\n", "x.txt": "1\n"}
    base = tree(tmp_path / "base", {**files, "old/moved.cpp": REWRITER, "p.pyg": "('a.b', BOOL)\n"})
    edited = REWRITER.replace("return a;", 'TRACE("str.indexof"); return mk_bv_add(a);')
    files |= {"ast/a.cpp": edited, "test/t.cpp": "int b;\n", "x.txt": "2\n"}
    new = tree(
        tmp_path / "new", {**files, "new/moved.cpp": REWRITER, "p.pyg": "('a.b', BOOL)\n('c.d', INT)\n"}
    )
    (new / "link.cpp").symlink_to(new / "x.txt")
    found = find_changes(base, new, skip=["test"], lists=["*.pyg"])
    assert (found.files, found.functions, found.left_out) == (2, 1, 0)
    function, lines = found.found
    assert (function.file, function.function) == ("ast/a.cpp", "seq_rewriter::mk_seq_replace_all")
    assert {"TRACE", "mk_bv_add", "mk_seq_replace_all"} <= function.identifiers
    assert "depth" not in function.identifiers and function.literals == {"str.indexof"}
    assert (lines.file, lines.function, lines.literals) == ("p.pyg", "", {"c.d"})
    # Comments and indentation are no change.
    tree(new, {"ast/a.cpp": REWRITER.replace("    int", "  int").replace("Rewrites", "Writes")})
    assert [one.file for one in find_changes(base, new, ["test"], ["*.pyg"]).found] == ["p.pyg"]
    with pytest.raises(DifftestError, match="no such folder"):
        find_changes(base, tmp_path / "none")


@pytest.mark.parametrize(
    "piece", ["(", "{", "a<", "namespace a {", "#if a\n", "struct a { void f() {", "\0\xff"]
)
@pytest.mark.few(3)
def test_hostile_sources_end(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_SECONDS", 0.5)
    assert "" in functions_of(piece.encode("latin-1") * 20_000)


def test_a_busy_machine_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"void f() { g(); }\n" * 20_000
    clock = SimpleNamespace(monotonic=partial(next, count(0, 100)), thread_time=time.thread_time)
    monkeypatch.setattr(changes, "time", clock)
    assert functions_of(text)["f"].total() == 20_000


def test_what_is_too_large_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tree(tmp_path / "base", {"a.cpp": "int a;\n"})
    new = tree(tmp_path / "new", {"a.cpp": "int b;\n"})
    monkeypatch.setattr(changes, "MAX_BYTES", 3)
    found = find_changes(base, new)
    assert (found.files, found.left_out, found.found) == (1, 1, [])
    monkeypatch.setattr(changes, "MAX_FILES", 0)
    with pytest.raises(DifftestError, match="too many sources"):
        find_changes(base, new)


@pytest.fixture
def names(tmp_path: Path) -> Names:
    return Names("z3", tree(tmp_path / "src", {"ast/seq_decl_plugin.cpp": PLUGIN}))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (change(identifiers="OP_SEQ_REPLACE_ALL"), {("operator", "str.replace_all")}),
        (change(identifiers="str_replace_all"), {("operator", "str.replace_all")}),
        (
            change("util/a.cpp", function="seq_util::mk_seq_index"),
            {("operator", "str.indexof"), ("theory", "UnicodeStrings"), ("theory", "Sequences")},
        ),
        (change(identifiers="mk_bv_add OP_UNKNOWN x"), {("operator", "bvadd")}),
        (change(identifiers="mk_badd badd"), {("operator", "bvadd")}),
        (change(literals=("str.indexof",)), {("operator", "str.indexof")}),
        (change(identifiers="mk_select select_all"), {("operator", "select")}),
        # Numbers are zero everywhere; in the theory of floating point it is its operator.
        (change(identifiers="is_zero"), set()),
        (
            change("ast/rewriter/fpa_rewriter.cpp", identifiers="is_zero"),
            {("operator", "fp.isZero"), ("theory", "FloatingPoint")},
        ),
        (change("p.pyg", literals=("arith.nl",)), {("option", "smt.arith.nl")}),
        (
            change("tactic/core/ctx_simplify_tactic.cpp", "f"),
            {("tactic", "ctx-simplify")},
        ),
        (change("smt/theory_datatype.cpp", "occurs_check"), {("theory", "Datatypes")}),
        (change("util/vector.h", "push_back", "T size"), set()),
    ],
)
def test_words_of_sources_name_what_scripts_use(names: Names, changed: Change, named: set[object]) -> None:
    assert names.of_change(changed) == named


def test_the_names_of_another_solver_are_data_of_its_profile(tmp_path: Path) -> None:
    state = """
        addOperator(Kind::STRING_REPLACE_ALL, "str.replace_all");
        addOperator(Kind::SELECT, "select");
    """
    names = Names("cvc5", tree(tmp_path, {"parser/smt2/smt2_state.cpp": state}))
    strings = {("operator", "str.replace_all"), ("theory", "UnicodeStrings"), ("theory", "Sequences")}
    rewriter = change("theory/strings/rewriter.cpp", "SequencesRewriter::rewriteReplaceAll")
    assert names.of_change(rewriter) == strings
    assert names.of_change(change("theory/a.cpp", "rewriteReplaceAll")) == set()
    assert names.of_change(change(identifiers="Kind SELECT")) == {("operator", "select")}
    option = change("options/arith_options.toml", literals=("nl-ext=MODE",))
    assert names.of_change(option) >= {("option", "nl-ext")}


def test_formulas_use_operators_theories_options_and_tactics(names: Names) -> None:
    text = (
        "(declare-const s String)(assert (= s (str.replaceall s s s)))(check-sat-using (then simplify smt))"
    )
    used = names.of_formula(text, ("smt.arith.nl=false",))
    assert used >= {
        ("operator", "str.replace_all"),
        ("theory", "UnicodeStrings"),
        ("option", "smt.arith.nl"),
        ("tactic", "simplify"),
    }
    assert ("option", "smt.arith.nl") not in names.of_formula(text)
    assert ("option", "smt.arith.nl") in names.of_formula("(set-option :smt.arith.nl true)")


def formula(sort: str, term: str) -> tuple[str, tuple[str, ...]]:
    return f"(declare-const x {sort})\n(assert {term})\n(check-sat)\n", ()


FORMULAS = [
    formula("Int", "(> x 3)"),
    formula("(_ BitVec 4)", "(= x (bvadd x #x1))"),
    formula("String", '(= x (str.++ x "a"))'),
    formula("String", '(= x (str.replace_all x "a" "b"))'),
]


def test_what_the_difference_can_touch_comes_first(tmp_path: Path) -> None:
    plugin = {"src/ast/seq_decl_plugin.cpp": PLUGIN}
    base = tree(tmp_path / "base", {**plugin, "src/ast/rewriter/seq_rewriter.cpp": REWRITER})
    edited = REWRITER.replace("return a;", "return b;")
    new = tree(tmp_path / "new", {**plugin, "src/ast/rewriter/seq_rewriter.cpp": edited})
    difference = Difference.of("z3", base / "src", new / "src")
    direction = Direction(difference, FORMULAS)
    assert direction.order == (3, 2, 0, 1) and direction.touched == 2
    assert direction.score(FORMULAS[3][0]) > direction.score(FORMULAS[2][0]) > 0
    assert direction.score(FORMULAS[0][0]) == 0
    found = direction.to_json()
    assert (found["functions"], found["files"], found["formulas_first"], found["formulas"]) == (1, 1, 2, 4)
    assert found["most_changed"] == {"ast/rewriter/seq_rewriter.cpp": 1}
    assert found["operators"] == ["seq.replace_all", "str.replace_all"] and found["options"] == []
    assert "1 function changed in 1 file (ast/rewriter/seq_rewriter.cpp 1)" in str(direction)
    assert "2 of 4 known formulas come first" in str(direction)
    # Nothing changed: the order stays.
    nothing = Direction(Difference.of("z3", base / "src", base / "src"), FORMULAS)
    assert nothing.order == (0, 1, 2, 3) and nothing.touched == 0
    assert "nothing that formulas use" in str(nothing)


def test_a_change_that_names_everything_weighs_little(names: Names) -> None:
    every = frozenset(("operator", name) for name in ("bvadd", "str.++", "select"))
    one = frozenset((("operator", "bvadd"),))
    found = changes.Changes([change()] * 2)
    direction = Direction(Difference(found, names, (every, one)), FORMULAS)
    assert direction.order[0] == 1
    assert direction.score(FORMULAS[1][0]) > 2 * direction.score(FORMULAS[2][0]) > 0


def ran(functions: str, seconds: float = 0.0) -> Ran:
    return Ran(frozenset(("a.cpp", name) for name in functions), seconds)


def weights(**given: float) -> dict[Function, float]:
    return {("a.cpp", name): weight for name, weight in given.items()}


def test_the_next_formula_adds_the_most_for_its_time() -> None:
    alike = weights(a=1, b=1, c=1, d=1)
    assert additional_order([ran("ab"), ran("abc"), ran(""), ran("d"), ran("abcd", 100)], alike) == [
        1,
        3,
        0,
        4,
    ]
    # What adds little comes late, however much it runs; what is rare comes early.
    assert additional_order([ran("ab"), ran("abc"), ran("cd")], alike) == [1, 2, 0]
    assert additional_order([ran("abc"), ran("bcd")], alike | weights(d=1.5)) == [1, 0]
    assert additional_order([ran("abc"), ran("ab", 1)], alike) == [0, 1]
    assert additional_order([ran("abc", 3), ran("ab", 1)], alike) == [1, 0]
    assert additional_order([], {}) == []


@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_that_of_trying_all(seed: int) -> None:
    drawn = random.Random(seed)
    given = weights(**{name: drawn.choice((0.25, 0.5, 1.0, 2.0)) for name in "abcdefgh"})
    left = {n: ran("".join(drawn.sample("abcdefgh", drawn.randint(1, 6)))) for n in range(30)}
    runs = list(left.values())
    expected: list[int] = []
    covered: set[Function] = set()
    while left:
        added = {n: sum(given[f] for f in found.functions - covered) for n, found in left.items()}
        best = max(left, key=lambda n: (added[n], -n))
        if not added[best]:
            covered.clear()
            continue
        expected.append(best)
        covered |= left.pop(best).functions
    assert additional_order(runs, given) == expected


def test_known_formulas_are_replayed_in_that_order(tmp_path: Path) -> None:
    (tmp_path / "f.smt2").write_text("(assert true)\n")
    triggers = [Trigger(solver="z3", text=text) for text, _ in FORMULAS[:2]]
    known = KnownFormulas(FileTests(FoundFiles([tmp_path])), triggers, "z3")
    assert [text for text, _ in known.formulas()] == ["(assert true)\n", FORMULAS[0][0], FORMULAS[1][0]]
    before = known.fingerprint
    known.reorder((2, 0, 1))
    tests = list(known.generate(0, 9))
    assert [test.text for test in tests] == [FORMULAS[1][0], "(assert true)\n", FORMULAS[0][0]]
    assert [test.index for test in tests] == [0, 1, 2]
    assert tests[1].origin == str(tmp_path / "f.smt2") and list(known.generate(1, 3)) == tests[1:]
    assert known.fingerprint != before
