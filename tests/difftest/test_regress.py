"""Known formulas as tests: their order, their options, each once."""

from __future__ import annotations

from pathlib import Path

from difftest.bugs.records import BUNDLED, Benchmark, Trigger
from difftest.campaign.files import FileTests
from difftest.found_files import FoundFiles
from difftest.regress import KnownFormulas
from difftest.triage.key import Key

SAT = "(set-info :status sat)\n(check-sat)\n"


def trigger(solver: str, text: str, options: tuple[str, ...] = (), issue: str | None = None) -> Trigger:
    return Trigger(solver=solver, options=options, text=text, sources=(text,), issue=issue)


def test_files_come_first_then_the_formulas_of_the_solver(tmp_path: Path) -> None:
    (tmp_path / "f.smt2").write_text("(assert true)\n")
    triggers = [
        trigger("cvc5", "other", ("fp-exp",)),
        trigger("z3", SAT, ("proof=true",), "z3#1"),
        trigger("z3", SAT),
        trigger("cvc5", SAT, ("fp-exp",)),
    ]
    known = KnownFormulas(FileTests(FoundFiles([tmp_path])), triggers, "z3")
    tests = list(known.generate(0, 99))
    shown = [(test.text, test.options, test.issues) for test in tests]
    assert shown[0] == ("(assert true)\n", (), ())
    # Options of other solvers mean nothing; what is left of the last one was there before.
    assert shown[1:] == [(SAT, ("proof=true",), ("z3#1",)), (SAT, (), ()), ("other", (), ())]
    assert [test.index for test in tests] == [0, 1, 2, 3] and len(known) == 4
    assert {test.strategy for test in tests} == {"replay"}
    assert tests[0].origin == str(tmp_path / "f.smt2") and tests[1].known == ("sat",)
    for start, stop in ((0, 1), (1, 3), (2, 9), (4, 9)):
        assert list(known.generate(start, stop)) == tests[start:stop]
    assert known.fingerprint != KnownFormulas(None, triggers, "z3").fingerprint
    assert KnownFormulas(None, triggers[::-1], "cvc5").fingerprint != known.fingerprint


def test_keys_of_the_bundled_bugs_name_theories_as_of_today() -> None:
    keys = [Key.read(bug.bug_key) for bug in Benchmark(BUNDLED).bugs.values()]
    assert all(key.theories for key in keys if key.finding_class == "invalid-model")
