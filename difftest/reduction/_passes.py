"""Passes that make a script smaller while a check keeps holding: on commands for any text, on typed terms
where the script is well sorted.

What they try is always a script that is well formed and well sorted when the one before was, so a check is
rarely spent on something that a solver refuses. The order goes from coarse to fine, and the loop ends when a
whole round finds nothing more.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from difftest.models.refuting import Refuter
from difftest.reduction._pieces import (
    Piece,
    captures,
    descendants,
    from_the_top,
    introduced,
    levels,
    typed_piece,
)
from smtlib import (
    CheckedScript,
    Declaration,
    Kind,
    Sort,
    Term,
    default_theories,
    free_variables,
    postorder,
    rewrite,
)
from smtlib.checker import Definition, read_well_sorted
from smtlib.reader import is_simple_symbol
from smtlib.scanner import LEXEME, lexemes
from smtlib.terms import substitute
from smtlib.values import simple_values
from solvers.running import script as plain
from solvers.tactics import COMMAND, shorter_rows

Check = Callable[[str], bool]

_BY_TACTIC = re.compile(rf"\(\s*{COMMAND}\s+(.*?)\s*\)", re.S)
_MAX_DESCENDANTS = 8
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _is_store(term: Term) -> bool:
    return term.op.name == "store" and term.op.kind is Kind.OPERATOR


class TimeUp(Exception):
    """The time for a reduction is over; what was reached so far is kept."""


class Passes:
    """One reduction: ``text`` is the smallest script so far for which ``check`` held.

    ``check`` must hold for the text given at first; ``names=False`` leaves names as they are. Ends at
    ``deadline`` (by ``time.monotonic``) or when nothing more is found; ``run`` gives whether it got to its
    end.
    """

    def __init__(self, text: str, check: Check, deadline: float, names: bool = True) -> None:
        self.text = text
        self._names = names
        self.checks = 0
        self._check = check
        self._deadline = deadline
        self._refused: set[bytes] = set()
        self._checked: CheckedScript | None = None
        self._pieces: tuple[Piece, ...] = ()

    def run(self, max_rounds: int = 20) -> bool:
        """Reduce; whether a round without success was reached in time."""
        try:
            self._load()
            for _ in range(max_rounds):
                before = self.text
                self._round()
                if self.text == before:
                    break
            if self._names:
                self._shorten_names()
        except (TimeUp, RecursionError):
            return False
        return True

    def _round(self) -> None:
        self._drop_asserts()
        self._drop_unused()
        self._drop_others()
        if self._checked is None:
            return
        self._split_conjunctions()
        self._drop_asserts()
        self._inline()
        self._simplify_everywhere()
        self._simplify_terms()
        self._drop_unused()
        self._merge_symbols()
        self._drop_unused()

    # Loading

    def _load(self) -> None:
        """Cut the text into pieces: with terms if the script is well sorted and its reprint holds, too."""
        checked = read_well_sorted(self.text)
        if checked is not None and checked.commands:
            pieces = tuple(typed_piece(checked, number) for number in range(len(checked.commands)))
            if self._accept(pieces):
                self._checked = checked
                return
        raw = plain.Script.of(self.text)
        pieces = tuple(Piece(command.name, raw.text_of(command)) for command in raw.commands)
        if not self._accept(pieces):
            # Something between the commands matters: nothing can be cut safely here.
            self._pieces = ()

    # Trying

    def _accept(self, pieces: Sequence[Piece]) -> bool:
        """Take ``pieces`` for the script if the check holds for it."""
        text = "".join(piece.text + "\n" for piece in pieces)
        if text != self.text and not self._holds(text):
            return False
        self._pieces = tuple(pieces)
        self.text = text
        return True

    def _holds(self, text: str) -> bool:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()
        if digest in self._refused:
            return False
        if time.monotonic() >= self._deadline:
            raise TimeUp
        self.checks += 1
        if self._check(text):
            return True
        self._refused.add(digest)
        return False

    def _drop(self, numbers: Iterable[int]) -> bool:
        gone = set(numbers)
        if not gone:
            return False
        return self._accept([piece for number, piece in enumerate(self._pieces) if number not in gone])

    def _drop_as_many(self, eligible: Callable[[Piece], bool]) -> None:
        """Delta debugging over the commands that are ``eligible``: halves first, single ones last."""
        total = sum(map(eligible, self._pieces))
        size = total
        while size:
            start = 0
            while True:
                numbers = [number for number, piece in enumerate(self._pieces) if eligible(piece)]
                if start >= len(numbers):
                    break
                if not self._drop(numbers[start : start + size]):
                    start += size
            size = size // 2

    # Commands

    def _drop_asserts(self) -> None:
        self._drop_as_many(lambda piece: piece.name == "assert")

    def _drop_unused(self) -> None:
        """Declarations and definitions that nothing uses, all at once, again while that frees others."""
        while True:
            uses = Counter(token for piece in self._pieces for token in set(lexemes(piece.text)))
            unused = [
                number
                for number, piece in enumerate(self._pieces)
                if (name := introduced(piece)) is not None and uses[name] == 1
            ]
            if unused and self._drop(unused):
                continue
            # One of them matters by being there at all.
            dropped = [number for number in reversed(unused) if self._drop([number])]
            if not dropped:
                return

    def _drop_others(self) -> None:
        """Options and information one by one, queries, questions, levels, declarations of datatypes."""
        self._drop_as_many(lambda piece: piece.name in ("set-info", "echo") or piece.name.startswith("get-"))
        for name in ("set-option", "set-logic", "check-sat", "check-sat-assuming", "exit", "reset"):
            self._drop_one_by_one(name)
        self._shorten_tactics()
        self._drop_levels()
        self._drop_as_many(lambda piece: piece.name.startswith(("declare-datatype", "declare-codatatype")))
        self._drop_as_many(
            lambda piece: (
                piece.name not in ("assert", "check-sat", "push", "pop") and introduced(piece) is None
            )
        )

    def _drop_one_by_one(self, name: str) -> None:
        for number in reversed(range(len(self._pieces))):
            if number < len(self._pieces) and self._pieces[number].name == name:
                self._drop([number])

    def _shorten_tactics(self) -> None:
        """A question by a tactic as a plain one, else by a shorter tactic."""
        for number, piece in enumerate(self._pieces):
            asked = _BY_TACTIC.fullmatch(piece.text)
            if asked is None or self._replace(number, "check-sat", "(check-sat)"):
                continue
            tactic: str | None = asked[1]
            while tactic is not None:
                rows = shorter_rows(tactic)
                tactic = next(
                    (row for row in rows if self._replace(number, COMMAND, f"({COMMAND} {row})")), None
                )

    def _replace(self, number: int, name: str, text: str) -> bool:
        return self._accept([*self._pieces[:number], Piece(name, text), *self._pieces[number + 1 :]])

    def _drop_levels(self) -> None:
        """Pushes with their pops: all, then each pair, then each with what stands between."""
        if self._drop(number for number, piece in enumerate(self._pieces) if piece.name in ("push", "pop")):
            return
        changed = True
        while changed:
            changed = False
            for start, end in levels(self._pieces):
                if self._drop([start, end]) or self._drop(range(start, end + 1)):
                    changed = True
                    break

    # Terms

    @property
    def _typed(self) -> CheckedScript:
        assert self._checked is not None, "only typed scripts come here"
        return self._checked

    def _split_conjunctions(self) -> None:
        """Top-level conjunctions into assertions of their own, which then can be dropped."""
        pieces: list[Piece] = []
        for piece in self._pieces:
            term = piece.term
            if (
                piece.name == "assert"
                and term is not None
                and term.name == "and"
                and term.op.declaration is None
            ):
                pieces.extend(piece.with_term(arg) for arg in term.args)
            else:
                pieces.append(piece)
        if len(pieces) != len(self._pieces):
            self._accept(pieces)

    def _inline(self) -> None:
        """Applications of defined functions by their bodies."""
        checked = self._typed
        for declaration, definition in checked.definitions.items():
            if any(term.op.declaration is declaration for term in postorder([definition.body])):
                continue

            def change(
                term: Term, args: tuple[Term, ...], definition: Definition = definition
            ) -> Term | None:
                if term.op.declaration is not definition.declaration or len(args) != len(definition.params):
                    return None
                return None if captures(definition, args) else definition.applied(checked.table, args)

            self._map_terms(change)

    def _map_terms(self, change: Callable[[Term, tuple[Term, ...]], Term | None]) -> bool:
        """Rewrite all terms of the script; whether that changed something and the check held."""
        pieces = []
        changed = False
        for piece in self._pieces:
            if piece.term is not None:
                term = rewrite(self._typed.table, piece.term, change)
                if term is not piece.term:
                    changed = True
                    piece = piece.with_term(term)
            pieces.append(piece)
        return changed and self._accept(pieces)

    def _simplify_everywhere(self) -> None:
        """What a finding needs in the same way in several places: scalars written as literals, stores at one
        index left out, a term in several commands replaced.
        """
        checked = self._typed
        self._map_terms(Refuter(checked.table).scalar)
        for index in dict.fromkeys(term.args[1] for term in self._terms() if _is_store(term)):
            self._map_terms(lambda term, args, i=index: args[0] if _is_store(term) and args[1] is i else None)  # type: ignore[misc]
        seen = Counter(t for p in self._pieces if p.term is not None for t in postorder([p.term]))
        for target in [term for term, count in seen.items() if count > 1][::-1]:
            for new in self._replacements(target):
                if not free_variables(new) and self._map_terms(
                    lambda term, _, new=new, target=target: new if term is target else None  # type: ignore[misc]
                ):
                    break

    def _terms(self) -> list[Term]:
        """The terms of the script, each once."""
        return list(postorder([piece.term for piece in self._pieces if piece.term is not None]))

    def _simplify_terms(self) -> None:
        """Every subterm by something simpler of its sort, the largest first."""
        numbers = [number for number, piece in enumerate(self._pieces) if piece.term is not None]
        for number in sorted(numbers, key=lambda n: -len(self._pieces[n].text)):
            self._simplify_piece(number)

    def _simplify_piece(self, number: int) -> None:
        done: set[Term] = set()
        while True:
            root = self._pieces[number].term
            assert root is not None, "pieces with terms keep them"
            target = next((term for term in from_the_top(root) if term not in done), None)
            if target is None:
                return
            done.add(target)
            self._simplify_at(number, root, target)

    def _simplify_at(self, number: int, root: Term, target: Term) -> None:
        """Use the first replacement of ``target`` in one command for which the check holds."""
        checked = self._typed
        free = set(free_variables(target))
        for new in self._replacements(target):
            if not set(free_variables(new)) <= free:
                continue
            changed = substitute(checked.table, root, {target: new})
            pieces = list(self._pieces)
            pieces[number] = pieces[number].with_term(changed)
            if self._accept(pieces):
                return

    def _replacements(self, term: Term) -> Iterator[Term]:
        """What may stand for ``term``, simplest first."""
        checked = self._typed
        table = checked.table
        if term.op.kind is Kind.LITERAL:
            for text in simple_values(term.sort):
                if len(text) < len(term.op.text):
                    yield table.literal(text, term.sort)
            return
        if not term.args and term.op.text in ("true", "false"):
            return
        for text in simple_values(term.sort):
            yield table.literal(text, term.sort)
        if not term.args:
            return
        yield from itertools.islice(descendants(term), _MAX_DESCENDANTS)
        yield from (table.symbol(declaration) for declaration in self._symbols_of(term.sort)[:1])
        if len(term.args) > 2 and term.op.kind is Kind.OPERATOR:
            for position in range(len(term.args)):
                rest = term.args[:position] + term.args[position + 1 :]
                rank = default_theories().find(term.op.name, term.op.indices, tuple(a.sort for a in rest))
                if rank is not None and rank[0] is term.sort and not rank[1].only:
                    yield table.make(term.op, rest, term.sort)
        if term.variables and len(term.variables) > 1:
            inside = set(free_variables(term.args[0]))
            used = tuple(v for v in term.variables if v in inside)
            if used and used != term.variables:
                yield table.make(term.op, term.args, term.sort, used)
        if term.op.kind is Kind.ANNOTATION and term.args:
            yield term.args[0]

    def _symbols_of(self, sort: Sort) -> list[Declaration]:
        """The constants of this sort that the script declares, in its order."""
        left = {name for piece in self._pieces if (name := introduced(piece)) is not None}
        return [
            declaration
            for command in self._typed.commands
            for declaration in command.declarations
            if not declaration.params
            and declaration.result is sort
            and declaration.name in left
            and command.name in ("declare-const", "declare-fun")
        ]

    def _merge_symbols(self) -> None:
        """One constant for another of the same sort, throughout the script."""
        checked = self._typed
        by_sort: dict[Sort, list[Declaration]] = {}
        used = {term.op.declaration for term in self._terms()}
        for command in checked.commands:
            for declaration in command.declarations:
                if declaration in used and not declaration.params and command.name.startswith("declare-"):
                    by_sort.setdefault(declaration.result, []).append(declaration)
        for same in by_sort.values():
            kept = same[:1]
            for declaration in same[1:]:
                for other in kept[:4]:
                    stand_in = checked.table.symbol(other)
                    if self._map_terms(
                        lambda term, _, d=declaration, s=stand_in: s if term.op.declaration is d else None  # type: ignore[misc]
                    ):
                        break
                else:
                    kept.append(declaration)

    # Names

    def _shorten_names(self) -> None:
        """Names of one letter for all that the script introduces."""
        names = [name for piece in self._pieces if (name := introduced(piece)) is not None]
        for command in self._checked.commands if self._checked else ():
            for datatype in command.datatypes:
                names.append(datatype.sort.name)
                for constructor in datatype.constructors:
                    names.append(constructor.declaration.name)
                    names.extend(selector.name for selector in constructor.selectors)
        taken = set(lexemes(self.text))
        words = (
            "".join(letters) for size in (1, 2, 3) for letters in itertools.product(_LETTERS, repeat=size)
        )
        knows = default_theories().knows
        fresh = (w for w in words if w not in taken and is_simple_symbol(w) and not knows(w))
        into = {name: next(fresh) for name in dict.fromkeys(names) if len(name) > 1}
        if into:
            text = LEXEME.sub(lambda match: into.get(match.group(), match.group()), self.text)
            if self._holds(text):
                self.text = text
                # The pieces keep the old names; renaming is the last step.
