"""Specs: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

from difftest import EnvironmentProblem, SolverMissing, UnknownSolver, find_solver, find_solvers, parse_spec
from solvers.running.script import Script
from solvers.solver import Solver
from solvers.specs import specs_by_kin

ONE = Script(b"(check-sat)")
TWO = Script(b"(check-sat)(check-sat)")


def test_specs_are_taken_apart() -> None:
    assert parse_spec("z3").family == "z3"
    release = parse_spec("z3==4.8.5")
    assert (release.name, release.family, release.release) == ("z3-4.8.5", "z3", "4.8.5")
    own = parse_spec("mine=/a/b --opt 'x y' {}")
    assert (own.name, own.family, own.command) == ("mine", "other", ("/a/b", "--opt", "x y", "{}"))
    assert parse_spec("z3=/other/z3").family == "other"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("z33", "did you mean z3?"),
        ("cvc4", "did you mean cvc5"),
        ("cvc==1.4.2", "did you mean cvc5==1.4.2"),
        ("z3-4.8.5", "did you mean z3==4.8.5?"),
        ("cvc5-gpl@v1.4.2", "did you mean cvc5-gpl==1.4.2?"),
        ("", "unknown"),
        ("==1", "unknown"),
        ("z3==", "not a version"),
        ("z3== 4.8.5", "not a version"),
        ("z3==v4.8.5", "not a version"),
        ("z3==1 --index-url evil", "not a version"),
        ("z3==-r/etc/passwd", "not a version"),
        ("name=", "no command line"),
        ("name='open", "cannot be read"),
        ("a/b=cmd", "the name before"),
        ("z3[smt.arith.solver=2", "the ']' after its options is missing"),
        ("z3[model_validate", "the ']' after its options is missing"),
        ("a+z3=cmd", "the name before"),
        ("mine[1]=cmd", "the name before"),
    ],
)
def test_a_bad_spec_is_reported_with_what_was_meant(spec: str, said: str) -> None:
    with pytest.raises(UnknownSolver) as caught:
        parse_spec(spec)
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_program_that_is_not_there_is_the_environments_fault() -> None:
    with pytest.raises(SolverMissing, match="no program '/nowhere/s'") as caught:
        find_solver("mine=/nowhere/s")
    assert caught.value.exit_code == 3
    with pytest.raises(SolverMissing, match=r"did you mean z3==4\.8\.5\?"):
        find_solver("z3=4.8.5")


def test_the_path_of_a_program_may_have_spaces(tmp_path: Path) -> None:
    program = tmp_path / "two words" / "my z3"
    program.parent.mkdir()
    program.symlink_to("/bin/cat")
    assert find_solver(f"m={program}").argv == (str(program),)
    assert find_solver(f"m='{program}' -n").argv == (str(program), "-n")
    with pytest.raises(SolverMissing, match="no program"):
        find_solver(f"m={program} -n {'x' * 5000}")


def test_two_solvers_of_one_name_are_refused() -> None:
    with pytest.raises(UnknownSolver, match="two solvers are called 'cat'"):
        find_solvers(["cat=cat", "cat=cat -"])


def test_a_program_that_takes_one_logic_reads_scripts(tmp_path: Path) -> None:
    script = tmp_path / "s.sh"
    script.write_text('grep -q "set-logic HORN" "$1" && echo unknown || echo "(error \\"no\\")"\n')
    find_solvers([f"m=sh {script}", "n=sh -c 'kill -SEGV $$'"], texts=True)
    script.write_text('echo "(error \\"no libz3.so\\")"\n')
    find_solvers([f"m=sh {script}"])
    with pytest.raises(
        SolverMissing, match=r"does not answer \(check-sat\), even in .* \(error \"no libz3.so"
    ):
        find_solvers([f"m=sh {script}"], texts=True)


def test_the_file_stands_where_the_spec_says() -> None:
    assert find_solver("m=cat {} -n").command(ONE, "f")[1:] == ["f", "-n"]
    assert find_solver("m=cat -n").command(ONE, "f")[1:] == ["-n", "f"]
    stdin = find_solver("m=cat -")
    assert stdin.command(ONE, "f")[1:] == ["-"]
    assert stdin.shown(ONE, "f").endswith("cat - < f")


def test_relative_programs_are_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.py").write_text("print('sat')")
    monkeypatch.chdir(tmp_path)
    assert find_solver(f"m={sys.executable} s.py").argv[1] == str(tmp_path / "s.py")


def test_a_word_of_a_command_may_be_longer_than_a_path() -> None:
    assert find_solver(f"x=sh {'a' * 5000}").argv[1] == "a" * 5000


def test_the_installed_solvers_are_found_and_say_their_versions() -> None:
    z3, cvc5 = find_solvers(["z3", "cvc5"])
    assert importlib.metadata.version("z3-solver").startswith(z3.version().split()[2])
    assert importlib.metadata.version("cvc5") in cvc5.version()
    assert z3.loadable is not None
    assert Path(z3.loadable).is_file()


def test_a_version_is_asked_once(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    script = tmp_path / "s.sh"
    script.write_text(f"echo x >> {counter}; echo v1")
    solver = find_solver(f"m=sh {script}")
    assert [solver.version(), solver.version(), solver.commit()] == ["v1", "v1", None]
    assert counter.read_text() == "x\n"


def test_a_program_that_has_no_version_is_unknown() -> None:
    assert find_solver("m=false").version() == "unknown"
    assert find_solver("m=false").commit() is None


@pytest.mark.parametrize(
    ("printed", "commit"),
    [
        ("Z3 version 4.13.1 - 64 bit - build hashcode 0fd2fdfc4b", "0fd2fdfc4b"),
        ("Z3 version 5.4.0 - 64 bit", None),
        ("This is cvc5 version 1.0.3-dev.12.abcdef [git abcdef123 on branch main]\ncompiled", "abcdef123"),
        ("cvc5 1.2.0\nscm : git tag 1.2.0 branch HEAD", "tag 1.2.0"),
        (
            "Yices 2.6.5\nRevision: 8e6297e233299631147f98659224c3118fc6a215",
            "8e6297e233299631147f98659224c3118fc6a215",
        ),
        ("digit 1234567 and Revision: 12345678", None),
    ],
)
def test_a_commit_is_what_the_solver_says_it_was_built_from(
    printed: str, commit: str | None, tmp_path: Path
) -> None:
    script = tmp_path / "s.sh"
    script.write_text(f"cat <<'END'\n{printed}\nEND\n")
    solver = find_solver(f"m=sh {script}")
    assert (solver.version(), solver.commit()) == (printed.partition("\n")[0], commit)


def test_the_installed_cvc5_says_its_commit_and_z3_none() -> None:
    z3, cvc5 = find_solvers(["z3", "cvc5"])
    assert z3.commit() is None
    assert re.fullmatch(r"[0-9a-f]{7,40}|tag [\w.-]+", cvc5.commit() or "")


def test_cvc5_gets_incremental_mode_only_where_needed() -> None:
    solver = find_solver("cvc5")
    assert "--incremental" not in solver.command(ONE, "f")
    assert "--incremental" in solver.command(TWO, "f")
    assert solver.shown(TWO, "f") == "cvc5 --check-models --incremental f"


def test_releases_whose_interface_reads_no_smtlib_are_reported() -> None:
    with pytest.raises(EnvironmentProblem, match="cannot read SMT-LIB"):
        find_solver("cvc5==1.1.0")


@pytest.mark.parametrize("family", ["z3", "cvc5"])
def test_a_wheel_that_is_not_installed_is_reported(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.files", missing)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SolverMissing, match="is not installed"):
        find_solver(family)


def test_a_release_is_loaded_from_this_systems_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel of z3 4.8.14 for Linux holds macOS's library beside ours."""
    release = tmp_path / "wheels" / "z3-solver-9.9"
    program = release / "z3_solver-9.9.data" / "data" / "bin" / "z3"
    for file in (program, release / "z3" / "lib" / "libz3.dylib", release / "z3" / "lib" / "libz3.so"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path))
    library = find_solver("z3==9.9").loadable
    assert library is not None
    assert Path(library).name == ("libz3.dylib" if sys.platform == "darwin" else "libz3.so")


