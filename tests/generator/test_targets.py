"""What the targets of a campaign accept: asked about parts, kept on disk, and kept to by every strategy."""

from __future__ import annotations

import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from generator import GeneratedTest, Strategy, StrategySettings
from generator.build import Sources, build_strategy
from generator.questions import (
    Node,
    nodes_of,
    nodes_of_part,
    question_of_atom,
    question_of_nodes,
    question_of_skeleton,
)
from generator.targets import AcceptedTerms, Targets, targets_for
from smtlib import BOOL, Kind, check_script, read_script
from smtlib.sorts import INT as INTEGER
from tests.generator.small import atom, script_of, skeleton

INT = Node("+", ("Int", "Int"), "Int")
STRING = Node("str.len", ("String",), "Int")
# Refuses what matches PATTERN; notes each text that it is given.
TOY = """#!/bin/sh
case "$1" in --version) echo "toy {version}"; exit 0;; esac
echo run >> {log}
{extra}
if grep -Eq '{pattern}' "$1"; then echo '(error "no such thing")'; exit 1; fi
grep -q check-sat "$1" && echo unknown
exit 0
"""
Toy = Callable[..., str]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    targets_for.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def toy(tmp_path: Path, log: Path) -> Toy:
    def make(pattern: str, extra: str = "", version: str = "1") -> str:
        program = tmp_path / "toy"
        program.write_text(TOY.format(log=log, pattern=pattern, extra=extra, version=version))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return f"toy={program}"

    return make


def runs(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


# Questions


def test_the_question_about_an_operator_applies_it_to_symbols() -> None:
    text = question_of_nodes([Node("=", ("(Seq Int)", "(Seq Int)"), "Bool"), INT], bound=False)
    assert text.splitlines() == [
        "(set-logic ALL)",
        "(declare-fun r1 () Int)",
        "(declare-fun holds0 () Bool)",
        "(declare-fun fails0 () Bool)",
        "(declare-fun x0_0 () (Seq Int))",
        "(declare-fun x0_1 () (Seq Int))",
        "(declare-fun holds1 () Bool)",
        "(declare-fun fails1 () Bool)",
        "(declare-fun x1_0 () Int)",
        "(declare-fun x1_1 () Int)",
        "(assert (or (not holds0) (not fails0)))",
        "(assert (or holds0 (= x0_0 x0_1)))",
        "(assert (or fails0 (not (= x0_0 x0_1))))",
        "(assert (or (not holds1) (not fails1)))",
        "(assert (or holds1 (= r1 (+ x1_0 x1_1))))",
        "(assert (or fails1 (not (= r1 (+ x1_0 x1_1)))))",
        "(check-sat)",
    ]


def test_below_quantifiers_the_symbols_are_variables() -> None:
    text = question_of_nodes([Node("", ("Int",), "Bool")], bound=True)
    assert "(assert (forall ((x0_0 Int)) (or holds0 (f0 x0_0))))" in text
    assert "(declare-fun f0 (Int) Bool)" in text and "(declare-fun x0_0" not in text


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize(
    "node",
    [
        INT,
        STRING,
        Node("", ("Int", "Real"), "Int"),
        Node("re.++", ("RegLan", "RegLan"), "RegLan"),
        Node("str.in_re", ("String", "RegLan"), "Bool"),
        Node("div", ("Int", "=2"), "Int"),
        Node("true", (), "Bool"),
        Node("(_ extract 3 0)", ("(_ BitVec 8)",), "(_ BitVec 4)"),
        Node("(as const (Array Int Int))", ("Int",), "(Array Int Int)"),
        Node("fp.add", ("RoundingMode", "(_ FloatingPoint 5 11)", "(_ FloatingPoint 5 11)"), "Float16"),
    ],
)
def test_questions_are_well_sorted(node: Node, bound: bool) -> None:
    assert not check_script(read_script(question_of_nodes([node], bound))).errors


def test_questions_about_atoms_and_skeletons_are_well_sorted() -> None:
    lists = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-const l L)"
    made = atom(1, f"{lists}(declare-fun f (Int) Int)", "(= (f (hd l)) 3)")
    for bound in (False, True):
        text = question_of_atom(made, bound)
        assert not check_script(read_script(text)).errors
        assert "declare-datatypes" in text and ("forall" in text) == bound
    sequences = atom(1, "(declare-const s (Seq Int))(declare-const t (Seq Int))", "(= s t)")
    assert not check_script(read_script(question_of_atom(sequences, False))).errors
    found = skeleton(1, "(forall 2 (or (hole 0) (exists 1 (hole 1))))")
    assert not check_script(read_script(question_of_skeleton(found))).errors
    # What the atom declares is asked about as it is, and what is no operator over terms.
    assert nodes_of_part(made) == (None, False)
    functions = "(declare-const f (-> Int Bool))(declare-const g (-> Int Bool))"
    assert nodes_of_part(atom(1, functions, "(= f g)")) == (None, False)


