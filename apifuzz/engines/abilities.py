"""What an SMT-LIB solver behind a command line knows: found by asking it, in a few short conversations."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import stat
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from apifuzz.chance import Chance
from apifuzz.engines.text import REFUSED_BY_SOME
from apifuzz.interface import Capabilities, Feature, operator_text
from apifuzz.operators import is_known
from apifuzz.scope import FOR_WITNESSES, PRODUCERS
from apifuzz.values import has_values, random_value
from base.cache import cache_folder, keep_cached, load_cached
from base.documents import from_document, to_document
from smtlib import BOOL, INT, Signature, Sort, default_theories, make_sort
from smtlib.signature import Bindings
from smtlib.sorts import array, bit_vector, floating_point
from solvers.lookup import absolute
from solvers.running.conversation import Conversation, Ended, NoAnswer

_CACHE_FORMAT = 4
SECONDS = 20.0
"""How long one answer to a probe may take. The result must not depend on how busy the machine is."""
CPU_SECONDS = 1
"""How much of a processor's time the answers of one conversation may take."""

VALUE_ARGUMENTS = {"const": (0,), "re.range": (0, 1), "^": (1,)}
"""Per operator, the places of arguments that solvers want to be values."""

FIRST = "(set-option :print-success true)"
RESET = "(reset)"
"""Resets ``:print-success``, too: some solvers leave it without an answer."""
_GLOBAL = "(set-option :global-declarations true)"
_RESOURCES = ("reproducible-resource-limit", "2000000")
_FEW_RESOURCES = ("reproducible-resource-limit", "20000")
"""In probes: that a solver begins to solve is enough."""

ASKED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

_B8 = bit_vector(8)
_MORE: tuple[Sort, ...] = (
    bit_vector(1),
    bit_vector(5),
    bit_vector(10),
    bit_vector(16),
    array(_B8, bit_vector(1)),
    make_sort("Seq", (), (_B8,)),
)
_SAMPLE_INDICES = {"BitVec": (8,), "FloatingPoint": (5, 11), "FiniteField": (7,)}


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a solver knows: ``unknown_sorts`` are names of sorts that it lacks, ``formats`` the floating-point
    formats that it has.
    """

    capabilities: Capabilities
    unknown_sorts: frozenset[str]
    formats: frozenset[tuple[int, ...]]
    global_declarations: bool
    updaters: bool


@lru_cache(maxsize=8)
def abilities_of(argv: tuple[str, ...], families: tuple[str, ...]) -> Abilities:
    """What the solver that ``argv`` starts knows: as it was found before, or by asking it now.

    Raises OSError where it cannot be started.
    """
    file = _cache_file(argv, families)
    kept = load_cached(file) if file else None
    if kept is not None:
        with contextlib.suppress(ValueError):
            return from_document(kept, Abilities)
    found = ask_abilities(argv, families)
    if file and found.capabilities.theories:
        keep_cached(file, to_document(found))
    return found


def _cache_file(argv: tuple[str, ...], families: tuple[str, ...]) -> Path | None:
    """Where to keep what was found by this command line, while its files stay as they are: the program, and a
    script that it runs. None for a program without a file.
    """
    if shutil.which(argv[0]) is None:
        return None
    files = []
    for word in absolute(argv):
        with contextlib.suppress(OSError):  # no file
            seen = Path(word).stat()
            files += [(os.path.realpath(word), seen.st_size, seen.st_mtime_ns)] * stat.S_ISREG(seen.st_mode)
    theories = "\n".join(f"{s} {s.only} {s.where}" for s in default_theories().signatures())
    key = [_CACHE_FORMAT, argv, families, files, theories]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    return cache_folder() / "solvers" / f"{digest}.json"


def ask_abilities(argv: tuple[str, ...], families: tuple[str, ...]) -> Abilities:
    """Ask the solver. Raises OSError where it cannot be started."""
    options = _options(argv)
    sparing = [_FEW_RESOURCES if option == _RESOURCES else option for option in options]
    start = _beginning(sparing)
    features = {
        Feature(name) for name, commands in ASKED["features"].items() if accepts(argv, [*start, *commands])
    }
    features |= {Feature.SUBSTITUTE, *(PRODUCERS[name] for name, _ in options if name in FOR_WITNESSES)}
    is_global = accepts(argv, [FIRST, _GLOBAL])
    with contextlib.closing(_Probe(argv, start)) as probe:
        samples = _samples(families)
        sorts = [s for s in samples if probe.accepts(f"(declare-const |of {s}| {s})")]
        floats = map(tuple, ASKED["formats"]) if any(s.name == "FloatingPoint" for s in sorts) else ()
        formats = [
            f for f in floats if accepts(argv, [*start, *_asked("calculation", sort=floating_point(*f))])
        ]
        known, lacking = _operators(probe, families, sorts, Feature.INCREMENTAL in features)
    word = "update-field" if "z3" in families else "update"
    updaters = accepts(argv, [*start, *_asked("updating", word=word)])
    unknown = {s.name for s in samples} - {s.name for s in sorts}
    capabilities = Capabilities(
        theories=frozenset(known),
        features=frozenset(features),
        # An operator of several ranks is left out where one of them is unknown: names decide.
        without=frozenset(lacking),
        sorts_without=REFUSED_BY_SOME,
        required_options=options,
        value_arguments=VALUE_ARGUMENTS,
    )
    return Abilities(capabilities, frozenset(unknown), frozenset(formats), is_global, updaters)


def _asked(name: str, **words: object) -> list[str]:
    """Commands that are asked, about what the words stand for."""
    return [command.format(**words) for command in ASKED[name]]


def _samples(families: tuple[str, ...]) -> list[Sort]:
    """Sorts that operators are tried at, one at least of each that a theory file has."""
    found = []
    for symbol in default_theories().sorts.values():
        if is_known(symbol.only, families):
            args = (INT, BOOL)[: 2 if symbol.variadic else symbol.arity]
            found.append(make_sort(symbol.name, _SAMPLE_INDICES.get(symbol.name, ()), args))
    return [*found, *_MORE]


def _options(argv: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The options that the solver takes together, and none with which it would not take ``push`` any more."""
    taken: list[tuple[str, str]] = []
    levels = ["(push 1)"]
    required = [("incremental", "true"), *((name, "true") for name in FOR_WITNESSES), _RESOURCES]
    for name, value in required:
        tried = [*taken, (name, value)]
        if accepts(argv, [*_beginning(tried), *levels]):
            taken = tried
        elif name == "incremental" and not accepts(argv, [*_beginning(()), *levels]):
            levels = []
    return tuple(taken)


