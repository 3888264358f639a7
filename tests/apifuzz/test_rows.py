"""Rows: what they say, that they are there for every operator, and what of a solver's interface has none."""

from __future__ import annotations

import builtins
import dis
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from types import CodeType
from typing import Any

import bitwuzla
import cvc5
import pytest

from apifuzz import calls
from apifuzz.chance import Chance
from apifuzz.driving import new_run, replay
from apifuzz.engines import make_engine
from apifuzz.engines.bitwuzla import session as bitwuzla_session
from apifuzz.engines.cvc5 import calls as cvc5_calls
from apifuzz.engines.cvc5 import terms
from apifuzz.engines.declared import Declared
from apifuzz.engines.rows import Route, Rows, Script, Words, choose, fold, read_rows
from apifuzz.engines.tabled import TableEngine
from apifuzz.engines.z3 import words as z3_words
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind, TermKind
from apifuzz.model import default_model
from apifuzz.operators import operators_for
from apifuzz.run import Settings
from apifuzz.trace import read_trace
from smtlib.sorts import bit_vector
from tests.apifuzz.counting import api_functions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f(1, x)", (1, 5)),
        ("f(*some, x)", (7, 8, 5)),
        ("x - 2 << 1", 6),
        ("-x < ~x", False),
        ("some[1:]", [8]),
        ("some[0]", 7),
        ("x.real", 5),
        ("not x in some and x > 3", True),
        ("(x, [1, 'a'])", (5, [1, "a"])),
    ],
)
def test_a_call_is_what_python_would_make_of_it(text: str, value: object) -> None:
    words = Words({"x": 5, "some": [7, 8], "f": lambda *args: args})
    assert Route(text).make(words) == value


def test_a_new_row_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "calls.toml"
    file.write_text("[operators]\nbvadd = 'mkTerm(BITVECTOR_NOT, a)'\n")
    monkeypatch.setattr(terms, "OPERATORS", read_rows(file)["operators"])
    monkeypatch.setattr(cvc5_calls, "OPERATORS", terms.OPERATORS)
    engine = make_engine("cvc5")
    engine.perform(calls.New())
    sort = ApiSort(1, bit_vector(4), engine.perform(calls.MakeSort(bit_vector(4), ())))
    value = ApiTerm(1, sort, engine.perform(calls.MakeValue(sort, "#b0011")), TermKind.VALUE)
    made = engine.perform(calls.MakeTerm(sort, Head(HeadKind.OPERATOR, "bvadd"), (value,)))
    assert str(made) == "(bvnot #b0011)"


def test_a_row_for_sorts_goes_before_the_general_one() -> None:
    rows = Rows({"f": "GENERAL", "f Int": "ONE", "f Seq ...": "SEQUENCES"})
    assert rows.plain("f", ["Int"]) == "ONE"
    assert rows.plain("f", ["Int", "Int"]) == "GENERAL"
    assert rows.plain("f", ["Seq", "Int"]) == "SEQUENCES"
    assert rows.find("g", ["Int"]) == ()


def test_letters_say_how_many_arguments_a_call_takes() -> None:
    rows = Rows({"bvadd": ["one(a)", "two(a, b)", "all_of(*args)", "KIND"]})
    texts = [[route.text for route in rows.find("bvadd", ["BitVec"] * n)] for n in (1, 2, 3)]
    assert texts == [["one(a)", "KIND"], ["two(a, b)", "all_of(*args)", "KIND"], ["all_of(*args)", "KIND"]]


def test_a_call_whose_condition_does_not_hold_is_not_drawn() -> None:
    routes = [Route("f(a)", "a > 3"), Route("g(a)")]
    drawn = {
        number: {getattr(choose(routes, Words({"a": number}), Chance(seed)), "text", "")
                 for seed in range(20)}
        for number in (3, 4)
    }  # fmt: skip
    assert drawn == {3: {"g(a)"}, 4: {"f(a)", "g(a)"}}
    assert choose(routes[:1], Words({"a": 3}), Chance(1)) is None


