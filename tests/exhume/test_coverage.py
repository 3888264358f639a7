"""solvers coverage: what each formula runs of a small solver that is built with gcov's counters, and regress
directed by that.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from difftest.directed import changes, measuring
from difftest.directed.changes import function_lines
from difftest.directed.coverage import BadMap, CoverageMap, formula_key, formulas_running
from difftest.directed.direction import Difference, Direction
from difftest.directed.gcov import RECORDED, BadCounts, ObjectFile, counts_in, read_counts
from solvers.builds import Flavour
from solvers.lookup import find_solver
from solvers.sources import sources_of_program
from tests.difftest.test_directed import tree
from tests.once import made_once

MISSING = [program for program in ("gcc", "g++", "gcov", "env") if shutil.which(program) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")

ALPHA = """
#include "box.h"
namespace smt {
struct alpha { int twice(int x) const; };
int alpha::twice(int x) const {
    int found = 0;
    for (int step = 0; step < x; ++step)
        found += box<int>(2).get();
    return found;
}
int unused(int x) { return x; }
}
int run_alpha(int x) { smt::alpha a; return a.twice(x); }
"""
BETA = """
#include <stdexcept>
#include "box.h"
int run_beta(int x) {
    auto inner = [&](int y) { if (y > 100) throw std::runtime_error("large"); return y + x; };
    try {
        return inner(box<int>(x).get() + inner(99 + x));
    } catch (std::exception &) {
        return 1;
    }
}
"""
BOX = """
template <typename T> class box {
    T m_value;
public:
    box(T value): m_value(value) {}
    T get() const { return m_value; }
};
"""
# "slow" takes too long, once; "hangs" takes forever; "lost" ends without its counts.
MAIN = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
int run_alpha(int);
int run_beta(int);
int main(int count, char **words) {
    std::string last = words[count - 1];
    if (last == "--version") { std::puts("toy 1.0"); return 0; }
    std::stringstream read;
    read << std::ifstream(last).rdbuf();
    std::string text = read.str();
    int n = 3;
    if (text.find("(> x") != std::string::npos) n = run_alpha(n);
    if (text.find("(> y") != std::string::npos) n = run_beta(n);
    if (text.find("crash") != std::string::npos) std::abort();
    if (text.find("haste") != std::string::npos) std::_Exit(run_alpha(0));
    if (text.find("lost") != std::string::npos) _exit(0);
    if (text.find("hangs") != std::string::npos) for (;;) pause();
    std::string reached = std::string(words[0]) + ".reached";
    if (text.find("slow") != std::string::npos && access(reached.c_str(), F_OK)) {
        std::ofstream(reached.c_str()) << n;
        for (;;) pause();
    }
    for (size_t at = 0; (at = text.find("(check-sat)", at)) != std::string::npos; ++at) std::puts("sat");
    return 0;
}
"""
SOURCES = {"util/alpha.cpp": ALPHA, "util/beta.cpp": BETA, "util/box.h": BOX, "shell/main.cpp": MAIN}


def build(folder: Path) -> None:
    """Build the solver as CMake does: ``objects/z3``, its object files beside it."""
    flags = Flavour(coverage=True).compiler_flags
    source = tree(folder / "checkout" / "src", SOURCES)
    objects = folder / "objects"
    objects.mkdir()
    (objects / "CMakeCache.txt").write_text(f"A:B=C\nCMAKE_HOME_DIRECTORY:INTERNAL={folder / 'checkout'}\n")
    made = [objects / f"{Path(name).name}.o" for name in SOURCES if name.endswith(".cpp")]
    for name, target in zip((name for name in SOURCES if name.endswith(".cpp")), made, strict=True):
        command = ["g++", *flags, "-c", source / name, "-o", target]
        subprocess.run(command, check=True, cwd=objects)
    (objects / "linked.c").write_text(Flavour(coverage=True).linked_code)
    subprocess.run(["gcc", "-c", "linked.c"], check=True, cwd=objects)
    subprocess.run(["g++", *flags, *made, "linked.o", "-o", objects / "z3"], check=True, cwd=objects)


