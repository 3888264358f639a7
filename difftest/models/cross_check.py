"""Putting the model of a solver that says sat into another solver: formula and model as one script.

A declared symbol becomes what the model defines it as, an uninterpreted sort the elements that the model
names. If the other solver says unsat to that, one of the two is wrong. What SMT-LIB leaves open (division by
zero, ...) is left open in the script too (``totalise``), so that no solver's own choice there counts against
another's model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from difftest.models import totalise
from difftest.models.model_reader import Model, NotCheckable, Unit, read_model
from difftest.models.state import SILENCED, State
from smtlib.checker import CheckedCommand, check_script
from smtlib.commands import RECURSIVE, print_command, print_declaration
from smtlib.errors import ReadError, SortError
from smtlib.printer import print_term
from smtlib.script import read_script
from smtlib.sorts import Sort
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome, message_shape
from solvers.running.process import Limits, Run
from solvers.running.runner import Runner
from solvers.running.script import ANSWERS, Script
from solvers.solver import Solver

_QUOTED = re.compile(r"'[^']*'|\(error \"(?:line \d+ column \d+: |Parse Error: )?")
MODELS = "(set-option :produce-models true)"
"""What a script has to begin with where a model or its values are requested."""


@dataclass(frozen=True, slots=True)
class WithModel:
    """A formula with a model inserted.

    ``loose`` is the same with sorts that may have more elements than the model names; None where there are no
    such sorts. ``open_operators`` could not be made total: an unsat to a script that has them says nothing
    about the model.
    """

    formula: str
    loose: str | None = None
    open_operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The model of the solver ``owner`` at check-sat number ``check`` in other solvers.

    ``answers`` by solver name: ``sat`` (the model is confirmed), ``unsat`` (refuted), or a word for what came
    instead. ``cause`` is why the model could not be inserted; ``formula`` is what the others were given.
    """

    owner: str
    answers: Mapping[str, str] = field(default_factory=dict)
    cause: str = ""
    formula: str = ""
    seconds: float = 0.0
    check: int = 0

    @property
    def refuted_by(self) -> tuple[str, ...]:
        """The solvers that refute the model."""
        return tuple(name for name, answer in self.answers.items() if answer == "unsat")

    def results(self) -> Iterator[tuple[str, str]]:
        """The result of each judge in words that can be counted: ``confirmed``, ``refuted``, or why neither
        (without what differs from test to test). A model that no solver could check has the judge ``""``.
        """
        if self.cause:
            yield "", self.cause
        for name, answer in self.answers.items():
            yield name, {"sat": "confirmed", "unsat": "refuted"}.get(answer, answer.partition(":")[0])


def check_model(
    runner: Runner,
    owner: Solver,
    script: Script,
    check: int,
    judges: Sequence[Solver],
    limits: Limits,
) -> CrossCheck:
    """Ask ``owner`` for its model at check-sat number ``check`` (from 0), and ``judges`` what they make of
    it.

    Nothing that the solvers do is raised: it is a cause or an answer.
    """
    spent = 0.0
    try:
        printed, spent = ask_for_model(runner, owner, script, check, limits)
        with_model = put_in(script, check, printed)
    except NotCheckable as why:
        return CrossCheck(owner.name, cause=why.cause, seconds=spent, check=check)
    answers: dict[str, str] = {}
    shown = with_model.formula
    for judge in judges:
        answer, seconds = answer_to(runner, judge, with_model.formula, limits)
        spent += seconds
        if answer == "unsat" and with_model.loose is not None:
            # Stands only if no larger domain helps either: the closure of the sorts is our reading.
            answer, seconds = answer_to(runner, judge, with_model.loose, limits)
            spent += seconds
            shown = with_model.loose if answer == "unsat" else shown
        if answer == "unsat" and _is_experimental(judge, shown):
            # Then its answer alone is not enough.
            own, seconds = answer_to(runner, owner, shown, limits)
            spent += seconds
            answer = "unsat" if own == "unsat" else "unsat by an experimental option alone"
        if answer == "unsat" and with_model.open_operators:
            answer = f"not defined everywhere: {with_model.open_operators[0]}"
        answers[judge.name] = answer
    return CrossCheck(owner.name, answers, "", shown, spent, check)


