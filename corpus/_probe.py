"""The worker process of :mod:`corpus.acceptance`: ``python _probe.py z3|cvc5|z3-answer|cvc5-answer``.

Imports none of ours.

It reads requests (a length in 4 bytes, then a JSON list of texts) and answers each with a JSON list
of ``[outcome, message]``. The texts of a request are tried in a forked child, so that a native
crash or a hang costs one text: the next child goes on behind it. The child writes no file and
reads none that a text names, and it dies with its parent.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from typing import BinaryIO

Check = Callable[[str], tuple[str, str]]
"""Takes a text; returns the outcome (``accepted``, ``refused``; ``sat``, ``unsat`` or ``unknown`` where the
text is solved) and what the solver objects to, empty when it does not."""

MAX_MESSAGE = 4000

CVC5_RESOURCES = "200"
"""cvc5's own, machine-independent units; some milliseconds."""

Z3_ANSWER_RESOURCES = 2_000_000
CVC5_ANSWER_RESOURCES = 40_000
"""What solving a text may use, in each solver's own units: the same on every machine; about a second."""

# What solves, asks or prints is taken out; exit ends the text; include would read a file.
_IDLE_NAMES = """
check-sat check-sat-assuming check-sat-using echo apply eval simplify include help help-tactic display labels
check-synth check-synth-next block-model block-model-values
"""
_IDLE = frozenset(_IDLE_NAMES.split())
# Options whose value is a file: some are opened, and emptied, as soon as they are set.
_FILE_OPTION = re.compile(
    r":(out|err|in)$|channel|file|log(?!ic)|trace|dump|plugin|path|directory", re.IGNORECASE
)
_PLAIN_VALUE = re.compile(r"\s*[^\s()|\";/\\]*\s*\)")
_TOKEN = re.compile(r'"(?:[^"]|"")*"|\|[^|]*\||;[^\n]*|[()]')
_HEAD = re.compile(r"\s*([^\s()|\";]+)\s*([^\s()|\";]*)")
_NOT_BLANK = re.compile(r"[^\n]")


def without_solving(text: str) -> str:
    """``text`` with blanks in place of every command that solves, prints or touches files.

    Lines and columns stay as they are. What follows ``(exit)`` is dropped.
    """
    pieces = []
    depth = start = kept = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "(":
            if depth == 0:
                start = match.start()
            depth += 1
        elif token == ")":
            depth -= 1
            if depth < 0:
                break
            if depth == 0:
                head = _HEAD.match(text, start + 1)
                name = head[1] if head else ""
                if name == "exit":
                    pieces.append(text[kept:start])
                    return "".join(pieces)
                if head and (_is_idle(name) or (name == "set-option" and _opens_file(text, head))):
                    pieces += text[kept:start], _NOT_BLANK.sub(" ", text[start : match.end()])
                    kept = match.end()
    pieces.append(text[kept:])
    return "".join(pieces)


def _is_idle(name: str) -> bool:
    return name in _IDLE or name.startswith("get-")


def _opens_file(text: str, head: re.Match[str]) -> bool:
    """Whether a ``set-option`` may name a file; plain words and numbers of other options do not."""
    return bool(_FILE_OPTION.search(head[2])) or not _PLAIN_VALUE.match(text, head.end())


def z3_check() -> Check:
    """A check by z3's own script reader; assertions are taken in but nothing is solved."""
    import z3

    def check(text: str) -> tuple[str, str]:
        context = z3.Context()
        try:
            output = z3.Z3_eval_smtlib2_string(context.ref(), without_solving(text))
        except z3.Z3Exception as error:
            return "refused", _z3_message(error)
        finally:
            # Options of one text must not be those of the next.
            z3.Z3_global_param_reset_all()
        return ("refused", output.strip()) if "(error " in output else ("accepted", "")

    return check


def cvc5_check() -> Check:
    """A check by cvc5's parser; its commands are executed, those that solve taken out.

    Then the solver is run with next to no resources: what its theories do not support (floating-point
    formats, arrays indexed by arrays ...) they only say when they first see it.
    """
    import cvc5

    def check(text: str) -> tuple[str, str]:
        manager = cvc5.TermManager()
        solver = cvc5.Solver(manager)
        solver.setOption("rlimit", CVC5_RESOURCES)
        symbols = cvc5.SymbolManager(manager)
        parser = cvc5.InputParser(solver, symbols)
        try:
            parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, without_solving(text), "text")
            while not (command := parser.nextCommand()).isNull():
                output = command.invoke(solver, symbols)
                if output.startswith("(error"):
                    return "refused", str(output).strip()
            solver.checkSat()
        except RuntimeError as error:
            return "refused", str(error).strip() or "refused without a word"
        return "accepted", ""

    return check


def z3_answer() -> Check:
    """z3's answer to a text that declares, asserts and then asks once, as :mod:`corpus.answers` prints it."""
    import z3

    def check(text: str) -> tuple[str, str]:
        context = z3.Context()
        try:
            z3.Z3_global_param_set("rlimit", str(Z3_ANSWER_RESOURCES))
            output = z3.Z3_eval_smtlib2_string(context.ref(), text)
        except z3.Z3Exception as error:
            return "refused", _z3_message(error)
        finally:
            z3.Z3_global_param_reset_all()
        return _answer_in(output)

    return check


