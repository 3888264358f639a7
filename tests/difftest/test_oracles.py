"""Oracles, each with its planted bug: seen, confirmed in a fresh process, never a false alarm."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from difftest import (
    HuntOptions,
    HuntSummary,
    Limits,
    Outcome,
    Solver,
    Stage,
    Verdict,
    find_solver,
    find_solvers,
    hunt,
    replay,
)
from difftest.oracles import (
    ORACLES,
    UnknownOracle,
    default_oracles,
    hunting_oracles,
    oracles_in_turn,
    oracles_on,
    promises,
    select,
)
from difftest.oracles import slowdown as slow
from difftest.oracles.base import Observation
from difftest.oracles.releases import older_pairs
from difftest.triage import evidence
from difftest.triage.confirm import Confirmer
from difftest.triage.evidence import PARENT, WITH_MODEL
from difftest.triage.expectation import expectation_of_finding
from generator.strategy import GeneratedTest
from solvers.errors import EnvironmentProblem, SolverMissing
from solvers.registry import PROFILES
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.specs import parse_spec
from tests.difftest.hunts import NEW, OLD, OTHER, release, summary_of
from tests.releases import no_release

Fake = Callable[..., Solver]
TEXT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 1))(check-sat)"
UNSAT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 1))(assert (< x 1))(check-sat)"
ALWAYS = {name for name, oracle in ORACLES.items() if not oracle.in_turn or oracle.in_replays}
QUICK = (Stage(5.0, 1.0),)


def run(
    tests: Sequence[GeneratedTest], solvers: Sequence[Solver], out: Path, *oracles: str
) -> tuple[HuntSummary, list[dict[str, Any]]]:
    """A hunt without reduction, and the findings' documents."""
    summary = summary_of(hunt(tests, solvers, HuntOptions(out, stages=QUICK, reduction=0.0, oracles=oracles)))
    return summary, [json.loads((r.path / "finding.json").read_text()) for r in summary.findings]


def run_one(
    solvers: Sequence[Solver], out: Path, oracle: str, text: str = TEXT, known: tuple[str, ...] = ()
) -> tuple[HuntSummary, dict[str, Any]]:
    """A hunt with one test, and the document of its only finding."""
    summary, (data,) = run([GeneratedTest(0, text, "by-hand", known=known)], solvers, out, oracle)
    return summary, data


def verdict(outcome: Outcome, *answers: str | None, seconds: float = 0.1) -> Verdict:
    return Verdict(outcome, answers, seconds)


def names_of(
    oracle: str, solvers: Sequence[Solver], text: str = TEXT, **verdicts: Verdict
) -> list[str | None]:
    seen = Observation(text, solvers, {s.name: verdicts[k] for s, k in zip(solvers, verdicts, strict=True)})
    return [candidate.culprit for candidate in ORACLES[oracle].look(seen)]


# Choosing


def test_oracles_are_chosen_by_name_in_one_order() -> None:
    assert select(["soundness,crash", "slowdown"]) == ("crash", "soundness", "slowdown")
    with pytest.raises(
        UnknownOracle, match=r"oracle 'slow-down': not known; did you mean slowdown.*There are crash, "
    ):
        select(["crash,slow-down"])
    with pytest.raises(UnknownOracle, match="no oracle is named"):
        select([" , "])


def test_oracles_are_switched_off_by_name() -> None:
    off = select(["-slowdown, -crash", "-crash"])
    assert off == ("-crash", "-slowdown")
    assert set(oracles_on(off, [NEW, OLD])) == ALWAYS - {"crash", "slowdown"}
    assert oracles_on(off, [NEW]) == ("soundness", "invalid-model", "implication")
    assert oracles_on(select(["crash"]), [NEW, OLD]) == ("crash",)
    with pytest.raises(UnknownOracle, match="crash,-slowdown: name those that are on, or with '-'"):
        select(["crash", "-slowdown"])
    with pytest.raises(UnknownOracle, match=r"oracle 'slow-down': not known.*mean slowdown"):
        select(["-slow-down"])


