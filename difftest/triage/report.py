"""``report.md``: a finding's folder in the form of its solver's tracker, for a person to read and paste.

A report is made from the files in the folder only, so it can be made again at any time
(``kinds.rewrite_report``): reduction, bisection and the comparison with the corpus each do so at their end.
Nothing is sent.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from difftest.oracles.related import RELATED
from difftest.triage.classes import class_of_finding
from difftest.triage.classes.base import FindingClass
from difftest.triage.classes.crash import death_words
from difftest.triage.folder import ORIGINAL, FindingFolder, read_some
from difftest.triage.markdown import clipped, fenced, inline, plain, printable, sentence
from solvers.registry import PROFILES, form_of
from solvers.report_form import PLAIN, Form, Piece
from solvers.tactics import COMMAND

_MOST_FORMULA = 20_000
_MOST_RESEMBLED = 5
_MOST_BESIDE = 3_000
# What evidence keeps beside a finding.
_BESIDE = {
    "with-model.smt2": "The formula with the model inserted",
    "parent.smt2": "The formula that it was made from",
    "reduced-parent.smt2": "The formula that it was made from, reduced with it",
    **{f"reduced-{name}": "A script made from it" for name in RELATED},
    **dict.fromkeys(RELATED, "A script made from it"),
}
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
# A short tactic on the line of its command.
_ASKED = re.compile(rf"^\({COMMAND} ([^\n;]{{1,60}})\)$", re.M)
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


def form_of_finding(found: FindingFolder) -> Form:
    """The form of the tracker of whoever is wrong."""
    return PLAIN if found.culprit is None else form_of(found.family)


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


@dataclass
class Writer:
    """Writes one report: a method per piece of a form.

    Subclasses write what a finding is about: ``_formula``, ``_printed``, ``_command``, ``_options`` and
    ``_origin``.
    """

    found: FindingFolder
    form: Form
    pieces: dict[Piece, Callable[[], str]] = field(init=False)

    def __post_init__(self) -> None:
        self.pieces = {piece: getattr(self, f"_{piece.value}") for piece in Piece}

    def text(self) -> str:
        parts = [f"<!-- {reminder} -->\n"] if (reminder := self._reminder()) else []
        parts.append(f"# {self.title()}\n")
        for heading, pieces in self.form.sections.items():
            body = "\n\n".join(text for piece in pieces if (text := self.pieces[piece]()))
            if body:
                parts.append((self.form.heading.format(heading) + "\n\n" if heading else "") + body + "\n")
        return "\n".join(parts)

    def _reminder(self) -> str:
        """What the person who sends it should know first."""
        bisection, reminder = self.found.bisection, self.form.reminder
        if not self.found.data.get("resembles"):
            reminder = reminder.replace("the issues named below are", "a known issue is")
        if not bisection.get("first_affected"):
            return reminder
        # The releases were tried.
        reminder = reminder.replace(", and whether the newest release still has it,", "")
        if fixed := bisection.get("first_fixed"):
            return f"Fixed in {plain(str(fixed))}: do not report it as new. {reminder}".rstrip()
        return f"{reminder} {plain(str(bisection['last_affected']))}, the newest release, has it.".lstrip()

    @property
    def class_(self) -> FindingClass:
        """The finding's class."""
        return class_of_finding(self.found)

    def title(self) -> str:
        """By the customs of the tracker."""
        found, titles = self.found, self.form.titles
        template = getattr(titles, self.class_.title_name(found), None) or self.class_.title
        options = [plain(str(option)) for option in (found.culprit or {}).get("options") or _asked_in(found)]
        if options:
            template = titles.options + template if titles.options_first else template + titles.options
        return plain(template.format(**self._words(), options=" ".join(options)))

    def _words(self) -> dict[str, str]:
        """What titles are filled with."""
        entry = self.found.accused
        return {
            "solver": self._accused(),
            "logic": logic_name(self.found.theories),
            "place": str(entry.get("location")),
            "signal": death_words(str(entry.get("detail", "")), str(entry.get("ending", ""))),
        }

    def _category(self) -> str:
        return self.class_.category(self.form.categories)

    def _description(self) -> str:
        return self.class_.describe(self.found, self._accused())

    def _expected(self) -> str:
        return "\n".join([self.class_.expected(self.found, self._accused()), *self._evidence()])

    def _evidence(self) -> list[str]:
        """What speaks for it, as the finding has it, a line each."""
        lines = [plain(line) for line in self.found.evidence if sentence(line) != self.found.reason]
        return ["", *(f"- {line}" for line in lines)] if lines else []

    def _beside(self) -> str:
        """The texts that were kept with the evidence: the formula with a model inserted, and its parent."""
        blocks = []
        for file, words in _BESIDE.items():
            text = read_some(self.found.path / file).strip("\n")
            if text and len(text) <= _MOST_BESIDE:
                of_original = self.found.is_reduced and not file.startswith("reduced")
                what = f"({words}, `{file}`" + (f"; for `{ORIGINAL}`)" if of_original else ")")
                blocks.append(f"{what}\n\n{fenced(printable(text), 'smt2')}")
        return "\n\n".join(blocks)

    def _safe_mode(self) -> str:
        """Whether it shows in the safe mode of the accused, or of one of those that may be wrong."""
        accused = [self.found.culprit] if self.found.culprit else self.found.solvers
        profiles = [PROFILES.get(str(entry.get("family"))) for entry in accused if entry is not None]
        profile = next((found for found in profiles if found is not None and found.safe_mode), None)
        if profile is None:
            return ""
        option = f"`{profile.prefix}{profile.safe_mode}`"
        shows = self.found.safe_mode
        if shows is None:
            older = f"{profile.family} before {profile.safe_mode_since} has no such mode"
            return (
                f"Whether it shows with {option} is not known: that was not tried, or not possible ({older})."
            )
        refusal = str(self.found.data.get("safe_mode_refuses") or "")
        why = f": that refuses it ({inline(refusal)})" if refusal and not shows else ""
        return f"With {option} it {'shows, too' if shows else 'does not show'}{why}."

    def _version(self) -> str:
        accused = [self.found.culprit] if self.found.culprit else self.found.solvers
        lines = [_version_of(entry) for entry in accused if entry is not None]
        others = [
            f"{entry['name']}: {_version_of(entry)}"
            for entry in self.found.solvers
            if self.found.culprit and entry is not self.found.culprit
        ]
        return "\n".join(lines) + (f" (compared with {'; '.join(others)})" if others else "")

    def _platform(self) -> str:
        return plain(str(self.found.data.get("platform", "")))

    def _installation(self) -> str:
        entry = self.found.culprit or {}
        package, release = entry.get("package"), entry.get("release")
        if not package or not release:
            return ""
        return f"Not built here: the wheel from PyPI, `pip install {plain(f'{package}=={release}')}`."

    def _releases(self) -> str:
        bisection = self.found.bisection
        first = bisection.get("first_affected")
        if not first:
            return ""
        line = f"Affected since {since(bisection)}; {until(bisection)}."
        tried = self.found.tried
        if good := _last_good(tried, str(first)):
            line += f" It worked in {good}."
        return plain(line) + "\nTried: " + plain(", ".join(" ".join(pair) for pair in tried)) + "."

    def _resembles(self) -> str:
        rows = self.found.data.get("resembles")
        if rows is None:
            return ""
        if not rows:
            return "exhume knows no similar issue."
        lines = [
            f"- {plain(str(row['issue']))}: {plain(str(row['why']))}"
            + (f" ({plain(str(row['title']))[:100]})" if row.get("title") else "")
            for row in rows[:_MOST_RESEMBLED]
        ]
        head = "Similar known issues; it may be one of them:\n\n"
        return head + "\n".join(lines)

    # Facts that several pieces need

    def _accused(self) -> str:
        entry = self.found.culprit
        if entry is None:
            return plain(str(self.found.data["solver"]).replace("+", " and "))
        number = _NUMBER.search(str(entry.get("version", "")))
        if self.form is PLAIN or number is None:
            return plain(str(entry["name"]))
        return f"{self.form.family} {number[0]}"


