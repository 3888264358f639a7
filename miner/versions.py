"""Finds the versions of solvers that a text names, and what it says of each: whether it has the bug.

A sentence is cut where it says "but", "while" and the like. Within a part, versions and verdicts (words such
as "works" or "crashes", and answers) are read in order. If the part starts with a version, each version takes
the verdict after it, else the one before it: "4.8.5 works, 4.8.7 fails", "works in 4.8.5, fails in 4.8.7".
Versions in a list ("4.8.7 and 4.8.8") share a verdict. All expressions take linear time.

The versions of a text then explain each other (``own_mentions``): by how long they take, by what they answer,
and by which of them is newer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import sqrt

from solvers.registry import ANY_NAME, kin_of, named_solver

GOOD, BAD, FORMER, FIXED = "good", "bad", "former", "fixed"
VERDICTS = (GOOD, BAD, FORMER, FIXED, "")


@dataclass(frozen=True, slots=True)
class Mention:
    """A version in a text. ``solver``: the one that is named with it, or empty.

    ``verdict``: ``bad`` (with the bug), ``good`` (without it), ``former`` (without it, before it came),
    ``fixed`` (without it, after it was there) or empty. ``answers``: what this version answered. ``text``:
    the words around it. ``seconds``: how long it ran; 0 if unknown.
    """

    version: str
    solver: str
    verdict: str
    answers: tuple[str, ...]
    text: str
    seconds: float = 0.0


# A text without a match names no version.
_WORTH_READING = re.compile(r"\d\.\d|\b20\d\d-[01]\d-")
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\bvs\.)(?<!\bver\.)(?<!\bv\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)[\"')\]*`]{0,3}\s+(?!(?-i:to|and|or|but)\b)|\n\s*(?=\n)|(?<=:)\n"
    rf"|\n(?=\s*(?:[-*#|>+(]|\d+[.)]\s|(?-i:[A-Z`])|{ANY_NAME}))",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?<![\w.$/@])(?:v\.?)?(?P<v>20\d\d-[01]\d-[0-3]\d(?!-)"
    r"|(?:20)?\d{1,2}\.\d{1,3}(?:\.\d{1,3}){0,2}(?:\.20\d{6}(?:\.\d)?)?"
    r"(?:(?:-(?:dev|rc\d|pre|alpha|beta|rmx)|\.dev\+)[\w.@]{0,60})?(?!-20\d\d-\d))"
    r"(?![\w%])(?![\w-]*\.\w)"
    r"(?!\s*(?:s|secs?|seconds?|ms|min|mins|minutes?|hours?|x|times|[GMK]i?B|percent|GHz)\b)",
    re.IGNORECASE,
)
_HASH = re.compile(
    r"(?:(?<=/commit/)|(?<![\w./-]))(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])(?P<v>[0-9a-f]{7,40})\b"
)
_LEAD = re.compile(r"(?P<word>(?<!\w)[A-Za-z][\w+#.-]*?)?[\s`*_\"'(\[:=~→>≥<≤,;|/&-]*$")
# A version may be a part of a program's name: "z3_str3_4.8.9", "z3.4.8.9", "z3-solver@4.8.9".
_IN_NAME = re.compile(
    rf"(?<![\w./-])(?P<name>(?:{ANY_NAME})\d?(?:-solver)?)(?:(?:[_-][a-z]\w{{0,20}}){{0,3}}[_@]|\.)v?(?=\d{{1,2}}\.\d)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?[ ]$")
_NAME = re.compile(rf"(?<![\w.])(?:{ANY_NAME})\d?(?:-solver)?(?![a-z])", re.IGNORECASE)
# Words directly before a version. After any other word a number with one dot is something else.
_BEFORE = frozenset(
    """
    in with on of for using by under since from to and or than until till before after through at between also
    both even is was are were but while whereas where now not only latest newest stable older newer old new
    current previous recent earlier prior release releases version versions v tag that works working fails
    broken crash crashes hangs bug fixed the official nightly upgrading updating use used tried try via either
    neither nor if when as against solver commit branch build good bad affected unaffected unlike vs versus
    tested checked affects
    including regression regressions difference differences ver installed wheel package
    starting beginning running run runs ran upstream master main head nightly
    """.split()
)
_NUMBER_OF = re.compile(
    r"\b(?:linux|windows|kernel|ubuntu|debian|fedora|mac\s?os|os\s?x?|smt-?lib(?:v?2)?|gcc|g\+\+|clang|llvm"
    r"|python|java|jdk|\.net|cmake|ghc|ocaml|rust|go|gmp|language|standard|compiler"
    r"|maximum|minimum|optimum|supremum|infimum|objective|value|result|bound|sum|product|quotient)"
    r"[\s:`*(-]{1,3}(?:version|release|v|is|was)[\s:`*(]*$",
    re.IGNORECASE,
)
# A number with two dots or more is a version. It is a solver's after any ordinary word, but not after a name.
_ORDINARY = re.compile(
    rf"(?i:py|lib|[a-z]{{1,20}}\.)(?i:{ANY_NAME})\d?"
    r"|[a-z][a-z'-]*(?<!-)|[A-Z][a-z]+(?:ing|ed)|\S+\.(?:smt2?|sl|py|cpp|c)"
    rf"|(?i:{ANY_NAME})\d?(?:_\w+|(?:-(?i:linux|win|mac|osx|x64|x86|arm|static|shared|release|debug|py|java)\w*)+)"
)
_OF_OTHERS = frozenset(
    """
    antlr apt boost boogie cadical carbon cargo clang clingo cln cmake coq cryptominisat cython dafny
    debian docker dotnet dune fedora gcc ghc git glibc glpk glucose gmp go idea java jdk jre julia jvm
    kernel kissat lean libc libgmp libpoly libstdc linux llvm macos mata menhir mimalloc minisat mingw
    mpfr mvn node numpy opam openjdk openssl os ocaml perl php picosat pip pypy python pythonic ruby rust
    rustc sbt sbv scala silicon smt-lib smtlib swig symfpu symbiyosys systemd ubuntu valgrind viper why
    windows xcode yosys zarith section chapter example theorem definition table figure appendix rule step
    says states
    """.split()
)
_LONG = re.compile(r"\d+(?:\.\d+){2}")
_OF_A_SYSTEM = re.compile(
    r"\b(?:operating\s+system|os|linux|kernel|platform)\b[\s:*`]{1,6}\S{0,20}\s+\S{0,20}$", re.IGNORECASE
)
# A date is a version only where a name or a word says so: "the version 2023-06-19".
_OF_A_DATE = re.compile(
    rf"(?:\b(?:version|release|snapshot)|(?<![\w.])(?:{ANY_NAME})\d?(?:[_ ]\d\.\d{{1,2}})?)"
    r"(?:\s+of)?[\s:(*`-]{1,3}$",
    re.IGNORECASE,
)
_OF_UBUNTU = re.compile(r"[12]\d\.(?:04|10)(?:\.\d)?(?![\w.]*\d)")
_OF_STANDARD = re.compile(r"\b(?:standard|smt-?lib|language)\b[\s,(]{1,4}version\s$", re.IGNORECASE)
_OF_THE_STANDARD = re.compile(r"\s+of\s+the\s+(?:standard|smt-?lib|language)\b", re.IGNORECASE)
_APART = re.compile(
    r"(?:[,;(]\s*)?\b(?:but|while|whereas|although|though|however|yet|instead|where|when\s+in|vs\.?|versus)\b"
    r"|,\s+and\s+(?=(?:I|we)\b)|,?\s+and\s+(?=not\s+(?:in|with|on|for|under)\b)|;\s|,\s+(?=(?:and\s+)?only\s+(?:with|in|on|for|by|using|under|since)\b)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\W*(?:but|while|whereas|although|though|however|yet)\b|;", re.IGNORECASE)
_ACTS = re.compile(
    r"\b(?:returns?|gives?|gave|answers?|produces?|reports?|yields?|does|did|do|takes?|took|needs|needed)\b",
    re.IGNORECASE,
)
# "but not in 4.8.8", after a version with a verdict
_OPPOSED = re.compile(
    r"\W*(?:but|and)\s+(?:(?:it\s+does\s+)?not|neither)\s+(?:with|in|on|for|by|using|under|since|the|version|v?\d)"
    r"|\W*(?:(?:but|and)\s+)?only\s+(?:with|in|on|for|by|using|under|since|from|v?\d)",
    re.IGNORECASE,
)
# "Not in 4.8.8.", after a sentence with a verdict
_NOT_IN = re.compile(
    r"\W*not\s+(?:with|in|on|for|by|using|under)\s+(?:\S+\s+){0,3}?\S*\d[^,;]{0,20}$", re.IGNORECASE
)
# "but in 4.8.8", after a version with a verdict, and with none of its own
_BUT_IN = re.compile(
    r"\W*but\s+(?:(?:it\s+)?(?:does|is|did|was)\s+)?(?:with|in|on|for|under|since)\s+(?:the\s+)?\S*\d",
    re.IGNORECASE,
)
_OPPOSITE = {GOOD: BAD, FORMER: BAD, FIXED: BAD, BAD: GOOD}
_EVENT = re.compile(
    r"""\b(?:
        (?P<answer>(?:un)?sat|unknown|I\s+don't\s+know)(?:isfiable)?\b
          (?!\.\w|[ -](?:cores?|solvers?|models?|formulas?
          |instances?|problems?|files?|quer(?:y|ies)|benchmarks?|inputs?|scripts?|examples?|cases?|sort|symbol|option|parameter))
      | (?P<former>worked|used\s+to|until\s+now
          |(?:last|latest|known|newest|most\s+recent)[\s-]+(?:known[\s-]+)?(?:good|working|unaffected|correct)
          |last\s+(?:\w+\s+){1,3}(?:that|which|to|where)\s+(?:still\s+)?(?!(?:I|we|you|they|it|is|was|has|had|does|can|could|will
            |fail\w*|crash\w*|hang\w*|times?|br[eo]a?k\w*|seg\w*|abort\w*|loops?)\b)\w+
          |last\s+(?:\w+\s+){1,3}(?:that|which)\s+is\s+(?:right|correct|fine)
          |(?:our|my|the)\s+(?:old|previous|former)\s+(?:version|commit|revision|build|one)\s+(?:is|was)
          |it\s+(?:did|was|had\s+(?:one|an\s+effect))(?=\s+(?:in|with|on|until|up\s+to)\b))
      | (?P<fixed>no\s+longer\b(?!\s+(?:work|correct|solve|terminat|pass|prove|complet
          |finish|verif|succeed|able|react|respond|converg|accept|manage|come|can))|(?:fix(?:es|ed)|(?:will|to|should|can|I'll|we'll)\s+fix)
            (?:\s+(?:this|the|that|it)(?:\s+(?:bug|issue|problem|error|regression|crash))?)?|resolved|repaired|addressed|gone|(?:the|a)\s+fix\b(?!\s+(?:introduc|br[eo]k|caus))
          |(?:issue|bug|problem|error|crash)\w*\s+(?:is|was|does)(?:\s+not|n't)|goes\s+back\s+to\s+normal
          |(?:roll|cut|mak|publish|releas)\w*\s+(?:out\s+)?an?\s+(?:new|next|bugfix|patch)\s+(?:release|version)|will\s+be\s+(?:in|part|out|released|included|available)|released?\s+in(?!\s+(?:19|20)\d\d\b)
          |(?<!still\s)(?<!also\s)(?:has|contains?|includes?)\s+(?:(?:it|this|that)(?!,?\s+(?:too|also|as|still|bug|issue|problem))|the\s+(?:fix|change|patch))|uploaded
          |(?:(?:can)?not|n['’]t|unable\s+to|fail(?:s|ed)?\s+to)\s+(?:\w+\s+)?(?:repro(?:s|duc\w*)?|(?:get|see|observe|trigger|confirm|replicate)\s+(?:this|it|that|the\s+(?:bug|issue|problem|crash|error|same))))
      | (?P<good>works?|(?<!I\sam\s)(?<!we\sare\s)(?<!currently\s)(?<!I'm\s)working
          |fine|ok(?:ay)?|correct(?:ly)?|right|good|pass(?:es|ed)?|succeed(?:s|ed)?
          |(?<!attempt\sto\s)(?<!attempts\sto\s)(?<!trying\sto\s)(?<!tried\sto\s)(?<!try\sto\s)(?<!want\sto\s)solve[sd]?|prove[sd]?|proven|discharge[sd]?|decide[sd]?|completes?|terminates?|(?<!to\s)finish(?:es|ed)?|fast(?:er)?|quick(?:ly|er)?|better|instant(?:ly|aneous\w*)|in\s+no\s+time|(?:less\s+than|under|within)\s+(?:a|one)\s+second
          |immediately|(?:ends?|ended|stops?|stopped|done)\s+(?:at\s+once|right\s+away)|verif(?:y|ies)|verified(?!\s+(?:on|that|this|it|in|against))|unaffected|as\s+expected
          |(?:what|as)\s+(?:I|we)\s+(?:would\s+)?expect(?:ed)?
          |expected\s+(?:answer|behaviou?r|result|output|verdict|value|model))
      | (?P<bad>crash\w*|seg(?:mentation)?[- ]?fault\w*|fail\w*|hang(?:s|ing)?|hung|time[sd]?[- ]?outs?
          |timing\s+out|broken?|breaks|wrong(?:ly)?|incorrect(?:ly)?|bogus|unsound\w*|bug(?:gy|s)?|bad|affected
          |slow(?:er|ly|down|s)?|(?:very|too|so)\s+long|(?<!no\s)regress\w*|errors?(?!\s+messages?)|forever|infinit(?:e|ely|y)|never\s+(?:returns?|ends|finish\w*|terminat\w*)|unresponsive|indefinitely|(?<!not\s)affects?|start(?:s|ed|ing)?\s+(?:with|in|from|at)|see(?:ing)?\s+(?:this|it|the\s+same|the\s+(?:bug|issue|problem|crash|error))|loops?|stuck|still\s+(?:running|there|present|the\s+case|(?:has|have)\s+(?:it|this))|behaves?\s+(?:like\s+(?:this|that)|the\s+same|so)|invalid
          |abort(?:s|ed)?|dies|died|gives?\s+up|no\s+effect|replayable|triggers|leaks?|assertion|asserts|throws?|diverges?|reproduc\w*|observe[sd]?|happens?|occurs?
          |present|exhibits?|appears|persists?|problems?|issues?|exceptions?|worse|(?<!no\s)longer|times\s+as\s+long)
      | (?P<opposite>(?:is|are|was|were|does|do|did)(?:\s+not|n't)
          (?=[\s.,;)!*]*$|,\s+(?:it|and|but|so|instead)\b))
      | (?P<time>\d+(?:\.\d+)?)\s*(?P<unit>ms|milliseconds|s|secs?|seconds?|min|mins|minutes?|h|hours?)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|no|never|cannot|without|nor|unable|longer|hardly)|n['’]t)\s(?:seem\s+to\s+(?:be|have|show)\s)?(?:\s*[\w.]+\s){0,2}\s*$",
    re.IGNORECASE,
)
_NEITHER = re.compile(r"\bneither\b", re.IGNORECASE)
_BETTER = re.compile(r"\b(?:faster|quicker|better)\s*$", re.IGNORECASE)
# Before a version that is compared with, and before one that is only a bound.
_COMPARED = re.compile(
    r"\b(?:than|(?<!built )(?<!linked )(?<!compiled )(?<!run )(?<!tested )(?<!checked )against"
    r"|(?:compared|in\s+comparison)\s+(?:to|with)|unlike|relative\s+to|with\s+respect\s+to|w\.?r\.?t\.?"
    r"|(?:downgrad|revert|went|going|go|roll)\w*\s+(?:\w+\s+)?(?:back\s+)?to|back\s+to"
    r"|regress\w*\s+(?:from|after)|stay\w*\s+(?:with|on|at)|(?:before|previously|formerly)(?=:)|(?:version|release|one)\s+before)\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:before|prior\s+to|(?:older|earlier|newer|later|lower|higher)\s+than|after|below|above)"
    r"\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_CHAINED = re.compile(
    r"(?:[\s,/&`*()\[\]|–+-]|\b(?:and|or|to|through|as|well|both|also|even|versions?|releases?|v|the|with|in|on"
    rf"|for|(?:{ANY_NAME})\d?)\b)*",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"[.\s]*(?:->|-->|→|=>|to|and)\s*"
    rf"(?:(?:the|version|release|current|latest|newest|new|master|main|head|branch|(?:{ANY_NAME})\d?)[\s(-]*){{0,4}}v?",
    re.IGNORECASE,
)
# "a goal that 4.5.0 proved"
_SUBJECT = re.compile(rf"\b(?:that|which)\s+(?:(?:{ANY_NAME})\d?[\s-])?v?$", re.IGNORECASE)
# "all versions from 4.8.5 to 4.8.8"
_ALL_OF = re.compile(
    r"\b(?:all|any|every|each|versions|releases)(?:\s+(?:of\s+)?(?:the\s+)?[\w-]+){0,3}\W+(?:from|between)\W+(?:\w+\W+){0,2}v?$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\bbetween\W+(?:\w+\W+){0,5}$", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:,|/|&|,?\s*(?:and|or))\s*v?")
# "after the upgrade to 4.8.8 from 4.8.7"
_FROM = re.compile(r"[\s,()]*from\s*(?:(?:the|version|release)\s*){0,2}v?", re.IGNORECASE)
_TO = re.compile(r"\bto\W+(?:\w+\W+){0,4}v?$", re.IGNORECASE)
_JOINED = re.compile(r",|\band\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]{0,60}\)")
_CHANGE = re.compile(
    r"regress|slow|differ|chang|upgrad|updat|broke|between|->|→|=>|since|bug|switch|mov", re.IGNORECASE
)
# A question that says what it asks about.
_ASKS_WHY = re.compile(r"\W*(?:(?:any\s+\w+|do\s+you\s+know)\s+)?(?:why|how\s+come)\b", re.IGNORECASE)
# "Older versions (4.8.5 and 4.8.6) behave the same."
_OTHERS_TOO = re.compile(
    r"\W*(?:the\s+)?(?:older|earlier|previous|other|some)\s+(?:\w+\s+)?(?:versions?|releases?|ones?|builds?)\b.*\b(?:same|too|also|as\s+well|similar\w*)\b",
    re.IGNORECASE,
)
_OLDER = re.compile(
    r"(?:the\s+)?(?:older|earlier|previous)\s+(?:versions?|releases?|commits?|builds?)\b", re.IGNORECASE
)
# "Bisected to 1f2e3d4, its parent is fine."
_PARENT = re.compile(r"[,;(]?\s*(?:and\s+)?\b(?:its|the|whose)\s+parent\b[^;]{0,60}", re.IGNORECASE)
_TOO = re.compile(
    r"\b(?:too|also|even|as\s+well|likewise|both|all|neither|nor|(?:the|do(?:es)?)\s+same(?!\s+(?!(?:bug|problem|issue|error|answer|result|behaviou?r|happens|way)\b)\w)|older|earlier|previous|originally|initially|tested|tried)\b|\?",
    re.IGNORECASE,
)
_SLOW = re.compile(
    r"\b(?:time[sd]?[- ]?outs?|timing\s+out|hang|hangs|hung|forever|stuck|endless\w*"
    r"|(?:not|never|n't)\s+(?:terminat|finish)\w*)\b",
    re.IGNORECASE,
)
# A goal that is proved may be a wrong one.
_PROVED = re.compile(r"\bprov|\bdischarge", re.IGNORECASE)
# A text that names more versions is a change log.
_MOST = 100
_SECONDS = {"m": 60.0, "h": 3600.0, "s": 1.0}


def ordered(version: str) -> tuple[int, ...]:
    """A key that sorts versions."""
    is_date = version.startswith("20") and version[4:5] == "-"
    # What follows may be a hash, whose digits say nothing: "1.2.0-dev.19.77ce02b1f", "1.1.0.dev+a9b3".
    numbers = f"20.{version}" if is_date else re.split(r"-|\.dev", version)[0]
    return tuple(map(int, re.findall(r"\d+", numbers)))


def mentions(text: str) -> list[Mention]:
    """The versions that a text names, in order."""
    if not _WORTH_READING.search(text):
        return []
    parts = (" ".join(part.split()) for part in _SENTENCE.split(text))
    found: list[Mention] = []
    for part in parts:
        if _WORTH_READING.search(part):
            part = _IN_NAME.sub(r"\g<name> ", part[:2000])
            found += _verdicts(part, _versions_in(part), found[-1].verdict if found else "")
    return _by_time(found)


def commit_verdicts(text: str) -> dict[str, str]:
    """What a text says of the commits that it names: those with a verdict, ``former`` for older ones."""
    if not _HASH.search(text):
        return {}
    parts = (_PARENT.sub("", " ".join(part.split())[:2000]) for part in _SENTENCE.split(text))
    said = _by_time([one for part in parts if _HASH.search(part) for one in _commits_in(part)])
    found = {one.version: FORMER if _OLDER.match(one.text) else one.verdict for one in said}
    return {commit: verdict for commit, verdict in found.items() if verdict}


def _commits_in(text: str) -> list[Mention]:
    """The commits in a sentence. The versions beside them take their own verdicts."""
    hashes = list(_HASH.finditer(text))
    found = sorted([*_versions_in(text), *hashes], key=lambda one: one.start())
    commits = {one["v"] for one in hashes}
    return [one for one in _verdicts(text, found) if one.version in commits]


def _versions_in(text: str) -> list[re.Match[str]]:
    """The numbers in a sentence that are versions of solvers."""
    found: list[re.Match[str]] = []
    last: re.Match[str] | None = None  # of something else: so are the versions in its list
    for match in _VERSION.finditer(text):
        is_listed = last is not None and _LISTED.fullmatch(text[last.end() : match.start()])
        is_other = _OF_THE_STANDARD.match(text, match.end()) or not _is_of_a_solver(text, match.start())
        if is_listed or is_other:
            last = match
        else:
            found.append(match)
    return found


def _verdicts(text: str, found: Sequence[re.Match[str]], verdict: str = "") -> list[Mention]:
    """The versions or commits that were found in a sentence, each with what it says of them. ``verdict``: the
    last one of the sentence before it.
    """
    if not found:
        return []
    asks = text.endswith("?") and not _ASKS_WHY.match(text)
    if asks or _OTHERS_TOO.match(text):  # it says nothing, or names others beside the one that is meant
        return [Mention(match["v"], "", "", (), text[:200]) for match in found]
    cuts = _cuts(text, found)
    parts: list[list[Mention]] = []
    if _NOT_IN.match(text) and (opposite := _OPPOSITE.get(verdict)):
        return [replace(one, verdict=opposite) for one in _in_part(text, 0, len(text), found, "")]
    for start, end in pairwise(cuts):
        here = [match for match in found if start <= match.start() < end]
        if not here:
            verdict = _verdict(text, list(_EVENT.finditer(text, start, end)), start)
            continue
        part = list(_in_part(text, start, end, here, verdict))
        if opposite := _OPPOSED.match(text, start) and _OPPOSITE.get(verdict):
            part = [replace(one, verdict=opposite) for one in part]
        elif _CONTRAST.match(text, start):
            if opposite := _OPPOSITE.get(verdict):
                part = _contrasted(part, opposite, _BUT_IN.match(text, start) is not None)
            elif parts and (opposite := _OPPOSITE.get(part[0].verdict)):
                parts[-1] = _contrasted(parts[-1], opposite)
        parts.append(part)
        verdict = part[-1].verdict
    return _by_step(text, found, [one for part in parts for one in part])


def _contrasted(part: list[Mention], verdict: str, is_bare: bool = False) -> list[Mention]:
    """A part with the verdict of a contrast, if it has none of its own: it must say what its versions do, or
    be ``is_bare``.
    """
    if any(one.verdict for one in part):
        return part
    if not is_bare and not any(one.answers or _ACTS.search(one.text) for one in part):
        return part
    return [replace(one, verdict=verdict) for one in part]


def _cuts(text: str, found: Sequence[re.Match[str]]) -> list[int]:
    """Where the parts of a sentence start, and its end. A part without a version belongs to the part before
    it, if that says nothing of its versions.
    """
    cuts = [0]
    starts = [match.start() for match in _APART.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        has_version = any(start <= match.start() < end for match in found)
        if has_version or _EVENT.search(text, cuts[-1], start):
            cuts.append(start)
    return [*cuts, len(text)]


def _is_of_a_solver(text: str, start: int) -> bool:
    """Whether the words before a version allow that it is one of a solver."""
    before = text[max(0, start - 60) : start]
    if text.startswith("20", start) and text[start + 4 : start + 5] == "-":
        return _OF_A_DATE.search(before) is not None
    lead = _LEAD.search(before)
    word = (lead["word"] or "").lower() if lead else ""
    if (
        _OF_UBUNTU.match(text, start)
        or _NUMBERS.search(before)
        or _OF_STANDARD.search(text, max(0, start - 60), start)
    ):  # of a term, a language
        return False
    if not word or not {",", ";", ":"}.isdisjoint(before[-2:]) or _NAME.fullmatch(word):
        return True
    if word in _BEFORE:
        return not _NUMBER_OF.search(before)
    is_ordinary = lead is not None and _ORDINARY.fullmatch(lead["word"]) and word not in _OF_OTHERS
    is_clear = is_ordinary and _LONG.match(text, start + (text[start] in "vV"))
    return bool(is_clear) and not (_NUMBER_OF.search(before) or _OF_A_SYSTEM.search(before))


def _in_part(
    text: str, start: int, end: int, versions: Sequence[re.Match[str]], earlier: str
) -> Iterator[Mention]:
    """The versions in a part of a sentence. ``earlier``: the last verdict before it."""
    taken = [(match.start(), match.end()) for match in versions]
    events = [
        event
        for event in _EVENT.finditer(text, start, end)
        if not any(begin <= event.start() < stop for begin, stop in taken)
    ]
    versions_first = not events or versions[0].start() < events[0].start()
    names = list(_NAME.finditer(text, start, end))
    groups: list[list[re.Match[str]]] = []
    for match in versions:
        between = text[groups[-1][-1].end() : match.start()] if groups else ""
        # "4.8.8 (4.8.7 works)"
        opens = "(" in between and ")" not in between and text[match.end() : match.end() + 1] not in ("", ")")
        between = _ASIDE.sub("", between) if "(" in between else between
        is_chained = bool(groups) and not opens and _CHAINED.fullmatch(between) is not None
        if is_chained:
            groups[-1].append(match)
        else:
            groups.append([match])
    solver, verdict = "", earlier
    for place, group in enumerate(groups):
        first, last = group[0].start(), group[-1].end()
        limit = groups[place + 1][0].start() if place + 1 < len(groups) else end
        after = [event for event in events if event.start() >= last]
        before = [event for event in events if event.end() <= first]
        if _SUBJECT.search(text, max(start, first - 40), first) and after:
            said = after[:1]
        elif versions_first or (before and _JOINED.search(text, before[-1].end(), first)):
            said = [event for event in after if event.start() < limit]
            is_of_later = bool(after) and after[0]["former"] is not None
            said = said or (after[:1] if versions_first and not is_of_later else []) or before[-1:]
        else:
            said = before[-1:] or after[:1]
        if len(groups) > 1 and said and said[0]["time"]:  # what follows a time is an aside
            said = [event for event in said if event["time"] or event["answer"] or event["bad"]]
        if place and said and said[0]["former"] and said[0].end() <= groups[place - 1][0].start():
            said = []  # "the last one that works is 4.8.5, and 4.8.6": of the version before this one
        known = [name for name in names if name.start() < first]
        solver = known[-1][0].lower() if known else solver
        before_this, verdict = verdict, _verdict(text, said, first)
        if said and said[0]["opposite"]:
            verdict = _OPPOSITE.get(before_this, "")
        elif _NEITHER.search(text, start, first) and verdict in (GOOD, FORMER):
            verdict = BAD
        seconds = next((_seconds(event) for event in said if event["time"]), 0.0)
        answers = tuple(event["answer"].lower() for event in said if event["answer"])
        answers = tuple("unknown" if "know" in answer else answer for answer in answers)
        for match in group:
            yield Mention(match["v"], solver, verdict, answers, text[start:end].strip()[:200], seconds)


def _verdict(text: str, said: Sequence[re.Match[str]], start: int) -> str:
    lead = text[max(0, start - 60) : start]
    if compared := _COMPARED.search(lead):
        return BAD if _BETTER.search(lead[: compared.start()]) else FORMER
    if _BOUND.search(lead):
        return ""
    for event in said:
        kind = next((kind for kind in (FORMER, FIXED, GOOD, BAD) if event[kind]), "")
        if kind:
            negated = _NEGATED.search(text[max(0, event.start() - 40) : event.start()])
            if negated is None:
                return kind
            return BAD if kind != BAD else FIXED if "longer" in negated[0].lower() else GOOD
    return ""


def _seconds(event: re.Match[str]) -> float:
    unit = event["unit"].lower()
    return float(event["time"]) * (0.001 if unit.startswith(("ms", "mil")) else _SECONDS[unit[0]])


def _by_step(text: str, found: Sequence[re.Match[str]], named: list[Mention]) -> list[Mention]:
    """Of "from 4.8.7 to 4.8.8" the first is good and the second bad, if the sentence is about a change."""
    if len(found) < 2 or not _CHANGE.search(text):
        return named
    between = _ASIDE.sub("", text[found[0].end() : found[1].start()])
    if (
        len(found) == 2
        and _FROM.fullmatch(between)
        and _TO.search(text[max(0, found[0].start() - 40) : found[0].start()])
    ):
        return [replace(named[0], verdict=BAD), replace(named[1], verdict=FORMER)]
    if _ALL_OF.search(text[max(0, found[0].start() - 80) : found[0].start()]):
        return named
    is_between = _BETWEEN.search(text[max(0, found[0].start() - 60) : found[0].start()]) is not None
    if not _STEP.fullmatch(between) or (" and " in between and not is_between):
        return named
    if any(not _CHAINED.fullmatch(text[a.end() : b.start()]) for a, b in pairwise(found[1:])):
        return named
    first, second = ordered(named[0].version), ordered(named[1].version)
    if len(named) == 2 and is_between and first[:1] == second[:1] and second < first:
        return [replace(named[0], verdict=BAD), replace(named[1], verdict=FORMER)]
    return [replace(named[0], verdict=FORMER), *(replace(one, verdict=BAD) for one in named[1:])]


def _by_time(named: list[Mention]) -> list[Mention]:
    """Of versions of one solver that took different times, those nearer to the worst time are bad, the others
    good.
    """
    timed = [one for one in named if one.seconds]
    # One that does not end takes long, too.
    endless = any(one.verdict == BAD and not one.seconds and _SLOW.search(one.text) for one in named)
    if len(timed) + endless < 2:
        return named
    # A version without a name is one of the only solver that is named.
    only = {family_of(one.solver) for one in timed if one.solver}
    names = {one.solver: family_of(one.solver) if len(only) > 1 else "" for one in timed}
    times: dict[str, list[float]] = {}
    for one in timed:
        times.setdefault(names[one.solver], []).append(one.seconds)
    worst = {name: max(found) * (10 if endless else 1) for name, found in times.items()}
    # The geometric mean of the best and the worst time.
    limits = {name: sqrt(min(t) * worst[name]) for name, t in times.items() if worst[name] >= 2 * min(t)}
    return [
        replace(one, verdict=BAD if one.seconds >= limits[names[one.solver]] else GOOD)
        if one.seconds and not one.verdict and names[one.solver] in limits
        else one
        for one in named
    ]


def own_mentions(text: str, own: str) -> list[Mention]:
    """The versions of the solver ``own`` (a kin name; empty: of any) that a text names. Where their numbers
    compare, they also explain each other.
    """
    named = [one for one in mentions(text) if not own or not one.solver or family_of(one.solver) == own]
    series = {ordered(one.version)[:1] for one in named}
    names = {one.solver for one in named if one.solver}
    if len({one.version for one in named}) < 2 or len(series) > 1 or len(names) > 1 or len(named) > _MOST:
        return named
    if all((one.verdict, one.answers, one.text) == ("", (), named[0].text) for one in named):
        # One sentence names them, and says no more: "Tested with 4.8.5 and 4.8.6."
        newest = max(ordered(one.version) for one in named)
        return [replace(one, verdict=BAD) if ordered(one.version) == newest else one for one in named]
    return _by_age(_by_answers(named))


def _by_answers(named: list[Mention]) -> list[Mention]:
    """Versions that answer what a good one does are good, and those that answer something else are bad."""
    good = {one.version for one in named if one.verdict in (GOOD, FORMER, FIXED)}
    right = {one.answers for one in named if one.version in good and one.answers}
    if len(right) != 1:
        return named
    return [
        replace(one, verdict=GOOD if one.answers in right else BAD)
        if one.answers and not one.verdict
        else one
        for one in named
    ]


def _by_age(named: list[Mention]) -> list[Mention]:
    """A good version that is newer than all others has the fix. If no version is good, an older one that is
    named after a newer one is there for a comparison. If none is bad, those newer than the good ones are.
    """
    ages = {one.version: ordered(one.version) for one in named}
    by_verdict = {
        verdict: {ages[one.version] for one in named if one.verdict == verdict} for verdict in VERDICTS
    }
    good, bad = by_verdict[GOOD] | by_verdict[FORMER], by_verdict[BAD]
    neutral = by_verdict[""] - good - bad - by_verdict[FIXED]
    explained: list[Mention] = []
    for one in named:
        age, verdict = ages[one.version], one.verdict
        if verdict == GOOD and not _PROVED.search(one.text):
            verdict = FIXED if bad | neutral and age > max(bad | neutral) else GOOD
        elif age in neutral and not good and not _TOO.search(one.text):
            newer = {other.text for other in explained if age < ages[other.version] in bad | neutral}
            verdict = FORMER if newer and one.text not in newer else ""
        elif age in neutral and good and not bad:
            verdict = BAD if age > max(good) else ""
        explained.append(replace(one, verdict=verdict))
    return explained


@lru_cache(maxsize=256)
def family_of(name: str) -> str:
    """The solver that a tracker, a repository or a name in a text stands for: its kin, else a known name; or
    empty.
    """
    name = name.rpartition("/")[2]
    return kin_of(name) or (named_solver(name) or "").rstrip("0123456789").replace("-", "")
