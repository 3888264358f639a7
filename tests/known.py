"""Scripts with known answers, for the reader, the checker, the printer and the solvers.

A case says how its text prints (as written, unless ``printed`` differs), which error it has if any,
which solvers take it, and what they answer when ``(check-sat)`` follows. The answers hold by
construction, not because a solver said so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BOTH = ("z3", "cvc5")
Z3 = ("z3",)
CVC5 = ("cvc5",)


@dataclass(frozen=True, slots=True)
class Error:
    """The first error: a part of its message, line and column."""

    message: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Known:
    """A script and what is known of it.

    ``sorts`` are the sorts of the first argument of every assertion. ``answer`` is empty where
    nothing is claimed. ``solvers`` are those that take the printed text (for a case with an
    error: the text itself), parsing and sort-checking only.
    """

    name: str
    text: str
    answer: str = ""
    printed: str | None = None
    sorts: tuple[str, ...] | None = None
    error: Error | None = None
    solvers: tuple[str, ...] = BOTH
    features: tuple[str, ...] = ()

    @property
    def normal(self) -> str:
        """The text as it prints."""
        return (self.text if self.printed is None else self.printed).strip() + "\n"


def good(
    name: str,
    text: str,
    answer: str = "",
    printed: str | None = None,
    *,
    sorts: str | None = None,
    solvers: tuple[str, ...] = BOTH,
    features: str = "",
) -> Known:
    """A well-sorted case."""
    required = tuple(sorts.split("; ")) if sorts is not None else None
    text = re.sub(r"\n\n+", "\n", text.strip())
    return Known(name, text, answer, printed, required, None, solvers, tuple(features.split()))


def bad(
    name: str, text: str, message: str, line: int, column: int, *, solvers: tuple[str, ...] = ()
) -> Known:
    """A case that the checker refuses. ``solvers``: who takes it all the same."""
    return Known(name, text.strip(), error=Error(message, line, column), solvers=solvers)


_LIST = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))\n(declare-const l L)\n"
_PAIR = "(declare-datatypes ((P 2)) ((par (X Y) ((mk (fst X) (snd Y))))))\n"

COMMANDS = (
    good("empty", ""),
    good("only a comment", "; nothing here", printed=""),
    good(
        "set-logic, options, info",
        """