def test_the_defaults_depend_on_the_solvers() -> None:
    plain = ("crash", "soundness", "invalid-model", "implication")
    assert default_oracles([NEW]) == plain
    assert set(default_oracles([NEW, OTHER])) == {*plain, "model-cross-check"}
    assert set(default_oracles([NEW, OLD])) == ALWAYS
    assert set(default_oracles([NEW, replace(OLD, checks=("a=b",))])) == {*plain, "model-cross-check"}
    # Programs are compared if one of them is the base.
    assert "slowdown" not in oracles_on((), [OTHER, replace(OTHER, name="base")])
    assert "slowdown" in oracles_on((), [OTHER, replace(OTHER, name="base", is_base=True)])


def test_in_hunts_the_model_cross_check_takes_turns_unless_it_is_named() -> None:
    both = [NEW, OTHER]
    assert "model-cross-check" not in hunting_oracles((), both)
    assert "model-cross-check" in hunting_oracles((), both, "model-cross-check")
    assert hunting_oracles(("crash",), both) == ("crash",)
    assert "model-cross-check" in hunting_oracles(("model-cross-check",), both)
    # To switch another one off is not to name it.
    assert hunting_oracles(("-crash",), both) == tuple(n for n in hunting_oracles((), both) if n != "crash")
    assert "model-cross-check" in oracles_in_turn(("-crash",), both)
    assert "model-cross-check" not in oracles_in_turn((), [NEW])
    assert not oracles_in_turn(("model-cross-check",), both)
    assert "model-cross-check" not in oracles_in_turn(("-model-cross-check",), both)


def test_every_oracle_says_what_it_is() -> None:
    assert all(name == oracle.name and oracle.about for name, oracle in ORACLES.items())


def test_releases_are_ordered_as_numbers_and_programs_have_none() -> None:
    tenth = replace(NEW, spec="z3==4.8.10.0", name="tenth")
    assert (tenth.release, OTHER.release) == ("4.8.10.0", None)
    pairs = [(a.name, b.name) for a, b in older_pairs([OLD, tenth, NEW, OTHER])]
    assert pairs == [("tenth", "z3-4.8.5"), ("z3-5.4.0", "tenth"), ("z3-5.4.0", "z3-4.8.5")]
    same = replace(NEW, spec="z3==5.4", name="same")
    assert list(older_pairs([NEW, same])) == []


def test_a_build_is_of_its_release_and_not_compared_in_time() -> None:
    build = replace(NEW, spec="z3==5.4.0+debug.address", name="build")
    assert build.release == "5.4.0+debug.address"
    assert list(older_pairs([NEW, build])) == []
    assert [(a.name, b.name) for a, b in older_pairs([build, OLD])] == [("build", "z3-4.8.5")]
    quick, late = verdict(Outcome.OK, "sat"), verdict(Outcome.TIMEOUT, None, seconds=10.0)
    assert names_of("slowdown", [build, OLD], a=late, b=quick) == []
    assert names_of("slowdown", [build, replace(NEW, is_base=True)], a=late, b=quick) == []
    old_build = replace(OLD, spec="z3==4.8.5+debug.address", name="old build")
    assert names_of("slowdown", [build, old_build], a=late, b=quick) == ["build"]
    assert "slowdown" not in default_oracles([build, OLD])


# Trust


def test_an_untrusted_solvers_answers_contradict_nobody_and_its_crashes_count(tmp_path: Path) -> None:
    shaky, sure = find_solvers(["cvc5[fp-exp]", "z3"])
    assert not shaky.answers_are_trusted
    ok = {"sat": verdict(Outcome.OK, "sat"), "unsat": verdict(Outcome.OK, "unsat")}
    assert names_of("soundness", [shaky, sure], a=ok["sat"], b=ok["unsat"]) == []
    seen = Observation(TEXT, [shaky], {shaky.name: ok["sat"]}, ("unsat",))
    assert ORACLES["soundness"].look(seen) == []
    crashed = Verdict(Outcome.CRASH, (None,), 0.1, "boom", "x.cpp:1")
    assert names_of("crash", [shaky, sure], a=crashed, b=ok["sat"]) == [shaky.name]


