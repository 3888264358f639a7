"""The bug class of an issue: by the rules, by what its failing runs show, and by its words (``learned.py``).

A report that a comment calls a mistake of the user or intended behaviour is no bug.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter

from corpus.records import Reasoned
from miner.expected import quoted
from miner.extract import Extraction, Formula
from miner.failing import FormulaRun
from miner.hits import COMMENT_READ, Hit, Text, in_comment
from miner.learned import Weights, features_of

CLASSES = tuple("soundness invalid-model crash leak performance incompleteness regression none".split())
"""The bug classes. Of two with the same weight the first one counts."""
_NONE = Reasoned("none")
# The weight of an answer that is not the right one.
_WRONG_ANSWER = 19
# What the class that the rules found gets on top of what its words say (a logarithm), by the place of the
# match (empty: no rule matched). Titles and labels name what the issue is about. Of a few values tried, these
# gave the most right classes on held-out threads.
_TRUST = {"title": 2.0, "label": 2.0, "": 0.0}
_TRUST_ELSEWHERE = 1.0


def bug_class_of(
    hits: list[Hit],
    extraction: Extraction,
    failing: Sequence[FormulaRun],
    texts: Iterable[Text],
    weights: Weights,
) -> Reasoned:
    """The class of an issue, by the rules and by its words."""
    if _is_no_bug(extraction.prose):
        return _NONE
    by_rules = _class_by_rules(hits, extraction, failing)
    features = features_of(words_of(texts))
    chances = weights.chances(features)
    if by_rules.value in chances:
        chances[by_rules.value] += _TRUST.get(by_rules.where, _TRUST_ELSEWHERE)
    best = max(chances, key=lambda value: chances[value], default=by_rules.value)
    if best == by_rules.value or by_rules.value not in chances:
        return by_rules
    words = weights.words_for(features, best, by_rules.value)
    return Reasoned(best, f"the words {words}", "title", "learned")


def words_of(texts: Iterable[Text]) -> list[tuple[str, str]]:
    """The texts of an issue whose words count for its class, each with its kind of place."""
    kinds = {"title": "title", "body": "body", "output": "output"}
    return [
        (kinds.get(where, "comment"), text)
        for place, where, text in texts
        if place not in ("label", "formula")
    ]


_NO_BUG = re.compile(
    r"\b(?:this|that|it|which)(?:(?:\s+\w+)?\s+is|'s)(?:\s+\w+)?\s+not\s+an?\s+(?:\w+\s+)?bug\b(?!\s+(?:in|of)\b)"
    r"|\b(?:don't|do\s+not)\s+(?:think|believe|see)\s+(?:that\s+)?(?:this|that|it|there)(?:\s+is|'s)\s+an?y?\s+(?:\w+\s+)?bug\b"
    r"|\b(?:intended|expected)\s+behaviou?r\b(?!\s*[:*])|\b(?:works|behaves)\s+as\s+(?:intended|designed)\b|\bby\s+design\b"
    r"|\b(?:this|that|it|which)(?:\s+is|'s)\s+(?:\w+ly\s+)?(?:expected|intended)\b(?!\s+(?:to|answer|result|output))"
    r"|\b(?:error|message|warning|behaviou?r|this|that|it)\s+is\s+(?:there\s+)?(?:on\s+purpose|intentional|deliberate)\b"
    r"|\byou\s+(?:forgot|have\s+to\s+call|need\s+to\s+call|must\s+call)\b|\bis\s+missing\.\s+please\b"
    r"|\b(?:user|usage)\s+(?:error|mistake)\b|\bmisuse\b|\bnothing\s+(?:is\s+wrong|(?:to\s+fix|to\s+be\s+fixed)\s+in)\b"
    r"|\bmy\s+(?:bad|mistake|fault|misunderstanding)\b|\b(?:mistake|error|misunderstanding)\s+(?:of\s+mine|on\s+my\s+(?:side|part|end))\b"
    r"|\bI\s+(?:had\s+)?(?:misread|misunderstood|misinterpreted)\b"
    r"|\b(?:mistake|bug|error|typo)\s+(?:is\s+|was\s+)?in\s+(?:my|your)\s+(?:own\s+)?(?:\w+\s+)?(?:formula|code|script|encoding|input|model|program|constraints?)\b"
    r"|\b(?:my|your)\s+(?:own\s+)?(?:formula|code|script|encoding|input|model|constraints?)\s+(?:is|was|were)\s+(?:the\s+(?:issue|problem)|wrong|incorrect|invalid|buggy)\b"
    r"|\bdivi(?:sion|ding)[- ]by[- ](?:zero|0)\b[^.\n]{0,60}"
    r"\b(?:uninterpreted|undefined|total|anything|any\s+value|free)\b"
    r"|\b(?:is|are)\s+(?:under-?|un)specified\b|\beither\s+answer\s+is\s+(?:allowed|correct|fine|right|possible)\b"
    r"|\b(?:answer|result|model|output|behaviou?r)\s+is\s+(?:indeed\s+|actually\s+|in\s+fact\s+)?correct\b(?!\s+(?:now|on|in|with|after|since|again|when|if))",
    re.IGNORECASE,
)
_IS_BUG = re.compile(
    r"(?<!nothing to )(?<!no )(?<!not )\bfix(?:e[sd])?\b(?!-?(?:point|ed-?point))|\b(?:reopen\w*|confirm\w*"
    r"|(?:real|genuine|indeed\s+an?|solver)\s+bug|(?:I|we)\s+can\s+(?:now\s+|also\s+|indeed\s+)?reproduce"
    r"|bug\s+in(?!\s+(?:my|your|our)\b))\b",
    re.IGNORECASE,
)


def _is_no_bug(prose: Mapping[str, str]) -> bool:
    """Whether a comment says that the report is about a mistake of the user or about intended behaviour."""
    comments = [text[:COMMENT_READ] for where, text in prose.items() if where.startswith("comment:")]
    said = [match for text in comments for match in islice(_NO_BUG.finditer(text), 5)]
    is_said = any("?" not in match.string[match.end() : match.end() + 40].split("\n")[0] for match in said)
    return is_said and not any(_IS_BUG.search(text) for text in comments)


def _class_by_rules(hits: list[Hit], extraction: Extraction, failing: Sequence[FormulaRun]) -> Reasoned:
    """The class of an issue, by what the rules found and what the failing runs show."""
    if any(run.symptom == "wrong-answer" for run in failing):
        hits = hits + [(_WRONG_ANSWER, shown) for run in failing[:1] if (shown := _class_of(run))]
    elif contradicted := next(filter(None, map(_contradicted, extraction.formulas)), None):
        hits = [*hits, (_WRONG_ANSWER, contradicted)]
    if any(hit[0] == _WRONG_ANSWER for hit in hits):  # the check of the model only confirms it
        hits = [hit for hit in hits if hit[1].rule != "invalid-model-printed"]
    if any(run.symptom == "unknown" for run in failing):  # an answer that should be given
        hits = [hit for hit in hits if hit[1].rule != "should-be-answered"]
    texts = (extraction.prose[name][:1000] for name in ("title", "body"))
    found = _heaviest(_without_asides(hits, *texts))
    if found.value in ("none", "regression"):
        found = next((shown for run in failing if (shown := _class_of(run))), found)
    return found


_BY_SYMPTOM = {"wrong-answer": "soundness", "timeout": "performance", "unknown": "incompleteness"} | {
    name: name for name in ("invalid-model", "crash", "leak")
}


def _class_of(run: FormulaRun) -> Reasoned | None:
    """The class that a failing run shows."""
    value = _BY_SYMPTOM.get(run.symptom)
    return Reasoned(value, _printed_by(run), "output", "failing-run") if value else None


def _contradicted(formula: Formula) -> Reasoned | None:
    """The class of a formula without a model for which a model is printed: it is the answer that is wrong."""
    run, expected = formula.failing, formula.expected
    if run is None or expected is None or run.symptom != "invalid-model":
        return None
    is_wrong = expected.answer == "unsat" and set(run.answers) == {"sat"}
    return Reasoned("soundness", _printed_by(run), "output", "failing-run") if is_wrong else None


def _printed_by(run: FormulaRun) -> str:
    return quoted(run.output.text) if run.output else ""


_QUESTION = re.compile(
    r"\W*(?:\[?question\b|in\s+(?:which|what)\s+(?:cases?|situations?)\b|how\s+(?:do|does|can|could|to|should|would|is|are)\b|is\s+(?:it\s+possible|there|\w+\s+(?:deterministic|supported|possible|allowed))\b"
    r"|can\s+(?:i|we|you)\b|what\s+(?:is|are|does|do)\b|when\s+(?:do|does|will|is)\b|meaning\s+of\b|any\s+(?:way|plans?)\b)",
    re.IGNORECASE,
)
# A report that only asks.
_ASKS = re.compile(
    r"\b(?:do\s+i\s+understand|am\s+i\s+(?:right|doing)|should\s+i\s+(?:set|use)|how\s+(?:can|do|should)\s+i|my\s+understanding"
    r"|error\s+is\s+on\s+my\s+side|(?:I\s+have|this\s+is)\s+(?:just\s+|only\s+)?a\s+question)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\W*(?:(?:feature|enhancement|feat)(?:\s+request)?\b(?!\s+\w+\s+crash)|(?:api\s+)?(?:request|proposal|suggestion|wish|rfc)\b"
    r"|(?:please\s+)?(?:implement|add|support|allow|expose|provide|return|enable|document|introduce|consider)\s+(?!(?:\w+\s+){1,3}(?:crash|fail|return|give)))",
    re.IGNORECASE,
)
_BUILD = re.compile(
    r"\bbuild\s+(?:system|script)|\b(?:build(?:ing)?|compil(?:e|es|ing|ation|er)|install(?:ing|ation)?|link(?:ing|er)|cmake|pip|import(?:ing)?|makefile|configure)\b"
    r"[^.\n]{0,50}\b(?:fail(?:s|ed|ure|ures|ing)?|errors?|cannot|can't|problems?|issues?|not\s+found|missing|broken?|breaks|warnings?)\b"
    r"|\b(?:cannot|can't|can\s+not|unable\s+to|fail(?:s|ed|ure)?\s+(?:to|when|in|of|while)|errors?\s+(?:when|while|during|in)|problems?\s+(?:when|while|with)|not)\s+"
    r"(?:\w+\s+){0,2}?(?:build(?:ing)?|compil(?:e|ing|ation)|install(?:ing|ation)?|link(?:ing)?|import(?:ing)?)\b",
    re.IGNORECASE,
)


def _without_asides(hits: Sequence[Hit], title: str, body: str) -> Sequence[Hit]:
    """The hits of classes; of one that asks, wishes or is about a build, not those in its texts."""
    if _WISH.match(title) or _QUESTION.match(title) or _BUILD.search(title):
        hits = [hit for hit in hits if hit[1].where == "output"]
    elif _ASKS.search(body) and all(hit[1].where == "body" or hit[1].rule == "both-answers" for hit in hits):
        hits = []
    # A comment tells the class of an issue only if the report does not.
    report = [hit for hit in hits if not in_comment(hit)]
    if any(hit[1].value != "regression" and hit[1].rule != "different-answers" for hit in report):
        hits = report
    # Answers that only differ may differ by what another rule says: an unknown, a time limit.
    firm = [hit for hit in hits if hit[1].rule != "different-answers"]
    return firm if any(hit[1].value != "regression" for hit in firm) else hits


def _heaviest(hits: Sequence[Hit]) -> Reasoned:
    if not hits:
        return _NONE
    weights: Counter[str] = Counter()
    for weight, found in hits:
        weights[found.value] += weight
    values = [value for value in weights if value != "regression"] or ["regression"]
    best = max(values, key=lambda value: (weights[value], -CLASSES.index(value)))
    return max((hit for hit in hits if hit[1].value == best), key=itemgetter(0))[1]
