"""``report.md``: a finding's folder in the form of docs/triage.md, for a person to read and paste.

A report is made from the files in the folder only, so it can be made again at any time
(``kinds.rewrite_report``): reduction, bisection and the comparison with the corpus each do so at their end.
Nothing is sent.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from difftest.oracles.base import names_in
from difftest.oracles.related import ASKED, RELATED
from difftest.oracles.soundness import OUTVOTED_BY
from difftest.triage.classes import class_of_finding
from difftest.triage.evidence import those
from difftest.triage.facts import facts_of, logic_name, options_shown
from difftest.triage.folder import READER, FindingFolder, Transcript, read_some
from difftest.triage.key import Key
from difftest.triage.markdown import clipped, fenced, inline, plain, printable, sentence
from solvers.registry import PROFILES, form_of
from solvers.report_form import PLAIN, Form, Row, Section
from solvers.running.crash_places import ANONYMOUS

_MOST_FORMULA = 20_000
_MOST_RESEMBLED = 5
_MOST_BESIDE = 3_000
# What evidence keeps beside a finding.
_BESIDE = {
    "reduced-with-model.smt2": "The formula with the model inserted",
    "with-model.smt2": "The formula with the model inserted",
    "parent.smt2": "The formula that it was made from",
    "reduced-parent.smt2": "The formula that it was made from, reduced with it",
    f"reduced-{ASKED}": "What the solver is given to make the script",
    ASKED: "What the solver is given to make the script",
    **{f"reduced-{name}": f"Script {place} made from it" for place, name in enumerate(RELATED, 1)},
    **{name: f"Script {place} made from it" for place, name in enumerate(RELATED, 1)},
}
_RELATED_FILE = re.compile("|".join(map(re.escape, RELATED)))
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
# Addresses of RFC 2606, which nobody can open: those of the starter tracker.
_NOWHERE = re.compile(r"https?://[\w.-]*\.invalid(?:/|\Z)")
# What stands in the evidence about releases; the section about versions has it once they are searched.
_ABOUT_RELEASES = re.compile(r"\S+ \S+ (?:does not show it|shows it)|first affected release|no older release")
_ON_GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)")
# Of a row of the comparison with issues that only a formula speaks for: how alike it is, and the rest.
_ALIKE = re.compile(r"a formula like it.*\(likeness (\d\.\d+)([^)]*)\)")
_QUOTED = re.compile(r"`([^`]*)`")
_LEAST_ALIKE = 0.4
# How strategies are called that mutate a formula.
_MUTATIONS = ("storm", "weaken", "typefuzz", "opfuzz", "fusion", "transplant")
_ALSO_ASKED = "also asked: "
# Lines of evidence that say no more than the answers of those they name.
_IMPLIED = re.compile(rf"{_ALSO_ASKED}|.* {OUTVOTED_BY}\Z")
_ANSWERED = re.compile(r"([^\s,]+) says (sat|unsat)(?: to the formula with the model of ([^\s,]+) inserted)?")
_ASKED = re.compile(r"([\w-]+) (\d[\w.]*)")
# The parts of a function's name in a title: a name space or two, the class, the function.
_MOST_SCOPES = 3
_MOST_OPERATORS = 3
_HEADER = "; exhume "
_OWN_PARTS = "; parts of the test come from it"
_FROM_FILES = "the formulas of another fuzzer"
# The strategy of files that a user imports.
_IMPORTED = "import-"


def form_of_finding(found: FindingFolder) -> Form:
    """The form of the tracker of whoever is wrong."""
    return PLAIN if found.culprit is None else form_of(found.family)


@dataclass
class Writer:
    """Writes one report. Subclasses write what a finding is about: ``_input`` and ``_runs``."""

    found: FindingFolder

    @cached_property
    def form(self) -> Form:
        """The form of the tracker that the report is for."""
        return form_of_finding(self.found)

    def text(self) -> str:
        """The report."""
        facts = "; ".join(f"{name}: {text}" for name, text in facts_of(self.found, self.form).items())
        sections = {
            Section.INPUT: self._input(),
            Section.COMMAND: self._command(),
            Section.EXPECTED: self._expected(),
            Section.ACTUAL: self._actual(),
            Section.VERSIONS: self._versions(),
            Section.STACK: self._stack(),
            Section.NOTES: self._notes(),
        }
        parts = [f"# {self.title()}", facts]
        parts += [f"## {name}\n\n{text}" for name, text in sections.items() if text]
        return "\n\n".join([*parts, f"Found by exhume ({plain(self._strategy())})."]) + "\n"

    def title(self) -> str:
        """The solver, what goes wrong, in what, and with which options."""
        found = self.found
        solver = self.form.family if self.form is not PLAIN else self._solvers()
        headline = class_of_finding(found).headline(found)
        if (function := found.function.replace(f"{ANONYMOUS}::", "")) and " in " not in headline:
            headline += f" in {'::'.join(function.split('::')[-_MOST_SCOPES:])}"
        options = [option.rpartition(" (")[0] for option in options_shown(found, self.form)]
        # A tactic that is among the operators is named once.
        named = {f"tactic {inline(word)}" for operator in self._operators() for word in operator.split()}
        options = [option for option in options if option not in named]
        with_ = f" with {' '.join(options)}" if options else ""
        return plain(f"{solver}: {headline}{self._about()}{with_}".replace("`", ""))

    def _operators(self) -> list[str]:
        return sorted(Key.read(self.found.key).operators)[:_MOST_OPERATORS]

    def _about(self) -> str:
        operators = self._operators()
        return f" on {logic_name(self.found.theories)}" + (f" ({', '.join(operators)})" if operators else "")

    def _strategy(self) -> str:
        """What found it, by the name that people know."""
        name = str(self.found.test.get("strategy") or "a test")
        if self.found.origin:
            # Without its folder, which is private.
            own = f"a replay of {PurePath(self.found.origin).name}"
            return _FROM_FILES if name.startswith(_IMPORTED) else own
        return f"seed mutation ({name})" if name in _MUTATIONS else name

    # The sections

    def _input(self) -> str:
        raise NotImplementedError

    def _block(self, text: str, language: str, file: str) -> str:
        """A text as the input's block, and where it is cut, a line that says so."""
        text = text.rstrip("\n")
        if len(text) <= _MOST_FORMULA:
            return fenced(printable(text), language)
        shown = text[:_MOST_FORMULA].rpartition("\n")[0] or text[:_MOST_FORMULA]
        note = f"The input has {len(text)} characters: attach `{file}`. Its beginning:"
        return f"{note}\n\n{fenced(printable(shown), language)}"

    def _command(self) -> str:
        kept = self.found.transcript
        if kept is None:
            return "\n".join(dict.fromkeys(inline(command) for command, _, _ in self._runs()))
        if not kept.reader:
            return inline(kept.command)
        note = (
            f"The release was run from its Python package, which has no program: `{READER}` does what "
            f"{inline(kept.instead)} does."
        )
        return f"{inline(kept.command)}\n\n{note}\n\n{fenced(printable(kept.reader.rstrip()), 'python')}"

    def _expected(self) -> str:
        class_ = class_of_finding(self.found)
        right = self._named(class_.expected(self.found, self._accused()))
        reasons = "\n".join(map(self._named, self._reasons()))
        return "\n\n".join(part for part in (right, reasons, self._beside()) if part)

    def _named(self, text: str) -> str:
        """A text in which solvers have their versions, as far as these are known."""
        also = [_ASKED.findall(line) for line in self.found.evidence if line.startswith(_ALSO_ASKED)]
        names = {name: f"{name} {release}" for pairs in also for name, release in pairs}
        names |= {str(entry["name"]): _called(entry) for entry in self.found.solvers}
        if not names:
            return text
        ordered = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        pattern = rf"(?<![\w.`/-])(?:{ordered})(?![\w=/`\[-]|\.\w| \d)"
        return re.sub(pattern, lambda found: names[found[0]], text)

    def _reasons(self) -> list[str]:
        """What speaks for it, a line each: what the others answer, and the evidence."""
        answers, culprit = self.found.answers, self.found.culprit
        others = [entry for entry in self.found.solvers if culprit and entry is not culprit]
        # Who answers what: to the formula, and to it with the model of a solver inserted.
        said = {
            "": dict.fromkeys((answers[name], name) for e in others if (name := str(e["name"])) in answers)
        }
        lines = []
        for line in self._evidence(about_releases=False):
            reason = line.partition(": ")[2] if line.startswith("against ") else line
            if answered := _ANSWERED.fullmatch(reason):
                said.setdefault(answered[3] or "", {})[answered[2], answered[1]] = None
            elif sentence(reason) != self.found.reason and not _IMPLIED.match(reason):
                lines.append(plain(_RELATED_FILE.sub(_script, reason)))
        grouped = [_who_answers(model, pairs) for model, pairs in said.items() if pairs]
        return [f"- {line}" for line in dict.fromkeys([*grouped, *lines])]

    def _evidence(self, about_releases: bool) -> list[str]:
        lines = self.found.evidence
        return [line for line in lines if bool(_ABOUT_RELEASES.match(line)) is about_releases]

    def _beside(self) -> str:
        """The texts that were kept with the evidence: the formula with a model inserted, and its parent."""
        blocks = []
        for file, words in _BESIDE.items():
            text = read_some(self.found.path / file).strip("\n")
            belongs = file.startswith("reduced") == self.found.is_reduced
            if belongs and text and len(text) <= _MOST_BESIDE:
                blocks.append(f"{words}:\n\n{fenced(printable(text), 'smt2')}")
        return "\n\n".join(blocks)

    def _actual(self) -> str:
        kept = self.found.transcript
        if kept is not None:
            block = "\n".join([f"$ {kept.command}", *clipped(kept.printed)]).rstrip("\n")
            return "\n\n".join(filter(None, (fenced(printable(block), "console"), kept.ending)))
        lines, endings = list[str](), list[str]()
        for command, printed, ending in self._runs():
            lines += [line for line in (f"$ {command}", *clipped(printed)) if line]
            endings += [ending] if ending and ending != "exit status 0" else []
        said = " ".join(sentence(ending) for ending in endings)
        return "\n\n".join(filter(None, (fenced(printable("\n".join(lines)), "console"), said)))

    def _runs(self) -> list[tuple[str, str, str]]:
        """Each run to show as it was kept: command, output, and how it ended."""
        raise NotImplementedError

    def _versions(self) -> str:
        suspects = self.found.suspects
        bisection, tried = self.found.bisection, self.found.tried
        rows = {
            Row.VERSION: "; ".join(map(_version_of, suspects)),
            Row.PLATFORM: plain(str(self.found.data.get("platform", "not known"))),
            Row.INSTALLED: "; ".join(dict.fromkeys(map(_how_installed, suspects))),
            Row.FIRST_AFFECTED: "not known",
            Row.LAST_GOOD: "not known",
        }
        if why := self.found.unbisectable:
            rows |= dict.fromkeys((Row.FIRST_AFFECTED, Row.LAST_GOOD), f"not searched: {why}")
        if base := str(self.found.data.get("base") or ""):
            new = "; ".join(_version_of(entry) for entry in suspects if not entry.get("base"))
            is_known = self.found.culprit is not None
            compared = "compared with the last good one" if is_known else "if the base is right"
            rows[Row.FIRST_AFFECTED] = f"{new}, {compared}"
            rows[Row.LAST_GOOD] = f"{base} ({'does not show it' if is_known else 'the base, if it is right'})"
        if first := str(bisection.get("first_affected") or ""):
            oldest = f"none (back to {tried[0][0]})" if tried else "none"
            rows[Row.FIRST_AFFECTED] = since(bisection)
            rows[Row.LAST_GOOD] = _last_good(tried, first) or oldest
            if fixed := bisection.get("first_fixed"):
                rows[Row.FIXED] = str(fixed)
            else:
                rows[Row.NEWEST] = f"{bisection.get('last_affected')}, affected"
        return "\n".join(f"- {name}: {plain(text)}" for name, text in rows.items())

    def _frames(self) -> Sequence[str]:
        kept: Transcript | None = self.found.transcript
        return kept.stack if kept is not None else ()

    def _stack(self) -> str:
        lines = [f"#{number:<2} {frame}" for number, frame in enumerate(self._frames())]
        return fenced(printable("\n".join(lines)), "text") if lines else ""

    def _notes(self) -> str:
        notes = []
        reduced = self.found.data["reduced"] if self.found.is_reduced else {}
        shown, tries = reduced.get("shown"), reduced.get("tries")
        if isinstance(shown, int) and isinstance(tries, int) and shown < tries:
            notes.append(f"It does not show in every run: in {shown} of {tries}.")
        rows = [row for row in self.found.data.get("resembles") or () if self._is_alike(row["why"])]
        known = [(issue, plain(row["why"])) for row in rows if (issue := _issue(row))]
        related = [f"- {issue}: {why.replace(_OWN_PARTS, '')}" for issue, why in known[:_MOST_RESEMBLED]]
        if not self.found.bisection:
            related = [f"- {plain(line)}" for line in self._evidence(about_releases=True)] + related
        return "\n\n".join([*notes, *(["\n".join(related)] if related else [])])

    def _is_alike(self, why: str) -> bool:
        """Whether an issue is worth a maintainer's time: not if all that speaks for it is a formula that is
        little like the one shown, or that was like it before it was reduced.
        """
        if (alike := _ALIKE.fullmatch(why)) is None:
            return True
        words = _QUOTED.findall(alike[2] or "")
        return float(alike[1]) >= _LEAST_ALIKE and all(word in self.found.shown_text for word in words)

    def _accused(self) -> str:
        entry = self.found.culprit
        return _called(entry) if entry else self._solvers()

    def _solvers(self) -> str:
        """The solvers that it is filed under, for people."""
        return plain(" and ".join(names_in(str(self.found.data["solver"]))))