@pytest.mark.parametrize(
    ("spec", "kin"),
    [
        ("z3", "z3"),
        ("z3==4.8.5", "z3"),
        ("z3==4.8.5[smt.relevancy=0]", "z3"),
        ("cvc5[a=b,c=d]", "cvc5"),
        ("cvc5-gpl==1.3.0", "cvc5"),
        ("old=/usr/bin/cvc5 {} --check-models", "cvc5"),
        ("cvc4-1.8=/opt/solver {}", "cvc5"),
        ("x=/usr/bin/CVC4", "cvc5"),
        ("noodler=z3str3 {}", "z3"),
        ("mine=./solver --like z3", "mine"),
        ("yices2=yices-smt2 {}", "yices"),
    ],
)
def test_kin_is_whose_language_a_solver_speaks_and_whose_faults_it_shares(spec: str, kin: str) -> None:
    assert parse_spec(spec).kin == kin


def test_specs_are_grouped_by_kind_in_their_order() -> None:
    given = ["z3==4.8.5", "cvc5", "z3[smt.relevancy=0]"]
    assert list(specs_by_kin(given).items()) == [
        ("z3", ("z3==4.8.5", "z3[smt.relevancy=0]")),
        ("cvc5", ("cvc5",)),
    ]


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ("cvc4=/usr/bin/cvc4", ["/usr/bin/cvc4", "--strings-exp", "a.smt2"]),
        ("cvc4=/usr/bin/cvc4 {} -q", ["/usr/bin/cvc4", "--strings-exp", "a.smt2", "-q"]),
        ("cvc4=cvc4 --lang smt2 -", ["cvc4", "--lang", "smt2", "--strings-exp", "-"]),
        ("cvc4=/usr/bin/cvc4 --strings-exp", None),
        ("cvc4=/usr/bin/cvc4 --no-strings-exp", None),
        ("mine=/opt/mine", None),
        ("cvc5", None),
    ],
)
def test_programs_get_the_option_that_string_functions_need(spec: str, command: list[str] | None) -> None:
    parsed = parse_spec(spec)
    solver = Solver(spec, parsed.name, parsed.family, parsed.command or ("cvc5",))
    able = solver.with_string_functions
    assert (able and able.command(Script(b""), "a.smt2")) == command
