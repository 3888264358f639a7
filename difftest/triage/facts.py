"""The fact line of a report: what a maintainer needs to judge it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from difftest.triage.classes import class_of_finding
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import inline, plain
from smtlib import ReadError, read_sexps
from smtlib.mentions import extensions_in
from smtlib.reader import sexp_text
from solvers.options import option_table
from solvers.registry import PROFILES
from solvers.report_form import Fact, Form
from solvers.running.script import Script
from solvers.specs import is_asked
from solvers.tactics import COMMAND

# The theories that a logic's name spells out, in its order; arithmetic comes after them.
_LETTERS = {
    **{"ArraysEx": "A", "UF": "UF", "FixedSizeBitVectors": "BV", "FloatingPoint": "FP"},
    **{"Datatypes": "DT", "UnicodeStrings": "S"},
}
_NUMBERS = {"Ints": "I", "Reals": "R"}
# Theories that no logic's name spells out, as people call them.
_PLURALS = {
    **{"Bags": "bags", "FiniteFields": "finite fields", "FiniteSets": "finite sets", "Lists": "lists"},
    **{"SeparationLogic": "heaps", "Sequences": "sequences", "Sets": "sets", "Tuples": "tuples"},
}

# Options of the standard say what is asked of a solver, not how it works.
_OF_THE_STANDARD = re.compile(
    r"(?:produce-(?:models|assertions|assignments|proofs|unsat-(?:cores|assumptions))|print-success"
    r"|global-declarations|interactive-mode|verbosity|random-seed|(?:regular|diagnostic)-output-channel"
    r"|reproducible-resource-limit|incremental)\Z"
)


def facts_of(found: FindingFolder, form: Form) -> dict[str, str]:
    """The items of the fact line, by name."""
    options = list(options_shown(found, form))
    facts = {
        Fact.KIND: str(class_of_finding(found).kind_in_report(found)),
        Fact.OPTIONS: ", ".join(options) or ("not known" if telling_options(found) else "default"),
        Fact.THEORIES: ", ".join(name for name in found.theories if name != "Core") or "none",
        Fact.LANGUAGE: _language(found),
    }
    profile = PROFILES.get(found.family)
    if profile is not None and profile.safe_mode:
        refused = bool(found.data.get("safe_mode_refuses"))
        words = {None: "not known", True: "affected", False: "refused" if refused else "not affected"}
        facts[Fact.SAFE_MODE] = words[found.safe_mode]
    return {str(name): text for name, text in facts.items()}


def options_shown(found: FindingFolder, form: Form) -> Iterator[str]:
    """Each option that it takes, as code and with its class. What makes a solver check itself, and take
    several questions, is none. Of other programs, options are not known.
    """
    profile = PROFILES.get(found.family)
    for option in telling_options(found):
        if profile is None:
            break
        bare = option.removeprefix(profile.prefix)
        yield f"{inline(option)} ({option_class(form, bare)})"
    script = Script.of(found.shown_text)
    for name, *values in dict.fromkeys(_arguments(script, "set-option")):
        bare, value = name.removeprefix(":"), " ".join(values)
        if not _OF_THE_STANDARD.match(bare):
            shown = inline(f"(set-option {name} {value})")
            yield f"{shown} ({option_class(form, f'{bare}={value}')})"
    for what, names in (("tactic", (COMMAND, "apply")), ("simplifier", ("set-simplifier",))):
        for asked in dict.fromkeys(args[0] for args in _arguments(script, *names)):
            yield f"{what} {inline(asked)} ({option_class(form, f'{COMMAND}={asked}')})"


def _arguments(script: Script, *names: str) -> Iterator[tuple[str, ...]]:
    """The arguments of each command with one of these names that has some and can be read."""
    for command in script.commands:
        if command.name in names:
            with suppress(ReadError):
                ((_, *args),) = read_sexps(script.text_of(command))
                if args:
                    yield tuple(map(sexp_text, args))


def telling_options(found: FindingFolder) -> list[str]:
    """The options of the command line, or of the calls, that are not about what is asked or checked, or how
    much work a run may do.
    """
    profile = PROFILES.get(found.family)
    quiet = {*profile.checks, *profile.incremental, *profile.models} if profile is not None else set()
    limit = profile.resource_limit if profile is not None else ""
    names = [(option, option.lstrip("-").partition("=")[0]) for option in found.options]
    return [
        option
        for option, name in names
        if option not in quiet and name != limit and not is_asked(option) and not _OF_THE_STANDARD.match(name)
    ]


def option_class(form: Form, option: str) -> str:
    """How the authors of a solver call ``NAME=VALUE``: regular, or the word that they have for others."""
    policies = (policy.pattern for policy in form.policies if policy.unfinished and policy.pattern)
    if any(pattern.search(option) for pattern in policies):
        return form.unfinished
    known = option_table(form.family).class_of(option)
    return "regular" if known is not None and known.is_trusted else form.unfinished


def _language(found: FindingFolder) -> str:
    if found.language != "smt2":
        return "Python interface"
    return f"extension of {plain(found.family)}" if extensions_in(found.shown_text) else "standard"


def logic_name(theories: Sequence[str]) -> str:
    """The name by which people call formulas over ``theories`` (of ``smtlib.mentions``).

    >>> logic_name(["ArraysEx", "FixedSizeBitVectors"]), logic_name(["Ints", "Nonlinear", "Quantifiers"])
    ('QF_ABV', 'NIA')
    """
    there = set(theories)
    name = "".join(letters for theory, letters in _LETTERS.items() if theory in there)
    if numbers := "".join(letter for theory, letter in _NUMBERS.items() if theory in there):
        name += ("N" if there & {"Nonlinear", "Transcendental"} else "L") + numbers + "A"
    extras = [theory for theory in _PLURALS if theory in there]
    if extras and not name:
        return " and ".join(_PLURALS[theory] for theory in extras)
    name = f"{'' if 'Quantifiers' in there else 'QF_'}{name or 'UF'}"
    return name + (f" with {' and '.join(_PLURALS[theory] for theory in extras)}" if extras else "")
