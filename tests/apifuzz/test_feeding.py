"""Terms of a corpus as calls: well sorted, replayable, equivalent to what they were, and counted."""

from __future__ import annotations

import re

import cvc5
import pytest

from apifuzz import calls
from apifuzz.chance import Chance
from apifuzz.driving import new_run, replay
from apifuzz.engine import Engine
from apifuzz.engines import make_engine
from apifuzz.engines.crosscheck import CrossCheck
from apifuzz.engines.text import TextEngine
from apifuzz.feeding import making
from apifuzz.feeding.terms import FedTerm, Feed
from apifuzz.interface import Capabilities, Feature, Unsupported
from apifuzz.operators import known_theories
from apifuzz.run import Run, Settings, Statistics
from apifuzz.scope import Scope
from apifuzz.trace import TraceError, read_trace
from smtlib import Signature, Sort, check_script, print_term, read_script
from smtlib.environment import has_parameters
from tests.apifuzz.kits import drawn

PLAIN = """
(declare-sort U 0)
(declare-sort P 2)
(declare-fun f (U Int) U)
(declare-const a U)
(declare-const p (P U Int))
(declare-const q (P U Int))
(declare-const i Int)
(declare-const v (_ BitVec 8))
(assert (and (= (f a i) (f (f a (- 3)) (+ i 1)))
    (forall ((x Int) (u U)) (or (> x i) (= (f u x) a)))))
(assert (forall ((x Int)) (and (> x 0) (exists ((x Int)) (< x i)) (> x 2))))
(assert (=> (bvult v #xf0) (let ((w (bvadd v v)))
    (= (concat (bvmul w w) #b0) ((_ zero_extend 5) ((_ extract 3 0) w))))))
(assert (= p q))
"""

DATATYPES = """
(declare-datatypes ((Color 0)) (((red) (green) (mix (first Color) (share Int)))))
(declare-datatypes ((Tree 0) (Forest 0))
    (((leaf (label Color)) (node (below Forest))) ((none) (some (tree Tree) (rest Forest)))))
(declare-datatypes ((Lst 1)) ((par (T) ((done) (link (top T) (back (Lst T)))))))
(declare-datatypes ((Pair 2)) ((par (A B) ((pair (one A) (two B))))))
(declare-sort U 0)
(declare-fun paint (Color U) Color)
(declare-const c Color)
(declare-const u U)
(declare-const t Tree)
(declare-const l (Lst Int))
(declare-const ll (Lst (Lst Color)))
(declare-const k (Pair Int (Lst Int)))
"""

# With the answer: what is fed has the same one.
ASKED = (
    ("(and ((_ is mix) c) (= (first c) red) (> (share c) 3))", "sat"),
    ("(and ((_ is red) c) ((_ is green) c))", "unsat"),
    ("(and (= ((_ update share) (mix red 1) 2) (mix red 1)))", "unsat"),
    ("(distinct (paint c u) (paint ((_ update first) c c) u))", "sat"),
    ("(= t (node (some t none)))", "unsat"),
    ("(and (= (below t) (some (leaf red) none)) ((_ is node) t))", "sat"),
    ("(= l (link 1 l))", "unsat"),
    ("(and (= l (link 1 (as done (Lst Int)))) (= (back l) (as done (Lst Int))))", "sat"),
    ("(= ll (link (as done (Lst Color)) ll))", "unsat"),
    ("(not (= k (pair (one k) (two k))))", "unsat"),
    ("(= (two k) (link (one k) l))", "sat"),
    # A case for each constructor, in another order than declared.
    ("(= 7 (match c (((mix d n) (+ n 1)) (green 2) (red 1))))", "sat"),
    ("(= 7 (match c (((mix d n) 3) (green 2) (red 1))))", "unsat"),
    # A case for whatever is left, before one that is never looked at.
    ("(and (= c green) (match c ((red false) (x (= x red)) (green true))))", "unsat"),
    ("(and (= c green) (match c ((red false) (x (= x green)))))", "sat"),
    # Variables of the same name one inside the other, and after each other.
    (
        "(= c (mix (mix red 5) 6) (match c (((mix x n) (match x (((mix x n) (mix x n)) (x x)))) (x c))))",
        "unsat",
    ),
    (
        "(and (= c (mix (mix red 5) 6)) (= 11 (match c (((mix x n) (+ n (match x (((mix x n) n) (x 0)))))"
        " (x 0)))))",
        "sat",
    ),
    ("(and (= l (link 4 (link 5 (as done (Lst Int))))) (= 4 (match l ((done 0) ((link h r) h)))))", "sat"),
    (
        "(and (= l (link 4 (link 5 (as done (Lst Int))))) (= 4 (match (back l) ((done 0) ((link h r) h)))"
        " (match l ((done 0) ((link h r) h)))))",
        "unsat",
    ),
    ("(exists ((x Color)) (match x (((mix y n) (and (= n 3) (= y x))) (z false))))", "unsat"),
    ("(forall ((n Int)) (match c (((mix y m) (= m n)) (z true))))", "sat"),
)

