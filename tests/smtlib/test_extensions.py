"""What only one solver reads: commands, syntax, ranks. The solver accepts them as written and as printed."""

from __future__ import annotations

import pytest

from corpus.acceptance import probe
from smtlib import check_script, print_script, read_script
from smtlib.shapes import COMMANDS
from smtlib.theory import default_theories

_P = "(declare-const p Bool)"
_X = "(declare-const x Int)"
_LIST = "(declare-datatypes (T) ((L nil (cons (h T) (t L)))))(declare-const l (L Int))"
_TABLE = "(set-logic HO_ALL)(declare-const t (Table Int String))"
_RELATION = "(set-logic HO_ALL)(declare-const t (Relation Int String))"
_HIGHER = "(set-logic HO_ALL)(declare-fun f (Int Int) Bool)(declare-const g (-> Int Bool))"

Z3 = [
    _P + "(assert p)(apply (then simplify smt) :print false)",
    _P + "(assert-not p)(assume p)(prefer p)(reset-preferences)",
    _P + "(dbg-bool-rewriter (and p true))(dbg-elim-and (or p p))(dbg-lt p (not p))(dbg-size p)(dbg-params)",
    "(dbg-elim-unused-vars (forall ((x Int)) true))(dbg-used-vars (exists ((x Int)) (> x 0)))(dbg-sexpr (a))",
    _P + "(dbg-set a p)(dbg-pp-var a)(dbg-translator p)(dbg-th-rewriter p)(dbg-some-value Int)(del p)",
    _P + "(mbi p (not p) ())(get-consequences (p) (p))(set-simplifier (then simplify solve-eqs))",
    _X + "(mbp (> x 0) (x))(mbp-qel ((> x 0)) (x))(qel ((> x 0)) (x))(qe-lite ((> x 0)) (x))",
    _X + "(euf-project ((> x 0)) (x))(eufi (> x 0) (< x 0) (x))(poly/factor (* x x))(display-dimacs)",
    "(declare-rel r (Int))(declare-var x Int)(rule (=> (= x 0) (r x)) start)(query r :print-answer true)",
    "(declare-rel r ((_ BitVec 8)) interval_relation)(rule (r #x00))(rule (forall ((x Int)) true) |a b| 3)",
    "(declare-map m (Int) (or (Bool Bool) Bool))(declare-const a (Array Int Bool))(assert (= (m a a) a))",
    "(declare-type-var A)(declare-fun f (A) A)(assert (= (f 1) 1))(assert (f true))",
    "(declare-const f (-> Int (-> Int Bool)))(assert ((f 1) 2))",
    "(declare-fun f (Int) (Array Int Bool))(assert ((f 1) 2))",
    "(assert (= ((lambda ((x Int) (y Int)) (+ x y)) 1 2) 3))",
    "(declare-const a (Array Int Int))(assert (= a (lambda ((x Int)) (+ x 1))))",
    "(define-fun f () (Array Int Int) (lambda ((x Int)) x))(declare-const g (-> Int Int))(assert (= f g))",
    "(declare-fun g ((Array Int Int)) Int)(assert (= (g (lambda ((x Int)) x)) 1))",
    "(declare-const a (Array Int Int Bool))(assert (select a 1 2))(assert (= a (store a 1 2 true)))",
    "(declare-const a (Array Int Int Int))"
    "(assert (= a ((as const (Array Int Int Int)) 0) ((_ map (abs (Int) Int)) a)))",
    "(declare-fun f (Int Bool) Int)(assert (= (_ as-array f) (lambda ((x Int) (y Bool)) 0)))",
    "(declare-const s (Set Int))(assert (= s ((_ map and) s s)))",
    "(declare-fun r (Int Int) Bool)(assert ((_ transitive-closure r) 1 2))",
    _P + "(assert ((_ pbeq 3 1 2 3 4 5 6 7) p p p p p p p))(assert ((_ pble 3 1 1 1 1 1 1 1) p p p p p p p))",
    "(declare-const x Real)(assert (= x (root-obj (+ (^ x 2) (- 2)) 1)))",
    _LIST + "(assert (= l (cons 1 nil)))(assert (distinct nil l))(assert (= (ite true nil l) l))",
    _LIST + "(define-fun e () (L Int) nil)(declare-fun f ((L Int)) Int)(assert (= (f nil) (f (cons 1 nil))))",
    _LIST + "(declare-const a (Array Int (L Int)))(assert (= (store a 0 nil) a))"
    "(assert ((_ is (nil () (L Int))) l))",
    "(declare-datatypes (A B) ((E (e1 (f A)) (e2 (s B)))))(declare-const p (E Int Bool))"
    "(assert (= p (e1 1)))",
    "(declare-const l (List Int))(assert ((_ is nil) l))(assert (is-insert l))(assert (= l (insert 1 nil)))",
    "(declare-const x (Float32))(declare-const r (RegEx String))(assert (str.in_re \"a\" (re.* r)))",
    "(declare-const b (_ BitVec 8))(assert (= (concat b) b ((_ bvnot) b)))",
    "(declare-const s (Seq Int))(assert (= (seq.nth_i s 0) (seq.nth_u s 0)))",
    "(declare-const fp Int)(assert (= (fp #b0 #x00 #b0) (fp #b0 #x00 #b0)))(assert (> fp 0))",
    "(set-logic QF_FF)(declare-const x (_ FiniteField 5))(assert (= x (as ff-1 (_ FiniteField 5)) #f3m5))",
    "(declare-const r (RegEx (Seq Int)))(declare-const s (Seq Int))"
    "(assert (seq.in.re s (re.++ r r (re.* r))))"
    "(assert (= r (as re.all (RegEx (Seq Int))) (as re.empty (RegEx (Seq Int))) (seq.to.re s)"
    " (re.derivative 1 r) (re.range s s) ((_ re.loop 1 2) r) ((_ re.^ 2) r) (re.diff r) (re.inter r r r)"
    " (re.comp r) (re.xor r r)))"
    "(assert (= s (seq.replace_re s r s) (str.replace_re_all s r s)))",
    "(declare-const r (RegEx (Seq Unicode)))(declare-const s (Seq Unicode))"
    "(assert (str.in_re (str.++ s \"a\") r))",
    "(declare-const s (Seq Int))(declare-const f (-> Int Unicode))(assert (= (seq.map f s) \"a\"))",
    "(declare-const p (-> Int Bool))"
    "(assert (= (re.of.pred p) (re.+ (re.of.pred p)) (re.opt (re.of.pred p))))",
    "(declare-const c Complex)(declare-const x Real)(declare-const i Int)"
    "(assert (= (+ c x) (* c i) (- c) (/ 1.5 c) (ite true i c) (+ true c)))(assert (distinct c 1))",
    "(assert (= (to_fp #b1 #x0f #b101) (fp #b1 #x0f #b101)))(assert (= (as +oo Float32) (as NaN Float32)))",
    "(declare-const a (Array Int Int Bool))(assert (= a (union a a) (intersection a) (complement a)))"
    "(assert (subset (setminus a a) a))(assert (= (array-ext a a) ((_ array-ext 1) a a)))",
    "(declare-const f (-> Int Int Bool))(assert (= (default f) (subset (union f f) f)))",
    "(declare-fun g (Int) Int)(declare-const h (-> Bool Int Int))(assert (= ((_ map g) h) ((_ map g) h)))",
    "(declare-const l (List Int))(assert (= l (insert 1.5 l)))(assert (case-def l l l))",
    "(declare-const x Int)(assert ((_ >= 7) ((_ + 1 2) x x) 0))"
    "(assert (= (re.xor re.all re.all re.all) re.all))",
    "(declare-sort Bag 0)(declare-sort Table 0)(declare-const b Bag)(assert (= b b))",
]  # fmt: skip