class FormulaWriter(Writer):
    """Writes the pieces of a report that are about a formula."""

    def _formula(self) -> str:
        found = self.found
        text = found.formula.rstrip("\n")
        note = ""
        if len(text) > _MOST_FORMULA:
            note = f"The formula has {len(text)} characters: attach `{found.shown_file}`. Its beginning:\n\n"
            text = text[:_MOST_FORMULA].rpartition("\n")[0] or text[:_MOST_FORMULA]
        return note + fenced(printable(text), "smt2")

    def _printed(self) -> str:
        blocks = []
        for entry in self.found.solvers:
            name = str(entry.get("name"))
            printed, ending = self.found.printed(name)
            if self._is_like_another(name):
                blocks.append(self._label(entry))
            lines = [f"$ {self.found.command(name)}", *clipped(printed)]
            if ending and ending != "exit status 0":
                lines.append(f"[{ending}]")
            blocks.append(fenced(printable("\n".join(line for line in lines if line)), "console"))
            if (given := self.found.given(entry)) != self.found.shown_file:
                note = "is the same formula; only the question or the spelling of strings differs"
                blocks.append(f"({inline(given)} {note}.)")
        if self.found.is_reduced and "runs" not in self.found.data["reduced"]:
            blocks.append(f"(Printed for `{ORIGINAL}`, before reduction; positions differ.)")
        return "\n\n".join(blocks)

    def _command(self) -> str:
        entries = [self.found.culprit] if self.found.culprit else self.found.solvers
        lines = [inline(self.found.command(str(entry["name"]))) for entry in entries if entry]
        return "\n".join(lines)

    def _options(self) -> str:
        needed = (self.found.data["reduced"].get("options") or {}) if self.found.is_reduced else {}
        if not any(needed.values()):
            return "It needs no options." if needed else ""
        lines = ["The formula needs these options:\n"]
        for name, options in needed.items():
            shown = f"`{plain(' '.join(map(str, options)))}`" if options else "none"
            lines.append(f"- {plain(str(name))}: {shown}")
        return "\n".join(lines)

    def _origin(self) -> str:
        test = self.found.data.get("test") or {}
        issues = [str(issue) for issue in test.get("issues") or ()]
        bones = f", out of parts of the formulas of {', '.join(issues[:6])}" if issues else ""
        made = f"test {test.get('index')} of strategy `{test.get('strategy')}`{bones}"
        text = f"Found by exhume ({made}), and reproduced in"
        if test.get("origin"):
            # With its folder: some fuzzers give all files one name.
            file = "/".join(Path(str(test["origin"])).parts[-2:])
            text = f"The formula is from the file {inline(file)}; exhume reproduced it in"
        text += " a fresh process."
        if self.found.is_reduced:
            reduced = self.found.data["reduced"]
            text += f" Reduced from {reduced['size_before']} to {reduced['size_after']} bytes."
            shown, tries = reduced.get("shown"), reduced.get("tries")
            if isinstance(shown, int) and isinstance(tries, int) and shown < tries:
                text += f" It is flaky: {shown} of {tries} runs show it."
        return plain(text)

    def _is_like_another(self, name: str) -> bool:
        """Whether another solver of the finding runs the same program, so that its command line looks
        alike.
        """
        programs = [self.found.command(str(e.get("name"))).partition(" ")[0] for e in self.found.solvers]
        return programs.count(self.found.command(name).partition(" ")[0]) > 1

    def _label(self, entry: Mapping[str, Any]) -> str:
        """Which solver it is whose output follows, and how long it took."""
        name, version = str(entry.get("name")), str(entry.get("version", "unknown"))
        number, seconds = _NUMBER.search(version), self.found.seconds(name)
        label = f"{inline(name)} (version {number[0] if number else plain(version)})"
        return label + (f", {seconds:.2f} s:" if seconds is not None else ":")