# Fields of sorts that are made of parameters, and of the datatype itself.
FIELDS = """
(declare-datatypes ((Box 2)) ((par (A B) ((box (all (Array Int A)) (row (Seq B)) (both (Array A (Seq B))))))))
(declare-datatypes ((Lst 1)) ((par (T) ((done) (link (top T) (back (Lst T)))))))
(declare-datatypes ((Rose 1)) ((par (T) ((rose (label T) (petals (Lst T)))))))
(declare-const b (Box Int Bool))
(declare-const r (Rose Int))
"""
NESTED = """
(declare-datatypes ((Tree 1)) ((par (A) ((leaf) (node (below (Array Int (Tree A))))))))
(declare-datatypes ((Trunk 0)) (((root) (trunk (parts (Seq Trunk))))))
(declare-const x (Tree Int))
(declare-const y Trunk)
"""
OF_FIELDS = (
    (f"{FIELDS}(assert (distinct (select (all b) 1) (select (all b) 2)))", "sat"),
    (f"{FIELDS}(assert (and ((_ is box) b) (distinct b (box (all b) (row b) (both b)))))", "unsat"),
    (f"{FIELDS}(assert (= (petals r) (link (label r) (petals r))))", "unsat"),
    (f"{NESTED}(assert (and ((_ is node) x) (distinct x (node (below x)))))", "unsat"),
    (f"{NESTED}(assert (= y (trunk (seq.unit root))))", "sat"),
)


def terms_of(text: str) -> list[FedTerm]:
    script = check_script(read_script(text))
    assert [str(error) for error in script.errors] == []
    return [FedTerm(term, script.datatypes) for term in script.assertions]


def run_with(engine: Engine, seed: int = 1) -> tuple[Run, list[str]]:
    """A run that draws on all the engine has."""
    lines = ["exhume-trace 1 smtlib 1\n"]
    run = new_run(engine, Settings(), seed, lines.append)
    theories = known_theories(engine.families, run.capabilities)
    run.scope = Scope(theories, frozenset(Feature) & run.capabilities.features)
    run.make(calls.New())
    return run, lines


@pytest.fixture
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_REUSED_SHARE", 0)