# Incompleteness


@pytest.mark.parametrize("was", ["sat", "unsat"])
def test_unknown_where_an_older_release_answered_is_incompleteness(was: str) -> None:
    now, before = verdict(Outcome.UNKNOWN, "unknown"), verdict(Outcome.OK, was)
    assert names_of("incompleteness", [NEW, OLD], a=now, b=before) == ["z3-5.4.0"]
    assert names_of("incompleteness", [OLD, NEW], a=before, b=now) == ["z3-5.4.0"]


def test_incompleteness_names_the_nearest_older_release_that_answered() -> None:
    tenth = replace(NEW, spec="z3==4.8.10.0", name="tenth")
    sat, unknown = verdict(Outcome.OK, "sat"), verdict(Outcome.UNKNOWN, "unknown")
    solvers = [OLD, tenth, NEW]
    verdicts = dict(zip([s.name for s in solvers], [sat, sat, unknown], strict=True))
    (candidate,) = ORACLES["incompleteness"].look(Observation(TEXT, solvers, verdicts))
    assert candidate.reason == "tenth said sat, it says unknown"


def test_what_is_no_incompleteness() -> None:
    unknown, sat = verdict(Outcome.UNKNOWN, "unknown"), verdict(Outcome.OK, "sat")
    late = verdict(Outcome.TIMEOUT, None)
    assert names_of("incompleteness", [NEW, OLD], a=sat, b=unknown) == []
    assert names_of("incompleteness", [NEW, OLD], a=late, b=sat) == []
    assert names_of("incompleteness", [NEW, OLD], a=unknown, b=unknown) == []
    assert names_of("incompleteness", [NEW, OTHER], a=unknown, b=sat) == []
    limited = f"(set-option :timeout 10){TEXT}"
    assert names_of("incompleteness", [NEW, OLD], limited, a=unknown, b=sat) == []
    # More time would not show anything, either.
    for text in (TEXT, limited):
        seen = Observation(text, [NEW, OLD], {NEW.name: late, OLD.name: sat})
        assert promises(seen, ["incompleteness"], 10.0) == (text == TEXT)
    # The old answer was wrong: to give it up is no loss.
    unsat = verdict(Outcome.OK, "unsat")
    assert names_of("incompleteness", [NEW, OLD, OTHER], a=unknown, b=sat, c=unsat) == []
    hasty = find_solver("z3[smt.mbqi=false]")
    older = replace(OLD, checks=hasty.checks)
    assert names_of("incompleteness", [hasty, older], a=unknown, b=sat) == []


def test_incompleteness_is_found_and_confirmed_in_a_hunt(
    make_test: Callable[..., GeneratedTest], fake: Fake, tmp_path: Path
) -> None:
    new = release(fake("say('unknown' if '> x' in text else 'sat')", "new"), "5.4.0")
    old = release(fake("say('sat')", "old"), "4.8.5")
    summary, (data,) = run([make_test(TEXT)], [new, old], tmp_path, "incompleteness", "crash")
    assert (data["class"], data["guilty"], data["oracle"]) == ("incompleteness", "z3-5.4.0", "incompleteness")
    assert data["evidence"] == ["z3-4.8.5 said sat, it says unknown"]
    assert "z3" in (summary.findings[0].path / "report.md").read_text()


# Implication


