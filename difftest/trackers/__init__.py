"""How reports are written for each solver's tracker: a file per tracker, made from its template and from the
titles that reports there have.

Nothing here talks to a tracker: a report is a text that a person reads, and pastes or not.
"""

from difftest.trackers import bitwuzla, cvc5, yices, z3
from difftest.trackers.form import Form, Piece, Titles
from difftest.trackers.plain import PLAIN

FORMS: dict[str, Form] = {form.family: form for form in (z3.FORM, cvc5.FORM, bitwuzla.FORM, yices.FORM)}

__all__ = ["FORMS", "PLAIN", "Form", "Piece", "Titles", "form_of"]


def form_of(family: str | None) -> Form:
    """The form of a solver family's tracker; the plain one for other programs and where nobody is accused."""
    return FORMS.get(family or "", PLAIN)
