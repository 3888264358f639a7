"""Parses command lines as people paste them: prompt, wrappers, solver, options, files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import takewhile

from solvers.registry import ANY_NAME, NAMES


@dataclass(frozen=True, slots=True)
class Invocation:
    """A run of a solver, as its command line shows it.

    ``solver``: the family (``z3``). ``program``: the word in the command line (``./z3-4.8.7``). ``version``:
    the version in that word. ``files``: base names. ``line``: from 0 within the block.
    """

    text: str
    solver: str
    program: str
    version: str = ""
    options: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    line: int = 0


_SOLVER = re.compile(rf"(?P<family>{ANY_NAME})(?P<rest>[\w.+~-]{{0,60}})(?:\.exe)?", re.IGNORECASE)
# After a solver's name these make a word that is not a program: ``z3py``, ``stps``.
_NO_PROGRAMS = frozenset({"s", "py", "prover", "solver", "y"})
_VERSION_IN_NAME = re.compile(r"\d+\.\d+(?:\.\d+){0,2}")
_SHOWS = frozenset("cat more less bat batcat type head tail nl".split())
# Commands whose arguments are not run.
_RUN_NOTHING = _SHOWS | frozenset(
    """
    git cd ls cp mv rm wc diff grep sed file which pip wget curl tar unzip make cmake ninja uname echo printf
    export clang gcc
    """.split()
)
_SHELL_WORDS = _RUN_NOTHING | frozenset(
    """
    time timeout gtimeout ulimit env for while if sudo docker python python3 bash sh zsh valgrind gdb lldb
    nice perf strace taskset perl ./configure.sh lsb_release ddsmt java hyperfine runlim benchexec
    """.split()
)
# Those before a solver's command line, without a prompt.
_BEFORE_SOLVERS = frozenset("time timeout gtimeout ulimit env valgrind java seq".split())
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=")
_WORD = re.compile(r"""(?:'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|\\.|[^\s'"|;&<>])+|\|\|?|&&|&>|[;&]|<<<|<<-?|[<>]+""")
# "2>&1" and the like do not name a file.
_MERGED = re.compile(r"\s\d?>&\d\b|\s\d(?=>)")
_PROMPTS = re.compile(
    r"""\s*(?:\([\w.-]{1,30}\)\s)?(?:             # (an environment's name)
        \[\d{1,6}\]\s?[%$\#>]                       # tcsh: [579] %
      | \d{1,2}:\d\d(?::\d\d)?\s?[%$\#]               # the time: 15:44 %
      | \[[\w.-]{1,40}(?::[^\]\s]{1,80})?\]\s?[$%\#]   # [name] $, [name:~/dir]$
      | \(?[\w.-]{1,40}@[\w.-]{1,60}\)?[:\s][^$\#%>\n]{0,100}?[$\#%]    # user@host:~/dir$
      | \[[\w.-]{1,40}@[\w.-]{1,60}[^\]\n]{0,80}\][$\#%]               # [user@host dir]$
      | PS\s[A-Za-z]:\\[^>\n]{0,150}>                 # PowerShell
      | [A-Za-z]:\\[^>\n]{0,150}>                     # cmd.exe
      | (?:~|\.{1,2}/|/)[\w./~+-]{0,120}\s?[$\#%>]  # a path: ~/src$
      | (?:bash|sh|zsh)(?:-\d\.\d)?[$\#%]             # bash-5.0$
    )(?:\s|$|(?<=>)(?=[\w.]))""",
    re.VERBOSE,
)
_WEAK_PROMPT = re.compile(r"\s*(?:>\s(?=[$%]\s))?(?P<sign>[$%#❯➜»λ▲▶❱]|>{1,3})(?P<space>\s*)")
_ARROW = re.compile(r"\S{1,60}\s+(?:git:\(\S{1,60}\)\s+)?(?:[✗×⚡]\s*)?")
_REPL = re.compile(rf"\s*(?:(?:{ANY_NAME})>|>{{1,3}}|\$|%)\s*(?=\()", re.IGNORECASE)
_FILE_NAME = re.compile(
    r".*\.(?:smt2?|smtlib2?|smt2?\.txt|txt|sl|p|z3|dimacs|cnf|tptp|log|in|btor2?)$|.*/.*",
    re.IGNORECASE,
)