def chain(weaker: bool, text: str = TEXT) -> GeneratedTest:
    parent = "(declare-const x Int)(assert (= x 5))(check-sat)" if weaker else TEXT.replace("> x", "= x 2 3")
    side = {"implied_by": parent} if weaker else {"implies": parent}
    return GeneratedTest(0, text, "by-hand", **side)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weaker", "own", "parents", "found"),
    [
        (True, "unknown", "sat", "incompleteness"),
        (True, "unsat", "sat", "soundness"),
        (True, "sat", "sat", None),
        (True, "unknown", "unsat", None),
        (True, "unknown", "unknown", None),
        (False, "unknown", "unsat", "incompleteness"),
        (False, "sat", "unsat", "soundness"),
        (False, "unsat", "unsat", None),
        (False, "unknown", "sat", None),
    ],
)
def test_what_follows_from_a_decided_formula_is_decided(
    weaker: bool, own: str, parents: str, found: str | None, fake: Fake, tmp_path: Path
) -> None:
    solver = fake(f"say({parents!r} if '(= x' in text else {own!r})")
    summary, data = run([chain(weaker)], [solver], tmp_path, "implication")
    assert [entry["class"] for entry in data] == ([found] if found else [])
    if found:
        folder = summary.findings[0].path
        assert "(= x" in (folder / PARENT).read_text()
        with Confirmer(expectation_of_finding(folder)) as confirmer:
            assert confirmer(chain(weaker).text)


def test_a_parent_is_run_only_where_it_may_tell(fake: Fake, tmp_path: Path) -> None:
    log = tmp_path / "log"
    solver = fake(f"open({str(log)!r}, 'a').write('+'); say('sat')")
    run([chain(True)], [solver], tmp_path / "out", "implication")
    assert log.read_text() == "+"


# Slowdown


def test_slow_is_twenty_times_and_five_seconds() -> None:
    quick, late = verdict(Outcome.OK, "sat"), verdict(Outcome.TIMEOUT, None, seconds=10.0)
    assert names_of("slowdown", [NEW, OLD], a=late, b=quick) == ["z3-5.4.0"]
    assert names_of("slowdown", [NEW, OLD], a=verdict(Outcome.OK, "sat", seconds=5.1), b=quick) == [
        "z3-5.4.0"
    ]
    assert names_of("slowdown", [NEW, OLD], a=verdict(Outcome.OK, "sat", seconds=4.9), b=quick) == []
    assert names_of("slowdown", [NEW, OLD], a=late, b=verdict(Outcome.OK, "sat", seconds=0.6)) == []
    assert names_of("slowdown", [NEW, OLD], a=late, b=verdict(Outcome.UNKNOWN, "unknown")) == []
    assert names_of("slowdown", [NEW, OLD], a=quick, b=late) == []
    assert names_of("slowdown", [NEW, OTHER], a=late, b=quick) == []


@pytest.mark.parametrize(("slow_runs", "found"), [(2, True), (1, False)])
@pytest.mark.few(1)
def test_a_slowdown_counts_only_if_every_measurement_shows_it(
    slow_runs: int, found: bool, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow, "SECONDS", 1.4)
    monkeypatch.setattr(slow, "FACTOR", 1.1)
    monkeypatch.setattr(slow, "_START", 0.0)
    log = tmp_path / "log"
    body = f"open({str(log)!r}, 'a').write('+')\nif len(open({str(log)!r}).read()) <= {slow_runs}:"
    new = release(fake(f"{body} time.sleep(9)\nsay('sat')", "new"), "5.4.0")
    old = release(fake("say('sat')", "old"), "4.8.5")
    late, quick = verdict(Outcome.TIMEOUT, None, seconds=10.0), verdict(Outcome.OK, "sat")
    seen = Observation(TEXT, [new, old], {new.name: late, old.name: quick})
    (candidate,) = ORACLES["slowdown"].look(seen)
    with Runner(warm=False) as runner:
        assert slow.measure(candidate, seen, runner, Limits(1.5)) is found
    # The first measurement is in the observation.
    assert len(log.read_text()) == 2


# Models