def _beginning(options: Iterable[tuple[str, str]]) -> list[str]:
    """The first commands of a conversation under these options."""
    return [FIRST, *(f"(set-option :{name} {value})" for name, value in options), "(set-logic ALL)"]


def accepts(argv: tuple[str, ...], commands: Sequence[str]) -> bool:
    """Whether the solver takes all of these commands, in a conversation of its own."""
    with contextlib.closing(_Probe(argv)) as probe:
        return all(probe.accepts(command) for command in commands)


class _Probe:
    """A conversation that is started again when the solver ends it or finds an error."""

    def __init__(self, argv: tuple[str, ...], start: Sequence[str] = ()) -> None:
        self._argv = argv
        self._start = start
        self._talk: Conversation | None = None
        self._declared: set[Sort] = set()

    def accepts(self, command: str, sorts: Iterable[Sort] = ()) -> bool:
        """Whether the solver takes the command; constants of ``sorts`` are declared before it."""
        fresh = self._talk is None
        try:
            if self._talk is None:
                self._talk = Conversation(self._argv, SECONDS, CPU_SECONDS)
                for first in self._start:
                    self._talk.ask(first)
            for sort in set(sorts) - self._declared:
                for name in _names(sort):
                    self._talk.ask(f"(declare-const {name} {sort})")
                self._declared.add(sort)
            answer = self._talk.ask_perhaps(command) if command == RESET else self._talk.ask(command)
        except Ended as error:
            self.close()
            # What was asked before may have used up the time.
            spent = error.signal in (signal.SIGXCPU, signal.SIGKILL)
            return self.accepts(command, sorts) if spent and not fresh else False
        except NoAnswer:
            self.close()
            return False
        if answer.startswith("(error"):
            # Some programs end after an error, some continue; only a new process is safe.
            self.close()
        return answer in ("success", "sat", "unsat", "unknown")

    def close(self) -> None:
        """End the conversation; the next command begins another one."""
        self._declared.clear()
        if self._talk is not None:
            self._talk.close()
            self._talk = None


