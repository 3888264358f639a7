"""What z3 is known not to do: messages of its exceptions that are no fault of a call."""

from __future__ import annotations

_LIMITS: tuple[tuple[str, str], ...] = (
    ("canceled", "the resource limit ended a call that is no check"),
    ("max. resource limit exceeded", "the resource limit ended a call that is no check"),
    ("cannot retrieve trail from solvers created using tactics", "solvers made of tactics have no trail"),
    ("generation of proof objects is not supported", "some engines make no proofs"),
    ("not handled by bvarray2uf", "a simplifier or tactic that is not meant for the goal"),
    ("parameters, but", "z3 carries no terms over parametric datatypes to another context"),
    ("max. steps exceeded", "the limit of rewriting steps ended a call"),
    ("mbp evaluation was only partial", "a projection of what the model does not give a value"),
    ("reached max unfolding", "a sequence to a power too high to unfold ended a call that is no check"),
)
"""A part of the message, and why it is no fault. Each was seen in a run."""

_LAST: tuple[tuple[str, str], ...] = (
    ("not implemented yet", "an operator that the solver chosen by an option does not have"),
    ("malformed atomic constraint", "an arithmetic solver chosen by an option, and what sets have it do"),
)
"""The same of what ends a call half-way, say amid a search: the solver is not safe to use after it."""


def known_limit(message: str) -> str:
    """Why a message is no fault of the call; empty where it is not known."""
    return next((why for part, why in _LIMITS if part in message), "")


def last_limit(message: str) -> str:
    """The same for messages after which nothing may be called any more."""
    return next((why for part, why in _LAST if part in message), "")


_INTERNAL = ("unreachable", "ASSERTION VIOLATION", "UNEXPECTED CODE", "Overflow encountered")
"""Parts of messages in which z3 says that it is at fault itself."""


def is_internal(message: str) -> bool:
    """Whether a message tells of a failed check inside z3."""
    return any(part in message for part in _INTERNAL)
