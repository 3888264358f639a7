"""Splits a block into segments: shell commands, SMT-LIB commands, solver output, prose.

One pass from left to right, which never raises. Which segments form a formula or a run is decided later, in
``miner.drafts`` and ``miner.runs``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from miner.commandline import (
    Invocation,
    command_of,
    heredoc_tag,
    invocations_of,
    is_empty_prompt,
    repl_input,
    shown_files,
    written_file,
)
from miner.sexpr import STRONG, balanced_end, command_word
from smtlib.scanner import OPAQUE
from solvers.registry import PROFILES


class Segment(NamedTuple):
    """A part of a block.

    ``kind``: ``shell`` (a command line with its ``invocations``), ``open`` and ``close`` (around the text of
    the file ``file``, or the input of ``invocations``), ``prompt`` (an empty one), ``command`` (SMT-LIB, with
    its ``word``), ``output``, ``elision``, ``comment`` or ``prose``.
    ``line``: from 0 within the block. ``whole``: False if the parentheses of a command do not match.
    """

    kind: str
    text: str
    line: int
    word: str = ""
    file: str = ""
    invocations: tuple[Invocation, ...] = ()
    whole: bool = True


ANSWER = re.compile(r"\s*(sat|unsat|unknown|timeout|success|unsupported)\b\s*(?:[;#(<←/=\-!].*|\?+)?$")
_OUTPUT = re.compile(
    r"""\s*(?:
        ASSERTION\s+VIOLATION | UNEXPECTED\s+CODE | UNREACHABLE | File:\s | Line:\s
      | Failed\s+to\s+verify | \(C\)ontinue | Fatal\s+failure | Internal\s+error | Check\s+failure
      | (?:[\w.+/-]+:\s)?\S+:\d+:\s\S.*:\sAssertion\b.*failed
      | Assertion\b.*(?:failed|violat) | Aborted | Segmentation\s+fault | Killed | Trace/breakpoint
      | Bus\s+error | Illegal\s+instruction | terminate\s+called | what\(\):
      | (?:real|user|sys)\s+\d | ==+\d+==+ | ={5,} | \#\d+\s+(?:0x|\S+\s\(|in\s) | SUMMARY:
      | (?:Inde|D)irect\s+leak | ast_manager\s+LEAKED | Leaked: | LEAKED | assertion:
      | simplifies\s+to: | expected\s+` | Run\s+with\s+` | run\s+with\s+-d
      | double\s+free | free\(\) | munmap_chunk | corrupted\s
      | (?:lang|std|java)\.\w | \S+\.(?:cpp|h|hpp|cc|c):\d+ | WARNING: | Error: | error: | ERROR:
      | Parse\s+Error | Exception | Command\s+exited | core\s+dumped | id:\s\d | timeout:\s | \[error\]
      | Traceback | \s\s+File\s" | :[a-z][a-z-]+\s+[\d."(] | \d+\.\d+s\s+user | \^C
      | UndefinedBehavior | Address\s?Sanitizer | unsat-core | Unsat\s+core
      | """
    + " | ".join(pattern.pattern for profile in PROFILES.values() for pattern in profile.says.output)
    + ")",
    re.VERBOSE,
)
_ELISION = re.compile(
    r"\s*[;#/]*\s*(?:\.{3,}|…+|\[\s*(?:\.{3}|…|snip|cut|omitted)[^\]\n]{0,40}\]|<\s?snip\s?>"
    r"|-+\s*(?:snip|cut here)\b.*|\(\s*(?:\.{3,}|…)\s*\))(?:\s.*)?$",
    re.IGNORECASE,
)
_ELIDED_INSIDE = re.compile(r"\.{3}|…")
# "# Output: sat", below a command line or after it
_SAID_IN_COMMENT = re.compile(
    r"#{1,3}[ \t]{0,20}(?:(?:[Oo]utput|[Rr]esult|[Aa]nswer|[Pp]rints|[Rr]eturns|[Gg]ives|[Ss]ays|[Rr]eports)"
    r"\s*:?|->|=>)?[ \t]{0,20}[`'\"]?(sat|unsat|unknown)\b[`'\"]?(?=\s*$|\s+(?:on|in|with|\()|[,;.])"
)
_INPUT = re.compile(r"\s*(?:echo|printf)\s+(?:-[neE]+\s+)?")
_HERE_STRING = re.compile(r"<<<\s*")
_SPACE = re.compile(r"\s*")
_LINE_NUMBERS = re.compile(r"\s*0*1\s?[:.|)]?\s+[(;]")
_LINE_NUMBER = re.compile(r"^\s*\d{1,6}\s?[:.|)]?(?:\s|$)", re.MULTILINE)
_STRAY = re.compile(r"[)\s]*$")
_OUTPUT_HEAD = re.compile(
    r"\(\s*(?:error|model|objectives|goals?|:|\(|\)|core|let|sat|unsat|unknown|proof|params)"
)
_COMMENT_ELISION = re.compile(r";+\s*(?:\.{3}|…)")
_INLINE_MENTION = re.compile(r"[ \t`]*[^\s(;`]")


def cut(text: str, *, loose: bool = False) -> list[Segment]:
    """The segments of a block's text. ``loose``: the author did not mark the text as code."""
    if _LINE_NUMBERS.match(text) and text.count("\n") == len(_LINE_NUMBER.findall(text)) - (
        text[-1:] != "\n"
    ):
        text = _LINE_NUMBER.sub("", text)
    return _models_apart(_Cutter(text, loose).run())


def is_elided(command: str) -> bool:
    """Whether a part of a command is left out (``...``)."""
    if "..." not in command and "…" not in command:
        return False
    return _ELIDED_INSIDE.search(OPAQUE.sub(" ", command)) is not None


# Beyond this many, all segments but commands are ignored: no text that GitHub accepts has more.
_MOST_OTHERS = 10_000


class _Cutter:
    def __init__(self, text: str, loose: bool, first_line: int = -1) -> None:
        self.text = text
        self.loose = loose
        # Input of a run contains no command lines, so nothing nests.
        self.is_input = first_line >= 0
        self.segments: list[Segment] = []
        self.line = max(0, first_line)
        self.counted = 0
        self.in_file = False
        self.running = False
        self.commands = 0

    def run(self) -> list[Segment]:
        text = self.text
        position = 0
        while position < len(text):
            found = _SPACE.match(text, position)
            position = found.end() if found else position
            if position >= len(text):
                break
            self._count(position)
            is_full = len(self.segments) - self.commands > _MOST_OTHERS
            position = self._skip(position) if is_full else self._step(position)
        if self.in_file:
            self._add("close", "")
        return self.segments

    def _skip(self, position: int) -> int:
        """The position after the next command, in a block with too many other segments."""
        text = self.text
        if text[position] == "(" and command_word(text, position):
            return self._parenthesis(position)
        following = text.find("\n(", position)
        return len(text) if following < 0 else following + 1

    def _line_end(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def _count(self, position: int) -> None:
        self.line += self.text.count("\n", self.counted, position)
        self.counted = position

    def _add(
        self,
        kind: str,
        text: str,
        word: str = "",
        file: str = "",
        runs: tuple[Invocation, ...] = (),
        whole: bool = True,
    ) -> None:
        self.segments.append(Segment(kind, text, self.line, word, file, runs, whole))

    def _step(self, position: int) -> int:
        text = self.text
        sign = text[position]
        if sign == "(":
            return self._parenthesis(position)
        end = self._line_end(position)
        if sign == ";":
            comment = text[position:end]
            self._add("elision" if _COMMENT_ELISION.match(comment) else "comment", comment)
            return end
        start = text.rfind("\n", 0, position) + 1
        if text[start:position].strip():
            return self._rest_of_line(position, end)
        return self._line(position, end)

    def _rest_of_line(self, position: int, end: int) -> int:
        rest = self.text[position:end]
        if _STRAY.match(rest):
            return end
        if rest[0] == ")":
            return position + len(rest) - len(rest.lstrip(")"))
        self._add("output" if ANSWER.match(rest) else "prose", rest)
        return end

    def _parenthesis(self, position: int) -> int:
        text = self.text
        word = command_word(text, position)
        if word and (not self.loose or word in STRONG or self._follows("command")):
            end, whole = balanced_end(text, position)
            if self.loose and self._is_mention(end):
                self._add("prose", text[position:end])
                return end
            self._add("command", text[position:end], word=word, whole=whole)
            self.commands += 1
            return end
        line_end = self._line_end(position)
        kind = ""
        if self.loose:
            kind = "prose"
        elif text.startswith("(C)", position):
            kind = "output"
        elif _ELISION.match(text[position : min(line_end, position + 40)]):
            kind = "elision"
        if kind:
            self._add(kind, text[position:line_end])
            return line_end
        is_output = self.running or _OUTPUT_HEAD.match(text, position) or self._follows("output")
        end, _ = balanced_end(text, position, output=True)
        self._add("output" if is_output else "prose", text[position:end])
        return end

    def _is_mention(self, end: int) -> bool:
        """Whether words follow a command on its line: prose that only mentions the command."""
        found = _INLINE_MENTION.match(self.text, end)
        return found is not None and "\n" not in found[0]

    def _follows(self, kind: str) -> bool:
        return bool(self.segments) and self.segments[-1].kind == kind

    def _line(self, position: int, end: int) -> int:
        line = self.text[position:end]
        if is_empty_prompt(line):
            self._close()
            self.running = False
            self._add("prompt", line)
            return end
        if _ELISION.match(line):
            self._add("elision", line)
            return end
        # "timeout 60s z3 a.smt2" is no answer.
        if ANSWER.match(line) and not (line.startswith("timeout ") and command_of(line)):
            self._add("output", line.rstrip())
            return end
        if not self.loose and (skip := repl_input(line)):
            return position + skip
        command = None if self.is_input else command_of(line)
        if command is not None:
            return self._shell(command, position, end)
        if self.running and line.startswith("#") and (said := _SAID_IN_COMMENT.match(line)):
            self._add("output", said[1])
            return end
        if self.running and line.startswith("# "):
            self._add("prose", line.rstrip())
            return end
        is_output = _OUTPUT.match(line) or (not self.loose and (self.running or self._follows("output")))
        self._add("output" if is_output else "prose", line.rstrip())
        return end

    def _close(self) -> None:
        if self.in_file:
            self._add("close", "")
            self.in_file = False

    def _shell(self, command: str, position: int, end: int) -> int:
        self._close()
        if command.endswith("\\"):
            command, end = self._continued(command, end)
        piped = self._piped_input(command, position, end)
        if piped:
            return piped
        invocations = tuple(invocations_of(command, self.line))
        self._add("shell", command, runs=invocations)
        self.running = bool(invocations)
        tag = heredoc_tag(command)
        if tag:
            return self._heredoc(tag, command, invocations, end)
        if invocations and "#" in command and (said := _SAID_IN_COMMENT.search(command)):
            self._add("output", said[1])
        shown = None if invocations else shown_files(command)
        if shown is not None:
            self._add("open", "", file=shown[0] if len(shown) == 1 else " ".join(shown))
            self.in_file = True
            self.running = False
        return end

    def _continued(self, command: str, end: int) -> tuple[str, int]:
        """A command line joined with the lines that it continues on after a backslash."""
        parts = [command]
        while parts[-1].endswith("\\") and end < len(self.text):
            following = self._line_end(end + 1)
            parts[-1] = parts[-1][:-1].rstrip()
            parts.append(self.text[end + 1 : following].strip())
            end = following
        return " ".join(parts), end

    def _heredoc(self, tag: str, command: str, invocations: tuple[Invocation, ...], end: int) -> int:
        closing = re.compile(r"^[ \t]*" + re.escape(tag) + r"[ \t]*\)?$", re.MULTILINE).search(self.text, end)
        inner_end = closing.start() if closing else len(self.text)
        file = written_file(command) if not invocations else ""
        self._inner(self.text[end:inner_end], file, invocations)
        return closing.end() if closing else len(self.text)

    def _inner(self, inner: str, file: str, invocations: tuple[Invocation, ...]) -> None:
        self._add("open", "", file=file, runs=invocations)
        self.segments += _Cutter(inner, loose=False, first_line=self.line).run()
        self._add("close", "")

    def _piped_input(self, command: str, position: int, end: int) -> int:
        """Read ``echo '(...)' | z3 -in`` or ``z3 -in <<< '(...)'``, where the quoted text is the formula.

        Returns the position after it; 0 if the command has another form.
        """
        here = _INPUT.match(command) or _HERE_STRING.search(command)
        if here is None or here.end() >= len(command) or command[here.end()] not in "'\"":
            return 0
        quote = command[here.end()]
        offset = self.text.find(command[: here.end() + 1][-20:], position, end)
        if offset < 0:
            return 0
        opening = self.text.find(quote, offset + len(command[: here.end() + 1][-20:]) - 1)
        closing = self.text.find(quote, opening + 1)
        while quote == '"' and closing > 0 and self.text[closing - 1] == "\\":
            closing = self.text.find(quote, closing + 1)
        if closing < 0:
            return 0
        inner = self.text[opening + 1 : closing]
        if quote == '"':
            inner = inner.replace('\\"', '"')
        if command.lstrip().startswith("printf") or " -e" in command[: here.end()]:
            inner = inner.replace("\\n", "\n")
        if "(" not in inner:
            return 0
        line_end = self._line_end(closing)
        around = command[: here.start()] + " " + self.text[closing + 1 : line_end]
        whole = self.text[max(position, self.text.find(command[:12], position)) : line_end]
        invocations = tuple(replace(found, text=whole.strip()) for found in invocations_of(around, self.line))
        self._add("shell", whole.strip(), runs=invocations)
        file = "" if invocations else written_file(around)
        self._inner(inner, file, invocations)
        self.running = bool(invocations)
        return line_end


_DEFINITIONS = frozenset(
    {"define-fun", "define-fun-rec", "define-const", "declare-fun", "declare-sort", "declare-datatypes"}
)


def _models_apart(segments: list[Segment]) -> list[Segment]:
    """Turn definitions after an answer into output if no formula follows them: they are a model."""
    index = 0
    while index < len(segments):
        if segments[index].word != "define-fun" or index == 0 or segments[index - 1].kind != "output":
            index += 1
            continue
        end = index
        while end < len(segments) and (segments[end].word in _DEFINITIONS or segments[end].kind == "comment"):
            end += 1
        if end == len(segments) or segments[end].kind != "command" or segments[end].word.startswith("get-"):
            segments[index:end] = [Segment("output", old.text, old.line) for old in segments[index:end]]
        index = max(end, index + 1)
    return segments