def _asked_in(found: FindingFolder) -> list[str]:
    """The tactic of the formula's own ``check-sat-using``, as an option says it; nothing if it has none."""
    asked = _ASKED.search(found.formula if found.kind == FindingFolder.kind else "")
    return [f"{COMMAND}={asked[1]}"] if asked else []


def since(bisection: Mapping[str, Any]) -> str:
    """From which release on a finding is there, by its bisection: ``4.8.5``, ``4.5.1 or earlier``."""
    return f"{bisection.get('first_affected')}" + (" or earlier" if bisection.get("since_the_oldest") else "")


def until(bisection: Mapping[str, Any]) -> str:
    """Which release fixed it, or that the newest has it."""
    fixed = bisection.get("first_fixed")
    return f"fixed in {fixed}" if fixed else f"not fixed in {bisection.get('last_affected')}, the newest"


def _last_good(tried: Sequence[tuple[str, str]], first: str) -> str | None:
    """The last release before the first affected one that was free."""
    earlier = itertools.takewhile(lambda pair: pair[0] != first, tried)
    return next((release for release, state in reversed(list(earlier)) if state == "free"), None)


def _version_of(entry: Mapping[str, Any]) -> str:
    """The version that a solver prints, with its commit or a note that it prints none."""
    version, commit = plain(str(entry.get("version", "unknown"))), entry.get("commit")
    if commit:
        return version if str(commit) in version else f"{version}, git {plain(str(commit))}"
    if "commit" not in entry:  # a finding written before commits were recorded
        return version
    return f"{version} ({'release build, ' if entry.get('release') else ''}no commit printed)"