class FormulaWriter(Writer):
    """Writes a report about a formula."""

    def _input(self) -> str:
        return self._block(without_header(self.found.formula), "smt2", self.found.shown_file)

    def _runs(self) -> list[tuple[str, str, str]]:
        runs = [(entry, self.found.command(str(entry["name"]))) for entry in self.found.suspects]
        # Two releases of one solver have one command line.
        twice = len({command for _, command in runs}) < len(runs)
        return [
            (f"{command}  # {_called(entry)}" if twice else command, *self.found.printed(str(entry["name"])))
            for entry, command in runs
        ]


def _who_answers(model: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Solvers by their answers, to the formula with a model inserted if there is one.

    >>> _who_answers("cvc5", [("sat", "cvc5"), ("sat", "yices"), ("unsat", "z3")])
    'with the model of cvc5 inserted, cvc5 and yices answer `sat`, z3 answers `unsat`'
    """
    sides: dict[str, list[str]] = {}
    for answer, name in pairs:
        sides.setdefault(answer, []).append(plain(name))
    start = f"with the model of {plain(model)} inserted, " if model else ""
    return start + ", ".join(f"{those(names, 'answer')} `{answer}`" for answer, names in sides.items())


def _script(file: re.Match[str]) -> str:
    """How a report calls a script that was made from the formula."""
    return f"script {RELATED.index(file[0]) + 1} made from it"


def without_header(text: str) -> str:
    """A formula without the comments that say where it is from."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if not line.startswith(";")), len(lines))
    return "\n".join(lines[first:]) if lines[0].startswith(_HEADER) else text


def since(bisection: Mapping[str, Any]) -> str:
    """From which release on a finding is there, by its bisection: ``4.8.5``, ``4.5.1 or earlier``."""
    return f"{bisection.get('first_affected')}" + (" or earlier" if bisection.get("since_the_oldest") else "")


def until(bisection: Mapping[str, Any]) -> str:
    """Which release fixed it, or that the newest has it."""
    fixed = bisection.get("first_fixed")
    return f"fixed in {fixed}" if fixed else f"not fixed in {bisection.get('last_affected')}, the newest"


def _how_installed(entry: Mapping[str, Any]) -> str:
    package, release = entry.get("package"), entry.get("release")
    if not package or not release:
        return "a program that was given by its command"
    number, is_built, label = str(release).partition("+")
    if is_built:
        return f"built from the source package of {package} {number} ({label})"
    return f"wheel from PyPI (nothing configured or built here), `pip install {package}=={release}`"


def _last_good(tried: Sequence[tuple[str, str]], first: str) -> str | None:
    """The last release before the first affected one that was free."""
    earlier = itertools.takewhile(lambda pair: pair[0] != first, tried)
    return next((release for release, state in reversed(list(earlier)) if state == "free"), None)


def _called(entry: Mapping[str, Any]) -> str:
    """A solver as reports call it: ``z3 4.8.5``; its name if it is not one that is known."""
    number = _NUMBER.search(str(entry.get("version", "")))
    family = str(entry.get("family"))
    return f"{family} {number[0]}" if family in PROFILES and number else plain(str(entry["name"]))


def _issue(row: Mapping[str, Any]) -> str:
    """An issue as trackers write it, ``OWNER/REPO#NUMBER``; empty if its address is none that others can
    open.
    """
    url = str(row.get("url") or "")
    if address := _ON_GITHUB.match(url):
        return f"{address[1]}#{address[2]}"
    return "" if _NOWHERE.match(url) else plain(str(row["issue"]))


def _version_of(entry: Mapping[str, Any]) -> str:
    """The version that a solver prints, with its commit or a note that it prints none."""
    version, commit = plain(str(entry.get("version", "unknown"))), entry.get("commit")
    if commit:
        return version if str(commit) in version else f"{version}, git {plain(str(commit))}"
    if "commit" not in entry:  # a finding written before commits were recorded
        return version
    release = str(entry.get("release") or "")
    is_wheel = bool(release) and "+" not in release
    return f"{version} ({'release build, ' if is_wheel else ''}no commit printed)"