def test_a_wrong_model_is_found_by_the_other_solver_and_kept(fake: Fake, tmp_path: Path) -> None:
    liar = fake("say('sat')\nif 'get-model' in text: say('((define-fun x () Int 0))')", "liar")
    summary, data = run_one([liar, find_solver("z3")], tmp_path, "model-cross-check")
    assert (data["class"], data["guilty"]) == ("invalid-model", "liar")
    assert data["key"] == "invalid-model|liar|Ints"
    assert data["evidence"][:3] == [
        "z3 says unsat to the formula with the model of liar inserted",
        "liar itself says sat to that",
        "cvc5 says unsat to that",
    ]
    folder = summary.findings[0].path
    assert "(define-fun x () Int 0)" in (folder / WITH_MODEL).read_text()
    with Confirmer(expectation_of_finding(folder)) as confirmer:
        assert confirmer(TEXT)
        assert confirmer.fresh(TEXT)
        assert not confirmer(TEXT.replace("> x 1", "< x 1"))


def test_a_model_is_judged_by_a_solver_that_reads_the_test(fake: Fake, tmp_path: Path) -> None:
    liar = fake("say('sat')\nif 'get-model' in text: say('((define-fun x () Int 0))')", "liar")
    deaf = fake("""say('(error "line 1 column 20: unknown sort")')""", "deaf")
    _, data = run_one([liar, deaf, find_solver("z3")], tmp_path, "model-cross-check")
    assert (data["class"], data["guilty"]) == ("invalid-model", "liar")


def test_right_models_and_rubbish_are_no_findings(fake: Fake, tmp_path: Path) -> None:
    bodies = {
        "right": "say('sat', '((define-fun x () Int 2))')",
        "rubbish": "say('sat', ')) |', '\\\\x00\\\\xff' * 100)",
        "mute": "say('sat')",
        "late": "say('sat')\nif 'get-model' in text: time.sleep(30)",
        "flood": "say('sat')\nif 'get-model' in text:\n  while True: say('(' * 9999)",
        "dead": "say('sat')\nif 'get-model' in text: os.abort()",
        "deaf": "signal.signal(signal.SIGTERM, signal.SIG_IGN); say('sat', '((define-fun y () Int 0))')",
        "forking": "os.fork(); say('sat')",
        "turned": "say('((define-fun x () Int 0))', 'sat')",
    }
    solvers = [find_solver("z3"), *(fake(body, name) for name, body in bodies.items())]
    test = GeneratedTest(0, TEXT, "by-hand")
    options = HuntOptions(tmp_path, stages=(Stage(2.0, 1.0),), oracles=tuple(sorted(ALWAYS)))
    assert summary_of(hunt([test], solvers, options)).findings == ()


def test_a_solver_that_refutes_a_right_model_is_not_taken_at_its_word(fake: Fake, tmp_path: Path) -> None:
    """Its answer to the formula with the model is the finding, and that formula is what is kept."""
    denier = fake("say('unsat' if 'define-fun' in text else 'unknown')", "denier")
    tests = [GeneratedTest(number, TEXT, "by-hand", known=("sat",)) for number in range(2)]
    summary, (data,) = run(tests, [find_solver("z3"), denier], tmp_path, "model-cross-check")
    assert (data["class"], data["guilty"], data["key"]) == ("soundness", "denier", "soundness|denier|Ints")
    assert (len(summary.findings), summary.duplicates, summary.unconfirmed) == (1, 1, 0)
    assert data["evidence"][0] == "denier says unsat to the formula with the model of z3 inserted"
    against = "against denier: it says unsat to a formula with the model of z3 inserted, and z3 and cvc5 "
    assert any(line.startswith(against) for line in data["evidence"])
    folder = summary.findings[0].path
    formula = (folder / "original.smt2").read_text()
    assert "(define-fun x () Int " in formula
    assert (folder / PARENT).read_text() == TEXT
    assert [entry["name"] for entry in data["solvers"]] == ["z3", "denier", "cvc5"]
    with Confirmer(expectation_of_finding(folder)) as confirmer:
        assert confirmer.fresh(formula)
        assert not confirmer(TEXT)
    # Its unknown to the test is no part of that; z3's model is no finding.
    assert not any(r.finding_class == "invalid-model" for r in summary.findings)


