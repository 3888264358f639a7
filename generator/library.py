"""The part of a corpus that generation needs, taken apart once and kept in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from generator.errors import GenerationError
from generator.templates import AtomTemplate, SkeletonTemplate


@dataclass(frozen=True, slots=True)
class RuleTemplate:
    """An association rule over signature ids."""

    id: int
    antecedent: frozenset[int]
    consequent: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """Skeletons, atoms and rules to generate from. ``fingerprint`` names the corpus they came from."""

    fingerprint: str
    skeletons: tuple[SkeletonTemplate, ...]
    atoms: tuple[AtomTemplate, ...]
    rules: tuple[RuleTemplate, ...]
    by_signature: dict[int, tuple[AtomTemplate, ...]] = field(default_factory=dict)
    rules_by_signature: dict[int, tuple[RuleTemplate, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        fingerprint: str,
        skeletons: Iterable[SkeletonTemplate],
        atoms: Iterable[AtomTemplate],
        rules: Iterable[RuleTemplate],
    ) -> Library:
        """A library with its indices. A rule none of whose consequents has an atom is left out.

        Raises :class:`GenerationError` where there is nothing to generate from.
        """
        skeletons, atoms = tuple(skeletons), tuple(atoms)
        if not skeletons or not atoms:
            missing = "skeletons" if not skeletons else "atoms"
            raise GenerationError(
                f"the corpus has no {missing} that all solvers accept; import formulas and run 'exhume learn'"
            )
        by_signature: defaultdict[int, list[AtomTemplate]] = defaultdict(list)
        for atom in atoms:
            by_signature[atom.signature].append(atom)
        usable = tuple(r for r in rules if any(s in by_signature for s in r.consequent))
        by_antecedent: defaultdict[int, list[RuleTemplate]] = defaultdict(list)
        for rule in usable:
            for signature in rule.antecedent:
                by_antecedent[signature].append(rule)
        return cls(
            fingerprint,
            skeletons,
            atoms,
            usable,
            {s: tuple(a) for s, a in by_signature.items()},
            {s: tuple(r) for s, r in by_antecedent.items()},
        )

    def themes(self) -> list[tuple[str, tuple[AtomTemplate, ...]]]:
        """Atoms by leading theory, largest theme first. An atom of core operators only is in every theme.

        A test draws most of its atoms from one theme, as the published tool draws from one bucket:
        atoms that share sorts can share variables.
        """
        common = Counter(t for a in self.atoms for t in a.atom.theories)
        groups: defaultdict[str, list[AtomTemplate]] = defaultdict(list)
        plain = []
        for atom in self.atoms:
            theories = atom.atom.theories - {"Core"}
            if theories:
                # The rarest theory leads: an array of integers is about arrays.
                groups[min(theories, key=lambda t: (common[t], t))].append(atom)
            else:
                plain.append(atom)
        if not groups:
            return [("Core", tuple(plain))]
        named = [("Core", plain)] if plain else []
        ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        return [(name, tuple(found)) for name, found in [*ordered, *named]]