@pytest.fixture
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the build; its program is not to be changed."""
    # Object files name their folder, so it is built where it stays.
    base = made_once(tmp_path_factory, "toy-place", lambda folder: None)
    built = base / "toy"
    made_once(tmp_path_factory, "toy", lambda folder: (built.mkdir(), build(built)))
    return built


def spec(toy: Path) -> str:
    return f"z3-toy={toy / 'objects' / 'z3'}"


def formula(*assertions: str) -> str:
    return "".join(f"(assert {one})\n" for one in assertions) + "(check-sat)\n"


TEXTS = {
    "a.smt2": formula("(> b 1)"),
    "x.smt2": formula("(> x 3)"),
    "y.smt2": formula("(> y 4)"),
    "z.smt2": formula("(> x 3)", "(> y 4)"),
}
CHANGED = [("util/alpha.cpp", "alpha::twice"), ("util/beta.cpp", "run_beta"), ("util/box.h", "box::get")]


@pytest.mark.thorough
def test_each_formula_has_the_functions_that_it_runs(exhume: Any, toy: Path, tmp_path: Path) -> None:
    folder = tree(tmp_path / "formulas", TEXTS)
    command = ("solvers", "coverage", spec(toy), "--formulas", folder, "--out", tmp_path / "map")
    ended = exhume(*command, "-j", 2)
    assert ended.code == 0, ended.err
    found = {
        name: {function for _, function in ran.functions}
        for name, text in TEXTS.items()
        for key, ran in formulas_running(tmp_path / "map", CHANGED).items()
        if key == formula_key(text)
    }
    alpha, beta = {"alpha::twice", "box::get"}, {"run_beta", "box::get"}
    assert found == {"a.smt2": set(), "x.smt2": alpha, "y.smt2": beta, "z.smt2": alpha | beta}
    # main, run_alpha, run_beta, alpha::twice and two of box; not smt::unused.
    assert f"4 formulas in {tmp_path / 'map'} run" in ended.out and "6 of 7 functions" in ended.out
    # Counts stay beside the object files no more than a folder of runs stays beside the map.
    assert not list(toy.rglob("*.gcda")) and {path.name for path in tmp_path.iterdir()} == {"formulas", "map"}
    # A formula more: the others are known. The totals are those of the whole map.
    (folder / "b.smt2").write_text(formula("(> c 1)"))
    again = exhume(*command, "--json").json
    assert (again["done"], again["known"], again["left"], again["formulas"]) == (1, 4, 0, 5)
    assert (again["functions_run"], again["functions"]) == (6, 7)
    assert 0 < again["lines_run"] < again["lines"]


def test_object_files_that_no_formula_runs_are_counted(exhume: Any, toy: Path, tmp_path: Path) -> None:
    folder = tree(tmp_path / "formulas", {"a.smt2": TEXTS["a.smt2"]})
    command = ("solvers", "coverage", spec(toy), "--formulas", folder, "--out", tmp_path / "map", "--json")
    document = exhume(*command).json
    assert (document["functions_run"], document["functions"]) == (1, 7)


def lines_of_gcov(folder: Path) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """The lines that gcov says have code, and those that ran."""
    code, ran = set(), set()
    for file in folder.rglob("*.gcda"):
        command = ["gcov", "--json-format", "--stdout", file.name]
        done = subprocess.run(command, cwd=file.parent, capture_output=True, check=True)
        document = json.loads(done.stdout)
        for source in document["files"]:
            for line in source["lines"]:
                place = (os.path.normpath(Path(file.parent, source["file"])), line["line_number"])
                code.add(place)
                if line["count"]:
                    ran.add(place)
    return code, ran


@pytest.mark.parametrize("name", TEXTS)
def test_the_lines_that_ran_are_those_of_gcov(toy: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TEXTS[name])
    environment = {**os.environ, "GCOV_PREFIX": str(tmp_path / "run")}
    subprocess.run([toy / "objects" / "z3", tmp_path / name], env=environment, check=True)
    places: list[tuple[str, int]] = []

    def line_of(file: str, number: int) -> int:
        places.append((os.path.normpath(file), number))
        return len(places) - 1

    ran, code = set(), set()
    counted = sorted((tmp_path / "run").rglob("*.gcda"))
    assert len(counted) == 3
    for file in counted:
        notes = Path("/", file.relative_to(tmp_path / "run")).with_suffix(".gcno")
        shutil.copy(notes, file.parent)
        made = ObjectFile(notes, line_of)
        stamp, counts = read_counts(file, file.read_bytes())
        assert stamp == made.stamp
        code |= {places[line] for line in made.lines}
        ran |= {places[line] for ident, counters in counts.items() for line in made.ran(ident, counters)}
    assert (code, ran) == lines_of_gcov(tmp_path / "run")
    assert ran < code
    # The same counts in one file, which is what exhume reads.
    (tmp_path / "one").mkdir()
    environment = {**os.environ, "EXHUME_COUNTS": str(tmp_path / "one" / "counts")}
    subprocess.run([toy / "objects" / "z3", tmp_path / name], env=environment, check=True)
    known: dict[tuple[str, int], int] = {}

    def same(file: str, number: int) -> int:
        return known.setdefault((os.path.normpath(file), number), len(known))

    reader = measuring.Counts(same)
    assert reader.read(tmp_path / "one") == reader.read(tmp_path / "run") == {known[place] for place in ran}
    assert not list(toy.rglob("*.gcda"))


def test_functions_have_their_lines() -> None:
    assert list(function_lines(ALPHA.encode())) == [
        ("alpha::twice", 5, 10),
        ("unused", 11, 11),
        ("run_alpha", 13, 13),
    ]


@pytest.mark.thorough
def test_crashes_have_counts_and_what_leaves_none_is_counted(
    exhume: Any, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endings = {name: formula(name, "(> x 3)") for name in ("crash", "haste", "hangs", "lost")}
    texts = {f"{name}.smt2": text for name, text in endings.items()} | {"x.smt2": TEXTS["x.smt2"]}
    folder = tree(tmp_path / "formulas", texts)
    monkeypatch.setattr(measuring, "_BEYOND", 1.5)
    command = ("solvers", "coverage", spec(toy), "--formulas", folder, "--out", tmp_path / "map")
    document = exhume(*command, "--limit", 0.1, "--json").json
    assert document["lost"] == {"refused": 1, "timeout": 1} and document["formulas"] == 3
    running = {key: ran.functions for key, ran in formulas_running(tmp_path / "map", CHANGED).items()}
    found = {name: running.get(formula_key(text)) for name, text in endings.items()}
    assert found["crash"] == found["haste"] == {*CHANGED} - {("util/beta.cpp", "run_beta")}
    assert found["hangs"] is found["lost"] is None
    # With the same limit they are known; with more time they are run again.
    assert exhume(*command, "--limit", 0.1, "--json").json["known"] == 5
    assert exhume(*command, "--limit", 0.2, "--json").json["done"] == 2
    # The solver's own limit is in milliseconds.
    assert find_solver(spec(toy)).with_time_limit(0.2).argv[1:] == ("timeout=200",)
    assert find_solver("cvc5").with_time_limit(2).options(measuring.Script.of("")) == (
        "--tlimit-per=2000",
        "--check-models",
    )
    assert find_solver("a=true").with_time_limit(2).argv == find_solver("a=true").argv


@pytest.mark.thorough
def test_a_killed_command_continues(
    exhume: Any, start: Callable[..., Any], toy: Path, tmp_path: Path
) -> None:
    (reached := toy / "objects" / "z3.reached").unlink(missing_ok=True)
    folder = tree(tmp_path / "formulas", {**TEXTS, "y.smt2": formula("slow")})
    command = ("solvers", "coverage", spec(toy), "--formulas", folder, "--out", tmp_path / "map", "--json")
    with start(*command) as process:
        deadline = time.monotonic() + 100
        while not reached.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert reached.exists(), process.poll()
        time.sleep(0.5)  # what was read before it is stored
        process.kill()
    assert process.returncode == -signal.SIGKILL
    ended = exhume(*command)
    assert ended.code == 0, ended.err
    assert (ended.json["known"], ended.json["done"], ended.json["formulas"]) == (2, 2, 4)
    assert {path.name for path in tmp_path.iterdir()} == {"formulas", "map"}


def test_a_stopped_one_keeps_what_is_done(toy: Path, tmp_path: Path) -> None:
    solver, stop = find_solver(spec(toy)), threading.Event()
    formulas: list[measuring.Formula] = [(text, ()) for text in TEXTS.values()]
    with CoverageMap(tmp_path / "map", solver, toy / "checkout") as store:
        running = measuring.measure(store, solver, formulas, 5.0, stop=stop)
        assert next(running).done == 1
        stop.set()
        done = [1, *(progress.done for progress in running)][-1]
        assert 0 < done == store.totals().formulas < len(formulas)
        *_, end = measuring.measure(store, solver, formulas, 5.0)
        assert (end.known, end.done) == (done, len(formulas) - done)
        assert store.totals().formulas == len(formulas)


def direction(toy: Path, tmp_path: Path, name: str, old: str, new: str) -> Direction:
    """The order of the texts by a change of one file of the solver."""
    files = {**SOURCES, name: SOURCES[name].replace(old, new)}
    changed = tree(tmp_path / f"changed-{Path(name).stem}" / "src", files)
    difference = Difference.of("z3", toy / "checkout" / "src", changed, tmp_path / "map")
    return Direction(difference, ((text, ()) for text in TEXTS.values()))


def forget_seconds(path: Path) -> None:
    """Make all formulas of a map take the same time, as they do but for noise."""
    with duckdb.connect(str(path)) as opened:
        measured = "select count(*) from formula where took > 0 and took < 60 and lines is not null"
        assert opened.execute(measured).fetchone() == (len(TEXTS),)
        opened.execute("update formula set took = 0")


def test_formulas_that_run_what_changed_come_first(exhume: Any, toy: Path, tmp_path: Path) -> None:
    folder = tree(tmp_path / "formulas", TEXTS)
    ended = exhume("solvers", "coverage", spec(toy), "--formulas", folder, "--out", tmp_path / "map")
    assert ended.code == 0, ended.err
    forget_seconds(tmp_path / "map")
    first = direction(toy, tmp_path, "util/alpha.cpp", "found += ", "found -= ")
    assert first.order == (1, 3, 0, 2) and first.touched == 2
    assert first.to_json()["coverage"] == {"measured": 4, "first": 2, "functions": 1}
    assert "; 1 of them are run by 2 of the 4 known formulas in the coverage map; they name" in str(first)
    assert first.score(TEXTS["x.smt2"]) > 0 == first.score(TEXTS["y.smt2"])
    other = direction(toy, tmp_path, "util/beta.cpp", "return 1", "return 2")
    assert other.order == (2, 3, 0, 1)
    # What fewer formulas run counts more: y and z run box and beta, x runs box alone.
    both = {**SOURCES, "util/box.h": BOX.replace("return m_value", "return (m_value)")}
    both["util/beta.cpp"] = BETA.replace("return 1", "return 2")
    changed = tree(tmp_path / "both", both)
    difference = Difference.of("z3", toy / "checkout" / "src", changed, tmp_path / "map")
    ordered = Direction(difference, ((text, ()) for text in TEXTS.values()))
    assert ordered.order == (2, 3, 1, 0)
    assert ordered.score(TEXTS["y.smt2"]) > 2 * ordered.score(TEXTS["x.smt2"]) > 0
    # What takes longer comes later.
    with duckdb.connect(str(tmp_path / "map")) as opened:
        opened.execute("update formula set took = 9 where key = ?", [formula_key(TEXTS["y.smt2"])])
    assert direction(toy, tmp_path, "util/beta.cpp", "return 1", "return 2").order == (3, 2, 0, 1)


@pytest.mark.thorough
def test_regress_takes_a_map(
    exhume: Any, fake: Callable[[str, str], str], toy: Path, corpus: Path, tmp_path: Path
) -> None:
    folder = tree(tmp_path / "formulas", TEXTS)
    measured = exhume("solvers", "coverage", spec(toy), "--formulas", folder, "--out", tmp_path / "map")
    assert measured.code == 0, measured.err
    forget_seconds(tmp_path / "map")
    crash = "if '(> y' in text:\n    print('ASSERTION VIOLATION\\nFile: beta.cpp\\nLine: 7', flush=True)\n"
    crash += "    os.kill(os.getpid(), signal.SIGABRT)\nsay('sat')"
    base, new = fake("z3-before", "say('sat')"), fake("z3-after", crash)
    changed = {**SOURCES, "util/beta.cpp": BETA.replace("return 1", "return 2")}
    sources = (
        "--base-sources",
        toy / "checkout",
        "--new-sources",
        tree(tmp_path / "new" / "src", changed).parent,
    )
    # A single strategy: to make all takes seconds, and only known formulas are looked at.
    files = ("--corpus", corpus, "--strategy", "opfuzz", "--regressions", folder)
    command = ("regress", "--base", base, "--new", new, *files, *sources)
    ended = exhume(
        *command, "--coverage", tmp_path / "map", "--tests", 1, "--out", tmp_path / "out", "--json"
    )
    assert ended.code == 1, ended.err
    assert [finding["key"] for finding in ended.json["findings"]] == ["crash|z3-after|beta.cpp:7"]
    assert ended.json["directed"]["coverage"] == {"measured": 4, "first": 2, "functions": 1}
    # Without the map nothing says that the formula has to do with the change.
    ended = exhume(*command, "--tests", 1, "--out", tmp_path / "without", "--json")
    assert ended.code == 0 and ended.json["directed"]["coverage"] is None
    # A map that cannot be read is an error, and no reason to continue without.
    (tmp_path / "map").write_text("not a map")
    ended = exhume(*command, "--coverage", tmp_path / "map", "--tests", 1, "--out", tmp_path / "bad")
    assert ended.code == 2 and f"{tmp_path / 'map'}: no coverage map" in ended.said


@pytest.mark.parametrize(
    "schema",
    [
        "create table other (id integer)",
        "create table function (id varchar, file integer); create table line (id varchar, function integer)",
        "create table function (id integer, file varchar, name varchar);"
        " create table line (id integer, function integer);"
        " create table formula (key integer, lines varchar); insert into formula values (1, 'x')",
    ],
)
def test_a_malformed_map_is_an_error(tmp_path: Path, schema: str) -> None:
    with duckdb.connect(str(tmp_path / "map")) as opened:
        opened.execute(schema)
    with pytest.raises(BadMap, match="no coverage map"):
        formulas_running(tmp_path / "map", CHANGED)
    with pytest.raises(BadMap, match="there is no coverage map"):
        formulas_running(tmp_path / "none", CHANGED)


def test_a_map_reads_no_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("id,file,name\n1,a,b\n")
    with duckdb.connect(str(tmp_path / "map")) as opened:
        opened.execute(f"create view function as select * from '{secret}'")
        opened.execute("create table line (id integer, function integer)")
        opened.execute("create table formula (key varchar, lines integer[])")
    with pytest.raises(BadMap, match="no coverage map"):
        formulas_running(tmp_path / "map", CHANGED)


def test_what_cannot_be_measured_is_one_line(
    exhume: Any, yes: str, toy: Path, corpus: Path, tmp_path: Path
) -> None:
    folder = tree(tmp_path / "formulas", {"x.smt2": TEXTS["x.smt2"]})
    rest = ("--formulas", folder, "--out", tmp_path / "map")
    ended = exhume("solvers", "coverage", yes, *rest)
    assert ended.code == 3 and "nothing says where the sources of" in ended.said
    ended = exhume("solvers", "coverage", yes, *rest, "--sources", tmp_path)
    assert ended.code == 3 and "writes no counts: build it with: exhume solvers build" in ended.said
    (tmp_path / "map").unlink()
    assert exhume("solvers", "coverage", spec(toy), "--out", tmp_path / "map").code == 2
    assert exhume("solvers", "coverage", spec(toy), *rest).code == 0
    ended = exhume("solvers", "coverage", spec(toy), *rest, "--sources", tmp_path)
    assert ended.code == 2 and "a map of another build" in ended.said
    before = corpus.read_bytes()
    ended = exhume("solvers", "coverage", spec(toy), "--formulas", folder, "--out", corpus)
    assert ended.code == 2 and "not a coverage map, but another database" in ended.said
    assert corpus.read_bytes() == before
    other = tmp_path / "other"
    other.mkdir()
    build(other)
    (other / "objects" / "beta.cpp.gcno").write_bytes((other / "objects" / "alpha.cpp.gcno").read_bytes())
    rest = ("--formulas", folder, "--out", tmp_path / "map-of-other")
    ended = exhume("solvers", "coverage", spec(other), *rest)
    assert ended.code == 2 and "built from other object files" in ended.said
    (other / "objects" / "beta.cpp.gcno").unlink()
    ended = exhume("solvers", "coverage", spec(other), *rest)
    assert ended.code == 2 and "beta.cpp.gcno is missing" in ended.said
    assert not list(tmp_path.glob(".*runs"))


def test_files_of_other_compilers_and_broken_ones_are_errors(toy: Path, tmp_path: Path) -> None:
    notes = (toy / "objects" / "alpha.cpp.gcno").read_bytes()
    made = ObjectFile(toy / "objects" / "alpha.cpp.gcno", lambda file, number: number)
    file = tmp_path / "a.gcno"
    for version in (b"*80", b"*11B", b"*408"):
        file.write_bytes(notes[:4] + version[:4].ljust(4, b"A") + notes[8:])
        with pytest.raises(BadCounts, match="GCC 12 or later"):
            ObjectFile(file, lambda file, number: number)
    for data in (b"", b"gcno", b"x" * 99):
        file.write_bytes(data)
        with pytest.raises(BadCounts, match="not a gcov file"):
            ObjectFile(file, lambda file, number: number)
        with pytest.raises(BadCounts, match="not a gcov file"):
            read_counts(file, data)
    idents = list(made._spans)
    cut = 0
    for end in range(24, len(notes), 3):
        for data in (notes[:end], notes[:end] + b"\xff" * 4 + notes[end + 4 :]):
            file.write_bytes(data)
            try:
                one = ObjectFile(file, lambda file, number: number)
                for ident in idents:
                    one.ran(ident, (7).to_bytes(8, "little") * 9)
            except BadCounts:
                cut += 1
    assert cut > 99
    file.unlink()
    file.symlink_to(toy / "objects" / "alpha.cpp.gcno")
    with pytest.raises(BadCounts, match="cannot be read"):
        ObjectFile(file, lambda file, number: number)


def test_counts_that_are_cut_off_are_an_error(toy: Path, tmp_path: Path) -> None:
    version = (toy / "objects" / "alpha.cpp.gcno").read_bytes()[4:8]
    head = b"adcg" + version + bytes(8)
    function = struct.pack("<IiIII", 0x01000000, 12, 5, 0, 0)
    counts = struct.pack("<IiQQ", 0x01A10000, 16, 1, 0)
    file = tmp_path / "a.gcda"
    complete = head + function + counts + struct.pack("<Ii", 0x01A10000, -16) + bytes(4)
    assert read_counts(file, complete) == (0, {5: counts[8:]})
    whole = head + function + counts
    tag = struct.pack("<I", 0x01000000)
    broken = [whole[:end] for end in (len(head + function) + 4, len(head + function) + 12, len(whole) - 8)]
    broken += [whole + tag, whole + tag + struct.pack("<i", 2), whole + tag + struct.pack("<i", 1 << 30)]
    broken.append(head + function + struct.pack("<IiQI", 0x01A10000, 12, 1, 0))
    for data in broken:
        with pytest.raises(BadCounts, match="cut off"):
            read_counts(file, data)
    # The counts of all object files in one file.
    record = struct.pack("<II", 6, len(whole)) + b"a.gcda" + whole
    (tmp_path / RECORDED).write_bytes(record * 2)
    assert list(counts_in(tmp_path)) == [("a.gcda", whole)] * 2
    for cut in (record[:7], record[:-1], struct.pack("<II", 1 << 31, 0)):
        (tmp_path / RECORDED).write_bytes(record + cut)
        with pytest.raises(BadCounts, match="cut off"):
            list(counts_in(tmp_path))


def test_where_the_sources_are_is_read_from_the_build(toy: Path) -> None:
    solver = find_solver(spec(toy))
    assert sources_of_program(solver) == toy / "checkout" / "src"
    assert sources_of_program(solver, toy / "objects") == toy / "objects"


def test_the_difference_of_releases_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    base = tree(tmp_path / "base", SOURCES)
    new = tree(tmp_path / "new", {**SOURCES, "util/beta.cpp": BETA.replace("return 1", "return 2")})
    found = changes.find_changes(base, new)
    assert not (tmp_path / "cache").exists()
    assert changes.find_changes(base, new, keep=True) == found
    (kept,) = (tmp_path / "cache" / "changes").iterdir()
    monkeypatch.setattr(changes, "_find", lambda before, after: changes.Changes())
    assert changes.find_changes(base, new, keep=True) == found
    # What cannot be read is found again, and so is the difference of other files.
    kept.write_text("{}")
    assert changes.find_changes(base, new, keep=True) == changes.Changes()
    kept.unlink()
    (new / "util" / "beta.cpp").write_text(BETA)
    assert changes.find_changes(base, new, keep=True) == changes.Changes()
    assert not kept.exists()
