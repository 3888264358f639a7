"""A report in the form of docs/triage.md, taken apart: for checks, and for the fields of a tracker's form.

Reports that people wrote are read in the same way as those that exhume writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from base.files import read_at_most
from difftest.errors import DifftestError
from difftest.triage.folder import REPORT
from solvers.report_form import Fact, Form, Kind, Part, Row, Section

_MOST_BYTES = 1 << 20
_FENCE = re.compile(r"(`{3,}|~{3,})(\S*)")
_ROW = re.compile(r"- ([A-Z][\w ]*): (.*)")
_FOUND_BY = re.compile(r"Found by exhume \(.+\)\.")
_OPEN, _CODE, _CLOSE = "open", "code", "close"
# An item of the fact line: its name, and text up to the next item.
_ITEM = re.compile(rf"({'|'.join(Fact)}): ")


@dataclass(frozen=True, slots=True)
class Block:
    """A code block: its language and text."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """A report. ``sections`` are in the order of the file; a heading that comes twice has both texts.

    ``facts`` are the items of the fact line (``line`` as it stands), ``last`` is the last line of the file if
    it says how it was found, else empty.
    """

    title: str
    line: str
    facts: Mapping[str, str]
    sections: Mapping[str, str]
    headings: tuple[str, ...]
    last: str

    @classmethod
    def read(cls, file: Path) -> Written:
        """The report in a file, or in a folder's ``report.md``. DifftestError if it cannot be read."""
        file = file / REPORT if file.is_dir() else file
        try:
            data = read_at_most(file, _MOST_BYTES)
        except OSError as problem:
            raise DifftestError(f"{file}: cannot be read: {problem.strerror or problem}") from problem
        if data is None:
            raise DifftestError(f"{file}: longer than a report may be (1 MB)")
        return cls.of(data.decode("utf-8", "replace"))

    @classmethod
    def of(cls, text: str) -> Written:
        """The report in a text."""
        lines = text.replace("\r\n", "\n").rstrip().split("\n")
        last = lines.pop() if _FOUND_BY.fullmatch(lines[-1]) else ""
        title, head, heading = "", list[str](), ""
        bodies: dict[str, list[str]] = {}
        headings = []
        for line, place in _placed(lines):
            if not place and line.startswith("# ") and not title:
                title = line[2:].strip()
            elif not place and line.startswith("## "):
                heading = line[3:].strip()
                headings.append(heading)
                bodies.setdefault(heading, [])
            else:
                (bodies[heading] if heading else head).append(line)
        line = "\n".join(head).strip()
        sections = {name: "\n".join(body).strip() for name, body in bodies.items()}
        return cls(title, line, _facts(line), sections, tuple(headings), last)

    def section(self, name: Section) -> str:
        """The text of a section; empty if it is not there."""
        return self.sections.get(name, "")

    @property
    def kind(self) -> Kind | None:
        """What goes wrong, if the fact line says it in one of the words for it."""
        said = self.facts.get(Fact.KIND, "")
        return Kind(said) if said in set(Kind) else None

    @property
    def input(self) -> Block:
        """The first code block of the input; an empty one if there is none."""
        return next(blocks_of(self.section(Section.INPUT)), Block("", ""))

    @property
    def rows(self) -> Mapping[str, str]:
        """The rows of Versions, by name."""
        lines = map(_ROW.fullmatch, self.section(Section.VERSIONS).splitlines())
        return {row[1]: row[2].strip() for row in lines if row}

    def in_form(self, form: Form) -> str:
        """The report as the fields of a tracker's form, each under its heading, below the title; the report's
        own sections where the tracker has no form. Sections that share a field begin with their names.
        """
        fields = form.fields or {name: (name,) for name in (Part.FACTS, *self.sections)}
        parts = [f"# {self._title_in(form)}"]
        for heading, names in fields.items():
            texts = {name: text for name in names if (text := self._part(name, form))}
            sections = texts.keys() & set(Section)
            named = sections if len(sections) > 1 else set()
            shown = [f"{name}:\n\n{text}" if name in named else text for name, text in texts.items()]
            if heading in form.as_code:
                shown = [block.text for text in shown for block in blocks_of(text)]
            if shown:
                parts += [] if heading == Part.FACTS else [form.heading.format(heading)]
                parts.append("\n\n".join(shown))
        is_placed = any(Part.FOUND in names for names in fields.values())
        return "\n\n".join([*parts, *([self.last] if self.last and not is_placed else [])]) + "\n"

    def _title_in(self, form: Form) -> str:
        """The title; in the form of a solver's own tracker without the solver."""
        return self.title.removeprefix(f"{form.family}: ") if form.fields else self.title

    def _part(self, name: str, form: Form) -> str:
        if name in set(Row):
            value = self.rows.get(name, "")
            return f"{name}: {value}" if value and name not in (Row.VERSION, Row.PLATFORM) else value
        if name == Part.CATEGORY:
            return form.categories.get(self.kind, "") if self.kind else ""
        if name == Part.INTERFACE:
            return form.interfaces.get(self.input.language, "")
        if name == Part.WORKED:
            good = self.rows.get(Row.LAST_GOOD, "")
            tick = "x" if good and not good.startswith(("none", "not known")) else " "
            return "\n".join(f"- [{tick}] {box}" for box in form.worked)
        named = {Part.TITLE: self._title_in(form), Part.FACTS: self.line, Part.FOUND: self.last}
        return named[Part(name)] if name in set(Part) else self.sections.get(name, "")


def blocks_of(text: str) -> Iterator[Block]:
    """The code blocks of a text."""
    language, body, place = "", list[str](), ""
    for line, place in _placed(text.split("\n")):
        if place == _OPEN:
            language, body = line.lstrip("`~").strip(), []
        elif place == _CODE:
            body.append(line)
        elif place == _CLOSE:
            yield Block(language, "\n".join(body))
    if place in (_OPEN, _CODE):
        yield Block(language, "\n".join(body))


def prose_of(text: str) -> str:
    """A text without its code blocks."""
    return "\n".join(line for line, place in _placed(text.split("\n")) if not place).strip()


def _placed(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each line with its place in a code block; empty outside."""
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            ends = match is not None and match[1].startswith(fence) and line.strip() == match[1]
            fence = "" if ends else fence
            yield line, _CLOSE if ends else _CODE
        else:
            fence = match[1] if match else ""
            yield line, _OPEN if match else ""


def _facts(line: str) -> dict[str, str]:
    """The items of a fact line."""
    starts = list(_ITEM.finditer(line)) if "\n" not in line else []
    ends = [*(match.start() for match in starts[1:]), len(line)]
    return {
        match[1]: line[match.end() : end].strip().removesuffix(";").strip()
        for match, end in zip(starts, ends, strict=False)
    }
