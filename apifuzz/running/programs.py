"""Programs made of recorded calls: as few of them as the error needs, and what is wrong said at the end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from apifuzz.running import faults
from apifuzz.running.faults import Fault, shape_of
from apifuzz.running.leaking import repeating
from apifuzz.running.plain_z3 import plainer
from apifuzz.running.recording import NO_NAME, RAISES, SPEAKER, VARIABLE, VARIABLE_OR_TEXT, Call
from apifuzz.running.talking import Ended

# Calls on objects of these classes do something; calls on all others only tell, or make what others need.
_SOLVING = frozenset(("Solver", "Bitwuzla", "InputParser", "Parser", "Options.set"))
_MAKING = frozenset(("TermManager", "Grammar", "DatatypeDecl", "DatatypeConstructorDecl", "SymbolManager"))
# What z3's calls do is seen by their names.
_Z3_SOLVING = re.compile(
    r"\Av\d+\.(?:add|append|insert|assert_\w+|check\w*|push|pop|reset|set|set_\w+|fact|rule|query\w*"
    r"|add_\w+|update_\w+|register_\w+|minimize|maximize|consequences|cube\w*|from_string|declare\w*"
    r"|import_\w+|dimacs|model|unsat_core|proof)\("
    r"|\A(?:z3\.CheckSatResult\()?z3\.z3core\.Z3_(?:solver|optimize|fixedpoint|goal|ast_vector|params|parser_context)_"
    r"(?!get_(?!model|unsat)|to_|num_)|\Az3\.CheckSatResult\(|\Az3\.z3core\.Z3_(?:add_rec|update_param|global_param)"
    r"|\Az3\.(?:RecAddDefinition|set_param|set_option)\("
)
_ONLY_LOOKS = re.compile(r"\Av\d+\.(?:is[A-Z]\w*|getOption\w*|getUnknown\w*|sexpr|reason_unknown)\(")
# A command that cvc5's parser read, or one that was said to a solver.
_INVOKES = re.compile(r"\Av\d+\.(?:invoke|ask|ask_perhaps)\(")
_ASKS = re.compile(r"\Av\d+\.ask\(")
_SUCCESS = "success"
_LINE = re.compile(r"(v\d+) = (.*)\Z")
_TALKING = Path(__file__).with_name("talking.py")
_ANSWERS = ("sat", "unsat")
_TRUTH = ("True", "False")
_ABOUT_ANSWERS = ("answer", "model", "core", "assumptions")
_ANSWERS_BY_NUMBER = re.compile(r"z3\.z3core\.Z3_(?:(?:solver|optimize)_check\w*|get_implied_equalities)\(")
_Z3_ANSWERS = {"1": "sat", "-1": "unsat", "0": "unknown"}
_ANSWERED = re.compile(r"\banswers? (sat|unsat)\b")
_WANTED = re.compile(r"(?::| is) (\S+)(?: instead of|, should be) (\S+)\Z")
_MOST_TRIES = 40
_CHECKS = re.compile(r"\A(?:v\d+ = )?(?:v\d+\.check\w*|z3\.CheckSatResult)\(")
# What is asked after a check; without one it would be refused, too.
_AFTER_CHECK = re.compile(
    r"\A(?:v\d+ = )?(?:v\d+\.(?:model|unsat_core|proof)|z3\.z3core\.Z3_\w+_get_(?:model|unsat|proof)\w*)\("
)


def read_calls(recorded: str) -> list[Call]:
    """The lines that a recorder wrote."""
    calls = []
    for line in recorded.splitlines():
        if found := _LINE.match(line):
            code, _, told = found[2].partition("  # ")
            if _ANSWERS_BY_NUMBER.match(code):
                code, told = f"z3.CheckSatResult({code})", _Z3_ANSWERS.get(told, told)
            calls.append(Call(found[1], code, "" if told == _SUCCESS else told))
    return calls


def programs(modules: Sequence[str], recorded: str, fault: Fault) -> Iterator[str]:
    """Programs of what was recorded that end as it did, the shortest first.

    With calls on solvers and what these need; with calls that make what nothing needs, too; with all. Of two
    solvers the one that ended it, then both. None where something needed has no name.
    """
    calls = read_calls(recorded)
    # What was refused did nothing; a program would end there.
    calls = [call for call in calls[:-1] if not call.raised] + calls[-1:]
    if not calls:
        return
    last = modules
    if len(modules) > 1:
        last = [module for module in modules if module == _module_of(calls[-1], calls, modules)] or modules
    seen = set()
    for chosen in [last, modules][: len(modules)]:
        own = calls if chosen is modules else [c for c in calls if _module_of(c, calls, modules) in chosen]
        for acting in (_SOLVING, _SOLVING | _MAKING, None):
            lines = list(_chosen(chosen, own, acting))[::-1]
            if lines and lines[-1].name == calls[-1].name and not any(NO_NAME in line.code for line in lines):
                plain = list(_chosen(chosen, plainer(lines), acting))[::-1]
                # A context that lives on may keep what one of its own would have given back.
                kinds = (lines,) if fault.kind == faults.LEAK else (plain, lines)
                for text in (program(_to_the_end(kept, fault), fault, modules) for kept in kinds):
                    if text not in seen:
                        seen.add(text)
                        yield text


def program(calls: Sequence[Call], fault: Fault, modules: Sequence[str]) -> str:
    """The text of a program with these calls, which ends in what is wrong; ``modules`` are those of its
    solvers.
    """
    ending = _ending(calls, fault)
    kept = {name for call in calls for name in call.needs} | set(VARIABLE.findall(ending))
    lines = []
    for call in calls:
        line = f"{call.name} = {call.code}" if call.name in kept else call.code
        lines.append(line + (f"  # {call.told}" if call.told else ""))
    body = "\n".join(lines)
    used = [name for name in ("ctypes", *sorted(modules)) if re.search(rf"\b{name}\.", body)]
    return "".join(f"import {name}\n" for name in used) + f"\n{body}\n{ending}"


def dressed(text: str, fault: Fault) -> str:
    """What a program takes beside its calls: to repeat them, for a leak; to talk to a solver."""
    if fault.kind == faults.LEAK:
        return repeating(text)
    if re.search(rf"^(?:v\d+ = )?{SPEAKER}\(", text, re.M):
        return f"{_TALKING.read_text('utf-8')}\n\n{text.lstrip()}"
    return text


def undressed(text: str) -> str:
    """A program without the class by which it talks to a solver."""
    return text.removeprefix(_TALKING.read_text("utf-8")).lstrip()


def renumbered(text: str) -> str:
    """A program with its variables numbered from 1 on."""
    made = [found[1] for line in text.splitlines() if (found := _LINE.match(line))]
    numbers = {name: f"v{number}" for number, name in enumerate(made, 1)}
    return VARIABLE_OR_TEXT.sub(lambda found: numbers.get(found[0], found[0]), text)


# What is wrong


def _ending(calls: Sequence[Call], fault: Fault) -> str:
    """Lines that say what is wrong, where the last call does not end the program by itself; none where it is
    not known which of the results is wrong.
    """
    if fault.kind == faults.LEAK or ends_by_itself(calls, fault):
        return ""
    said = " ".join(fault.detail.split())
    what = repr(said[:300])
    answers = [call for call in calls if call.told in _ANSWERS]
    if fault.kind == "answer" and len(answers) > 1 and answers[-1].told != answers[-2].told:
        one, two = (call.name for call in answers[-2:])
        return f"print({one}, {two})\nassert str({one}) == str({two}), {what}\n"
    if answered := _ANSWERED.search(said):
        if not answers or answers[-1].told != answered[1]:
            return ""
        name = answers[-1].name
        return f"print({name})\nassert str({name}) != {answered[1]!r}, {what}\n"
    if wanted := _WANTED.search(said):
        shown = [call for call in calls if call.told == wanted[1] and wanted[1] not in _TRUTH]
        name = shown[-1].name if shown else ""
        return f"print({name})\nassert str({name}) == {wanted[2]!r}, {what}\n" if name else ""
    # What a message quotes was asked for after what is wrong, and what only looks says little.
    telling = [call for call in calls if not _is_quoted(call, said) and not _ONLY_LOOKS.match(call.code)]
    last = telling[-1] if telling else calls[-1]
    if fault.kind in _ABOUT_ANSWERS and last.told in _ANSWERS:
        return f"print({last.name})\nassert str({last.name}) != {last.told!r}, {what}\n"
    if last.told == "False" and (".eq(" in last.code or " == " in last.code):
        return f"assert {last.name}, {what}\n"
    return _ending_of_answer(calls[-1], what)


def _ending_of_answer(last: Call, what: str) -> str:
    """What a solver behind a command line answered at last is wrong."""
    if not _ASKS.match(last.code) or not last.told:
        return ""
    if last.told.endswith("..."):
        return f"assert not {last.name}.startswith({last.told[:-3]!r}), {what}\n"
    return f"assert {last.name} != {last.told!r}, {what}\n"


def ends_by_itself(calls: Sequence[Call], fault: Fault) -> bool:
    """Whether the last call is what fails: it crashes, or is rejected. Solvers behind a command line answer
    that it is.
    """
    if _ASKS.match(calls[-1].code):
        return calls[-1].raised or not calls[-1].told
    return fault.kind in (faults.CRASH, faults.REJECTED) or calls[-1].raised


def _is_quoted(call: Call, said: str) -> bool:
    text = call.told.removesuffix("...")
    return text not in ("", *_TRUTH, *_ANSWERS) and text in said


def _to_the_end(calls: list[Call], fault: Fault) -> list[Call]:
    """The calls without the last ones, where those only look at what is wrong."""
    ending = _ending(calls, fault)
    while ending and len(calls) > 1 and calls[-1].name not in ending and _ONLY_LOOKS.search(calls[-1].code):
        calls = calls[:-1]
    return calls


# Which calls


def _chosen(modules: Sequence[str], calls: Sequence[Call], acting: frozenset[str] | None) -> Iterator[Call]:
    """The lines of a program from its last one on; all that have names where nothing says which act."""
    made = {call.name: call.code for call in calls}
    needed: set[str] = set()
    for place, call in enumerate(reversed(calls)):
        acts = NO_NAME not in call.code and (acting is None or _acts(modules, call.code, made, acting))
        if place == 0 or call.name in needed or acts:
            yield call
            needed.update(call.needs)


def _acts(modules: Sequence[str], code: str, made: dict[str, str], acting: frozenset[str]) -> bool:
    if _ONLY_LOOKS.match(code):
        return False
    if _INVOKES.match(code) or ("z3" in modules and _Z3_SOLVING.match(code)):
        return True
    return _class_called([m for m in modules if m != "z3"], code, made) in acting


def _class_called(modules: Sequence[str], code: str, made: dict[str, str]) -> str:
    """The class of the object that a line calls a method of; ``Options.set`` for changes of options."""
    owner, _, method = code.partition("(")[0].partition(".")
    made_by, _, made_as = made.get(owner, "").partition("(")[0].partition(".")
    if made_by not in modules:
        return ""
    return f"{made_as}.set" if made_as == "Options" and method.startswith("set") else made_as


def _module_of(call: Call, calls: Sequence[Call], modules: Sequence[str]) -> str:
    """The solver whose interface a line calls: told by what it begins with, or by what that was made by."""
    made = {other.name: other for other in calls}
    seen = set()
    while True:
        said = re.split("['\"]", call.code, maxsplit=1)[0]
        if found := re.search(rf"\b({'|'.join(modules)})[.(]", said):
            return found[1]
        owner = next((name for name in VARIABLE.findall(call.code) if name not in seen), None)
        if owner is None or owner not in made:
            return ""
        seen.add(owner)
        call = made[owner]


# Fewer calls


def shorter(text: str, is_shown: Callable[[str], bool], tries: int = _MOST_TRIES) -> str:
    """The program without what it does not need, a line at a time and from the end, in so many ``tries``.

    A line that has a name goes if nothing else uses it. The check stays that the last line asks about.
    """
    lines = text.splitlines(keepends=True)
    checks = [place for place, line in enumerate(lines) if _CHECKS.match(line)]
    asked_about = checks[-1] if checks and _AFTER_CHECK.match(lines[-1]) else None
    place = len(lines) - 1
    while place >= 0 and tries > 0:
        found = _LINE.match(lines[place].rstrip("\n"))
        rest = "".join(lines[:place] + lines[place + 1 :])
        fixed = lines[place].startswith(("import ", "\n")) or place == asked_about
        droppable = not fixed and not (found and re.search(rf"\b{found[1]}\b", "".join(lines[place + 1 :])))
        if droppable:
            tries -= 1
            if is_shown(rest):
                del lines[place]
        place -= 1
    return "".join(lines)


def shows(fault: Fault, text: str, code: int | None, printed: str) -> bool:
    """Whether a program that exits by an exception does so by the fault: by its message, or by what the
    program itself says of it at the end.
    """
    if code != 1:
        return False
    last = text.rstrip().rpartition("\n")[2]
    # What Python says after its stack, whose lines are indented.
    raised = printed.rstrip().splitlines()
    while any(line.startswith("  ") for line in raised):
        raised = raised[1:]
    kind, _, said = (raised or [""])[0].partition(": ")
    if last.startswith("assert "):
        return kind == "AssertionError"
    if fault.kind in (faults.REJECTED, faults.CRASH):
        said = re.sub(r"\Ab(['\"])(.*?)(?:\\n)?\1\Z", r"\2", said)
        # In lockstep the second solver's name stands in front.
        shape = shape_of(said)
        if kind.rpartition(".")[2] == Ended.__name__:
            # How it ended, and the first line of what it said of that.
            return said.partition(")")[0] in fault.detail and shape in fault.shape
        if not shape:
            # All of it is quoted: then it counts as it is.
            return not fault.shape and " ".join(said.split()) in " ".join(fault.detail.split())
        return shape == fault.shape or fault.shape.endswith(f": {shape}")
    expected = last.rpartition(f"# {RAISES}")[2].partition(": ")
    return kind.rpartition(".")[2] == expected[0] and " ".join(said.split())[:20] == expected[2][:20]