CVC5 = [
    "(set-logic ALL)(assert (= seq.empty (seq.unit true)))(assert (set.member true set.empty))"
    "(assert sep.nil)(assert (= bag.empty (bag true 1)))(assert (= nullable.null (nullable.some true)))",
    "(set-logic QF_UFC)(declare-sort U 0)(assert (_ fmf.card U 3))",
    "(set-logic QF_FF)(declare-const x (_ FiniteField 5))(assert (= x (as ff6 (_ FiniteField 5))))",
    "(set-option :oracles true)(set-logic ALL)(declare-oracle-fun f (Int) Int program)",
    "(set-logic ALL)(declare-sort U 0)(get-model-domain-elements U)(get-qe (forall ((x Int)) (> x 0)))",
    "(set-logic ALL)(declare-const p Bool)(get-timeout-core-assuming (p))(get-abduct-next)"
    "(get-interpolant-next)",
    "(set-logic ALL)(find-synth :enum ((G Int)) ((G Int (1 2))))(find-synth-next)",
    _HIGHER + "(assert (= (f 1) g))(assert (= (@ f 1) g))(assert (f 1 2))",
    _HIGHER + "(declare-fun k (Int) (-> Int Bool))(assert (k 1 2))"
    "(declare-fun m ((-> Int Bool)) Bool)(assert (m (f 1)))",
    "(set-logic HO_ALL)(declare-const f (-> Int (-> Int Int)))(assert (= (f 1 2) 3))",
    _TABLE + "(assert (= (bag.card t) 1))(assert (= ((_ table.project 1 0) t) ((_ table.project 1 0) t)))",
    _TABLE + "(declare-const u (Table Int String Int String))"
    "(assert (= u ((_ table.join 0 0) t t) (table.product t t)))",
    _TABLE + "(declare-const g (Bag (Table Int String)))(assert (= g ((_ table.group 0) t)))",
    _TABLE + "(assert (= ((_ table.aggr 0) (lambda ((x (Tuple Int String)) (y Int)) (+ y 1)) 0 t)"
    " (bag 1 1)))",
    _RELATION + "(assert (= t ((_ rel.project 0 1) t)))"
    "(assert (= (rel.product t t) ((_ rel.table_join 0 0) t t)))",
    _RELATION + "(declare-const g (Set (Relation Int String)))(assert (= g ((_ rel.group 0) t)))",
    _RELATION + "(assert (= ((_ rel.aggr 0) (lambda ((x (Tuple Int String)) (y Int)) y) 0 t)"
    " (set.singleton 1)))",
    "(set-logic ALL)(declare-const r (Relation Int Int Int Int Int Int))(assert (= r (rel.transpose r)))"
    "(declare-const s (Relation Int Int Int Int Int Int Int Int Int Int))(assert (= s (rel.join r r)))",
    "(set-logic ALL)(declare-const t (Tuple Int Int Int Int Int Int Bool))(assert ((_ tuple.select 6) t))"
    "(assert (= t ((_ tuple.update 6) t true)))(assert (= ((_ tuple.project 6 0) t) (tuple true 1)))",
    "(set-logic ALL)(declare-const s (Set Int))(assert (= s (set.insert 1 2 3 4 5 6 s)))",
    "(set-logic HO_ALL)(declare-const n (Nullable Int))(assert (= n ((_ nullable.lift +) n n)))",
    "(set-logic HO_ALL)(declare-const n (Nullable Int))(assert (= (nullable.lift (lambda ((x Int)) x) n) n))",
    "(set-logic ALL)(declare-const x Real)(assert (= x 1/3 -1/2))",
    "(set-logic ALL)(declare-sort List 1)(declare-datatypes ((Seq 0)) (((nil2) (c (h Int) (t Seq)))))"
    "(declare-const l (List Seq))(assert (= l l))",
    "(set-logic ALL)(define-sort Bag () Int)(declare-const b Bag)(assert (> b 0))",
]  # fmt: skip

