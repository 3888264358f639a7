"""A solver with planted faults, for the campaigns of this folder.

python3 -I -S planted.py FILE            answers sat to every check; faults by what the text has in it
python3 -I -S planted.py --honest FILE   the same without faults
python3 -I -S planted.py --talk          reads commands on standard input: Booleans, uninterpreted sorts
"""

import os
import re
import signal
import sys


def die(where: str, line: int) -> None:
    print(f"ASSERTION VIOLATION\nFile: ../src/planted/{where}\nLine: {line}", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGABRT)


def answer_file(text: str, honest: bool) -> None:
    answer = "sat"
    if not honest:
        if "(div " in text:
            die("arith.cpp", 41)
        if "(fp." in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "(select " in text or "(str.at " in text:
            answer = "unsat"
    for _ in range(max(1, text.count("(check-sat"))):
        print(answer)


TAKEN = re.compile(
    r"\((set-option :(print-success|global-declarations) |set-logic (ALL|QF_UF)\)"
    r"|assert |define-fun |declare-(const|fun|sort) |push |pop )"
)
REFUSED = re.compile(
    "distinct|define-fun-rec|datatypes|FiniteField|Int|Real|BitVec|Rounding|String|Array|Seq|Floating|RegLan|exists"
)


def talk() -> None:
    asserted = 0
    for line in map(str.strip, sys.stdin):
        if line == "(exit)":
            break
        asserted += line.startswith("(assert")
        if "(xor " in line and "(and " in line:
            die("rewriter.cpp", 12)
        if "(ite " in line and "(=> " in line:
            os.kill(os.getpid(), signal.SIGSEGV)
        if line.startswith("(check-sat-assuming") and asserted > 3:
            print("Fatal failure within solve() at solver.cpp:7", file=sys.stderr, flush=True)
            os.abort()
        print(reply(line), flush=True)


def reply(line: str) -> str:
    if line.startswith("(check-sat"):
        return "sat"
    if line == "(get-info :version)":
        return '(:version "1.0")'
    return "success" if TAKEN.match(line) and not REFUSED.search(line) else '(error "not supported")'


if __name__ == "__main__":
    if sys.argv[-1] == "--version":
        print("planted 1.0")
    elif sys.argv[-1] == "--talk":
        talk()
    else:
        with open(sys.argv[-1], encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            answer_file(file.read(), "--honest" in sys.argv)