def test_more_than_two_arguments_are_taken_as_the_theory_files_say() -> None:
    made = {
        kind: fold(kind, "xyz", lambda *args: f"({''.join(args)})", lambda *args: "&".join(args))
        for kind in (":left-assoc", ":right-assoc", ":chainable", ":pairwise", "")
    }
    assert list(made.values()) == ["((xy)z)", "(x(yz))", "(xy)&(yz)", "(xy)&(xz)&(yz)", "(xyz)"]


@pytest.mark.parametrize(("solver", "making"), [("cvc5", cvc5_calls), ("bitwuzla", bitwuzla_session)])
def test_every_operator_of_the_theory_files_has_a_row_and_no_row_is_for_another(
    solver: str, making: Any
) -> None:
    engine = make_engine(solver)
    known = engine.capabilities()
    found = operators_for(engine.families, known, known.theories | {"FiniteFields"}).signatures
    lacking = {
        signature.name
        for signature in found
        if not making.OPERATORS.find(signature.name, [p.name for p in signature.params])
    }
    assert lacking == set()
    names = {s.name for s in found} | NOT_DRAWN[solver]
    assert {name.partition(" ")[0] for name, _ in making.OPERATORS} <= names


NOT_DRAWN = {
    "cvc5": set("const eqrange set.complement set.universe ff.add ff.mul ff.neg ff.bitsum".split()),
    "bitwuzla": set(),
}
"""Operators that are there with some options, or in some builds."""

WITHOUT_ROW = {
    "cvc5": {
        # Values, which calls of their own make.
        *"CONST_BITVECTOR CONST_BOOLEAN CONST_FINITE_FIELD CONST_FLOATINGPOINT CONST_INTEGER".split(),
        *"CONST_RATIONAL CONST_ROUNDINGMODE CONST_SEQUENCE CONST_STRING CONST_ARRAY BAG_EMPTY".split(),
        *"SEP_NIL SET_EMPTY SET_UNIVERSE UNINTERPRETED_SORT_VALUE".split(),
        # Of cvc5 itself.
        *"LAST_KIND NULL_TERM SEXPR SKOLEM UNDEFINED_KIND CARDINALITY_CONSTRAINT".split(),
        # Not made.
        *"BITVECTOR_BIT BITVECTOR_FROM_BOOLS BITVECTOR_SLTBV BITVECTOR_TO_NAT BITVECTOR_ULTBV".split(),
        *"INST_ADD_TO_POOL SKOLEM_ADD_TO_POOL NULLABLE_LIFT RELATION_AGGREGATE RELATION_TABLE_JOIN".split(),
        *"TABLE_AGGREGATE TABLE_JOIN WITNESS".split(),
    },
    "bitwuzla": set(),
}
"""Kinds that neither a row nor the engine's code makes."""


def sources_of(module: Any) -> list[str]:
    """The code of an engine: its modules, and its rows of actions, questions and calls of runs."""
    folder = Path(module.__file__).parent
    rows = folder / "actions.toml", folder / "questions.toml"
    calls_of_runs = tomllib.loads((folder / "calls.toml").read_text("utf-8"))["calls"].values()
    return [*(file.read_text("utf-8") for file in (*folder.glob("*.py"), *rows)), *calls_of_runs]


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5", "oxiz", "z3"])
def test_every_word_of_an_action_means_something(solver: str) -> None:
    engine = make_engine(solver)
    run = new_run(engine, Settings(), 1)
    run.make(calls.New())
    drawing = {"run", "store", "chance", "stack", "by_kinds"}
    for action in default_model(engine).actions.values():
        if not issubclass(action, Declared):
            continue
        known = drawing | action.asking.module.keys() | vars(builtins).keys()
        assert action.drawing is None or words_in(action.drawing.code) <= known
        if action.script is not None:
            asking = action.asking(run, engine)
            words = asking.words(action(*(None for _ in action.takes)))
            for name in words_in(action.script.code):
                words[name]


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5", "oxiz", "z3"])
def test_every_word_of_a_call_means_something(solver: str) -> None:
    engine = make_engine(solver)
    assert isinstance(engine, TableEngine)
    engine.perform(calls.New())
    arguments = {
        call.method: {field.name for field in fields(call)}
        for call in (*calls.ACTIONS.values(), calls.HasSort, calls.Equate)
    }
    for name, script in engine.calls.items():
        for word in words_in(script.code) - arguments[name] - vars(builtins).keys():
            engine.word(word)