def test_what_may_decide_acceptance_is_kept_of_a_term() -> None:
    script = script_of(
        "(declare-const x Int)(declare-const v (_ BitVec 32))(declare-const u (_ BitVec 1))"
        "(assert (< (* 7 x) (* x x)))(assert (> (div x 0) (div x 9)))"
        "(assert (= (bvadd v v v v v) (bvneg v)))(assert (= u (bvnot u) ((_ extract 0 0) v)))(check-sat)"
    )
    found = set(nodes_of(script.terms))
    eight = "(_ BitVec 8)"
    assert {
        Node("*", ("=2", "Int"), "Int"),
        Node("*", ("Int", "Int"), "Int"),
        Node("div", ("Int", "=0"), "Int"),
        Node("div", ("Int", "=2"), "Int"),
        Node("bvadd", (eight,) * 3, eight),
        Node("bvneg", (eight,), eight),
        Node("bvnot", ("(_ BitVec 1)",), "(_ BitVec 1)"),
        Node("(_ extract 0 0)", ("(_ BitVec 32)",), "(_ BitVec 1)"),
    } <= found


# Answers


def test_references_are_not_asked_and_accept_everything() -> None:
    targets = Targets(("z3", "cvc5", "z3"))
    assert not targets and targets.specs == ()
    assert targets.accept("(no script") and targets.accept_nodes([Node("no", (), "Such")], bound=True)


def test_every_target_has_to_accept(toy: Toy, tmp_path: Path) -> None:
    spec = toy("str[.]len")
    other = tmp_path / "other"
    other.write_text((tmp_path / "toy").read_text().replace("str[.]len", "[(]f0 "))
    other.chmod(0o755)
    targets = Targets((spec, f"other={other}", "z3"))
    assert targets.accept_nodes([INT], bound=True)
    assert not targets.accept_nodes([INT, STRING], bound=False)
    assert not targets.accept_nodes([Node("", ("Int",), "Int"), INT], bound=False)
    assert targets.accept_nodes([INT], bound=False)


def test_answers_are_asked_once_and_kept_by_version(toy: Toy, log: Path) -> None:
    spec = toy("str[.]len")
    nodes = [INT, STRING, Node("-", ("Int", "Int"), "Int")]
    assert not Targets((spec,)).accept_nodes(nodes, bound=False)
    asked = runs(log)
    assert not Targets((spec,)).accept_nodes(nodes, bound=False)
    assert Targets((spec,)).accept_nodes([INT], bound=False)
    assert runs(log) == asked
    # Another build is asked again.
    spec = toy("str[.]lem", version="2")
    assert Targets((spec,)).accept_nodes(nodes, bound=False)
    assert runs(log) > asked


def test_several_operators_are_asked_about_at_once(toy: Toy, log: Path) -> None:
    targets = Targets((toy("nothing"),))
    assert targets.accept_nodes([Node(name, ("Int", "Int"), "Int") for name in "+-*"], bound=False)
    assert runs(log) == 2  # with the one that shows whether it can be asked at all


def test_what_comes_after_the_first_quantifier_is_asked_about_below_quantifiers(toy: Toy) -> None:
    script = script_of("(declare-const x Int)(assert (> x 0))(check-sat)")
    table = script.table.copy()
    variable, one = table.variable("y", INTEGER), table.literal("1", INTEGER)
    new = {name: table.operator(name, (one, one), INTEGER) for name in ("+", "-", "*")}
    same = table.operator("=", (variable, one), BOOL)
    quantified = table.make(table.op(Kind.BINDER, "exists"), (same,), BOOL, (variable,))
    accepted = AcceptedTerms(Targets((toy("forall.*[(][+*] "),)), script)
    assert accepted.accept(new["+"])
    assert not accepted.accept(quantified)  # for + stands beside it
    accepted = AcceptedTerms(Targets((toy("forall.*[(][+*] "),)), script)
    assert accepted.accept(quantified) and accepted.accept(new["-"])
    assert not accepted.accept(new["*"])


@pytest.mark.parametrize("extra", ["sleep 60", "kill -SEGV $$"])
def test_crashes_and_timeouts_are_no_refusals(toy: Toy, extra: str) -> None:
    targets = Targets((toy("nothing", f"if grep -q str.len $1; then {extra}; fi"),))
    assert targets.accept_nodes([STRING], bound=False)


