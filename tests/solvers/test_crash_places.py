"""Where a crash is, by outputs in the forms of sanitizers, debuggers and the solvers themselves."""

from __future__ import annotations

import signal
import time

import pytest

from solvers.running.crash_places import (
    CrashPlace,
    crash_place,
    file_of,
    find_crash_place,
    function_of,
    plain_name,
    stack_of,
)
from solvers.running.outcomes import Outcome, judge
from solvers.running.plumbing import TABLE
from solvers.running.process import Run
from solvers.running.script import Script

SEGV = (
    "==71==ERROR: AddressSanitizer: SEGV on unknown address 0x0000000000a8 (pc 0x5581 bp 0x7ffc sp 0x7ffb T0)"
)
ABRT = (
    "==72==ERROR: AddressSanitizer: ABRT on unknown address 0x0000000048 (pc 0x7f01 bp 0x0048 sp 0x7ffb T0)"
)
USED_FREED = (
    "==73==ERROR: AddressSanitizer: heap-use-after-free on address 0x60b0 at pc 0x5581 bp 0x7ff sp 0x7fe"
)
LEAK = "==74==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 48 byte(s) allocated from:"
RACE = "WARNING: ThreadSanitizer: data race (pid=75)\n  Write of size 8 at 0x7b04 by thread T2:"
UNSET = "==76==WARNING: MemorySanitizer: use-of-uninitialized-value"

STD_VECTOR = "std::vector<T, A<T> >::operator[](unsigned long) /usr/include/c++/12/bits/stl_vector.h:1123:9"
VECTOR = "vector<expr*, false, unsigned int>::operator[](unsigned int) ../src/util/vector.h:477"
HASHTABLE = (
    "core_hashtable<obj_map<expr, K>::entry>::find_core(expr* const&) const ../src/util/hashtable.h:510"
)
COUNT = "ast::dec_ref() ../src/ast/ast.h:521:9"
NODE = "cvc5::internal::expr::NodeValue::inc() /b/cvc5/src/expr/node_value.h:410"
CD_MAP = "cvc5::context::CDHashMap<X, int, H<X> >::find(X const&) const /b/cvc5/src/context/cdhashmap.h:380"
KILL = "__pthread_kill_implementation nptl/pthread_kill.c:44"
RAISE = "raise ../sysdeps/posix/raise.c:26"
ABORT = "abort (/lib/x86_64-linux-gnu/libc.so.6+0x22)"
MALLOC = "malloc (/usr/lib/x86_64-linux-gnu/libasan.so.8+0x98) (BuildId: 5f0e)"
ALLOCATE = "memory::allocate(unsigned long) ../src/util/memory_manager.cpp:301:16"
SEQ = "smt::theory_seq::len(expr*) ../src/smt/theory_seq.cpp:77:13"
NLA = "nla::core::check(unsigned int) ../src/math/lp/nla_core.cpp:12:5"
MAIN = "main ../src/shell/main.cpp:402"


def report(head: str, *frames: str, start: int = 0x7F10) -> str:
    """A report as sanitizers print it."""
    lines = [f"    #{n} 0x{start + 16 * n:012x} in {frame}" for n, frame in enumerate(frames)]
    return "\n".join(["=" * 65, head, *lines, "", "SUMMARY: AddressSanitizer: see above"])