# The commit of the solver, which some reporters write after the command line.
_COMMIT = re.compile(r"(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}")
# An option without "=", and what may be its value: "--lang smt2.6".
_TAKES_VALUE = re.compile(r"-[^=]*")
_VALUE = re.compile(r"[A-Za-z0-9]{1,40}(?:\.\d{1,3})?")
# z3 accepts "/v:10" for "-v:10".
_PLUS_OPTION = re.compile(r"\+[a-zA-Z][\w-]{0,40}")
_SLASH_OPTION = re.compile(r"/[a-zA-Z][a-z0-9]{0,9}(?::\d+)?")


def solver_family(word: str) -> str:
    """The solver family that a program's name contains, or an empty string."""
    *folders, name = re.split(r"[/\\]", word.strip("\"'"))
    found = _SOLVER.fullmatch(name)
    if found is None:
        # The short name of a program in the folder of its solver: ~/eldarica/eld.
        near = folders[-1].lower() if folders and 1 < len(name) < 6 else ""
        return near if near in NAMES and near.startswith(name.lower()) else ""
    family, rest = found["family"].lower(), found["rest"].lower()
    if rest.endswith((".smt2", ".txt", ".smt", ".py", ".cpp", ".h", ".zip", ".log")):
        return ""
    return "" if rest in _NO_PROGRAMS else family


def is_empty_prompt(line: str) -> bool:
    """Whether a line is a prompt with nothing after it."""
    stripped = line.strip()
    if stripped in ("$", "%"):
        return True
    found = _PROMPTS.match(line)
    return found is not None and not line[found.end() :].strip()


def repl_input(line: str) -> int:
    """The position of the input on a line of an interactive session (``z3> (assert ...)``), or 0."""
    found = _REPL.match(line)
    return found.end() if found else 0


def command_of(line: str) -> str | None:
    """The shell command on a line, without its prompt; None if the line is not a command line."""
    found = _PROMPTS.match(line)
    if found is not None:
        rest = line[found.end() :].strip()
        if not rest:
            return None
        # A path and ">" may also be a redirection or a quotation.
        return rest if _is_command(rest) or found[0].rstrip()[-1] in "$%#" else None
    weak = _WEAK_PROMPT.match(line)
    if weak is not None:
        rest = line[weak.end() :].strip()
        if weak["sign"] in "❯➜»λ▲▶❱":
            return _after_arrow(rest)
        if rest and _is_command(rest):
            return rest
        if weak["sign"] == "$" and weak["space"] and rest and rest[0].isalnum():
            return rest
        return None
    stripped = line.strip()
    return stripped if _is_bare_command(stripped) else None


def _after_arrow(rest: str) -> str | None:
    found = _ARROW.match(rest)
    if found and solver_family(rest[found.end() :].partition(" ")[0]):
        return rest[found.end() :].strip()  # after a directory, which may be named after a solver
    if _is_command(rest):
        return rest
    if found and _is_command(rest[found.end() :]):
        return rest[found.end() :].strip()
    return None


def _is_command(text: str) -> bool:
    first = text.split(None, 1)[0] if text.strip() else ""
    if not first or first[0] in "(;\"'":
        return False
    if first in _SHELL_WORDS or solver_family(first) or _ASSIGNMENT.match(first):
        return True
    return first.startswith(("./", "../", "~/", "/")) and len(first) > 2


def _is_bare_command(text: str) -> bool:
    """Whether a line without a prompt is a command line rather than prose about a solver."""
    if len(text) > 2000 or not text or not (text[0].isalnum() or text[0] in "./~_"):
        return False
    text = text.partition(" # ")[0].rstrip()
    first, _, tail = text.partition(" ")
    words = tail.split()
    if first in ("cat", "more", "head", "tail", "bat", "type"):
        return bool(words) and len(words) <= 4 and ("<<" in tail or bool(_FILE_NAME.match(words[-1])))
    if first == "echo" or first == "printf":
        return "(" in tail and ("|" in tail or tail.lstrip("-en ")[:2] in ("'(", '"('))
    if first in _BEFORE_SOLVERS or _ASSIGNMENT.match(first):
        return any(solver_family(word) for word in words)
    if not solver_family(first) or not words or first[-1] in ":,." or words[0].lower().startswith("version"):
        return False
    if "(`" in tail or " -> " in text:
        return False  # prose that mentions a command
    prose = sum(1 for word in words if word.isalpha() and word.islower())
    marked = sum(
        1
        for word in words
        if word[0] in "-<|" or ("=" in word[1:] and word[-1] != "=") or _FILE_NAME.match(word.rstrip(".,:"))
    )
    return marked > 0 and prose <= marked and text[-1] not in ".:,"