def test_who_refutes_a_model_of_old_that_only_a_third_solver_confirms_is_wrong(
    fake: Fake, tmp_path: Path
) -> None:
    """Its owner is silent about it; strangers are not."""
    shy = fake("say('unknown' if 'define-fun' in text else 'sat', '((define-fun x () Int 2))')", "shy")
    denier = fake("say('unsat' if 'define-fun' in text else 'unknown')", "denier")
    summary, data = run_one([shy, denier], tmp_path, "model-cross-check")
    assert (data["class"], data["guilty"]) == ("soundness", "denier")
    assert [entry["name"] for entry in data["solvers"]] == ["denier", "z3", "cvc5"]
    assert summary.unconfirmed == 0


@pytest.mark.thorough
def test_files_are_replayed_with_the_oracles_chosen(fake: Fake, tmp_path: Path) -> None:
    liar = fake("say('sat')\nif 'get-model' in text: say('((define-fun x () Int 0))')", "liar")
    file = tmp_path / "a.smt2"
    file.write_text(TEXT)
    solvers = [liar, find_solver("z3")]
    (reported,) = replay([file], solvers, Limits(20), oracles=("model-cross-check",))
    assert [(c.finding_class, c.culprit) for c in reported.findings] == [("invalid-model", "liar")]
    denier = fake("say('unsat' if 'define-fun' in text else 'unknown')", "denier")
    (reported,) = replay([file], [denier, find_solver("z3")], Limits(20), oracles=("model-cross-check",))
    assert [(c.finding_class, c.culprit) for c in reported.findings] == [("soundness", "denier")]
    assert re.search("confirms? the model of z3", reported.findings[0].reason)
    (quiet,) = replay([file], solvers, Limits(20), oracles=("crash", "soundness"))
    assert quiet.findings == ()


# Who is wrong


def culprit(fake_body: str, text: str, fake: Fake, out: Path, known: tuple[str, ...] = ()) -> dict[str, Any]:
    _, data = run_one([fake(fake_body, "accused"), find_solver("z3")], out, "soundness", text, known)
    return data


def test_unsat_is_refuted_by_its_own_words(fake: Fake, tmp_path: Path) -> None:
    data = culprit("say('sat' if 'define-fun' in text else 'unsat')", TEXT, fake, tmp_path)
    assert data["guilty"] == "accused"
    assert data["key"] == "soundness|accused|Ints"
    assert data["reason"] == "it says unsat, and sat to the same formula with the model of z3 inserted"
    assert f"against accused: {data['reason']}" in data["evidence"]


def test_unsat_is_refuted_by_third_solvers(fake: Fake, tmp_path: Path) -> None:
    data = culprit("say('unsat')", TEXT, fake, tmp_path)
    assert data["guilty"] == "accused"
    assert "cvc5" in data["reason"]
    assert re.search("confirms? the model of z3", data["reason"])


def test_sat_is_refuted_by_its_own_words(fake: Fake, tmp_path: Path) -> None:
    body = "say('unsat') if 'define-fun' in text else say('sat', '((define-fun x () Int 0))')"
    data = culprit(body, UNSAT, fake, tmp_path)
    assert (data["guilty"], data["reason"]) == (
        "accused",
        "it says sat, and unsat to the same formula with its own model inserted",
    )


def test_a_solver_that_reads_no_scripts_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "find_solver", lambda family: replace(OTHER, name=family))
    asked = [s.name for s in evidence.third_solvers(Observation(TEXT, [NEW], {}), ["z3-5.4.0"], [])]
    assert {"z3", "cvc5", "bitwuzla", "yices"} <= set(asked)
    assert all(PROFILES[family].reads_scripts and not PROFILES[family].apart for family in asked)


@pytest.mark.parametrize("model", ["((define-fun x () Int 0))", "rubbish"])
def test_sat_is_refuted_by_third_solvers(model: str, fake: Fake, tmp_path: Path) -> None:
    data = culprit(f"say('sat', {model!r})", UNSAT, fake, tmp_path)
    assert data["guilty"] == "accused"
    assert re.search("refutes? its model|say otherwise", data["reason"])