WRONG = [
    ("(declare-const p Bool)(apply)(assert (and p 1))", "no rank of and"),
    ("(assume 1)", "has sort Int, expected Bool"),
    ("(qel (true))", "expected (qel terms terms)"),
    ("(get-consequences p (p))", "expected (get-consequences (TERM ...))"),
    ("(check-sat-assuming (true) (true))", "expected (check-sat-assuming terms)"),
    ("(dbg-some-value U)", "unknown sort U"),
    ("(declare-rel r)", "expected (declare-rel NAME (SORT ...))"),
    ("(declare-map m (Int))", "expected (declare-map NAME (SORT ...) FUNCTION)"),
    ("(synth-fun f)", "expected (synth-fun NAME"),
    ("(assert (_ as-array f))", "(_ as-array ...) does not accept no arguments"),
    ("(assert (_ as-array 7))", "(_ as-array ...)"),
    ("(declare-const a Int)(assert ((_ map ((a))) a))", "expected a function"),
    (_LIST + "(assert (= nil nil))", "the sort of nil is ambiguous: write (as nil SORT)"),
    ("(assert (= ((_ str.len 1) 2) 3))", "no rank of (_ str.len 1)"),
    ("(declare-const s (Set Int))(assert ((_ set.is_empty 1) s))", "no rank of (_ set.is_empty 1)"),
    ("(declare-const a (Array Int Int Int))(assert (= a (union a a)))", "no rank of union"),
    (_LIST + "(assert ((_ is nil) nil))", "the sort of nil is ambiguous"),
    (_LIST + "(assert (= 1 nil))", "no rank of ="),
    (_RELATION + "(assert (= t ((_ rel.project 7) t)))", "no rank of (_ rel.project 7)"),
    (_RELATION + "(assert (= t (rel.join t t)))", "no rank of rel.join"),
    (_RELATION + "(assert (= t ((_ rel.transpose 1) t)))", "no rank of (_ rel.transpose 1)"),
    (_RELATION + "(assert (= t ((_ rel.product 0 0) t t)))", "no rank of (_ rel.product 0 0)"),
    (_TABLE + "(assert (= t ((_ table.product 0 0) t t)))", "no rank of (_ table.product 0 0)"),
    ("(assert ((_ pbeq 1 2) true true))", "no rank of (_ pbeq 1 2)"),
    ("(declare-const x Relation)", "unknown sort Relation"),
    ("(declare-const x (Tuple))", "sort Tuple takes"),
    ("(declare-sort Int 0)", "sort Int is already declared"),
    ("(assert ((f)))", "without arguments"),
    ("(assert ((1 2) 3))", "unknown function"),
    ("(declare-const f (-> Int Int))(assert (= (f true) 1))", "f takes Int, got true : Bool"),
]  # fmt: skip