@pytest.mark.parametrize(
    ("head", "common"),
    [
        (SEGV, [STD_VECTOR]),
        (SEGV, [VECTOR]),
        (USED_FREED, [COUNT, HASHTABLE]),
        (USED_FREED, [NODE, CD_MAP]),
        (SEGV, [NODE, "cvc5::internal::NodeManager::mkNode(Kind, TNode) ../src/expr/node_manager.cpp:88"]),
        (ABRT, [KILL, RAISE, ABORT]),
        (ABRT, [KILL, "notify_assertion_violation(char const*, int) ../src/util/debug.cpp:88"]),
        (ABRT, [ABORT, "cvc5::internal::FatalStream::~FatalStream() ../src/base/check.cpp:33"]),
        (ABRT, [ABORT, "__assert_fail_base ./assert/assert.c:92", "__assert_fail assert/assert.c:101"]),
        (SEGV, ["__interceptor_memcpy ../../../../src/libsanitizer/asan/asan_interceptors.cpp:30", VECTOR]),
        (SEGV, [" (/usr/lib/x86_64-linux-gnu/libasan.so.8+0x1035f9)", MALLOC, ALLOCATE]),
        (LEAK, [MALLOC, ALLOCATE, "heap<lp::lt>::heap(int) ../src/util/heap.h:134"]),
        (LEAK, ["operator new(unsigned long) /llvm/compiler-rt/lib/asan/asan_new_delete.cpp:98:3"]),
        (UNSET, ["bzla::Node::operator[](unsigned long) const ../src/node/node.cpp:350:8"]),
        (SEGV, ["std::__shared_ptr<N, (__gnu_cxx::_Lock_policy)2>::get() const (/b/libcvc5.so.1+0x1c2)"]),
    ],
)
def test_crashes_below_a_common_frame_have_places_of_their_own(head: str, common: list[str]) -> None:
    assert crash_place(report(head, *common, SEQ, MAIN)) == "theory_seq.cpp:77"
    assert crash_place(report(head, *common, NLA, MAIN)) == "nla_core.cpp:12"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (report(SEGV, VECTOR, SEQ), report(SEGV, VECTOR, SEQ, start=0x55AA00)),
        (report(SEGV, SEQ), report(SEGV.replace("71", "9").replace("T0", "T13"), SEQ)),
        (report(SEGV, SEQ), report(SEGV, SEQ.replace(":77:13", ":77:4"))),
        (report(SEGV, SEQ), report(SEGV, SEQ.replace(":77:13", ":77"))),
        (report(SEGV, SEQ), report(SEGV, SEQ.replace("../src", "/build/z3-4.13/src"))),
        (report(SEGV, VECTOR, SEQ), report(SEGV, VECTOR.replace("477", "912"), SEQ)),
        (
            report(SEGV, "smt::theory_arith<smt::i_ext>::add_row(int) (/b/z3+0x12)"),
            report(
                SEGV, "smt::theory_arith<smt::mi_ext>::add_row(long, T<1>) const (/c/z3+0x98) (BuildId: 0a)"
            ),
        ),
        (
            report(SEGV, "bool poly_rewriter<a<b> >::mk_le<false>(expr*, unsigned int) (/b/z3+0x12)"),
            report(SEGV, "bool poly_rewriter<c>::mk_le<true>(expr*, unsigned) [clone .isra.0] (/b/z3+0x12)"),
        ),
    ],
)
def test_what_differs_between_builds_and_runs_is_not_in_a_place(one: str, other: str) -> None:
    assert crash_place(one) == crash_place(other)
    assert crash_place(one) is not None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        # Threads' frames have no address, and sometimes no file.
        (
            f"{RACE}\n    #0 ast_manager::inc_ref(ast*) /s/ast/ast.h:1710:3 (z3+0x1)\n"
            "    #1 std::thread::_M_start_thread() <null> (libstdc++.so.6+0xd0)\n"
            "    #2 parallel_tactic::report_sat(state&) /s/solver/parallel_tactic.cpp:455:9 (z3+0x2)\n",
            "parallel_tactic.cpp:455",
        ),
        (
            "#0  __pthread_kill_implementation (signo=6) at ./nptl/pthread_kill.c:44\n"
            "#1  0x00007f12 in __GI_raise (sig=6) at ../sysdeps/posix/raise.c:26\n"
            "#2  0x00007f12 in abort () from /lib/x86_64-linux-gnu/libc.so.6\n"
            "#3  0x00005581 in vector<char>::operator[] (this=0x1, idx=5) at ../src/util/vector.h:243\n"
            '#4  0x00005581 in sat::solver::is_marked (this=0x2, why="(") at ../src/sat/sat_solver.h:255\n',
            "sat_solver.h:255",
        ),
        ("#0  0x0000 in raise () from /lib/libc.so.6\n#1  0x12 in g (x=1) from /o/libz3.so\n", "g"),
        (
            " 0# boost_handler(int) at /usr/include/boost/x.hpp:3\n 1# 0x00007F12 in /lib/x/libc.so.6\n"
            " 2# opensmt::Egraph::merge(int) in ./opensmt\n",
            "opensmt::Egraph::merge",
        ),
        (
            "/lib/x86_64-linux-gnu/libc.so.6(+0x3c050) [0x7f]\n"
            "./z3(_ZNK6vectorIPN2lp6columnELb1EjE4sizeEv+0x1b) [0x55]\n"
            "./z3(_ZN3smt7contextC2ERS0_+0x1b) [0x55]\n",
            "smt::context",
        ),
        (
            report(SEGV, VECTOR, "(anonymous namespace)::imp::operator()() (/b/z3+0x1)"),
            "{anonymous}::imp::operator()",
        ),
        # Our function with a file and without a name of its own.
        (report(SEGV, STD_VECTOR, "operator() ../src/smt/smt_parallel.cpp:140"), "smt_parallel.cpp:140"),
        (
            "thread 'main' panicked at src/simplify.rs:31:9:\nindex out of bounds\n",
            "simplify.rs:31",
        ),
        ("thread 'main' panicked at 'no such term', src/terms.rs:7:5\n", "terms.rs:7"),
        (
            "thread 'main' panicked at /rustc/9fc6/library/core/src/option.rs:2:3:\nstack backtrace:\n"
            "   0: core::panicking::panic\n             at /rustc/9fc6/library/core/src/panicking.rs:144:5\n"
            "   1: solver::rewrite\n             at ./src/rewrite.rs:18:9\n",
            "rewrite.rs:18",
        ),
        (
            'Exception in thread "main" java.lang.IndexOutOfBoundsException: 3\n'
            "\tat java.base/java.util.ArrayList.get(ArrayList.java:427)\n"
            "\tat some.smt.Clausifier.add(Clausifier.java:88)\n",
            "Clausifier.java:88",
        ),
        (
            'Fatal error: exception Failure("hd")\nRaised at Stdlib.failwith in file "stdlib.ml", line 29, '
            'characters 17-33\nCalled from Solver.run in file "src/solver.ml", line 312, characters 4-9\n',
            "solver.ml:312",
        ),
        ("Assertion failed: (n > 0), function pop, file stack.cpp, line 31.\n", "stack.cpp:31"),
        ("Assertion failure\nvoid CVC4::f()\n/b/src/theory/x.cpp:12\n\n  n > 0\n", "x.cpp:12"),
        # Terms that z3 numbers, and Python's frames, are no stack.
        ("#43 := (or a b)\n#44 := true\n", None),
        ('Current thread 0x7f (most recent call first):\n  File "a.py", line 3 in f\n', None),
        (
            report(SEGV, VECTOR, MAIN, "__libc_start_main ../csu/libc-start.c:360:3", "_start (/b/z3+0x1)"),
            None,
        ),
        (report(SEGV, " (/b/z3+0x1)", " (<unknown module>)", "<null> (/b/z3+0x2)"), None),
        ("nothing here", None),
    ],
)
def test_stacks_of_other_tools_are_read(text: str, place: str | None) -> None:
    assert crash_place(text) == place