def test_the_installed_release_says_which_of_two_others_is_wrong(fake: Fake, tmp_path: Path) -> None:
    old = release(fake("say('unsat')", "old"), "4.8.5")
    _, data = run_one([old, find_solver("cvc5")], tmp_path, "soundness")
    assert data["guilty"] == "z3-4.8.5"
    assert re.fullmatch(r"z3( and \w+)* confirms? the model of cvc5", data["reason"])


def install(monkeypatch: pytest.MonkeyPatch, installed: Mapping[str, Solver]) -> None:
    """Make these the installed solvers."""

    def find(spec: str) -> Solver:
        if spec not in installed:
            raise SolverMissing(spec)
        return installed[spec]

    monkeypatch.setattr(evidence, "find_solver", find)


@pytest.mark.parametrize("oracle", ["soundness", "model-cross-check"])
@pytest.mark.parametrize(("family", "kin"), [("z3", "z3==4.8.5"), ("cvc5", "cvc5-gpl==1.3.0")])
@pytest.mark.few(2)
def test_another_release_or_build_of_a_party_does_not_speak_for_it(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, oracle: str, family: str, kin: str
) -> None:
    """They may have the same fault."""
    body = "say('sat', '((define-fun x () Int 2))')"
    installed = {family: replace(fake(body, family), spec=family, family=family)}
    spec = parse_spec(kin)
    party = replace(fake(body, "old"), spec=kin, name=spec.name, family=spec.family)
    install(monkeypatch, installed)
    word = "unsat" if oracle == "soundness" else "unknown"
    other = fake(f"say('unsat' if 'define-fun' in text else '{word}')", "other")
    _, data = run_one([party, other], tmp_path, oracle)
    assert data["guilty"] is None
    assert any(line.startswith(f"{family} says sat to") for line in data["evidence"])