def answer_of(text: str) -> str:
    """cvc5's: z3's parser finds no testers and updaters of parametric datatypes."""
    solver = cvc5.Solver(cvc5.TermManager())
    options = (("rlimit", "1000000"), ("finite-model-find", "true"), ("dt-nested-rec", "true"))
    for name, value in options:
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "fed")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, parser.getSymbolManager())).strip()
    return said


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize(
    ("text", "answer"), [*((f"{DATATYPES}(assert {formula})", said) for formula, said in ASKED), *OF_FIELDS]
)
def test_what_is_fed_says_the_same(text: str, answer: str) -> None:
    (fed,) = terms_of(text)
    assert fed.left_out == ""
    run, lines = run_with(TextEngine(()))
    made = making.feed_whole(run, fed, fed.term)
    assert run.statistics.fed == {"made": 1}
    run.make(calls.Assert(made))
    run.make(calls.CheckSat())
    replayed = TextEngine(())
    assert replay(replayed, read_trace("".join(lines))).kind == "done"
    script = replayed.script()
    assert script == run.engine.script()
    assert not check_script(read_script(script)).errors
    assert answer_of(script) == answer


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_solvers_take_what_is_fed(solver: str) -> None:
    for fed in terms_of(PLAIN):
        if Feature.SORT_CONSTRUCTORS not in fed.features or solver == "cvc5":
            making.feed_whole(run_with(make_engine(solver))[0], fed, fed.term)
    text = DATATYPES + "".join(f"(assert {formula})" for formula, _ in ASKED)
    made = Statistics()
    for fed in terms_of(text):
        run, _ = run_with(make_engine(solver))
        making.feed_whole(run, fed, fed.term)
        made.add(run.statistics)
        run.make(calls.Delete())
    assert made.fed == {"made": len(ASKED)}
    for kind in ("constructor", "selector", "tester", "updater"):
        assert made.operators[f"Datatypes {kind}"] > 1


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("spec", ["z3", "cvc5", "both"])
@pytest.mark.parametrize(("text", "answer"), OF_FIELDS)
def test_solvers_take_fields_that_are_made_of_parameters(text: str, answer: str, spec: str) -> None:
    (fed,) = terms_of(text)
    both = CrossCheck(make_engine("z3"), make_engine("cvc5"))
    run, _ = run_with(both if spec == "both" else make_engine(spec))
    if spec == "cvc5":
        run.make(calls.SetOption("dt-nested-rec", "true"))
    elif spec == "both" and NESTED in text:
        with pytest.raises(Unsupported, match="without dt-nested-rec"):
            making.feed_whole(run, fed, fed.term)
        return
    run.make(calls.Assert(making.feed_whole(run, fed, fed.term)))
    run.make(calls.CheckSat())
    assert run.answers == [answer]
    for sort in list(run.store.sorts.values()):
        if not has_parameters(sort.sort):
            run.make(calls.InspectSort(sort))
    run.make(calls.Delete())


@pytest.mark.parametrize(
    "sort",
    [
        *("(Array s1)", "(Nothing P0)", "(Array s1 P0 P0)", "(Array s1 P1)", "()", "(D1 P0)"),
        "(Seq " * 30 + "P0" + ")" * 30,
    ],
)
def test_sorts_of_fields_that_are_none_get_a_reason(sort: str) -> None:
    trace = "exhume-trace 1 smtlib 1\n1 new\n2 make-sort Int\nreturn s1\n"
    trace += f"3 declare-datatypes (D1 (P0) (c (f {sort})))\nreturn s2\n"
    with pytest.raises(TraceError, match="line 5: "):
        replay(TextEngine(()), read_trace(trace))


@pytest.mark.slow
@pytest.mark.parametrize("text", [PLAIN, DATATYPES + "".join(f"(assert {f})" for f, _ in ASKED)])
@pytest.mark.few(1)
def test_runs_make_terms_of_a_corpus_by_ordinary_calls(text: str) -> None:
    settings = Settings(feed=Feed(terms_of(text)), quantifiers=True)
    made = Statistics()
    for seed in range(30):
        trace, ending = drawn(TextEngine(()), seed, settings)
        assert ending.kind == "done"
        assert "feed-term" not in trace
        made.add(ending.statistics)
        replayed = TextEngine(())
        assert replay(replayed, read_trace(trace)).kind == "done"
        assert not check_script(read_script(replayed.script())).errors
        assert drawn(TextEngine(()), seed, settings)[0] == trace
    assert made.fed["made"] > 20
    if text is PLAIN:
        assert made.operators["Binders forall"] > 10 and made.operators["Binders exists"] > 3
        assert made.operators["FixedSizeBitVectors zero_extend"] > 3


FEW = (
    ("(and (and p) (or p) (xor p) (distinct p))", "(and p p p true)"),
    ("(= x (+ x) (* (+ x)))", "(= x x x)"),
    ("(or (< x) (>= x 1))", "(or true (>= x 1))"),
    ("(=> and or xor)", "(=> true false false)"),
    ("(= distinct (distinct (+ x)))", "(= true true)"),
)


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize(("formula", "meant"), FEW)
def test_operators_of_fewer_than_two_arguments_are_what_they_stand_for(formula: str, meant: str) -> None:
    class OfTwo(TextEngine):
        def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
            return len(sorts) > 1

    (fed,) = terms_of(f"(declare-const p Bool)(declare-const x Int)(assert {formula})")
    run, _ = run_with(OfTwo(()))
    made = making.feed_whole(run, fed, fed.term)
    assert re.sub(r"\b[cx]\d+", "x" if "x" in meant else "p", print_term(made.handle)) == meant