def invocations_of(command: str, line: int = 0) -> list[Invocation]:
    """The solver runs of a command line: one per stage of a pipe or list that starts a solver."""
    if "\\-" in command:
        command = command.replace("\\-", "-").replace("\\_", "_")  # as in Markdown
    words = _WORD.findall(_MERGED.sub(" ", command[:4000]))
    found: list[Invocation] = []
    stage: list[str] = []
    piped: tuple[str, ...] = ()
    for word in [*words, ";"]:
        if word in ("|", "||", "&&", ";", "&"):
            invocation = _invocation(command, stage, line)
            if invocation is not None:
                found.append(replace(invocation, files=invocation.files + piped))
            # "cat a.smt2 | z3 -in" runs z3 on that file.
            is_shown = word == "|" and stage[:1] == ["cat"]
            piped = tuple(base_name(file) for file in stage[1:] if file[0] not in "-<") if is_shown else ()
            stage = []
        else:
            stage.append(word)
    return found


def _invocation(command: str, words: list[str], line: int) -> Invocation | None:
    for index, word in enumerate(words):
        if _ASSIGNMENT.match(word):
            continue
        if word in _RUN_NOTHING:
            return None
        if "://" in word or (index and words[index - 1] in (">", ">>", "<", "<<", "<<-")):
            continue
        family = solver_family(word)
        if family:
            version = _VERSION_IN_NAME.search(word)
            options, files = _arguments(words[index + 1 :])
            front = _front_end(words[:index])
            if front is not None:  # "smtml run --solver z3 a.smt2"
                options, word = (*words[front + 1 : index], word, *options), words[front]
            return Invocation(
                text=command.strip(),
                solver=family,
                program=word,
                version=version[0] if version else "",
                options=options,
                files=files,
                line=line,
            )
    return None


def _front_end(words: list[str]) -> int | None:
    """The position of the program before a solver's name, if that is an option's value."""
    if not words or words[-1] not in {"--solver", "-solver", "--prover", "-prover", "--smt-solver"}:
        return None
    start = words.index("--") + 1 if "--" in words[:-1] else 0
    return start if words[start] not in _SHELL_WORDS and words[start][0] != "-" else None


def _arguments(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    options: list[str] = []
    files: list[str] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
            continue
        if word in (">", ">>", "<<", "<<-", "<<<", "2>", "&>"):
            skip = True
        elif word.startswith("#"):
            break
        elif (
            word.startswith("-")
            or _PLUS_OPTION.fullmatch(word)
            or _SLASH_OPTION.fullmatch(word)
            or ("=" in word and "/" not in word.partition("=")[0])
        ):
            word = word.strip("`")
            options.append(word.rstrip(".") if word.startswith("--") else word)
        elif word == "<" or _COMMIT.fullmatch(word):
            continue
        elif index and _TAKES_VALUE.fullmatch(words[index - 1]) and _VALUE.fullmatch(word):
            options.append(word)
        else:
            files.append(base_name(word))
    return tuple(options), tuple(files)


def base_name(path: str) -> str:
    """The last part of a path, without quotes and trailing punctuation."""
    return re.split(r"[/\\]", path.strip("\"'`,;:"))[-1]


def shown_files(command: str) -> tuple[str, ...] | None:
    """The files that a command prints, or None if it prints none."""
    words = _WORD.findall(command[:2000])
    if words and words[0] == "sudo":
        words = words[1:]
    if not words or words[0] not in _SHOWS:
        return None
    shown = takewhile(lambda word: word not in ("|", ";", "&&", ">", ">>", "<<", "||", "<<-"), words[1:])
    return tuple(base_name(word) for word in shown if word[0] != "-" and not word.isdigit() and word != "<")


_HEREDOC = re.compile(r"<<-?\s*['\"\\]?(\w{1,40})")
_WRITES = re.compile(r"(?<![<>2&])>{1,2}\s*([^\s<>|;&]{1,200})")


def heredoc_tag(command: str) -> str:
    """The word that ends the here-document of a command, or an empty string."""
    if "<<" not in command or "<<<" in command:
        return ""
    found = _HEREDOC.search(command)
    return found[1] if found else ""


def written_file(command: str) -> str:
    """The file that a command redirects its output to, or an empty string."""
    found = _WRITES.search(command)
    return base_name(found[1]) if found else ""