(set-option :produce-models true)
(set-logic QF_LIA)
(set-info :status sat)
(set-info :source |some (text|)
(declare-const x Int)
(assert (> x 3))""",
        "sat",
        sorts="Int",
    ),
    good(
        "declare-fun",
        """
(declare-fun f (Int Bool) Int)
(declare-fun c () Int)
(assert (= (f c true) (f c false)))""",
        "sat",
        sorts="Int",
        features="uf",
    ),
    good(
        "declare-sort",
        """
(declare-sort U 0)
(declare-sort V 1)
(declare-const a U)
(declare-const b (V U))
(assert (= a a))
(assert (distinct b b))""",
        "unsat",
        sorts="U; (V U)",
        features="sorts",
    ),
    good(
        "declare-sort without arity",
        "(declare-sort U)\n(declare-const a U)\n(assert (= a a))",
        "sat",
        printed="(declare-sort U 0)\n(declare-const a U)\n(assert (= a a))",
        features="sorts",
    ),
    good(
        "define-sort",
        """
(define-sort Word () (_ BitVec 8))
(declare-const w Word)
(assert (= w #x0f))""",
        "sat",
        """
(define-sort Word () (_ BitVec 8))
(declare-const w (_ BitVec 8))
(assert (= w #x0f))""",
        sorts="(_ BitVec 8)",
        features="sorts",
    ),
    good(
        "define-sort that no use of can be a sort",
        "(define-sort F () (FloatingPoint))\n(define-sort A (T) (Array (Seq T Int)))",
        solvers=Z3,
        features="sorts",
    ),
    good(
        "arguments of sorts that take none",
        "(declare-const x (Int Bool))\n(declare-const y (Float32 Int Int))\n(assert (= x 1))",
        printed="(declare-const x Int)\n(declare-const y (_ FloatingPoint 8 24))\n(assert (= x 1))",
        sorts="Int",
        features="sorts",
    ),
    good(
        "define-sort with parameters",
        """
(define-sort Map (K V) (Array K V))
(define-sort Grid (T) (Map Int (Map Int T)))
(declare-const g (Grid Bool))
(assert (select (select g 1) 2))""",
        "sat",
        """
(define-sort Map (K V) (Array K V))
(define-sort Grid (T) (Map Int (Map Int T)))
(declare-const g (Array Int (Array Int Bool)))
(assert (select (select g 1) 2))""",
        sorts="(Array Int Bool)",
        features="sorts",
    ),
    good(
        "define-fun",
        """
(declare-const y Int)
(define-fun twice ((x Int)) Int (* 2 x))
(define-fun one () Int 1)
(assert (= (twice y) one))""",
        "unsat",
        sorts="Int",
        features="define",
    ),
    good(
        "define-fun whose parameter hides a constant",
        """
(declare-const x Int)
(define-fun f ((x Int)) Bool (> x 0))
(assert (and (f 1) (< x 0)))""",
        "sat",
        features="define capture",
    ),
    good(
        "define-const",
        "(define-const k Int 7)\n(assert (= k 8))",
        "unsat",
        printed="(define-fun k () Int 7)\n(assert (= k 8))",
        features="define",
    ),
    good(
        "define-fun converts an integer",
        "(define-fun h () Real 3)\n(assert (= h 3.0))",
        "sat",
        printed="(define-fun h () Real 3.0)\n(assert (= h 3.0))",
        sorts="Real",
        features="define mixed dialect",
    ),
    good(
        "define-fun-rec",
        """
(define-fun-rec down ((n Int)) Int (ite (<= n 0) 0 (down (- n 1))))
(assert (= (down 2) 0))""",
        "sat",
        sorts="Int",
        features="recursion",
    ),
    good(
        "define-funs-rec",
        """
(define-funs-rec ((even ((n Int)) Bool) (odd ((n Int)) Bool)) \
((ite (= n 0) true (odd (- n 1))) (ite (= n 0) false (even (- n 1)))))
(assert (not (even 2)))""",
        "unsat",
        sorts="Bool",
        features="recursion",
    ),
    good(
        "push and pop scope",
        """
(push 1)
(declare-const x Int)
(assert (> x 0))
(pop 1)
(declare-const x Bool)
(assert (not x))""",
        "sat",
        sorts="Int; Bool",
        features="scopes",
    ),
    good(
        "push and pop without a number",
        "(push)\n(pop)\n(assert true)",
        "sat",
        printed="(push 1)\n(pop 1)\n(assert true)",
        features="scopes",
    ),
    good(
        "several levels",
        """
(push 2)
(declare-sort S 0)
(declare-const s S)
(pop 1)
(push 1)
(pop 2)
(declare-sort S 1)
(declare-const s (S Int))
(assert (= s s))""",
        "sat",
        sorts="(S Int)",
        features="scopes sorts",
    ),
    good(
        "datatypes go with their level",
        """
(push 1)
(declare-datatypes ((D 0)) (((c) (d (s Int)))))
(declare-const v D)
(assert ((_ is c) v))
(pop 1)
(declare-const c Int)
(declare-const s Int)
(assert (< c s))""",
        "sat",
        features="scopes datatypes",
    ),
    good(
        "global declarations",
        """
(set-option :global-declarations true)
(push 1)
(declare-const x Int)
(pop 1)
(assert (= x 1))""",
        "sat",
        sorts="Int",
        solvers=CVC5,  # z3's library takes the option at its start only
        features="scopes",
    ),
    good(
        "reset",
        """
(declare-const x Int)
(assert (= x 1))
(reset)
(declare-const x Bool)
(assert x)""",
        "sat",
        features="scopes",
    ),
    good(
        "a named term",
        """
(declare-const x Int)
(assert (! (> x 0) :named positive))
(assert (not positive))""",
        "unsat",
        """
(declare-const x Int)
(assert (! (> x 0) :named positive))
(assert (not (> x 0)))""",
        sorts="Bool; Bool",
        features="named",
    ),
    good(
        "asking",
        """
(set-option :produce-models true)
(declare-const x Int)
(assert (> x 0))
(check-sat)
(get-value (x (+ x 1)))
(get-model)
(echo "done; ""not"" yet")""",
        features="queries",
    ),
    good("exit", "(assert true)\n(exit)"),
    bad("unknown command", "(assert true)\n(frobnicate 1)", "unknown command frobnicate", 2, 1, solvers=Z3),
    bad("too much popped", "(push 1)\n(pop 2)", "only 1 levels", 2, 1),
    bad("popped symbol", "(push)\n(declare-const x Int)\n(pop)\n(assert (= x 1))", "unknown symbol x", 4, 9),
    bad("popped name", "(push)\n(assert (! true :named n))\n(pop)\n(assert n)", "unknown symbol n", 4, 1),
    bad("declared twice", "(declare-const x Int)\n(declare-const x Int)", "already declared", 2, 1),
    bad("sort declared twice", "(declare-sort S 0)\n(declare-sort S 1)", "already declared", 2, 1),
    bad("number as a name", "(declare-const 5 Int)", "expected a symbol", 1, 1),
    bad("negative number as a name", "(declare-const -5 Int)", "expected a symbol", 1, 1),
    bad("named under a binder", "(assert (exists ((x Int)) (! (> x 0) :named n)))", "free variables", 1, 27),
    bad("define-fun of another sort", "(define-fun f () Int\n true)", "Bool, expected Int", 1, 1),
    bad("no body", "(define-fun f () Int)", "expected (define-fun NAME", 1, 1),
    bad("assert a number", "(assert 1)", "Int, expected Bool", 1, 1),
    bad("unknown sort", "(declare-const x Strnig)", "unknown sort Strnig", 1, 1),
    bad("sort with too many arguments", "(declare-const x (Seq Int Int))", "takes 1 arguments, got 2", 1, 1),
    bad("sort of width 0", "(declare-const x (_ BitVec 0))", "(> m 0) does not hold", 1, 1),
    bad("define-sort with parameters and an unknown sort", "(define-sort A (T) (F T))", "sort F", 1, 1),
    bad(
        "use of a define-sort that is no sort",
        "(define-sort F () (FloatingPoint))\n(declare-const x F)",
        "unknown sort FloatingPoint",
        2,
        1,
    ),
    bad("cyclic define-sort", "(define-sort A () (Array Int A))", "unknown sort A", 1, 1),
)

FORMS = (
    good(
        "let is parallel",
        """
(declare-const x Int)
(assert (let ((x 1) (y x)) (< x y)))""",
        "sat",
        "(declare-const x Int)\n(assert (< 1 x))",
        sorts="Int",
        features="let",
    ),
    good(
        "let shadows",
        """
(declare-const x Int)
(assert (let ((x (+ x 1))) (let ((x (+ x 1))) (= x 2))))""",
        "sat",
        """
(declare-const x Int)
(assert (= (+ (+ x 1) 1) 2))""",
        features="let",
    ),
    good(
        "let value would be captured",
        """
(declare-const x Int)
(assert (let ((y x)) (forall ((x Int)) (= x y))))""",
        "unsat",
        """
(declare-const x Int)
(assert (forall ((x!1 Int)) (= x!1 x)))""",
        features="let capture quantifier",
    ),
    good(
        "nested binders would capture",
        """
(assert (forall ((x Int)) (let ((y (+ x 1))) (exists ((x Int)) (let ((z (+ x y))) (exists ((x Int)) \
(= x z))))))\
)""",
        "sat",
        """
(assert (forall ((x Int)) (exists ((x!1 Int)) (exists ((x!2 Int)) (= x!2 (+ x!1 (+ x 1)))))))\
""",
        features="let capture quantifier",
    ),
    good(
        "a renamed variable meets its like",
        """
(assert (forall ((x Int)) (exists ((x Int)) (let ((y x)) (forall ((x!1 Int)) (= y x!1))))))""",
        "unsat",
        """
(assert (forall ((x Int)) (exists ((x!1 Int)) (forall ((x!1!1 Int)) (= x!1 x!1!1)))))""",
        features="let capture quantifier",
    ),
    good(
        "a theory's constant would be captured",
        """
(assert (let ((y RNE)) (forall ((RNE RoundingMode)) (= y RNE))))""",
        "unsat",
        """
(assert (forall ((RNE!1 RoundingMode)) (= RNE RNE!1)))""",
        sorts="Bool",
        features="let capture fp",
    ),
    good(
        "a quantifier hides a let",
        """
(assert (let ((b false)) (exists ((b Bool)) b)))""",
        "sat",
        "(assert (exists ((b!1 Bool)) b!1))",
        features="let quantifier",
    ),
    good(
        "a let hides a quantified variable",
        "(assert (forall ((b Bool)) (let ((b true)) b)))",
        "sat",
        printed="(assert (forall ((b Bool)) true))",
        features="let quantifier",
    ),
    good(
        "a name twice in one binder",
        "(assert (exists ((x Int) (x Bool)) x))",
        "sat",
        printed="(assert (exists ((x!1 Int) (x Bool)) x))",
        features="quantifier",
    ),
    good(
        "a quoted name twice in one binder",
        "(assert (exists ((|a b| Int) (|a b| Bool)) |a b|))",
        "sat",
        printed="(assert (exists ((|a b!1| Int) (|a b| Bool)) |a b|))",
        features="quantifier quoted",
    ),
    good(
        "shared subterms come out as let",
        """
(declare-const somewhat_long_name Int)
(assert (let ((y (+ somewhat_long_name somewhat_long_name))) (< y (+ y y))))""",
        "sat",
        """
(declare-const somewhat_long_name Int)
(assert (let (($0 (+ somewhat_long_name somewhat_long_name))) (< $0 (+ $0 $0))))""",
        sorts="Int",
        features="let sharing",
    ),
    good(
        "a let inside its binder",
        """
(declare-fun f (Int) Int)
(assert (forall ((longer_name Int)) (let ((y (f (+ longer_name 100000000)))) (= y (+ y 0)))))""",
        "sat",
        """
(declare-fun f (Int) Int)
(assert (forall ((longer_name Int)) (let (($0 (f (+ longer_name 100000000)))) (= $0 (+ $0 0)))))""",
        features="let sharing quantifier",
    ),
    good(
        "a body shared by two binders",
        """
(declare-fun p (Int Int) Bool)
(declare-const number Int)
(assert (and (forall ((x Int)) (p (+ x number) (* x number))) (not (exists ((x Int)) (p (+ x \
number) (* x number))))))""",
        "unsat",
        features="sharing quantifier",
    ),
    good(
        "let names keep off symbols",
        """
(declare-const $0 Int)
(declare-const $1 Int)
(assert (let ((y (+ $0 $1 1000000 2000000 3000000))) (< y (+ y y))))""",
        "sat",
        """
(declare-const $0 Int)
(declare-const $1 Int)
(assert (let (($$0 (+ $0 $1 1000000 2000000 3000000))) (< $$0 (+ $$0 $$0))))""",
        features="let sharing",
    ),
    good(
        "an empty pattern variable hides no let",
        _LIST
        + """
(assert (let ((y (> (+ 11111111 22222222 (hd l)) 0))) (and y (not y) (match l ((nil y) ((cons $0 $1) y))))))
""",
        "unsat",
        _LIST
        + """\
(assert (let (($$0 (> (+ 11111111 22222222 (hd l)) 0))) (and $$0 (not $$0) \
(match l ((nil $$0) ((cons $0 $1) $$0))))))""",
        features="let sharing match",
    ),
    good(
        "quantifiers",
        "(assert (forall ((x Int) (y Real)) (exists ((b Bool)) (=> b (< (to_real x) y)))))",
        "sat",
        features="quantifier",
    ),
    good(
        "a pattern",
        """
(declare-fun p (Int) Bool)
(assert (forall ((x Int)) (! (p x) :pattern ((p x)))))
(assert (not (p 3)))""",
        "unsat",
        features="quantifier pattern",
    ),
    good(
        "patterns and other attributes",
        """
(declare-fun p (Int) Bool)
(declare-fun q (Int) Bool)
(assert (forall ((x Int)) (! (or (p x) (q x)) :pattern ((p x) (q x)) :pattern ((q x)) :qid some_name)))""",
        "sat",
        features="quantifier pattern",
    ),
    good(
        "match",
        _LIST
        + """
(assert (match l ((nil false) ((cons h t) (and (> h 0) (= t nil))))))""",
        "sat",
        features="match datatypes",
    ),
    good(
        "match with a variable",
        _LIST
        + """
(assert (match l (((cons h t) false) (other (= other l)))))
(assert ((_ is cons) l))""",
        "unsat",
        features="match datatypes",
    ),
    good(
        "match case hides a constant",
        _LIST
        + """
(declare-const h Int)
(assert (let ((k h)) (match l ((nil false) ((cons h t) (distinct h k))))))""",
        "sat",
        _LIST
        + """\
(declare-const h Int)
(assert (match l ((nil false) ((cons h!1 t) (distinct h!1 h)))))""",
        features="match datatypes capture",
    ),
    good(
        "lambda",
        """
(declare-const f (-> Int Int))
(assert (= f (lambda ((x Int)) (+ x 1))))""",
        "",
        sorts="(-> Int Int)",
        features="higher-order",
    ),
    good(
        "a function constant applied",
        """
(declare-fun f () (-> Int Int Bool))
(declare-const x Int)
(assert (f x x))""",
        "",
        features="higher-order",
    ),
    bad("let without a value", "(assert (let ((x)) x))", "expected (NAME TERM)", 1, 9),
    bad("let with a number for a name", "(assert (let ((5 true)) 5))", "expected (NAME TERM)", 1, 9),
    bad("let value out of scope", "(assert (let ((x true) (y x)) y))", "unknown symbol x", 1, 9),
    bad(
        "variable out of scope",
        "(assert (and (exists ((x Int)) (= x 0))\n  (= x 1)))",
        "unknown symbol x",
        2,
        3,
    ),
    bad("quantifier over a number", "(assert (forall ((x Int)) x))", "has sort Int, expected Bool", 1, 9),
    bad("quantifier without variables", "(assert (forall () true))", "without variables", 1, 9),
    bad(
        "binder with a number for a name",
        "(assert (forall ((5 Int)) true))",
        "expected (VARIABLE SORT)",
        1,
        9,
    ),
    bad("match leaves a case out", _LIST + "(assert (match l (((cons h t) true))))", "no case for nil", 3, 9),
    bad("match on a number", "(assert (match 1 ((x true))))", "not a datatype", 1, 9),
    bad(
        "match pattern of two equal names",
        _LIST + "(assert (match l ((nil true) ((cons x x) true))))",
        "does not fit",
        3,
        9,
        solvers=CVC5,
    ),
    bad(
        "match cases of two sorts",
        _LIST + "(assert (match l ((nil true) (x 1))))",
        "sorts Bool and Int",
        3,
        9,
    ),
    bad(
        "constructor applied in a pattern to too few",
        _LIST + "(assert (match l ((nil true) ((cons x) true))))",
        "does not fit sort L",
        3,
        9,
    ),
    bad("an application of nothing", "(assert (true))", "without arguments", 1, 9),
    bad("and of nothing", "(assert (and))", "without arguments", 1, 9),
    bad("empty list", "(assert ())", "() is not a term", 1, 9),
    bad("keyword as a term", "(assert :x)", "keyword :x", 1, 1),
    bad("number as a function", "(assert (1 2))", "unknown function 1", 1, 9),
)

DATATYPES = (
    good(
        "constructors, selectors, testers",
        _LIST
        + """
(assert (and ((_ is cons) l) (= (hd l) 1) (= (tl l) nil)))
(assert (distinct l (cons 1 nil)))""",
        "unsat",
        features="datatypes",
    ),
    good(
        "old tester",
        _LIST + "(assert (and (is-nil l) (is-cons l)))",
        "unsat",
        _LIST + "(assert (and ((_ is nil) l) ((_ is cons) l)))",
        features="datatypes dialect",
    ),
    good(
        "updater",
        _LIST + "(assert (= l (cons 1 nil)))\n(assert (distinct ((_ update hd) l 2) (cons 2 nil)))",
        "unsat",
        solvers=CVC5,
        features="datatypes",
    ),
    good(
        "declare-datatype",
        """
(declare-datatype Color ((red) (green)))
(declare-const c Color)
(assert (not (or (= c red) (= c green))))""",
        "unsat",
        """
(declare-datatypes ((Color 0)) (((red) (green))))
(declare-const c Color)
(assert (not (or (= c red) (= c green))))""",
        features="datatypes",
    ),
    good(
        "z3's old datatypes",
        """
(declare-datatypes () ((T (leaf) (node (left T) (right T)))))
(declare-const t T)
(assert (= t (node t leaf)))""",
        "unsat",
        """
(declare-datatypes ((T 0)) (((leaf) (node (left T) (right T)))))
(declare-const t T)
(assert (= t (node t leaf)))""",
        features="datatypes dialect",
    ),
    good(
        "z3's old parametric datatypes",
        """
(declare-datatypes (T) ((Maybe nothing (just (it T)))))
(declare-const m (Maybe Int))
(assert (= m (just 1)))
(assert (= m (as nothing (Maybe Int))))""",
        "unsat",
        """
(declare-datatypes ((Maybe 1)) ((par (T) ((nothing) (just (it T))))))
(declare-const m (Maybe Int))
(assert (= m (just 1)))
(assert (= m (as nothing (Maybe Int))))""",
        sorts="(Maybe Int); (Maybe Int)",
        features="datatypes dialect",
    ),
    good(
        "parametric",
        _PAIR
        + """\
(declare-const p (P Int Bool))
(assert (and (snd p) (= (fst p) 1)))
(assert (distinct p (mk 1 true)))""",
        "unsat",
        sorts="Bool; (P Int Bool)",
        features="datatypes parametric",
    ),
    good(
        "a parameter that the arguments leave open",
        """
(declare-datatypes ((E 2)) ((par (A B) ((left (l A)) (right (r B))))))
(assert (= ((as left (E Int Bool)) 1) ((as right (E Int Bool)) true)))""",
        "unsat",
        sorts="(E Int Bool)",
        features="datatypes parametric",
    ),
    good(
        "mutual",
        """
(declare-datatypes ((Tree 0) (Forest 0)) (((node (children Forest))) ((none) (some (first Tree) \
(rest Forest)))))
(declare-const t Tree)
(assert (= (children t) (some t none)))""",
        "unsat",
        sorts="Forest",
        features="datatypes",
    ),
    good(
        "match on a parametric datatype",
        _PAIR
        + """\
(declare-const p (P Int Int))
(assert (match p (((mk a b) (< a b)))))
(assert (= (fst p) (snd p)))""",
        "unsat",
        features="datatypes parametric match",
    ),
    bad("not well-founded", "(declare-datatypes ((D 0)) (((c (s D)))))", "D is not well-founded", 1, 1),
    bad(
        "mutual and not well-founded",
        "(declare-datatypes ((A 0) (B 0)) (((a (x B))) ((b (y A)))))",
        "is not well-founded",
        1,
        1,
    ),
    bad("no constructor", "(declare-datatypes ((D 0)) (()))", "no constructor", 1, 1),
    bad(
        "a parametric constant without its sort",
        "(declare-datatypes ((M 1)) ((par (T) ((n) (j (i T))))))\n(assert ((_ is n) n))",
        "write (as n SORT)",
        2,
        9,
        solvers=CVC5,
    ),
    bad(
        "selector of another datatype",
        _LIST + "(declare-datatypes ((D 0)) (((d))))\n(assert (= (hd d) 1))",
        "hd takes L, got d : D",
        4,
        12,
    ),
    bad("unknown tester", _LIST + "(assert ((_ is full) l))", "full is not a constructor", 3, 9),
    bad(
        "qualified with the wrong sort",
        _LIST + "(assert (= l (as nil Int)))",
        "no rank of nil for no arguments with result Int",
        3,
        14,
    ),
)

ARITHMETIC = (
    good(
        "integers",
        """
(declare-const x Int)
(declare-const y Int)
(assert (= (+ x y 1) (- x y)))
(assert (< 0 y (* 2 x)))""",
        "unsat",
        sorts="Int; Int",
        features="int",
    ),
    good(
        "division",
        """
(assert (= (div 7 2) 3))
(assert (= (mod (- 7) 2) 1))
(assert (= (abs (- 3)) 3))""",
        "sat",
        features="int",
    ),
    good(
        "numeral where a real is expected",
        "(declare-const r Real)\n(assert (= r 1))\n(assert (< (/ 1 3) r 5))",
        "sat",
        "(declare-const r Real)\n(assert (= r 1.0))\n(assert (< (/ 1.0 3.0) r 5.0))",
        sorts="Real; Real",
        features="real mixed",
    ),
    good(
        "an integer variable among reals",
        """
(declare-const i Int)
(declare-const r Real)
(assert (= (+ i r 1) (* 2 r)))
(assert (> i (- 3)))""",
        "sat",
        """
(declare-const i Int)
(declare-const r Real)
(assert (= (+ (to_real i) r 1.0) (* 2.0 r)))
(assert (> i (- 3)))""",
        sorts="Real; Int",
        features="mixed",
    ),
    good(
        "conversions",
        "(declare-const r Real)\n(assert (and (is_int r) (= (to_int r) 1) (< (to_real 1) r)))",
        "unsat",
        features="mixed",
    ),
    good(
        "a logic of reals",
        "(set-logic QF_LRA)\n(declare-const r Real)\n(assert (= r 5))\n(assert (= (+ r 1) 7))",
        "unsat",
        "(set-logic QF_LRA)\n(declare-const r Real)\n(assert (= r 5.0))\n(assert (= (+ r 1.0) 7.0))",
        sorts="Real; Real",
        features="real",
    ),
    good(
        "integers after a reset",
        "(set-logic QF_LRA)\n(reset)\n(set-logic QF_LIA)\n(assert (= 5 6))",
        "unsat",
        sorts="Int",
        features="int scopes",
    ),
    good(
        "minus signs",
        "(declare-const x Int)\n(assert (= x -5))\n(assert (= x (- 5)))",
        "sat",
        "(declare-const x Int)\n(assert (= x (- 5)))\n(assert (= x (- 5)))",
        features="int dialect",
    ),
    good(
        "leading zeros",
        "(assert (= 007 7))\n(assert (= 00.50 0.5))",
        "sat",
        "(assert (= 7 7))\n(assert (= 0.50 0.5))",
        sorts="Int; Real",
        features="int literals",
    ),
    good(
        "a Bool as a number",
        "(declare-const b Bool)\n(assert (= (+ b 1) 2))",
        "sat",
        "(declare-const b Bool)\n(assert (= (+ (ite b 1 0) 1) 2))",
        sorts="Int",
        features="mixed dialect",
    ),
    good(
        "divisible",
        "(declare-const x Int)\n(assert (and ((_ divisible 3) x) (< 3 x 6)))",
        "unsat",
        solvers=CVC5,
        features="int indexed",
    ),
    good("a power", "(declare-const x Int)\n(assert (= (^ x 2) 5))", "unsat", features="int nonlinear"),
    bad(
        "Bool and Int",
        "(declare-const x Int)\n(assert (and x\n  true))",
        "no rank of and for x : Int, true : Bool",
        2,
        9,
    ),
    bad(
        "a string among numbers",
        '(assert (= (+ 1 "2")\n 3))',
        'no rank of + for 1 : Int, "2" : String',
        1,
        12,
    ),
    bad("expected signature", "(assert (not 1 2))", "expected (not Bool Bool)", 1, 9),
    bad(
        "unknown function",
        "(declare-const x Int)\n(assert (= (sqaure x) 1))",
        "unknown function sqaure",
        2,
        12,
    ),
    bad("a near name", "(declare-const counter Int)\n(assert (= conter 1))", "did you mean counter?", 2, 9),
)

BITS = (
    good(
        "bit-vectors",
        """
(declare-const v (_ BitVec 8))
(declare-const w (_ BitVec 4))
(assert (= (concat w ((_ extract 3 0) v)) v))
(assert (bvult v #x10))
(assert (not (= w #b0000)))""",
        "unsat",
        sorts="(_ BitVec 8); (_ BitVec 8); Bool",
        features="bv indexed",
    ),
    good(
        "indexed operators",
        """
(declare-const v (_ BitVec 4))
(assert (= ((_ zero_extend 4) v) ((_ sign_extend 4) v)))
(assert (= ((_ repeat 2) v) ((_ rotate_left 1) #xff)))""",
        "unsat",
        sorts="(_ BitVec 8); (_ BitVec 8)",
        features="bv indexed",
    ),
    good(
        "bv literals",
        "(assert (= (_ bv10 8) #x0a #b00001010))",
        "sat",
        sorts="(_ BitVec 8)",
        features="bv literals",
    ),
    good(
        "a bv literal too large",
        "(assert (= (_ bv257 8) #x01))",
        "sat",
        "(assert (= (_ bv1 8) #x01))",
        features="bv literals",
    ),
    good(
        "integer conversions",
        "(declare-const v (_ BitVec 4))\n(assert (= (ubv_to_int v) (sbv_to_int v)))\n"
        "(assert (= ((_ int_to_bv 4) 15) v))",
        "unsat",
        features="bv int",
    ),
    good(
        "old integer conversions",
        "(declare-const v (_ BitVec 4))\n(assert (= (bv2nat v) 16))",
        "unsat",
        "(declare-const v (_ BitVec 4))\n(assert (= (ubv_to_int v) 16))",
        features="bv int dialect",
    ),
    good("overflow", "(assert (bvuaddo #xff #x00))", "unsat", features="bv"),
    good(
        "floating point",
        """
(declare-const f (_ FloatingPoint 8 24))
(assert (fp.eq f (fp.add RNE f ((_ to_fp 8 24) RNE 1.0))))
(assert (fp.lt (_ -zero 8 24) f (_ +zero 8 24)))""",
        "unsat",
        sorts="(_ FloatingPoint 8 24); (_ FloatingPoint 8 24)",
        features="fp indexed",
    ),
    good(
        "float names",
        "(declare-const f Float32)\n(assert (fp.isNaN f))\n(assert (= f (fp #b0 #x7f \
#b00000000000000000000000)))",
        "unsat",
        "(declare-const f (_ FloatingPoint 8 24))\n(assert (fp.isNaN f))\n"
        "(assert (= f (fp #b0 #x7f #b00000000000000000000000)))",
        features="fp",
    ),
    good(
        "long names of rounding modes",
        "(assert (= roundTowardZero RTZ))",
        "sat",
        "(assert (= RTZ RTZ))",
        sorts="RoundingMode",
        features="fp dialect",
    ),
    bad(
        "widths differ",
        "(assert (= #b1 #b01))",
        "no rank of = for #b1 : (_ BitVec 1), #b01 : (_ BitVec 2)",
        1,
        9,
    ),
    bad(
        "extract out of range", "(assert (= ((_ extract 8 0) #x00) #b0))", "no rank of (_ extract 8 0)", 1, 12
    ),
    bad("no hexadecimal", "(assert (= #xfg #xff))", "#xfg is not a literal", 1, 9),
    bad("empty binary", "(assert (= #b #b0))", "#b is not a literal", 1, 9),
)

OTHERS = (
    good(
        "arrays",
        """
(declare-const a (Array Int Int))
(assert (= (select (store a 1 2) 1) 3))""",
        "unsat",
        sorts="Int",
        features="arrays",
    ),
    good(
        "constant array",
        "(assert (= (select ((as const (Array Int Bool)) true) 5) false))",
        "unsat",
        sorts="Bool",
        features="arrays as",
    ),
    good(
        "array of reals",
        "(declare-const a (Array Int Real))\n(assert (= (store a 1 2) (store a 1 3)))",
        "unsat",
        "(declare-const a (Array Int Real))\n(assert (= (store a 1 2.0) (store a 1 3.0)))",
        sorts="(Array Int Real)",
        features="arrays mixed",
    ),
    good(
        "strings",
        """
(declare-const s String)
(assert (= (str.++ s "a") "b"))""",
        "unsat",
        sorts="String",
        features="strings",
    ),
    good(
        "string literals",
        """
(assert (= "" (str.substr "a""b" 0 0)))
(assert (= (str.len "a""b;(|") 6))
(assert (= (str.len "\\u{48}") 1))""",
        "sat",
        features="strings literals",
    ),
    good(
        "old strings",
        """
(declare-const s String)
(assert (= (str.to.int s) 1))
(assert (str.in.re s (re.++ (str.to.re "a") re.all)))""",
        "unsat",
        """
(declare-const s String)
(assert (= (str.to_int s) 1))
(assert (str.in_re s (re.++ (str.to_re "a") re.all)))""",
        features="strings dialect",
    ),
    good(
        "regular expressions",
        """
(declare-const s String)
(assert (str.in_re s ((_ re.loop 1 3) (re.range "a" "c"))))
(assert (> (str.len s) 3))""",
        "unsat",
        sorts="String; Int",
        features="strings regex indexed",
    ),
    good(
        "sequences",
        """
(declare-const q (Seq Int))
(assert (= (seq.++ q (seq.unit 1)) (as seq.empty (Seq Int))))""",
        "unsat",
        sorts="(Seq Int)",
        features="sequences as",
    ),
    good(
        "sets",
        """
(declare-const s (Set Int))
(assert (set.member 1 s))
(assert (= s (as set.empty (Set Int))))""",
        "unsat",
        solvers=CVC5,
        features="sets as",
    ),
    good(
        "finite fields",
        """
(declare-const f (_ FiniteField 5))
(assert (= (ff.add f #f1m5) f))""",
        "unsat",
        features="ff literals",
    ),
    good(
        "z3's cardinalities",
        "(declare-const a Bool)\n(declare-const b Bool)\n(assert (and a b ((_ at-most 1) a b)))",
        "unsat",
        solvers=Z3,
        features="indexed",
    ),
    good(
        "Boolean connectives",
        "(declare-const p Bool)\n(assert (=> p (xor p (and p p) (or p false)) (ite p p p)))",
        "sat",
        features="core",
    ),
    good(
        "old connectives",
        "(declare-const p Bool)\n(assert (implies p (iff p (if p p false))))",
        "sat",
        "(declare-const p Bool)\n(assert (=> p (= p (ite p p false))))",
        features="core dialect",
    ),
    good("a connective alone", "(assert and)\n(assert (not or))", "sat", solvers=Z3, features="core dialect"),
    good(
        "quoted symbols",
        """
(declare-const |a b| Int)
(declare-const |c;(| Int)
(declare-const |-5| Int)
(declare-const |let| Int)
(assert (< |a b| |c;(| |-5| |let|))""",
        "sat",
        features="quoted",
    ),
    good(
        "needless bars",
        "(declare-const |x| Int)\n(assert (= x |x| 1))",
        "sat",
        "(declare-const x Int)\n(assert (= x x 1))",
        features="quoted",
    ),
    good(
        "comments inside",
        "(assert ; one\n  (= 1 ; two (\n 1))",
        "sat",
        "(assert (= 1 1))",
        features="lexicon",
    ),
    good(
        "CRLF and tabs",
        "(declare-const\tx Int) ; c\r\n(assert\r\n(= x 1))\r\n",
        "sat",
        "(declare-const x Int)\n(assert (= x 1))",
        features="lexicon",
    ),
    good(
        "foreign spaces",
        "(declare-const\u00a0x\u2003Int)\ufeff\n(assert (= x 1))",
        "sat",
        "(declare-const x Int)\n(assert (= x 1))",
        features="lexicon dialect",
    ),
    good(
        "odd characters in symbols",
        "(declare-const ~!@$%^&*_-+=<>.?/x Int)\n(assert (= ~!@$%^&*_-+=<>.?/x 1))",
        "sat",
        features="lexicon",
    ),
    good(
        "overloading",
        "(declare-fun f (Int) Int)\n(declare-fun f (Bool) Bool)\n(assert (and (f true) (= (f 1) 2)))",
        "sat",
        features="overloading",
    ),
    bad("a symbol solvers cannot read", "(declare-const caf\u00e9 Int)", "expected a symbol", 1, 1),
    bad(
        "array index",
        "(declare-const a (Array Int Bool))\n(assert (select a true))",
        "no rank of select",
        2,
        9,
    ),
)

KNOWN: tuple[Known, ...] = COMMANDS + FORMS + DATATYPES + ARITHMETIC + BITS + OTHERS
GOOD = tuple(k for k in KNOWN if k.error is None)
BAD = tuple(k for k in KNOWN if k.error is not None)