def test_an_assertion_tells_more_than_the_stack_of_its_abort() -> None:
    stack = report(ABRT, KILL, RAISE, "abort ./stdlib/abort.c:79", NLA)
    said = "ASSERTION VIOLATION\nFile: ../src/smt/{}\nLine: 90\nx > 0\n"
    assert crash_place(stack + "\n" + said.format("smt_context.cpp")) == "smt_context.cpp:90"
    assert crash_place(said.format("../util/vector.h") + stack) == "nla_core.cpp:12"
    fatal = "Fatal failure within X<T>::at() const at /b/src/context/cdhashmap.h:260\nCheck failure\n"
    assert crash_place(fatal + stack) == "nla_core.cpp:12"


def test_the_stack_that_gdb_prints_ends_at_python() -> None:
    above = "#0  0x1 in __GI_raise (sig=6) at ../sysdeps/posix/raise.c:26\n"
    solver = "#1  0x2 in smt::context::check (this=0x1) at ../src/smt/smt_context.cpp:90\n"
    for caller in (
        "PyObject_Vectorcall (a=1) at Objects/call.c:299",
        "os_abort (a=1) at ./Modules/clinic/posixmodule.c.h:7",
    ):
        assert stack_of(
            f"{above}{solver}#2  0x3 in {caller}\n#3  0x4 in run_mod (a=1) at Python/run.c:1\n"
        ) == ["smt::context::check at smt_context.cpp:90"]
        assert stack_of(f"{above}#1  0x3 in {caller}\n") == []


