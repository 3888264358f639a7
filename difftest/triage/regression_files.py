"""A finding as a regression test of its solver's project: a file in its layout, with the right answers.

The layout is ``tracker.regression`` in the solver's ``profile.toml``. Right are the answers of solvers that
are not accused, where all of those that decide say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from base.errors import ExhumeError
from difftest.errors import DifftestError
from difftest.triage.facts import telling_options
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import title_of
from difftest.triage.report import without_header
from smtlib.values import string_text
from solvers.lookup import find_solver
from solvers.option_file import split_option
from solvers.registry import PROFILES, REFERENCES
from solvers.report_form import RegressionTest
from solvers.running.outcomes import opposite
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script

_SECONDS = 10.0
_MOST_WORDS = 4
_PLAIN = re.compile(r"[\w.+-]+")
# Words of titles that say nothing in a file's name.
_EMPTY = frozenset(("in", "on", "with", "at", "a", "the"))


@dataclass(frozen=True, slots=True)
class RegressionFiles:
    """The files by their paths in the project; ``answers`` are the expected ones, None where they are not
    known; ``then`` says what else it takes.
    """

    files: Mapping[str, str]
    answers: Sequence[str] | None
    then: str


def regression_files(found: FindingFolder, number: str) -> RegressionFiles:
    """The regression test of a finding for the issue with this number. DifftestError where the culprit or its
    project's layout is not known, or only a program shows it.
    """
    if found.culprit is None:
        raise DifftestError(f"{found.path}: it is not known which solver is wrong, so no project tests it")
    profile = PROFILES.get(found.family)
    layout = profile.tracker.regression if profile is not None else None
    if profile is None or layout is None:
        name = found.culprit["name"] if profile is None else found.family
        raise DifftestError(f"{found.path}: the layout of {name}'s regression tests is not known")
    if found.language != "smt2":
        raise DifftestError(f"{found.path}: only a program shows it, and these tests are formulas")
    text = without_header(found.shown_text).rstrip("\n") + "\n"
    answers = right_answers(found)
    if Script.of(text).prints_more and not layout.status:
        answers = None  # they are not all of the output
    theory = _folder(found, layout)
    name = layout.name.format(number=number, words=_words(title_of(found)))
    needed = profile.incremental if Script.of(text).is_incremental else ()
    options = [*needed, *telling_options(found)]
    if layout.options_inside:
        text = "".join(_set_options(options, profile.prefix)) + text
        options = []
    if layout.status and answers is not None:
        text = _with_status(text, answers)
    lines = answers or []
    text = "".join(_comments(layout, options, lines)) + text
    files = {layout.file.format(theory=theory, name=name): text}
    if layout.expected and answers is not None:
        files[layout.expected.format(theory=theory, name=name)] = "".join(f"{line}\n" for line in lines)
    # The folder of a theory may be empty or ".".
    tidy = {Path(path).as_posix(): text for path, text in files.items()}
    return RegressionFiles(tidy, answers, layout.then)


def right_answers(found: FindingFolder) -> list[str] | None:
    """The answers to each ``check-sat`` on which the solvers agree that are not accused; None if none decides
    all, or they do not agree.
    """
    script = Script.of(found.shown_text)
    if not script.checks:
        return None
    said: list[list[str]] = []
    with Runner(warm=False) as runner:
        for family in REFERENCES:
            if family == found.family:
                continue
            try:
                verdict = runner.judge(find_solver(family), script, Limits(seconds=_SECONDS))
            except ExhumeError:
                continue
            answers = [str(answer) for answer in verdict.answers]
            if len(answers) == len(script.checks) and set(answers) <= {"sat", "unsat"}:
                said.append(answers)
    # What is wrong with a finding of another class may be something else than its answer.
    right = opposite(found.wrong_answer or "") if found.data["class"] == "soundness" else ""
    if right and len(script.checks) == 1:
        said.append([right])
    return said[0] if said and all(answers == said[0] for answers in said) else None


def _folder(found: FindingFolder, layout: RegressionTest) -> str:
    """The folder of the theory that is not there with others."""
    folders = {layout.folders[name] for name in found.theories if name in layout.folders}
    return folders.pop() if len(folders) == 1 else layout.other


def _words(title: str) -> str:
    """The first words of a title that tell something, for a file's name."""
    words = re.findall(r"[a-z0-9]+", title.partition(": ")[2].lower())
    return "-".join([word for word in words if word not in _EMPTY][:_MOST_WORDS])


def _set_options(options: Sequence[str], prefix: str) -> Iterator[str]:
    for option in options:
        name, value = split_option(option.removeprefix(prefix))
        # z3 takes a row of tactics only as a string.
        yield f"(set-option :{name} {value if _PLAIN.fullmatch(value) else string_text(value)})\n"


def _with_status(text: str, answers: Sequence[str]) -> str:
    """The text with the right answer stated before each question."""
    script = Script.of(text)
    pieces, start = [], 0
    for command, answer in zip(script.checks, answers, strict=True):
        pieces += [script.data[start : command.start], f"(set-info :status {answer})\n".encode()]
        start = command.start
    return Script(b"".join([*pieces, script.data[start:]])).text


def _comments(layout: RegressionTest, options: Sequence[str], lines: Sequence[str]) -> Iterator[str]:
    for comment in layout.comment:
        if "{options}" in comment and options:
            yield f"; {comment.format(options=' '.join(options))}\n"
        elif "{line}" in comment:
            yield from (f"; {comment.format(line=line)}\n" for line in lines)
