"""What the solvers that tests are for accept: asked when something is drawn for the first time.

The corpus holds which of its formulas the reference solvers accept, in the versions installed when it was
learned. Every other target of a campaign (a release, a solver with options, a command line) is asked here
about the parts of tests, by the questions of :mod:`generator.questions`. A part is used if no target refuses
its question; a crash or a timeout is no refusal. So a test depends on the corpus, the seed and the targets'
versions, and not on when something was asked.

Answers are kept in the cache folder under ``accepted``, a file per target and version; crashes and timeouts
are not.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from base.cache import cache_folder
from corpus.acceptance import Asker, asker_of
from generator.questions import (
    CANARY,
    Node,
    nodes_of,
    nodes_of_part,
    question_of_atom,
    question_of_nodes,
)
from generator.seeds.script import SeedScript
from generator.templates import AtomTemplate, SkeletonTemplate
from smtlib import Term, postorder
from solvers.lookup import find_solver
from solvers.registry import REFERENCES
from solvers.running.script import Script
from solvers.solver import Solver

_FORMAT = "2"
"""Names the questions and how they are asked; to be changed with them."""

_LARGEST_FILE = 4 << 20
"""A file of answers that has grown larger, in bytes, is started again: some 220,000 answers."""

_KEPT_SCRIPTS = 4096
_AT_ONCE = 48
"""Operators in one script of questions."""

_SAMPLE, _ENOUGH = 16, 3
"""At most 16 of many parts are asked about, until 3 are accepted."""

_T = TypeVar("_T")
_Part = tuple[str, int]
"""The kind and row id of a part of tests."""


class Targets:
    """Says which parts of tests all targets accept. Without targets to ask, all parts are accepted."""

    def __init__(self, specs: Iterable[str] = ()) -> None:
        """``specs`` are those of solvers; plain references are not asked, for the corpus knows them."""
        self.specs = tuple(spec for spec in dict.fromkeys(specs) if spec not in REFERENCES)
        self._lock = threading.Lock()
        self._nodes: dict[tuple[Node, bool], bool] = {}
        self._scripts: dict[str, bool] = {}

    def __reduce__(self) -> tuple[type[Targets], tuple[tuple[str, ...]]]:
        """A strategy is sent to the workers of a cluster, which ask their own solvers."""
        return Targets, (self.specs,)

    def __bool__(self) -> bool:
        """Whether there is a target to ask."""
        return bool(self.specs)

    @cached_property
    def _targets(self) -> list[_Target]:
        """The targets that can be asked: none that refuses the simplest script, or takes too long for it."""
        found = [_Target(find_solver(spec)) for spec in self.specs]
        return [target for target in found if target.accepts(CANARY, in_time=True)]

    def accept(self, text: str) -> bool:
        """Whether no target refuses the script ``text``.

        Raises what :func:`find_solver` does where a target cannot be had.
        """
        if not self.specs:
            return True
        with self._lock:
            return all(target.accepts(text) for target in self._targets)

    def accept_nodes(self, nodes: Iterable[Node], bound: bool) -> bool:
        """Whether they accept each operator at its sorts; ``bound``: below quantifiers, too."""
        if not self.specs:
            return True
        nodes = list(nodes)
        if bound and not self.accept_nodes(nodes, bound=False):
            return False
        self.learn_nodes(nodes, bound)
        return all(self._nodes[node, bound] for node in nodes)

    def learn_nodes(self, nodes: Iterable[Node], bound: bool) -> None:
        """Ask about all ``nodes`` not known yet, many at once."""
        new = list(dict.fromkeys(node for node in nodes if (node, bound) not in self._nodes))
        if new:
            with self._lock:
                answers = [target.accepts_nodes(new, bound) for target in self._targets]
            for number, node in enumerate(new):
                self._nodes[node, bound] = all(answer[number] for answer in answers)

    def accept_terms(self, terms: Iterable[Term], bound: bool) -> bool:
        """Whether they accept each of ``terms`` by itself, whatever its arguments."""
        return not self.specs or self.accept_nodes(nodes_of(terms), bound)

    def accept_script(self, text: str, script: SeedScript) -> bool:
        """Whether they accept the seed ``script``, whose text was ``text``, and each term in it."""
        if not self.specs:
            return True
        found = self._scripts.get(text)
        if found is None:
            if len(self._scripts) >= _KEPT_SCRIPTS:
                self._scripts.clear()
            read = Script(script.text().encode("utf-8", "replace")).without_solving()
            found = self.accept(read.decode()) and self.accept_terms(script.all_terms, script.is_quantified)
            self._scripts[text] = found
        return found


class AcceptedTerms:
    """The terms that the targets accept in mutants of one seed."""

    def __init__(self, targets: Targets, script: SeedScript) -> None:
        self._targets = targets
        self._script = script
        self._known = set(script.terms) if targets else set()
        self._is_bound = bool(targets) and script.is_quantified

    def accept(self, root: Term) -> bool:
        """Whether they accept the terms below ``root`` that are not known yet. If so, all are known then."""
        if not self._targets:
            return True
        new = list(postorder([root], self._known))
        is_bound = self._is_bound or any(term.variables for term in new)
        # All of a formula is below quantifiers, or beside one, once it has its first.
        before: list[Term] = []
        if is_bound and not self._is_bound:
            before = [*self._script.all_terms, *sorted(self._known, key=lambda term: term.id)]
        if self._targets.accept_terms([*before, *new], is_bound):
            self._is_bound = is_bound
            return True
        self._known.difference_update(new)
        return False


class AcceptedParts:
    """Which atoms and skeletons of one library the targets accept."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._known: dict[_Part, bool] = {}
        self._guessed: dict[_Part, AtomTemplate | SkeletonTemplate] | None = None

    def accept_atom(self, template: AtomTemplate) -> bool:
        """Whether they accept an atom in a test without quantifiers."""
        return self._accept(("atom", template.id), template)

    def accept_bound_atom(self, template: AtomTemplate) -> bool:
        """Whether they accept an atom in a test with quantifiers."""
        return self.accept_atom(template) and self._accept(("bound", template.id), template)

    def accept_skeleton(self, template: SkeletonTemplate) -> bool:
        """Whether they accept a skeleton."""
        return self._accept(("skeleton", template.id), template)

    def settle(self, make: Callable[[], _T]) -> _T:
        """What ``make`` returns once it asks about known parts only.

        Until then each part asked about is taken for accepted, and all of them are asked about at once:
        starting a program for each would take too long. ``make`` has to do the same in each call, and may
        settle something else.
        """
        while True:
            guessed: dict[_Part, AtomTemplate | SkeletonTemplate] = {}
            outer, self._guessed = self._guessed, guessed
            try:
                made = make()
            finally:
                self._guessed = outer
            if not guessed:
                return made
            self._find_out(guessed)

    def sample(self, parts: Sequence[_T], accepts: Callable[[_T], bool]) -> list[_T]:
        """A few of ``parts`` that are accepted, from all over; none without targets."""
        if not self._targets:
            return []
        step = max(1, len(parts) // _SAMPLE)
        return list(itertools.islice(filter(accepts, parts[: step * _SAMPLE : step]), _ENOUGH))

    def _accept(self, part: _Part, template: AtomTemplate | SkeletonTemplate) -> bool:
        if not self._targets:
            return True
        found = self._known.get(part)
        if found is None:
            if self._guessed is not None:
                self._guessed[part] = template
                return True
            self._find_out({part: template})
            found = self._known[part]
        return found

    def _find_out(self, parts: Mapping[_Part, AtomTemplate | SkeletonTemplate]) -> None:
        targets = self._targets
        asked = {part: nodes_of_part(template) for part, template in parts.items()}
        bound = {part: part[0] == "bound" or quantified for part, (_, quantified) in asked.items()}
        for below in (False, True):
            some = [nodes or [] for part, (nodes, _) in asked.items() if bound[part] or not below]
            targets.learn_nodes(itertools.chain(*some), below)
        for part, (nodes, _) in asked.items():
            if nodes is not None:
                self._known[part] = targets.accept_nodes(nodes, bound[part])
            else:
                template = parts[part]
                assert isinstance(template, AtomTemplate)
                self._known[part] = targets.accept(question_of_atom(template, bound[part]))


NO_TARGETS = Targets()
"""Nothing is asked, everything is accepted."""


@cache
def targets_for(specs: tuple[str, ...]) -> Targets:
    """The targets of these specs; the strategies of a campaign share them."""
    return Targets(specs)


class _Target:
    """One target, with its answers so far."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._file = cache_folder() / "accepted" / f"{_identity(solver)}.txt"
        self._askers: dict[int, Asker] = {}

    @cached_property
    def _answers(self) -> dict[str, bool]:
        """The answers of before: lines of a digest and 1 or 0."""
        with suppress(OSError):
            if self._file.stat().st_size <= _LARGEST_FILE:
                lines = (line.split(" ") for line in self._file.read_text("ascii", "replace").splitlines())
                return {line[0]: line[1] == "1" for line in lines if len(line) == 2}
            self._file.unlink()
        return {}

    def accepts(self, text: str, in_time: bool = False) -> bool:
        """Whether this target does not refuse ``text``; ``in_time``: and neither crashes nor takes long."""
        digest = _digest(text)
        if digest not in self._answers:
            (outcome,) = self._ask([text])
            self._learn([digest], outcome, in_time)
        return self._answers[digest]

    def accepts_nodes(self, nodes: Sequence[Node], bound: bool) -> list[bool]:
        """Whether this target does not refuse each of ``nodes``."""
        digests = [_digest(question_of_nodes([node], bound)) for node in nodes]
        new = [pair for pair in zip(digests, nodes, strict=True) if pair[0] not in self._answers]
        self._find_out([new[start : start + _AT_ONCE] for start in range(0, len(new), _AT_ONCE)], bound)
        return [self._answers[digest] for digest in digests]

    def _find_out(self, groups: Sequence[Sequence[tuple[str, Node]]], bound: bool) -> None:
        """Ask about each group at once; if it is accepted, so is each of its nodes, else it is split."""
        texts = [question_of_nodes([node for _, node in group], bound) for group in groups]
        split: list[Sequence[tuple[str, Node]]] = []
        for group, outcome in zip(groups, self._ask(texts), strict=True):
            if outcome == "accepted" or len(group) == 1:
                self._learn([digest for digest, _ in group], outcome)
            else:
                split += (group[: len(group) // 2], group[len(group) // 2 :])
        if split:
            self._find_out(split, bound)

    def _ask(self, texts: Sequence[str]) -> list[str]:
        return [a.outcome for a in self._asker().ask([text.encode("utf-8", "replace") for text in texts])]

    def _learn(self, digests: Sequence[str], outcome: str, in_time: bool = False) -> None:
        accepted = outcome == "accepted" if in_time else outcome != "refused"
        self._answers.update(dict.fromkeys(digests, accepted))
        # The machine may only have been busy when the target took too long or crashed.
        if outcome in ("accepted", "refused"):
            self._keep("".join(f"{digest} {int(accepted)}\n" for digest in digests).encode())

    def _asker(self) -> Asker:
        """The process to ask: one that this process started, not one that it was forked from."""
        asker = self._askers.get(os.getpid())
        if asker is None:
            asker = self._askers[os.getpid()] = asker_of(self._solver)
        return asker

    def _keep(self, lines: bytes) -> None:
        # Several processes may append; a few short lines are written in one piece.
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            try:
                os.write(handle, lines)
            finally:
                os.close(handle)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _identity(solver: Solver) -> str:
    """Differs where the answers may: by version and options, and for a program by its files."""
    parts = [_FORMAT, *solver.spec_options]
    if solver.release is not None:
        parts += [solver.family, solver.release]
    else:
        parts += [*solver.argv, solver.version(), *map(_stamp, solver.argv)]
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


def _stamp(part: str) -> str:
    with suppress(OSError):
        found = Path(part).stat()
        return f"{found.st_size} {found.st_mtime_ns}"
    return ""
