"""SMT-LIB text as HTML, its tokens coloured."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from exhume.pages.rendering import printable
from smtlib.scanner import LEXEME

_NUMBER = re.compile(r"\d|#[bxf]|-\d")
_WORDS = frozenset(
    "let forall exists lambda match par as _ ! push pop echo exit include apply maximize minimize simplify"
    " eval reset query rule block-model optimize display".split()
)
_COMMAND = re.compile(
    r"(?:set|declare|define|get|check|assert|reset|push|pop|block|synth|inv|dbg|include)(?:-[\w-]+)?\Z"
)
# Colours beyond this many characters make pages slow.
_LONGEST = 60_000


def highlight(text: str) -> Markup:
    """The text as HTML: comments, strings, keywords (``:named``), numbers and reserved words in a ``span``
    each. What follows the first 60,000 characters has no colours. Takes any text, in linear time.
    """
    text = printable(text)
    parts: list[str] = []
    done = 0
    before = ""
    for found in LEXEME.finditer(text, 0, _LONGEST):
        token = found[0]
        if kind := _kind(token, before):
            parts.append(escape(text[done : found.start()]))
            parts.append(f'<span class="{kind}">{escape(token)}</span>')
            done = found.end()
        before = token
    parts.append(escape(text[done:]))
    return Markup("".join(parts))


def _kind(token: str, before: str) -> str:
    """The class of a token in the style sheet; empty for most."""
    if token[0] == ";":
        return "h-c"
    if token[0] == '"':
        return "h-s"
    if token[0] == ":":
        return "h-k"
    if _NUMBER.match(token):
        return "h-n"
    return "h-r" if before == "(" and (token in _WORDS or _COMMAND.match(token)) else ""