def cvc5_answer() -> Check:
    """cvc5's answer to such a text."""
    import cvc5

    def check(text: str) -> tuple[str, str]:
        manager = cvc5.TermManager()
        solver = cvc5.Solver(manager)
        solver.setOption("rlimit", str(CVC5_ANSWER_RESOURCES))
        symbols = cvc5.SymbolManager(manager)
        parser = cvc5.InputParser(solver, symbols)
        output = ""
        try:
            parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "text")
            while not (command := parser.nextCommand()).isNull():
                output += command.invoke(solver, symbols)
        except RuntimeError as error:
            return "refused", str(error).strip() or "refused without a word"
        return _answer_in(output)

    return check


def _z3_message(error: object) -> str:
    value = getattr(error, "value", error)
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.strip() or "refused without a word"


def _answer_in(output: str) -> tuple[str, str]:
    """The answer that a solver printed, once and without complaint."""
    lines = [line for line in output.splitlines() if line.strip()]
    if "(error " in output or len(lines) != 1:
        return "refused", output.strip() or "no answer"
    answer = lines[0].split()[0]  # cvc5 says why: unknown (INCOMPLETE)
    return (answer, "") if answer in ("sat", "unsat", "unknown") else ("refused", output.strip())


CHECKS: dict[str, Callable[[], Check]] = {
    "z3": z3_check,
    "cvc5": cvc5_check,
    "z3-answer": z3_answer,
    "cvc5-answer": cvc5_answer,
}


def serve(check: Check, seconds: float, megabytes: int, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while len(size := requests.read(4)) == 4:
        texts = json.loads(requests.read(struct.unpack("<I", size)[0]))
        reply = json.dumps(answer(check, texts, seconds, megabytes)).encode()
        answers.write(struct.pack("<I", len(reply)) + reply)
        answers.flush()


def answer(check: Check, texts: list[str], seconds: float, megabytes: int) -> list[tuple[str, str]]:
    """Outcome and message of every text."""
    results: list[tuple[str, str]] = []
    alone = False
    while len(results) < len(texts):
        first = len(results)
        batch = texts[first : first + 1] if alone else texts[first:]
        done, ending = _try(check, batch, seconds, megabytes)
        results += done
        # A crash may be the fault of a text before it in the same process: it counts when the
        # text crashes alone, too.
        if ending and (len(batch) == 1 or not done or ending[0] == "timeout"):
            results.append(ending)
            alone = False
        else:
            alone = ending is not None
    return results


def _try(
    check: Check, texts: list[str], seconds: float, megabytes: int
) -> tuple[list[tuple[str, str]], tuple[str, str] | None]:
    """Results of the texts up to the first that ends the child; then how it ended."""
    read_end, write_end = os.pipe()
    error_end, complaints = os.pipe()
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os.close(error_end)
        os.dup2(complaints, 2)
        os.dup2(complaints, 1)
        _child(check, texts, seconds, megabytes, write_end, worker)
    os.close(write_end)
    os.close(complaints)
    try:
        lines, said, on_time = _listen(read_end, error_end, len(texts), seconds)
    finally:
        os.close(read_end)
        os.close(error_end)
        os.kill(child, signal.SIGKILL)  # a finished one is a zombie still, so this names no other
        _, status = os.waitpid(child, 0)
    results = [(str(outcome), str(message)) for outcome, message in map(json.loads, lines)]
    if len(results) == len(texts):
        return results, None
    if not on_time:
        return results, ("timeout", f"no answer in {seconds:g} s")
    code = os.waitstatus_to_exitcode(status)
    how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    return results, ("crash", f"{how}: {said}" if said else how)


def _listen(read_end: int, error_end: int, wanted: int, seconds: float) -> tuple[list[bytes], str, bool]:
    """The child's lines, the last it said, and whether each line came in time."""
    buffer, said = b"", b""
    poll = select.poll()
    poll.register(read_end, select.POLLIN)
    poll.register(error_end, select.POLLIN)
    deadline = time.monotonic() + seconds
    open_ends = {read_end, error_end}
    while read_end in open_ends and buffer.count(b"\n") < wanted:
        left = deadline - time.monotonic()
        if left <= 0:
            return buffer.split(b"\n")[:-1], "", False
        for end, _ in poll.poll(left * 1000 + 1):
            data = os.read(end, 1 << 16)
            if not data:
                poll.unregister(end)
                open_ends.discard(end)
            elif end == read_end:
                if b"\n" in data:
                    deadline = time.monotonic() + seconds
                buffer += data
            else:
                said = (said + data)[-MAX_MESSAGE:]
    return buffer.split(b"\n")[:-1], said.decode("utf-8", "replace").strip()[-400:], True


def _child(
    check: Check, texts: list[str], seconds: float, megabytes: int, write_end: int, worker: int
) -> None:
    code = 1
    try:
        _confine(seconds * len(texts), megabytes)
        if os.getppid() != worker:  # it died before it could take this process along
            os._exit(code)
        for text in texts:
            try:
                outcome, message = check(text)
                result = (outcome, message[:MAX_MESSAGE])
            except MemoryError:
                result = ("refused", "out of memory")
            data = json.dumps(result).encode() + b"\n"
            while data:
                data = data[os.write(write_end, data) :]
        code = 0
    finally:
        os._exit(code)


def _confine(seconds: float, megabytes: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 2, int(seconds) + 3))
    limit = megabytes << 20
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    """Serve the solver, seconds and megabytes of the command line on standard input and output."""
    name, seconds, megabytes = sys.argv[1:4]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand among the answers
    try:
        check = CHECKS[name]()
    except ImportError as error:
        sys.exit(f"{name} cannot be imported: {error}")
    check(
        "(declare-const x Int)(assert (> x 0))(check-sat)"
    )  # what a library builds on first use, before the children fork
    serve(check, float(seconds), int(megabytes), sys.stdin.buffer, answers)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    main()
