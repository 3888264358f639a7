"""Splits an issue's Markdown into blocks, with markdown-it-py (CommonMark) and fixes for common misuse.

A block is a stretch of text that may contain commands, formulas or solver output. Inline markup is ignored,
except for code spans that contain a script. Very large texts are split at fences only, to bound the time.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

# GitHub limits bodies to 65,536 characters, so a larger text is not an ordinary issue.
_LARGE_TEXT = 100_000
# The parser tries every rule on each line outside fences, so texts of many short lines are slow.
_MANY_LINES = 4_000

_parser = MarkdownIt("commonmark", {"maxNesting": 40}).disable(["inline", "text_join", "reference"])


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of an issue's text.

    ``kind``: ``fenced``, ``indented``, ``pre``, ``span`` (code in a paragraph), ``html``, ``heading`` or
    ``paragraph``. ``text``: normalised. ``line``: the first line in the body, from 1.
    """

    kind: str
    language: str
    text: str
    line: int

    @property
    def is_code(self) -> bool:
        """Whether the author marked the block as literal text."""
        return self.kind in ("fenced", "indented", "pre", "span")


_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u00a0\u1680\u202f\u205f\u3000"), " "),
    **dict.fromkeys(range(0x2000, 0x200B), " "),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"), None),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    0x2014: "--",
    0x2028: "\n",
    0x2029: "\n",
    0x85: "\n",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def normalise(text: str) -> str:
    """Replace unusual line ends, quotes, dashes and spaces by plain ones; drop invisible characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = text.translate(_TYPOGRAPHY)
    return _CONTROL.sub(" ", text)


_ENTITY_OPERATOR = re.compile(r"\((?:&lt;|&gt;|=&gt;)")


def block_of(kind: str, language: str, text: str, line: int) -> Block:
    """A block with normalised text. HTML entities are decoded in fences pasted from a web page."""
    read = normalise(text)
    if kind == "fenced" and "&" in read and _ENTITY_OPERATOR.search(read):
        read = html.unescape(read)
    return Block(kind, language, read, line)


_TAG_LINE = re.compile(r"(</?details\b[^<>\n]{0,200}>|</summary>)", re.IGNORECASE)
_PRE_INSIDE_LINE = re.compile(r"(?<=\S)[ \t]*(<pre\b)", re.IGNORECASE)
_FENCE_LINE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)*[ \t]*(`{3,}|~{3,})")


def blocks_of(text: str) -> list[Block]:
    """All blocks of a Markdown text, in order."""
    if not text or text.isspace():
        return []
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(plain) > _LARGE_TEXT or plain.count("\n") > _MANY_LINES:
        return _cut_by_fences(plain)
    source, origin = _with_tags_apart(plain)
    try:
        tokens = _parser.parse(source)
    except (RecursionError, ValueError, IndexError):
        return _cut_by_fences(plain)
    return _Collector(source.split("\n"), origin).collect(tokens)


def _with_tags_apart(text: str) -> tuple[str, list[int] | None]:
    """Put ``<details>``, ``</summary>`` and ``<pre>`` on separate lines, so that their content is parsed.

    Also returns the original line number (from 0) of each line; None if nothing changed.
    """
    lowered = text.lower()
    has_details = "<details" in lowered or "</summary" in lowered
    has_pre = "<pre" in lowered
    if not has_details and not has_pre:
        return text, None
    lines: list[str] = []
    origin: list[int] = []
    fence = ""
    for number, line in enumerate(text.split("\n")):
        mark = _FENCE_LINE.match(line)
        if mark:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        pieces = [line]
        if not fence and "<" in line:
            if has_details:
                pieces = _TAG_LINE.sub(r"\n\n\1\n\n", line).split("\n")
            if has_pre:
                pieces = [
                    part for piece in pieces for part in _PRE_INSIDE_LINE.sub(r"\n\1", piece).split("\n")
                ]
        lines += pieces
        origin += [number] * len(pieces)
    return "\n".join(lines), origin


_PRE = re.compile(r"<pre\b[^<>]*>(.*?)(?:</pre\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>\n]{0,200})?/?>")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# A code span. A script in one must not mix with the words around it. A mark after a letter (doesn`t) or a
# backslash begins none.
_SPAN = re.compile(r"(?<![`\\a-zA-Z0-9])(`{1,3})(?!`)([^`]+)\1(?!`)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_COMMAND_LINE_START = re.compile(
    r"^[ \t`]*\((?:set-logic|set-option|set-info|declare-[a-z-]+|define-[a-z-]+|assert"
    r"|check-sat[a-z-]*|push|pop)(?=[\s()])",
    re.MULTILINE,
)
_ANY_COMMAND = re.compile(r"\((?:set-logic|declare-[a-z-]+|define-[a-z-]+|assert|check-sat[a-z-]*)(?=[\s()])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_INFO_IS_CODE = re.compile(r"^\s*[(;]")


def _blank(found: re.Match[str]) -> str:
    """As many line ends as the match has, and nothing else."""
    return "\n" * found[0].count("\n")


class _Collector:
    """Converts the tokens of markdown-it to blocks."""

    def __init__(self, lines: list[str], origin: list[int] | None) -> None:
        self.lines = lines
        self.origin = origin
        self.blocks: list[Block] = []
        # Open quotes, list items and <details>; and how many of them are <details>.
        self.depth = self.details = 0
        # Source lines (first, end) of the SMT-LIB outside of code that may continue in the next token.
        self.loose: tuple[int, int] | None = None

    def collect(self, tokens: list[Token]) -> list[Block]:
        for token in tokens:
            self._take(token)
        return self.blocks

    def _take(self, token: Token) -> None:
        match token.type:
            case "blockquote_open" | "list_item_open":
                self.depth += 1
            case "blockquote_close" | "list_item_close":
                self.depth -= 1
            case "fence":
                self._fence(token)
            case "code_block":
                self._indented(token)
            case "html_block":
                self._html(token)
            case "inline":
                self._inline(token)

    def _line(self, token: Token, offset: int = 0) -> int:
        line = (token.map[0] if token.map else 0) + offset
        if self.origin is not None:
            line = self.origin[min(line, len(self.origin) - 1)]
        return line + 1

    def _add(self, kind: str, language: str, text: str, line: int) -> None:
        self.blocks.append(block_of(kind, language, text, line))

    def _fence(self, token: Token) -> None:
        self.loose = None
        info = token.info.strip()
        # "```(declare-const x Int)": the first command is where the language tag belongs.
        if _INFO_IS_CODE.match(info):
            self._add("fenced", "", info + "\n" + token.content, self._line(token))
            return
        language = info.split()[0].strip("{}.").lower() if info else ""
        self._add("fenced", language, token.content, self._line(token, 1))

    def _indented(self, token: Token) -> None:
        if not self._continue_loose(token, token.content):
            self._add("indented", "", token.content, self._line(token))

    def _html(self, token: Token) -> None:
        content = _COMMENT.sub(_blank, token.content) if "<!--" in token.content else token.content
        lowered = content.lower()
        if "<details" in lowered:
            self.depth += 1
            self.details += 1
        if "</details" in lowered:
            if self.details:
                self.depth -= 1
                self.details -= 1
            return
        self.loose = None
        pieces = list(_PRE.finditer(content))
        for piece in pieces:
            inner = html.unescape(_TAG.sub("", _BREAK.sub("\n", piece[1])))
            offset = content.count("\n", 0, piece.start(1))
            self._add("pre", "", inner, self._line(token, offset))
        if pieces:
            return
        bare = html.unescape(_TAG.sub("", content))
        if bare.strip():
            kind = "paragraph" if _COMMAND_LINE_START.search(bare) else "html"
            self._add(kind, "", bare, self._line(token))

    def _inline(self, token: Token) -> None:
        content = token.content
        if self._continue_loose(token, content):
            return
        self.loose = None
        if "`" in content and "(" in content:
            content = self._spans(token, content)
        has_commands = bool(_COMMAND_LINE_START.search(content))
        kind = "heading" if token.level and not has_commands and self._is_heading(token) else "paragraph"
        if has_commands:
            if not self.depth and token.map:
                self.loose = (token.map[0], token.map[1])
                content = "\n".join(self.lines[token.map[0] : token.map[1]])
            content = _loose_text(content)
        self._add(kind, "", content, self._line(token))

    def _spans(self, token: Token, content: str) -> str:
        """Add a block for each script in a code span; returns the text without them."""
        for span in _SPAN.finditer(content):
            if span[2].count("(assert") and len(_ANY_COMMAND.findall(span[2])) > 1:
                line = self._line(token, content.count("\n", 0, span.start(2)))
                self._add("span", "", span[2], line)
                content = content.replace(span[0], _blank(span), 1)
        return content

    def _is_heading(self, token: Token) -> bool:
        return token.map is not None and self.lines[token.map[0]].lstrip().startswith("#")

    def _continue_loose(self, token: Token, content: str) -> bool:
        """Append to the SMT-LIB above what blank lines or markup separated from it; whether this was done."""
        if self.loose is None or self.depth or not token.map or not self.blocks:
            return False
        first, last = self.loose
        start = content.lstrip()
        above = self.blocks[-1].text
        is_open = above.count("(") > above.count(")")
        if not is_open and not start.startswith(("(", ";")):
            return False
        if not is_open and token.type == "code_block" and _COMMAND_LINE_START.search(content) is None:
            return False
        if any(line.strip() for line in self.lines[last : token.map[0]]):
            return False
        self.loose = (first, token.map[1])
        written = "\n".join(self.lines[first : token.map[1]])
        self.blocks[-1] = replace(self.blocks[-1], text=normalise(_loose_text(written)))
        return True


def unescaped(text: str) -> str:
    """Text as the rendered page shows it."""
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def _loose_text(text: str) -> str:
    """Text outside of code as the rendered page shows it: without escapes, entities and backticks."""
    return html.unescape(unescaped(text)).replace("`", " ")


_FENCE_OPEN = re.compile(r"^[ \t>]{0,12}(`{3,}|~{3,})[ \t]*([^\s`]{0,40})[^\n`]{0,200}$", re.MULTILINE)


def _cut_by_fences(text: str) -> list[Block]:
    """Blocks of a very large text: fences, and the text between them as paragraphs."""
    blocks: list[Block] = []
    position = 0
    line = 1
    while position < len(text):
        opening = _FENCE_OPEN.search(text, position)
        end = opening.start() if opening else len(text)
        between = text[position:end]
        if between.strip():
            kind = "indented" if between.lstrip("\n").startswith("    ") else "paragraph"
            blocks.append(Block(kind, "", normalise(between), line))
        line += between.count("\n")
        if opening is None:
            break
        closing = text.find("\n" + opening[1], opening.end())
        content = text[opening.end() + 1 : closing + 1 if closing >= 0 else len(text)]
        blocks.append(Block("fenced", opening[2].lower(), normalise(content), line + 1))
        if closing < 0:
            break
        after = text.find("\n", closing + 1)
        position = after + 1 if after >= 0 else len(text)
        line += text.count("\n", opening.start(), position)
    return blocks