# What is left out


def test_runs_draw_on_what_a_term_needs() -> None:
    feed = Feed(terms_of(DATATYPES + "(assert (= (paint c u) (mix c 1)))"))
    theories, features = feed.draw_needs(Chance(1))
    assert theories == ("Ints",)
    assert features == {Feature.DATATYPES, Feature.SORTS, Feature.FUNCTIONS}
    parametric = Feed(terms_of(DATATYPES + "(assert (forall ((x Int)) (= k (pair x l))))"))
    assert parametric.draw_needs(Chance(1))[1] == {Feature.DATATYPES, Feature.PARAMETRIC_DATATYPES}
    assert Feature.QUANTIFIERS in parametric.terms[0].features


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "(declare-datatypes ((N 1)) ((par (A) ((end) (more (next (N (Array Int A))))))))"
            "(declare-const x (N Int))(assert (= x x))",
            "a field of a datatype declared with its own, of other arguments",
        ),
        (
            "(declare-codatatypes ((S 0)) (((more (first Int) (then S)))))(declare-const x S)"
            "(assert (= x (then x)))",
            "a datatype without finite values",
        ),
        (
            "(declare-fun g (Int Int) Int)(declare-const x (Array Int Int))(assert (= x ((_ map g) x x)))",
            "a map of a function over arrays",
        ),
        (
            f"(declare-fun g ({'Int ' * 21}) Bool)(assert (g {'1 ' * 21}))",
            "a function of more than 20 arguments",
        ),
    ],
)
def test_what_no_call_makes_is_left_out_with_the_reason(text: str, reason: str) -> None:
    (fed,) = terms_of(text)
    assert fed.left_out == reason
    settings = Settings(theories=tuple(fed.theories), feed=Feed([fed]), quantifiers=True)
    counted = Statistics()
    for seed in range(20):
        counted.add(drawn(TextEngine(()), seed, settings)[1].statistics)
    assert set(counted.fed) == {reason}
    assert counted.fed[reason] > 3


def test_what_a_solver_lacks_is_counted_without_names() -> None:
    class Lacking(TextEngine):
        def capabilities(self) -> Capabilities:
            known = super().capabilities()
            return Capabilities(
                theories=known.theories,
                features=known.features - {Feature.PARAMETRIC_DATATYPES},
                without=frozenset(("mod",)),
                value_arguments={"re.range": (0, 1)},
                sorts_without={"datatype": frozenset(("RegLan",)), "constant": frozenset(("RegLan",))},
            )

    reasons = {
        f"{DATATYPES}(assert (= k k))": "without parametric-datatypes",
        f"{DATATYPES}(assert (= 1 (mod (share c) 3)))": "without mod",
        '(declare-const r RegLan)(assert (str.in_re "a" r))': "no constants of sort RegLan",
        '(declare-const s String)(assert (str.in_re s (re.range "a" s)))': (
            "re.range of a term that is not a value"
        ),
        "(declare-datatypes ((D 0)) (((mk (r RegLan)))))(declare-const d D)(assert (= d d))": (
            "no fields of sort RegLan"
        ),
    }
    for text, reason in reasons.items():
        (fed,) = terms_of(text)
        run, _ = run_with(Lacking(()))
        with pytest.raises(Unsupported):
            making.feed_whole(run, fed, fed.term)
        assert run.statistics.fed == {reason: 1}
    assert making._in_short("no sort (Array (D U1) (_ BitVec 3)) of D12 here") == "no sort of here"


def test_terms_beyond_the_run_are_counted_as_such() -> None:
    (fed,) = terms_of(f"{DATATYPES}(assert (= 1 (share c)))")
    run, _ = run_with(TextEngine(()))
    run.settings = Settings(feed=Feed([fed]))
    run.scope = Scope(frozenset(("Core",)), frozenset((Feature.DATATYPES,)))
    making.FeedTerm.draw(run)
    run.scope = Scope(frozenset(("Core", "Ints")))
    making.FeedTerm.draw(run)
    assert run.statistics.fed == {
        "of theories that the run does not draw on": 8,
        "with features that the run does not draw on": 8,
    }