# Operators


def _operators(
    probe: _Probe, families: tuple[str, ...], sorts: Sequence[Sort], levels: bool
) -> tuple[set[str], set[str]]:
    """Theories of which the solver knows an operator, and names of operators that it does not know."""
    chance = Chance(0)
    theories: set[str] = set()
    lacking: set[str] = set()
    for number, signature in enumerate(default_theories().signatures()):
        if not is_known(signature.only, families) or signature.theory == "SeparationLogic":
            continue  # Separation logic wants a heap declared, which no run does.
        found = _application(signature, sorts, chance)
        if found is None:
            if not _is_beyond(signature, sorts):
                lacking.add(signature.name)
        elif all(
            probe.accepts(command, (*found.sorts, found.result))
            for command in _use(f"|probed {number}|", found, levels)
        ):
            theories.add(signature.theory)
        else:
            lacking.add(signature.name)
    return theories, lacking


def _names(sort: Sort) -> tuple[str, ...]:
    return tuple(f"|{sort} {n}|" for n in range(5))


class _Sample(NamedTuple):
    """An application of an operator: ``term`` as text, its sort and those of its arguments."""

    term: str
    result: Sort
    sorts: tuple[Sort, ...]


def _use(name: str, sample: _Sample, levels: bool) -> list[str]:
    """Commands that use an application: some solvers complain of a term only when they solve with it."""
    commands = [f"(define-fun {name} () {sample.result} {sample.term})"]
    if levels and sample.result.name != "RegLan":
        commands += ["(push 1)", f"(assert (= {name} {_names(sample.result)[0]}))", "(check-sat)", "(pop 1)"]
    return commands


def _is_beyond(signature: Signature, sorts: Sequence[Sort]) -> bool:
    """Whether an operator has a rank that no sample fits, for want of a sort that the solver does not know:
    it cannot be drawn there either. (Operators that take functions are not tried, and not drawn.)
    """
    heads = {s.name for s in sorts} | {"->"}
    return any(not p.is_parameter and p.name not in heads for p in (*signature.params, signature.result))


def _application(signature: Signature, sorts: Sequence[Sort], chance: Chance) -> _Sample | None:
    """The operator applied to constants and values of the samples; None: no sample fits."""
    for chosen in _choices(signature, sorts):
        for indices in map(tuple, ASKED["indices"]):
            if len(indices) != len(signature.indices):
                continue
            for qualifier in sorts if signature.needs_as else (None,):
                result = signature.apply(indices, chosen, qualifier)
                if result is not None and (qualifier is None or result is qualifier):
                    return _Sample(_term(signature, indices, chosen, result, chance), result, chosen)
    return None


def _choices(signature: Signature, sorts: Sequence[Sort]) -> Iterator[tuple[Sort, ...]]:
    """The sorts that the arguments can have."""
    stack: list[tuple[tuple[Sort, ...], Bindings]] = [((), {})]
    while stack:
        chosen, bindings = stack.pop()
        if len(chosen) == len(signature.params):
            yield chosen
            continue
        pattern = signature.params[len(chosen)]
        for sort in reversed(sorts):
            trial = dict(bindings)
            # Indices that are computed fit when all is known: apply() has the last word.
            if pattern.match(sort, trial) or (pattern.name == sort.name and sort.indices):
                stack.append(((*chosen, sort), trial))


def _term(
    signature: Signature, indices: tuple[int, ...], sorts: Sequence[Sort], result: Sort, chance: Chance
) -> str:
    head = operator_text(signature.name, indices, False)
    if signature.needs_as:
        head = f"(as {head} {result})"
    required = VALUE_ARGUMENTS.get(signature.name, ())
    args = []
    for place, sort in enumerate(sorts):
        if signature.name == "re.range":
            args.append('"a"')
        elif signature.name == "^" and place in required:
            args.append("2")
        elif place in required and has_values(sort):
            args.append(random_value(sort, chance))
        else:
            args.append(_names(sort)[place])
    return f"({head} {' '.join(args)})" if args else head
