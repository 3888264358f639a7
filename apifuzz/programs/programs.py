"""Programs made of recorded calls: as few of them as the error needs, and what is wrong said at the end."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from apifuzz.engines import MODULES
from apifuzz.engines.profile import profile
from apifuzz.programs.ending import repeating, what_is_wrong
from apifuzz.programs.lines import (
    ANSWERS,
    SAYING,
    Line,
    changing_objects,
    names_for,
    names_in,
    nested,
    only_looks,
    read_code,
    read_lines,
    with_names,
)
from apifuzz.programs.recording import NO_NAME, SPEAKER
from apifuzz.running import faults
from apifuzz.running.faults import Fault

Choose = Callable[[Sequence[Line], frozenset[str]], list[Line]]

_MOST_TRIES = 40
_AFTER_CHECK = re.compile(r"(?:\w+_get_)?(?:model|unsat|proof)\w*\Z")
_SETS_OPTIONS = re.compile(r"set(?:Option|_args|_param)?\Z")
_MUST_NOT_BE = re.compile(r"assert str\(v\d+\) != ")
_ASKING = ("_solver_check", "_implied_equalities")
_TALKING = Path(__file__).with_name("talking.py")


@dataclass(frozen=True)
class Program:
    """Calls, one a line, and statements that say what is wrong; ``modules`` may be imported."""

    lines: tuple[Line, ...]
    ending: tuple[str, ...]
    modules: tuple[str, ...]

    @property
    def text(self) -> str:
        """The program, its variables named for what they hold."""
        names, used = names_for(self.lines, self.modules), self.used
        body = []
        for line in self.lines:
            start = f"{names[line.name]} = " if line.name in used else ""
            comment = f"  # {line.comment}" if line.comment else ""
            body.append(f"{start}{with_names(line.code, names)}{comment}")
        code = "\n".join((*body, *(with_names(ast.parse(text), names) for text in self.ending)))
        imports = [name for name in ("ctypes", *sorted(self.modules)) if re.search(rf"\b{name}\.", code)]
        return "".join(f"import {name}\n" for name in imports) + f"\n{code}\n"

    @property
    def used(self) -> frozenset[str]:
        """The names that some line uses, or the ending."""
        said = (name for text in self.ending for name in names_in(ast.parse(text)))
        return frozenset().union(said, *(line.names for line in self.lines))

    @property
    def nested(self) -> Program:
        """The same with terms and sorts written where they are used, if that is in one place."""
        return replace(self, lines=nested(self.lines, self.ending))


def programs(modules: Sequence[str], recorded: str, fault: Fault) -> Iterator[Program]:
    """Programs of what was recorded that may end as it did, the shortest first.

    First what the end depends on: the objects that it uses and what was done to these. Then with all that
    changes something, then with everything. None where something needed has no name.
    """
    lines = read_lines(recorded)
    lines = [line for line in lines[:-1] if not line.raised] + lines[-1:]
    lines = [replace(line, said="") if line.said == "success" else line for line in lines]
    lines = [_answered(line) for line in lines]
    seen = set()
    for choose in _CHOICES if lines else ():
        made = _program(lines, choose, fault, tuple(modules))
        is_enough = choose is not _CHOICES[0] or _says_why(made)
        if made.lines and is_enough and _is_whole(made) and made.text not in seen:
            seen.add(made.text)
            yield made


def _program(lines: Sequence[Line], choose: Choose, fault: Fault, modules: tuple[str, ...]) -> Program:
    ending = what_is_wrong(lines, fault)
    goals = frozenset(name for text in ending for name in names_in(ast.parse(text)))
    if not goals:
        return Program(tuple(choose(lines, frozenset((lines[-1].name,)))), ending, modules)
    last = max(place for place, line in enumerate(lines) if line.name in goals)
    return Program(tuple(choose(lines[: last + 1], goals)), ending, modules)


def _says_why(program: Program) -> bool:
    """Whether a program that shows a wrong answer has another solver's answer, too."""
    asked = {line.order[:1] for line in program.lines if line.said in ANSWERS}
    return len(asked) > 1 or not (program.ending and _MUST_NOT_BE.match(program.ending[-1]))


def _answered(line: Line) -> Line:
    """A line that asks for an answer, with that for the number by which an interface of C gives it."""
    module, _, _ = line.text.partition(".")
    if line.kind != "int" or not line.function.endswith(_ASKING):
        return line
    code = read_code(f"{module}.CheckSatResult({line.text})")
    return Line(line.name, code, "CheckSatResult", {"1": "sat", "-1": "unsat"}.get(line.said, "unknown"))


def _is_whole(program: Program) -> bool:
    made: set[str] = set()
    for line in program.lines:
        if not line.names <= made:
            return False
        made.add(line.name)
    return True


def dressed(text: str, fault: Fault) -> str:
    """What a program takes beside its calls: to repeat them, for a leak; to talk to a solver."""
    if fault.kind == faults.LEAK:
        return repeating(text)
    if re.search(rf"^(?:\w+ = )?{SPEAKER}\(", text, re.M):
        return f"{_TALKING.read_text('utf-8')}\n\n{text.lstrip()}"
    return text


def logged(text: str, modules: Sequence[str], file: Path) -> str | None:
    """A program that keeps a solver's own log of its calls in a file; None where no solver keeps one."""
    starts = [profile(name).opens_log for name in modules if name in MODULES and profile(name).opens_log]
    return starts[0].format(repr(str(file))) + text if starts else None


# Which calls


def _depended_on(lines: Sequence[Line], goals: frozenset[str], also: Callable[[Line], bool]) -> list[Line]:
    """The lines that make the variables ``goals`` and what these are made of, those that change any of it,
    and the lines that change something and satisfy ``also``.
    """
    made = {line.name: line for line in lines}
    changing = changing_objects(lines)
    needed: set[str] = set()

    def need(names: Iterable[str]) -> None:
        for name in set(names) & made.keys() - needed:
            needed.add(name)
            need(made[name].names)

    need(goals)
    kept = []
    for line in reversed(lines):
        touched = line.names if line.function in SAYING else line.names & changing
        acts = touched and NO_NAME not in line.names and not only_looks(line)
        if line.name in needed or (acts and (touched & needed or also(line))):
            kept.append(line)
            need(line.names)
    return kept[::-1]


_CHOICES: tuple[Choose, ...] = (
    lambda lines, goals: _depended_on(lines, goals, lambda line: False),
    lambda lines, goals: _depended_on(lines, goals, lambda line: True),
    lambda lines, goals: [line for line in lines if NO_NAME not in line.names],
)
"""What matters; with it all that changes something; everything."""


# Fewer calls


def shorter(program: Program, is_shown: Callable[[Program], bool], tries: int = _MOST_TRIES) -> Program:
    """The program without what it does not need, a line at a time and from the end, in so many ``tries``.

    A line goes if nothing else uses its name. The last check stays where something is asked after one. Where
    the program says itself what is wrong, all calls stay but those that set options or only make something.
    """
    checks = [line for line in program.lines if line.function.startswith(("check", "CheckSat"))]
    asked = checks[-1:] if any(_AFTER_CHECK.match(line.function) for line in program.lines) else []
    for line in program.lines[::-1]:
        if not tries:
            break
        is_fixed = line.kind != line.function and not _SETS_OPTIONS.match(line.function)
        if (program.ending and is_fixed) or line in asked or line.name in program.used:
            continue
        tries -= 1
        fewer = replace(program, lines=tuple(kept for kept in program.lines if kept is not line))
        if fewer.lines and is_shown(fewer):
            program = fewer
    return program
