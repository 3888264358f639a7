"""Names of theories in files of earlier versions, read as the names of the theory files.

Keys and findings once had short names of their own: ``Int`` for ``Ints``, ``BV`` for ``FixedSizeBitVectors``.
"""

from __future__ import annotations

from smtlib.mentions import known_theories

_EARLIER = {
    **{"Array": "ArraysEx", "BV": "FixedSizeBitVectors", "Bag": "Bags", "Datatype": "Datatypes"},
    **{"FF": "FiniteFields", "FP": "FloatingPoint", "Int": "Ints", "Quantifier": "Quantifiers"},
    **{"Real": "Reals", "Seq": "Sequences", "Set": "Sets", "String": "UnicodeStrings"},
}


def current_theory(name: str) -> str:
    """Today's name of a theory.

    >>> current_theory("BV"), current_theory("Ints")
    ('FixedSizeBitVectors', 'Ints')
    """
    return _EARLIER.get(name, name)


def current_key(key: str) -> str:
    """A key with today's names of theories; a key of today stays as it is.

    >>> current_key("invalid-model|z3|Int+Seq|seq.nth")
    'invalid-model|z3|Ints+Sequences|seq.nth'
    """
    head, parts = key.split("|")[:2], key.split("|")[2:]
    for place, part in enumerate(parts):
        names = {current_theory(name) for name in part.split("+")}
        if names <= known_theories():
            parts[place] = "+".join(sorted(names))
            break
    return "|".join(head + parts)
