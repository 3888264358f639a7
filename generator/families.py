"""Which solver a spec is about, as far as its language goes."""

from __future__ import annotations

import re
from pathlib import PurePath

# Of a command line, by what its name or its program begins with. cvc4 and CVC4 speak cvc5's language.
_KNOWN = re.compile(r"(z3|cvc5|bitwuzla|yices)|(cvc4)", re.IGNORECASE)
_SPEC_END = re.compile(r"[=\[]")


def family_of(spec: str) -> str:
    """The solver that a spec is about: ``z3`` of ``z3==4.8.5[smt.relevancy=0]``.

    Of a command line the solver that its name or its program's name begins with (``cvc5`` of
    ``old=/usr/bin/cvc5 {}`` and of ``cvc4-1.8=...``), else its name.
    """
    name = _SPEC_END.split(spec, maxsplit=1)[0]
    rest = spec[len(name) :]
    if rest.startswith("=") and not rest.startswith("=="):
        program = PurePath(rest[1:].strip().partition(" ")[0]).name
        for word in (name, program):
            known = _KNOWN.match(word)
            if known:
                return "cvc5" if known[2] else known[1].lower()
    return name
