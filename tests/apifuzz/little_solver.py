"""A solver of Booleans: it takes what its table says, answers sat, and does what names tell it to."""

import os
import re
import signal
import sys
import time

KNOWN = re.compile(
    r"\((set-option :(print-success|global-declarations|produce-[a-z-]+) |assert |define-fun "
    r"|set-logic (ALL|QF_UF)|declare-const .* Bool\)|declare-fun|push |pop )"
)
REFUSED = re.compile(
    "xor|distinct|define-fun-rec|datatypes|declare-sort|Int|Real|BitVec|Rounding|String|Array|Seq|Floating|RegLan"
)


def main() -> None:
    names: list[str] = []
    for line in sys.stdin:
        answer = answer_to(line.strip(), names)
        if answer is None:
            break
        print(answer, flush=True)


def answer_to(line: str, names: list[str]) -> str | None:
    """What is answered, None at the end; ``names`` are those of assertions."""
    if line.startswith("(assert"):
        misbehave(line)
        if "invalid" in line:
            return '(error "line 7 column 9: an invalid model was generated")'
    names += re.findall(r":named (\|[^|]*\||\S+?)\)", line)
    answers = {
        "(get-unsat-core)": f"({' '.join(names)})",
        "(get-unsat-assumptions)": "(|assumed 99|)",
        "(get-model)": "((define-fun p () Bool true))",
        "(get-info :version)": '(:version "1.2")',
    }
    if line.startswith("(check-sat"):
        return "unsat" if "false" in line or "assumed" in line else "sat"
    if line.startswith("(get-value"):
        return "((p true))"
    if line == "(exit)":
        return None
    if line in answers:
        return answers[line]
    return "success" if KNOWN.match(line) and not REFUSED.search(line) else '(error "what is ""this""?")'


def misbehave(line: str) -> None:
    """Do what the name of a function in an assertion tells."""
    if "abort" in line:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "hang" in line:
        time.sleep(60)
    if "flood" in line:
        print("(" + "x " * 3000000 + ")", flush=True)
    if "complain" in line:
        print("Fatal failure within solver.c:7\n  at once", file=sys.stderr, flush=True)
        sys.exit(3)


if __name__ == "__main__":
    main()