def answer_to(runner: Runner, judge: Solver, text: str, limits: Limits) -> tuple[str, float]:
    """``judge``'s answer to a formula with a model inserted, in its spelling: sat, unsat or a word for
    what came instead; and the seconds it took.
    """
    profile = PROFILES.get(judge.family)
    if profile is not None:
        judge, text = with_constant_arrays(judge, text), profile.spell_model(text)
    verdict = runner.judge(judge, Script(text.encode("utf-8", "surrogateescape")), limits)
    if verdict.outcome is Outcome.OK and verdict.is_decided:
        return str(verdict.answers[-1]), verdict.seconds
    if verdict.outcome is Outcome.REFUSED:
        return f"refused: {message_shape(_QUOTED.sub('', verdict.detail))[:60]}", verdict.seconds
    return str(verdict.outcome), verdict.seconds


def with_constant_arrays(solver: Solver, text: str) -> Solver:
    """The solver with the option that it needs for the constant arrays in ``text``, if there are any."""
    if not _is_experimental(solver, text):
        return solver
    return replace(solver, checks=(*solver.checks, PROFILES[solver.family].constant_arrays))


def own_spelling(solver: Solver, text: str) -> str:
    """A formula with a model of ``solver`` inserted, as that solver reads it; NotCheckable if only an
    experimental option makes it.
    """
    if _is_experimental(solver, text):
        raise NotCheckable("constant arrays, which take an experimental option")
    profile = PROFILES.get(solver.family)
    return profile.spell_model(text) if profile is not None else text


def _is_experimental(judge: Solver, text: str) -> bool:
    """Whether ``judge`` takes ``text`` only with an option that it calls experimental."""
    option = PROFILES[judge.family].constant_arrays if judge.family in PROFILES else ""
    return bool(option) and "(as const " in text and option not in judge.checks


def ask_for_model(
    runner: Runner, owner: Solver, script: Script, check: int, limits: Limits
) -> tuple[str, float]:
    """What ``owner`` prints for ``get-model`` after check-sat number ``check``, and the seconds it took.

    NotCheckable if it does not say sat there again.
    """
    asked = Script(asking(script, check))
    if asked.file_command:
        raise NotCheckable("the formula names a file")
    run = runner.run(with_models(owner), asked, limits)
    return _after_answer(run, check), run.seconds


def asking(script: Script, check: int) -> bytes:
    """``script`` up to check-sat number ``check``, without what prints and without ``:status``, which may be
    wrong, and a ``get-model`` after it.
    """
    last = script.checks[check]
    texts = [
        (command.name, script.data[command.start : command.end])
        for command in script.commands
        if command.end <= last.end and command.name not in SILENCED
    ]
    kept = [text for name, text in texts if name != "set-info" or b":status" not in text]
    return b"\n".join([MODELS.encode(), *kept, b"(get-model)\n"])


def with_models(solver: Solver) -> Solver:
    """The solver as its users run it, with the options that it needs to print models and values in SMT-LIB.

    It does not check its models: cvc5 then keeps one that a later command would spoil.
    """
    profile = PROFILES.get(solver.family)
    if profile is None:
        return solver
    own = [option for option in solver.checks if option not in (*profile.checks, *profile.models)]
    return replace(solver, checks=(*own, *profile.models))


def _after_answer(run: Run, check: int) -> str:
    lines = run.stdout.splitlines(keepends=True)
    words = [line.split(" ")[0].strip() for line in lines]
    answers = [number for number, word in enumerate(words) if word in ANSWERS]
    if len(answers) <= check:
        raise NotCheckable("no answer when the model is requested")
    if words[answers[check]] != "sat":
        raise NotCheckable("no sat when the model is requested")
    # A solver's own check may say before the model that it is invalid; that is reported elsewhere.
    rest = "".join(line for line in lines[answers[check] + 1 :] if "an invalid model" not in line)
    if rest.strip():
        return rest
    raise NotCheckable(
        "no model was printed" if run.ended == "exit" else f"{run.ended} while printing the model"
    )


def put_in(script: Script, check: int, printed: str) -> WithModel:
    """The script that asks whether ``printed`` (a model) satisfies what is asserted at check-sat ``check``.

    Raises NotCheckable.
    """
    state = State.at(script, check)
    if state.is_overloaded:
        raise NotCheckable("an overloaded function")
    arrays = [name for name, (params, sort) in state.ranks.items() if not params and sort.name == "Array"]
    model = read_model(printed, list(state.symbols), state.uninterpreted, arrays)
    formula, open_operators = _total(_text(state, model, closed=True), state.logic, state.ranks)
    loose = None
    if any(model.elements.get(sort) for sort in state.uninterpreted):
        loose = _total(_text(state, model, closed=False), "ALL", state.ranks)[0]
    return WithModel(formula, loose, tuple(sorted(open_operators)))