def test_another_release_of_the_accused_does_not_outvote_others(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two votes of one kind are one."""
    third = replace(fake("say('sat')", "bitwuzla"), spec="bitwuzla", family="bitwuzla")
    installed = {"z3": replace(fake("say('unsat')", "z3"), spec="z3", family="z3"), "bitwuzla": third}
    install(monkeypatch, installed)
    old, other = release(fake("say('unsat')", "old"), "4.8.5"), fake("say('sat')", "other")
    _, data = run_one([old, other], tmp_path, "soundness")
    assert (data["guilty"], data["reason"]) == ("z3-4.8.5", "bitwuzla and other say otherwise")


def test_an_answer_known_by_construction_decides(fake: Fake, tmp_path: Path) -> None:
    data = culprit("say('unsat')", TEXT, fake, tmp_path, ("sat",))
    assert (data["guilty"], data["reason"]) == ("accused", "it says unsat, and sat is known by construction")


def test_tests_of_one_cause_are_one_finding_under_the_guilty_ones_name(fake: Fake, tmp_path: Path) -> None:
    tests = [GeneratedTest(i, TEXT.replace("1", str(i + 1)), "by-hand") for i in range(3)]
    summary, data = run(tests, [fake("say('unsat')", "accused"), find_solver("z3")], tmp_path, "soundness")
    assert [entry["solver"] for entry in data] == ["accused"]
    assert (len(summary.findings), summary.duplicates) == (1, 2)


def test_a_disagreement_on_what_solvers_read_differently_takes_their_own_words(
    fake: Fake, tmp_path: Path
) -> None:
    text = "(declare-const x Real)(declare-const y Real)(assert (distinct y (^ x 0.0) 1.0))(check-sat)"
    old = fake("say('sat', '((define-fun x () Real 0.0) (define-fun y () Real 5.0))')", "old")
    test = GeneratedTest(0, text, "by-hand")
    summary, _ = run([test], [old, find_solver("z3")], tmp_path / "a", "soundness")
    assert (summary.findings, summary.unconfirmed) == ((), 1)
    turncoat = fake("say('sat' if 'define-fun' in text else 'unsat')", "turncoat")
    _, data = run_one([old, turncoat], tmp_path / "b", "soundness", text)
    assert data["guilty"] == "turncoat"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("say('unsat' if '--strings-exp' in sys.argv else 'sat')", 0),
        ("say('sat')", 1),
        ("if '--strings-exp' not in sys.argv: say('sat')", 1),
    ],
)
@pytest.mark.few(1)
def test_a_program_without_the_option_for_string_functions_takes_its_answer_back(
    body: str, shown: int, fake: Fake, tmp_path: Path
) -> None:
    text = '(declare-const a String)(assert (= a (str.++ a "b")))(check-sat)'
    old = fake(body, "cvc4")
    assert old.kin == "cvc5"
    summary, _ = run(
        [GeneratedTest(0, text, "by-hand")], [old, find_solver("z3")], tmp_path / "a", "soundness"
    )
    assert (len(summary.findings), summary.unconfirmed) == (shown, 1 - shown)


@pytest.mark.parametrize(("body", "shown"), [("(+ 1 (g v))", 0), ("(ite (< v 1) 0 (g (- v 1)))", 1)])
def test_a_recursive_definition_that_no_function_satisfies_is_no_finding(
    body: str, shown: int, fake: Fake, tmp_path: Path
) -> None:
    text = f"(define-fun-rec g ((v Int)) Int {body})(declare-const x Int)(assert (> x 1))(check-sat)"
    lenient = fake("say('sat')", "lenient")
    strict = fake("say('unsat' if '(+ 1 (g v))' in text or 'assert' in text else 'sat')", "strict")
    summary, _ = run([GeneratedTest(0, text, "by-hand")], [lenient, strict], tmp_path / "a", "soundness")
    assert (len(summary.findings), summary.unconfirmed) == (shown, 1 - shown)


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ('(= "\\t" (str.at a 0))', "unsat"),
        ('(= "\\u{41}\\u{5c}""" (str.++ "A" a))', "sat"),
        ('(= 2 (str.len "\\t"))', "sat"),
    ],
)
def test_an_old_release_is_given_strings_in_its_own_spelling(
    condition: str, answer: str, tmp_path: Path
) -> None:
    """z3 before 4.8.11 takes a backslash and a t for a tab, and knows no other escapes in the standard."""
    try:
        old = find_solver("z3==4.8.5")
    except EnvironmentProblem as problem:
        no_release(problem)
    text = f"(declare-fun a () String)\n(assert {condition})\n(check-sat)\n"
    test = GeneratedTest(0, text, "by-hand", known=(answer,))
    options = HuntOptions(tmp_path, stages=(Stage(10.0, 1.0),))
    summary = summary_of(hunt([test], [old, find_solver("cvc5")], options))
    assert (summary.findings, summary.unconfirmed, summary.decided) == ((), 0, 1)


def test_a_character_that_a_release_cannot_spell_is_not_given_to_it(runner: Runner) -> None:
    try:
        old = find_solver("z3==4.8.5")
    except EnvironmentProblem as problem:
        no_release(problem)
    script = Script.of('(assert (= "\\u{1F600}" ""))(check-sat)')
    verdict = runner.judge(old, script, Limits(10))
    assert (verdict.outcome, "no spelling" in verdict.detail) == (Outcome.REFUSED, True)
    assert runner.judge(find_solver("z3"), script, Limits(10)).answers == ("unsat",)


def test_where_nothing_tells_nobody_is_blamed(fake: Fake, tmp_path: Path) -> None:
    odd = "(declare-const x Strange)(assert (= x x))(check-sat)"
    solvers = [fake("say('sat')", "one"), fake("say('unsat')", "two")]
    _, data = run_one(solvers, tmp_path, "soundness", odd)
    assert data["guilty"] is None
    assert any("cannot be checked by other solvers" in line for line in data["evidence"])


def test_a_runner_serves_the_probes_of_all_oracles(runner: Runner) -> None:
    seen = Observation(TEXT, [OTHER], {"other": verdict(Outcome.TIMEOUT, None)}, parent=None)
    for oracle in ORACLES.values():
        if oracle.probe is not None:
            assert oracle.probe(seen, runner, Limits(1)) == (seen, 0.0)