def gdb(*frames: str) -> str:
    """A stack as gdb prints it, the innermost frame first."""
    return "".join(f"#{n:<3}0x{n + 77:016x} in {frame}\n" for n, frame in enumerate(frames))


@pytest.mark.parametrize(
    ("stack", "function"),
    [
        (gdb("smt::context::check () ", "main () "), "smt::context::check"),
        (gdb("maintain_trail () ", "main () "), "maintain_trail"),
        (gdb("abort () from /lib/libc.so.6", "f<g>::h(int) const () "), "f::h"),
        (gdb("rewriter_tpl<a>::visit<false> () ", "a_tactic::operator()(goal&) () "), "a_tactic::operator()"),
        # A call through a broken pointer; a program without symbols.
        (gdb("?? () ", "smt::context::check () "), "smt::context::check"),
        (gdb("?? () ", "?? () ", "cvc5::Solver::checkSat() const () "), None),
        (gdb("?? () from /lib/libc.so.6", "?? () from /lib/libc.so.6", "f () "), "f"),
        # The innermost function of a recursion is arbitrary.
        (gdb("mk () ", *("down () ", "app () ") * 10), "app"),
        (gdb("mk () ", *("down () ", "app () ") * 9), "mk"),
        (gdb("_PyEval_Call () ", "smt::context::check () "), None),
        ("No stack.\n", None),
        ("", None),
    ],
)
def test_the_function_in_which_a_solver_dies(stack: str, function: str | None) -> None:
    printed = gdb("printed::by::the::solver () ")
    said = f"{printed}\nProgram received signal SIGSEGV, Segmentation fault.\n0x77 in f ()\n{stack}"
    assert function_of(said, most=20) == function
    assert function_of(f"{printed}[Inferior 1 (process 2) exited normally]\nNo stack.\n", most=20) is None


def test_a_place_that_tells_nothing_is_named_as_such() -> None:
    assert find_crash_place(
        "ASSERTION VIOLATION\nFile: ../src/util/vector.h\nLine: 369\nidx < size()\n"
    ) == CrashPlace(None, "vector.h:369")
    said = "a: /b/src/node/node_ref_vector.h:41: T f(): Assertion `i < size()' failed.\n"
    assert find_crash_place(said) == CrashPlace(None, "node_ref_vector.h:41")


def test_a_runtime_error_is_placed_by_its_line_or_its_stack() -> None:
    error = "../src/{}:477:21: runtime error: member access within null pointer of type 'expr'\n"
    stack = "    #0 0x1 in " + VECTOR + "\n    #1 0x2 in "
    assert crash_place(error.format("smt/theory_seq.cpp")) == "theory_seq.cpp:477"
    assert find_crash_place(error.format("util/vector.h")) == CrashPlace(None, "vector.h:477")
    assert crash_place(error.format("util/vector.h") + stack + SEQ) == "theory_seq.cpp:77"
    assert crash_place(error.format("util/vector.h") + stack + NLA) == "nla_core.cpp:12"


def test_of_several_reports_the_first_counts_unless_one_is_deadly() -> None:
    first = "/usr/include/gmp.h:9:1: runtime error: left shift of negative value -1\n"
    second = "../src/ast/x.cpp:3:1: runtime error: signed integer overflow\n" + report(LEAK, MALLOC, SEQ)
    assert crash_place(first + second) is None
    assert crash_place(second + first) == "x.cpp:3"
    assert crash_place(second + report(SEGV, NLA)) == "nla_core.cpp:12"
    assert crash_place(report(SEGV, NLA) + second) == "nla_core.cpp:12"


def test_the_end_of_each_stream_is_read_however_much_was_printed() -> None:
    much = ("warning " * 100 + "\n") * 2000
    assert find_crash_place(much + report(SEGV, NLA), much) == CrashPlace("nla_core.cpp:12")
    assert crash_place(much + report(SEGV, NLA) + "\n" + much) is None