def ambiguous_operators(script: Script, check: int) -> tuple[str, ...]:
    """The operators asserted at check-sat ``check`` that solvers may read differently, none being wrong.

    Empty where the formula cannot be read.
    """
    try:
        state = State.at(script, check)
    except NotCheckable:
        return ()
    bodies = [definition.body for command in state.commands for definition in command.definitions]
    names = totalise.operators_in([*state.terms, *bodies])
    return tuple(sorted(names & totalise.read_differently()))


def _text(state: State, model: Model, closed: bool) -> str:
    """The script with the model inserted, as raw text."""
    lines = list(_sorts(state, model, closed))
    lines += _values(state, model)
    lines += [print_command(c) for c in state.commands if c.definitions]
    lines += [f"(assert {print_term(term)})" for term in state.terms]
    return "\n".join(lines) + "\n"


def _sorts(state: State, model: Model, closed: bool) -> Iterable[str]:
    """Sorts first. A closed one is an enumeration, which z3 and cvc5 decide; else its elements differ."""
    for command in state.commands:
        if command.datatypes or command.name == "define-sort":
            yield print_command(command)
        elif command.name == "declare-sort" and command.sort is not None:
            name = command.sort.name
            elements = model.elements.get(name, [])
            if command.sort.arity or not elements:
                yield print_command(command)
            elif closed:
                yield f"(declare-datatypes (({name} 0)) (({' '.join(f'({e})' for e in elements)})))"
            else:
                yield print_command(command)
                yield from (f"(declare-const {element} {name})" for element in elements)
                if len(elements) > 1:
                    yield f"(assert (distinct {' '.join(elements)}))"


def _values(state: State, model: Model) -> Iterable[str]:
    symbols = state.symbols
    done: set[str] = set()
    for name, command in symbols.items():
        if name not in model.units:
            # The model is the same for every value of it.
            yield print_command(command)
            done.add(name)
    for name in symbols:
        for unit in _in_order(model.units, name, done):
            yield from unit.commands


def _in_order(units: Mapping[str, Unit], name: str, done: set[str]) -> Iterable[Unit]:
    """The units that ``name`` stands on, each once and before what needs it, with its own last."""
    stack = [(name, False)]
    open_names: set[str] = set()
    while stack:
        current, ready = stack.pop()
        if current in done or current not in units:
            continue
        if ready:
            done.add(current)
            yield units[current]
        elif current in open_names:
            raise NotCheckable("definitions of the model depend on each other")
        else:
            open_names.add(current)
            stack.append((current, True))
            stack += [(need, False) for need in sorted(units[current].needs) if need not in done]


_Ranks = Mapping[str, tuple[tuple[Sort, ...], Sort]]


def _total(text: str, logic: str, ranks: _Ranks) -> tuple[str, set[str]]:
    """``text`` in SMT-LIB 2.7, its partial operators made total; and those that cannot be.

    The formula's own logic is kept where the model brings nothing but definitions: solvers do better in it.
    """
    try:
        checked = check_script(read_script(text))
    except ReadError as problem:
        raise NotCheckable("the model is not SMT-LIB", str(problem)) from problem
    if checked.errors:
        raise NotCheckable("the model is not well sorted for us", str(checked.errors[0]))
    for declaration in checked.definitions:
        rank = ranks.get(declaration.name)
        if rank is not None and rank != (declaration.params, declaration.result):
            raise NotCheckable("a value of another sort than is declared", declaration.name)
    totaliser = totalise.Totaliser(checked)
    try:
        lines = [line for command in checked.commands for line in _total_command(command, totaliser)]
    except SortError as problem:
        raise NotCheckable("it cannot be made total", str(problem)) from problem
    heads = {command.name for command in checked.commands}
    functions = [print_declaration(declaration) for declaration in totaliser.declarations.values()]
    brought = heads & {"declare-datatypes", "declare-sort", *RECURSIVE}
    if brought or functions or logic == "HORN" or ("!!" in text and "N" not in logic):
        logic = "ALL"
    place = next((i for i, (kind, _) in enumerate(lines) if kind == "value"), len(lines))
    texts = [line for _, line in lines]
    whole = [f"(set-logic {logic})", *texts[:place], *functions, *texts[place:], "(check-sat)"]
    return "\n".join(whole) + "\n", totaliser.open_operators


def _total_command(command: CheckedCommand, totaliser: totalise.Totaliser) -> Iterable[tuple[str, str]]:
    if command.name == "assert":
        yield "value", f"(assert {print_term(totaliser.total(command.terms[0]))})"
    elif command.definitions:
        made = tuple(replace(d, body=totaliser.total(d.body)) for d in command.definitions)
        yield "value", print_command(replace(command, definitions=made))
    else:
        yield "sort", print_command(command)