@pytest.mark.parametrize("extra", ["sleep 60", "kill -9 $PPID", "kill -SEGV $$"])
@pytest.mark.few(2)
def test_what_happened_in_a_bad_moment_is_asked_again_later(toy: Toy, extra: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad moment"
    spec = toy("str.len", f'if [ -f "{bad}" ]; then {extra}; fi')
    bad.touch()
    # It does not accept the simplest script, so it is not asked about others.
    assert Targets((spec,)).accept_nodes([STRING], bound=False)
    bad.unlink()
    targets = Targets((spec,))
    assert targets.accept_nodes([INT], bound=False)
    bad.touch()
    assert targets.accept_nodes([STRING], bound=False)
    bad.unlink()
    assert not Targets((spec,)).accept_nodes([STRING], bound=False)


@pytest.mark.parametrize(("pattern", "extra"), [(".", ""), ("nothing", "sleep 60")])
def test_a_target_that_does_not_accept_the_simplest_script_is_not_asked_further(
    toy: Toy, log: Path, pattern: str, extra: str
) -> None:
    targets = Targets((toy(pattern, extra),))
    assert targets.accept_nodes([STRING], bound=True)
    assert runs(log) == 1


@pytest.mark.parametrize("content", [b"\xff\xfe\0\n", b"1\n2 3 4\n\n deadbeef\n", b"0" * (5 << 20)])
def test_a_damaged_or_large_file_of_answers_is_no_harm(
    toy: Toy, log: Path, cache: Path, content: bytes
) -> None:
    spec = toy("str[.]len")
    assert Targets((spec,)).accept_nodes([INT], bound=False)
    (file,) = (cache / "accepted").iterdir()
    file.write_bytes(content)
    targets = Targets((spec,))
    assert targets.accept_nodes([INT], bound=False) and not targets.accept_nodes([STRING], bound=False)
    assert file.stat().st_size < 5 << 20
    before = runs(log)
    assert Targets((spec,)).accept_nodes([INT], bound=False)
    assert runs(log) == before


def test_a_cache_that_cannot_be_written_is_no_harm(toy: Toy, cache: Path) -> None:
    cache.write_text("no folder")
    assert not Targets((toy("str[.]len"),)).accept_nodes([STRING], bound=False)


# Strategies


def made(corpus: Path, name: str, specs: Sequence[str], *given: str) -> Strategy:
    targets_for.cache_clear()
    settings = StrategySettings(3, solvers=tuple(specs), given=given)
    return build_strategy(name, Sources(corpus), settings)


def texts(tests: Sequence[GeneratedTest]) -> list[str]:
    return [test.text.partition("(set-logic")[2] for test in tests]


PATTERN = "str[.]|[(]forall |[(]exists |bvadd"
SETTINGS = {"weaken": ("unlabelled=chain",), "storm": ("nc=20", "nm=20")}


FROM_SEEDS = ("typefuzz", "opfuzz", "join", "weaken", "storm", "transplant", "rewrites")


@pytest.mark.parametrize("name", ("skeletons", *FROM_SEEDS, "congruence", "expand"))
@pytest.mark.few(3)
def test_no_test_has_what_a_target_refuses(name: str, corpus_path: Path, toy: Toy) -> None:
    words = ("(str.", "(forall ", "(exists ", "(bvadd ")
    given = SETTINGS.get(name, ())
    before = "\n".join(texts(list(made(corpus_path, name, ("z3",), *given).generate(0, 60))))
    assert any(word in before for word in words)
    tests = made(corpus_path, name, (toy(PATTERN), "z3"), *given).generate(0, 60)
    after = "\n".join(texts([test for test in tests if not test.only]))
    assert "(assert" in after
    assert [word for word in words if word in after] == []


@pytest.mark.parametrize(
    "name", ("skeletons", "congruence", "typefuzz", "join", "transplant", "rewrites", "expand")
)
@pytest.mark.few(2)
def test_a_test_does_not_depend_on_what_was_asked_before(name: str, corpus_path: Path, toy: Toy) -> None:
    spec = toy(PATTERN)
    alone = texts(list(made(corpus_path, name, (spec, "z3")).generate(25, 30)))
    assert texts(list(made(corpus_path, name, (spec, "z3")).generate(0, 30)))[25:] == alone


def test_nothing_is_asked_before_the_first_test(corpus_path: Path, toy: Toy, log: Path) -> None:
    """A hunt makes all its strategies before its first test."""
    skeletons = made(corpus_path, "skeletons", (toy(PATTERN), "z3"))
    assert not log.exists()
    assert list(skeletons.generate(0, 1))
    assert runs(log) > 1


def test_an_enumeration_leaves_out_what_a_target_refuses(corpus_path: Path, toy: Toy) -> None:
    found = texts(list(made(corpus_path, "enumerate", (toy("[(][<>]"), "z3")).generate(0, 50)))
    assert found and not any("(<" in text or "(>" in text for text in found)


def test_where_all_is_refused_tests_are_made_as_without_the_target(corpus_path: Path, toy: Toy) -> None:
    with_target = made(corpus_path, "skeletons", (toy("."), "z3")).generate(0, 10)
    assert texts(list(with_target)) == texts(list(made(corpus_path, "skeletons", ("z3",)).generate(0, 10)))