def test_what_freed_the_memory_counts_only_where_its_use_tells_nothing() -> None:
    freed = "\nfreed by thread T0 here:\n    #0 0x1 in free (/b/z3+0x1)\n    #1 0x2 in " + NLA
    assert crash_place(report(USED_FREED, COUNT, SEQ) + freed) == "theory_seq.cpp:77"
    assert crash_place(report(USED_FREED, COUNT) + freed) == "nla_core.cpp:12"


def test_a_recursion_without_end_is_where_it_goes_round() -> None:
    head = SEGV.replace("SEGV", "stack-overflow")
    cycle = [
        "seq_rewriter::derive(expr*) ../src/r/seq_rewriter.cpp:2585",
        "visit(expr*) ../src/r/visit.cpp:30",
    ]
    for first in (SEQ, NLA, VECTOR):
        for shift in (0, 1):
            assert crash_place(report(head, first, *(cycle * 8)[shift:], MAIN)) == "seq_rewriter.cpp:2585"
    assert crash_place(report(head, SEQ, NLA)) == "theory_seq.cpp:77"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("smt::context::check()", "smt::context::check"),
        ("std::vector<int>& smt::f<a<b>, (c)2>::g[abi:cxx11](h<i>) const [clone .cold]", "smt::f::g"),
        ("f.isra.0.cold", "f"),
        ("a::b(int)::{lambda(c<d>)#1}::operator()(int) const", "a::b::{lambda#1}::operator()"),
        ("a::b(c const&)::<lambda()>", "a::b"),
        ("std::ostream& a::operator<< <int>(std::ostream&, b<int>)", "a::operator<<"),
        ("a<b>::operator<(a<b> const&) const", "a::operator<"),
        ("a<b>::operator->() const", "a::operator->"),
        ("a::operator bool() const", "a::operator bool"),
        ("(anonymous namespace)::f(int)", "{anonymous}::f"),
        ("f (this=0x19, s=...) ", "f"),
        ("_ZNK3smt6solverIiLb1ESt6vectorIiEE4mainERKS0_", "smt::solver::main"),
        ("_ZN12_GLOBAL__N_11fEv", "{anonymous}::f"),
        ("_ZSt4sortIPiEvT_", "std::sort"),
        ("_Z1fi", "f"),
        ("", ""),
    ],
)
def test_a_name_is_without_types(function: str, name: str) -> None:
    assert plain_name(function) == name


def test_the_file_of_a_place_is_reported() -> None:
    assert file_of("a.cpp:12") == "a.cpp"
    assert file_of("smt::context::check") == "smt::context::check"


def test_reasoning_is_in_no_row_of_the_table() -> None:
    places = (
        "src/smt/theory_seq.cpp",
        "src/theory/strings/core_solver.cpp",
        "src/ast/rewriter/rewriter_def.h",
    )
    names = ("smt::theory_seq::vector", "refine::run", "bzla::NodeManager::cleanup", "benchmark::run")
    for row in TABLE:
        assert row.why
        assert not any(pattern.search(place) for pattern in row.files for place in places), row
        assert not any(pattern.match(name) for pattern in row.functions for name in names), row


@pytest.mark.parametrize(
    "text",
    [
        "a/" * (1 << 19),
        "/bits/x.h:1" * (1 << 16) + " /bits/x.h:1" * (1 << 15) + ".c" * (1 << 17),
        "    #0 0x1 in " + "operator<" * (1 << 16) + ">(" * (1 << 17),
        "    #0 0x1 in " + " (+0x1)" * (1 << 17) + ":1" * (1 << 18),
        "Fatal failure within" + " at a:" * (1 << 17),
        "z(_ZN" + "1I" * (1 << 19) + "+0x1) [0x1]",
    ],
)
def test_a_megabyte_of_nonsense_has_no_place_and_is_read_in_time(text: str) -> None:
    began = time.process_time()
    assert find_crash_place(text) == CrashPlace(None)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("piece", ["Assertion `", "checkModel(): "])
def test_a_megabyte_of_nonsense_is_judged_in_time(piece: str) -> None:
    began = time.process_time()
    run = Run("exit", None, signal.SIGABRT, "(error\n" + "\n" * (1 << 16), piece * (1 << 16), 0.1)
    assert judge(Script(b"(check-sat)\n"), run, "z3").outcome is Outcome.CRASH
    assert time.process_time() - began < 10
