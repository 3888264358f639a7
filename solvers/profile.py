"""What is known of a solver: the keys of ``profile.toml`` in its folder, and the functions of its module.

A folder holds ``profile.toml`` (a key for each field of :class:`Profile`), and where the solver needs them
``options.toml`` (see ``solvers.options``), ``driver.py`` (a program that runs the library of a wheel) and
``__init__.py`` with functions: ``ask_options(argv)``, ``ask_tactics(argv)``, ``spell_model(text)``; see the
methods of :class:`Profile`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin

import msgspec

from solvers.asking import AskedOption, ask_driver
from solvers.errors import BadProfile
from solvers.report_form import Form

FILE = "profile.toml"


class Says(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How it says what. Regular expressions are searched for in a line of what it prints, whichever solver
    printed that: a command line may run any. Exit codes count for this solver alone.
    """

    crash: tuple[re.Pattern[str], ...] = ()
    """Messages of crashes."""
    invalid_model: tuple[re.Pattern[str], ...] = ()
    """Messages of its own check of a model."""
    not_about_formula: tuple[re.Pattern[str], ...] = ()
    """Error messages after which it still works on the formula that it was given."""
    output: tuple[re.Pattern[str], ...] = ()
    """How other lines begin that only it prints."""
    unsupported: tuple[re.Pattern[str], ...] = ()
    """What names, in group 1, the command that it calls ``unsupported``; searched for in all it prints."""
    unsupported_is_harmless: bool = False
    """Whether it says ``unsupported`` of options and queries only."""
    crash_codes: frozenset[int] = frozenset()
    memout_codes: frozenset[int] = frozenset()


class Plumbing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Places in source code that say nothing of a crash's cause, and ``why``.

    Regular expressions: ``files`` is searched for in a path as it was printed, ``functions`` matches the
    beginning of a name without template arguments and parameters, ``modules`` is searched for in the path of
    a library. Functions say nothing whatever their file is; files say nothing in messages, too.
    """

    why: str
    files: tuple[re.Pattern[str], ...]
    functions: tuple[re.Pattern[str], ...] = ()
    modules: tuple[re.Pattern[str], ...] = ()


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of a solver. ``family`` is the name of its folder, with ``-`` for ``_``."""

    family: str
    folders: tuple[Path, ...] = ()
    """Its folder, then that of the solver that it is another build of."""
    code: ModuleType | None = None
    like: str = ""
    """Family of the solver that this is another build of: what is not set here is as there, and what the two
    say counts as one voice."""

    program: str
    """What its program is called, in command lines for people."""
    distribution: str = ""
    """The wheel; without one the program is in the solver's folder, or on the path."""
    module: str = ""
    """The wheel's Python module or extension, which ``driver.py`` runs."""
    library: str = ""
    """The wheel's library (without suffix) that a supervisor can keep loaded."""
    extra: str = ""
    """The extra of exhume that installs the wheel."""
    apart: bool = False
    """Whether the wheel cannot be installed beside others: it is always fetched into the cache."""
    any_python: bool = False
    """Whether wheels for other versions of Python do: ``driver.py`` loads a library without Python in it."""
    first_release: str = ""
    """The first release whose wheel reads SMT-LIB."""
    old_release: str = ""
    """A release with known bugs, for examples and the demo."""
    rank: int = 100
    """Orders lists of solvers."""
    reference: bool = False
    """Whether it is one of those that tests are made for, and answers come from, where none is named."""
    aliases: tuple[str, ...] = ()
    """What names of its programs begin with, those of its predecessors and forks too; in lower case."""
    options_in_comments: bool = False
    """Whether its regression files have their options in a comment (``; COMMAND-LINE: --incremental``)."""
    theories: frozenset[str]
    """Those it has, as in ``smtlib/theories``."""

    prefix: str = "--"
    """Stands before an option's name on its command line."""
    checks: tuple[str, ...] = ()
    """Options that make it check its models."""
    incremental: tuple[str, ...] = ()
    """Options it needs for more than one question."""
    models: tuple[str, ...] = ()
    """Options it needs, beside ``:produce-models`` in the script, to print models in SMT-LIB."""
    constant_arrays: str = ""
    """An option that its authors call experimental, without which it reads no ``(as const ...)``."""
    safe_mode: str = ""
    """The setting under which its maintainers ask fuzzers to run it."""
    safe_mode_since: str = ""
    """The first release with ``safe_mode``."""
    standard_escapes_since: str = ""
    """The first release that reads the escapes of strings as the standard has them; empty: all do."""

    says: Says = Says()
    plumbing: tuple[Plumbing, ...] = ()
    tracker: Form
    """Its tracker, and how a report there is written."""

    @property
    def kin(self) -> str:
        """The family whose language it speaks and whose faults it shares."""
        return self.like or self.family

    def file(self, name: str) -> Path | None:
        """A file of its folder, or of the folder of the solver that it is another build of."""
        return next((file for folder in self.folders if (file := folder / name).is_file()), None)

    def ask_options(self, argv: Sequence[str]) -> dict[str, AskedOption]:
        """The options by name, as the solver that ``argv`` starts describes them."""
        if self.code is not None and hasattr(self.code, "ask_options"):
            return dict(self.code.ask_options(argv))
        return ask_driver(argv) if self.file("driver.py") else {}

    def ask_tactics(self, argv: Sequence[str]) -> frozenset[str]:
        """The names of the tactics that the solver has that ``argv`` starts."""
        if self.code is not None and hasattr(self.code, "ask_tactics"):
            return frozenset(self.code.ask_tactics(argv))
        return frozenset()

    def spell_model(self, text: str) -> str:
        """A formula with a model put in, with values written as this solver takes them."""
        if self.code is not None and hasattr(self.code, "spell_model"):
            return str(self.code.spell_model(text))
        return text


def any_of(patterns: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    """What matches where one of these does."""
    return re.compile("|".join(dict.fromkeys(pattern.pattern for pattern in patterns)) or r"(?!)")


def read_profile(folders: tuple[Path, ...], code: ModuleType | None) -> Profile:
    """The profile of the first of ``folders``; what it does not set is as in the others.

    Raises BadProfile, which names the file and the key that is wrong.
    """
    family = folders[0].name.replace("_", "-")
    data: dict[str, Any] = {}
    for folder in reversed(folders):
        data |= read_toml(folder / FILE)
    data["family"] = family
    if isinstance(data.get("tracker"), dict):
        data["tracker"]["family"] = family
    try:
        profile = msgspec.convert(data, Profile, dec_hook=_decode)
    except msgspec.ValidationError as problem:
        raise BadProfile(f"{folders[0] / FILE}: {problem}") from problem
    return msgspec.structs.replace(profile, folders=folders, code=code)


def _decode(kind: Any, value: Any) -> Any:
    """What TOML has no values for; ValueError becomes an error that names the key."""
    if get_origin(kind) is re.Pattern and isinstance(value, str):
        try:
            return re.compile(value)
        except re.error as problem:
            raise ValueError(f"{value!r}: {problem}") from problem
    raise ValueError(f"{value!r} cannot be set here")


def read_toml(file: Path) -> dict[str, Any]:
    """A file of a solver's folder; BadProfile if it cannot be read."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise BadProfile(f"{file}: {problem}") from problem
