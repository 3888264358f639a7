"""What a solver should have done instead, for the section of a report that says so."""

from __future__ import annotations

from collections.abc import Mapping

from difftest.reduction.pairs import follows_by
from difftest.triage.markdown import inline, sentence
from difftest.triage.reading import FindingFolder

_DECIDED = ("sat", "unsat")
# Why the formula has the answer of the one that it was made from.
_FOLLOWS = {
    "sat": "the formula that it was weakened from is satisfiable, and a model of that one is one of this",
    "unsat": "the formula that it was strengthened from is unsatisfiable, and a model of this would be one of"
    " that",
}


def expected(found: FindingFolder, answers: Mapping[str, str]) -> str:
    """The behaviour that is right, for prose; ``answers`` are what the solvers said to the question that the
    finding is about, by name.
    """
    data = found.data
    guilty = str(data.get("guilty"))
    reason = sentence(str(data.get("reason", "")))
    # Of a finding that compares two releases, the one that does better.
    better = next((entry for entry in found.solvers if entry.get("name") != guilty), {})
    name = inline(str(better.get("name", "")))
    match str(data["class"]):
        case "crash":
            return "An answer, or a message that it cannot give one."
        case "invalid-model" if data.get("oracle") == "model-cross-check":
            return f"A model that satisfies the assertions. {reason}".rstrip()
        case "invalid-model":
            return "A model that satisfies the assertions; the one it has does not, by its own check."
        case "soundness" if found.guilty is not None:
            right = "unsat" if answers.get(guilty) == "sat" else "sat"
            return f"`{right}`. {reason}".rstrip()
        case "soundness":
            return f"The same answer from all; which one is right is not known. {reason}".rstrip()
        case "incompleteness" if data.get("oracle") == "implication":
            follows = follows_by(data.get("evidence") or ())
            return f"`{follows}`: {_FOLLOWS[follows]}." if follows else f"An answer. {reason}".rstrip()
        case "incompleteness":
            said = answers.get(str(better.get("name")))
            return f"`{said}`, as {name} answers." if said in _DECIDED else f"An answer. {reason}".rstrip()
        case "slowdown":
            said = answers.get(str(better.get("name"))) if len(better.get("answers") or ()) == 1 else None
            took, takes = found.seconds(str(better.get("name"))), found.seconds(guilty)
            answer = f"`{said}`" if said in _DECIDED else "An answer"
            if took is None or takes is None:
                return f"{answer}, in about the time that an older release takes. {reason}".rstrip()
            return f"{answer}, in about the time that {name} takes: {took:.2f} s instead of {takes:.2f} s."
        case _:
            return reason