ASKED = """exhume-trace 1 {solver} 1
1 new
1 set-option produce-models true
1 make-sort Bool
return s1
1 make-sort (_ BitVec 4)
return s2
1 declare-datatypes (D () (mk (part s2)))
return s3
1 make-constant s2 c
return t1
1 make-value s2 #b0011
return t2
1 make-term s1 bvult t1 t2
return t3
1 make-function f (s2) s2
return t4
1 make-term s2 apply t4 t1
return t5
1 make-variable s2 x
return t6
1 make-term s1 bvult t6 t5
return t7
1 make-binder s1 exists (t6) t7
return t8
1 inspect-sort s2
1 inspect-sort s3
1 inspect-term t1
1 inspect-term t2
1 inspect-term t4
1 inspect-term t5
1 inspect-term t8
1 assert t3
1 check-sat
1 get-value t1
1 print-model
"""


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5", "z3"])
def test_every_script_of_questions_runs(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make_engine(solver)
    assert isinstance(engine, TableEngine)
    ran = set()
    run = Script.run

    def noting(script: Script, words: Words) -> Any:
        ran.add(script)
        return run(script, words)

    monkeypatch.setattr(Script, "run", noting)
    ending = replay(engine, read_trace(ASKED.format(solver=solver)))
    assert (ending.kind, ending.detail) == ("done", "")
    assert set(engine.questions.scripts.values()) <= ran


def words_in(code: CodeType) -> set[str]:
    """What the code and the functions in it look up."""
    inner = [words_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    looked_up = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return looked_up.union(*inner)


@pytest.mark.parametrize(
    ("solver", "making", "kinds"),
    [("cvc5", cvc5_calls, cvc5.Kind), ("bitwuzla", bitwuzla_session, bitwuzla.Kind)],
)
def test_which_kinds_are_not_made(solver: str, making: Any, kinds: Any) -> None:
    sources = sources_of(making)
    in_code = set(re.findall(r"\bKind\.([A-Z0-9_]+)", " ".join(sources)))
    assert {kind.name for kind in kinds} - making.OPERATORS.words - in_code == WITHOUT_ROW[solver]


BY_MODULE = """
    array_sort ast_map ast_vector bound bv2int bv_sort bvadd_no_overflow bvadd_no_underflow
    bvmul_no_overflow bvneg_no_overflow bvsdiv_no_overflow bvsub_no_overflow bvsub_no_underflow
    constructor constructor_list context_rc datatype_sort datatypes empty_set enumeration_sort
    finite_field_sort finite_set_sort fixedpoint fpa_sort fresh_const full_set func_decl goal
    linear_order optimize params parser_context partial_order pattern piecewise_linear_order
    polymorphic_datatype probe quantifier_const_ex re_sort rec_func_decl seq_sort set_add set_del
    simplifier solver_from_tactic string_symbol tactic tree_order type_variable
"""
"""Calls that those functions of z3's module make that are called."""

NOT_MADE = """
    complex complex_sort datatype divides finite_domain_sort finite_set_singleton fresh_func_decl imag_part
    int_symbol map real_part transitive_closure tuple_sort
"""


def test_which_calls_of_z3_make_nothing() -> None:
    sources = sources_of(z3_words)
    in_code = set(re.findall(r"\bZ3_mk_(\w+)", " ".join(sources)))
    tables = (z3_words.OPERATORS, z3_words.VALUES, z3_words.SORTS, z3_words.BINDERS, z3_words.WAYS)
    in_rows = {word.removeprefix("Z3_mk_") for table in tables for word in table.words}
    known = {name.removeprefix("Z3_mk_") for name in api_functions("z3") if name.startswith("Z3_mk_")}
    assert known - in_code - in_rows - set(BY_MODULE.split()) == set(NOT_MADE.split())