@pytest.mark.parametrize(("solver", "texts"), [("z3", Z3), ("cvc5", CVC5)], ids=["z3", "cvc5"])
def test_what_a_solver_accepts_is_checked_and_printed_so_that_it_accepts_it_again(
    solver: str, texts: list[str]
) -> None:
    forms = []
    for text in texts:
        checked = check_script(read_script(text))
        assert checked.errors == []
        printed = print_script(checked)
        again = check_script(read_script(printed))
        assert (again.errors, print_script(again)) == ([], printed)
        forms += [text, printed]
    for form, answer in zip(forms, probe(forms, solver, 1), strict=True):
        # A program of a stranger is not run.
        assert answer.accepted or answer.message == "declare-oracle-fun names a file", (form, answer.message)


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_in_them_is_reported(text: str, message: str) -> None:
    errors = check_script(read_script(text)).errors
    assert len(errors) == 1
    assert message in errors[0].message
    assert errors[0].line == 1


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_solver_knows_the_commands_that_are_marked_with_it(solver: str) -> None:
    """It says something else than that there is no such command. z3 calls others unsupported."""
    names = [name for name, shape in COMMANDS.items() if not shape.only or solver in shape.only]
    for name, answer in zip(names, probe([f"({name} 1 1 1)" for name in names], solver, 1), strict=True):
        assert "got `" + name not in answer.message, name
        assert "unsupported" not in answer.message, name


def test_read_only_functions_are_never_drawn() -> None:
    theories = default_theories()
    drawn = {signature.name for signature in theories.signatures() if signature.theory == "ReadOnly"}
    assert theories.knows("seq.nth_i")
    assert drawn == set()
