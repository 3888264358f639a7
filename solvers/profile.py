"""A solver's profile: the keys of ``profile.toml`` in its folder, and the functions of its module.

A folder holds ``profile.toml`` (a key for each field of :class:`Profile`), and, if the solver needs them,
``options.toml`` (see ``solvers.option_file``), ``driver.py`` (a program that runs the library of a wheel) and
``__init__.py`` with functions: ``ask_options(argv)``, ``ask_tactics(argv)``, ``ask_rules(argv)``,
``spell_model(text)``; see the methods of :class:`Profile`.
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
from solvers.option_file import OptionTable, read_options
from solvers.report_form import Form

FILE = "profile.toml"
_OPTIONS_FILE = "options.toml"


class Says(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to read its output.

    Each regular expression is searched for in every line of output, of any solver: a command line may run
    any. Exit codes count for this solver only.
    """

    crash: tuple[re.Pattern[str], ...] = ()
    """Messages of crashes."""
    not_built: tuple[re.Pattern[str], ...] = ()
    """What it dies with where a part was left out of the build: it refuses formulas that need that."""
    invalid_model: tuple[re.Pattern[str], ...] = ()
    """Messages of its own model check."""
    not_about_formula: tuple[re.Pattern[str], ...] = ()
    """Error messages after which it still works on the formula as given."""
    unexpected: tuple[re.Pattern[str], ...] = ()
    """Error messages in place of an answer, because the script's ``:status`` is another one; group 1 is the
    answer.
    """
    output: tuple[re.Pattern[str], ...] = ()
    """Beginnings of other lines that only this solver prints."""
    unsupported: tuple[re.Pattern[str], ...] = ()
    """Group 1 is the command that it calls ``unsupported``; searched for in all of its output."""
    unsupported_is_harmless: bool = False
    """Whether it prints ``unsupported`` for options and queries only."""
    crash_codes: frozenset[int] = frozenset()
    memout_codes: frozenset[int] = frozenset()


class Plumbing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Places in source code that do not show a crash's cause, and ``why``.

    Regular expressions: ``files`` is searched for in a path as printed, ``functions`` matches the beginning
    of a name without template arguments and parameters, ``modules`` is searched for in the path of a library.
    A function is skipped whatever its file; a file is skipped in messages as well.
    """

    why: str
    files: tuple[re.Pattern[str], ...]
    functions: tuple[re.Pattern[str], ...] = ()
    modules: tuple[re.Pattern[str], ...] = ()


class Build(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to build it from source with CMake (``solvers.builds``)."""

    source: str = ""
    """The folder of ``CMakeLists.txt`` in its source package; empty: the top."""
    configure: tuple[str, ...] = ()
    """Settings of CMake, as ``-DNAME=VALUE``."""
    targets: tuple[str, ...] = ()
    """What to build; nothing: all."""


class SourceTree(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How its sources name what scripts use (``difftest.directed``)."""

    folders: tuple[str, ...] = ()
    """The folder of its sources in a checkout or a source package: the first that exists; else all of it."""
    skip: tuple[str, ...] = ()
    """Folders in there that no script runs."""
    options: tuple[str, ...] = ()
    """Names of files that define options, with ``*``."""
    kinds: re.Pattern[str] = re.compile(r"(?!)")
    """Constants that stand for an operator (group 1, if there is one). A line of ``kind_files`` that has one
    constant and the name of an operator as a string says which."""
    kind_files: tuple[str, ...] = ()
    """Names of files that define the constants, with ``*``."""
    prefixes: tuple[str, ...] = ()
    """Words before the name of an operator in names of functions and constants: ``mk`` of ``mk_select``."""
    words: dict[str, tuple[str, ...]] = {}
    """Theories, by a word in the names of files, folders and functions."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A solver's profile. ``family`` is the name of its folder, with ``-`` for ``_``."""

    family: str
    folders: tuple[Path, ...] = ()
    """Its folder, then the folder of the solver that it is another build of."""
    code: ModuleType | None = None
    option_table: OptionTable = OptionTable()
    """The contents of its ``options.toml``."""
    like: str = ""
    """Family of the solver that this is another build of: it has its other keys, and they share one vote."""

    program: str
    """The name of its program in command lines for people."""
    distribution: str = ""
    """The wheel; without one the program is in the solver's folder or on the path."""
    module: str = ""
    """The wheel's Python module or extension that ``driver.py`` runs."""
    library: str = ""
    """The wheel's library (without suffix) that a supervisor can keep loaded."""
    extra: str = ""
    """The extra of exhume that installs the wheel."""
    apart: bool = False
    """Whether the wheel clashes with others when installed: it is always fetched into the cache."""
    any_python: bool = False
    """Whether a wheel for any Python works: ``driver.py`` loads a library that does not use Python."""
    first_release: str = ""
    """The first release whose wheel reads SMT-LIB."""
    old_release: str = ""
    """A release with known bugs, for examples and the demo."""
    rank: int = 100
    """Orders lists of solvers."""
    reference: bool = False
    """Whether tests are made for it, and answers taken from it, when the user names no solver."""
    aliases: tuple[str, ...] = ()
    """Prefixes of its programs' names, predecessors and forks included; in lower case."""
    options_in_comments: bool = False
    """Whether its regression files give options in a comment (``; COMMAND-LINE: --incremental``)."""
    theories: frozenset[str]
    """The theories it supports in scripts, named as in ``smtlib/theories``; none if it reads no scripts."""

    prefix: str = "--"
    """Prefix of option names on its command line."""
    checks: tuple[str, ...] = ()
    """Options that make it check its models."""
    incremental: tuple[str, ...] = ()
    """Options that it needs for more than one check-sat."""
    repeats_since: str = ""
    """The first release that runs texts one after another in one process as in processes of their own, by
    ``(reset)`` or by its driver; empty: none does.
    """
    on_input: tuple[str, ...] = ()
    """Options with which its program reads a script on standard input, each command as it arrives."""
    models: tuple[str, ...] = ()
    """Options that it needs, besides ``:produce-models`` in the script, to print models in SMT-LIB."""
    constant_arrays: str = ""
    """The option that ``(as const ...)`` needs, if its authors call that option experimental."""
    string_functions: str = ""
    """The option without which older programs of its kind refuse most functions on strings, and answer
    wrongly where they do not."""
    proofs: tuple[str, ...] = ()
    """The settings with which ``(get-proof)`` prints a proof with the conclusions of its steps."""
    proof_form: str = "cpc"
    """What the proofs are: ``cpc``, or ``objects``, terms whose functions are rules."""
    resource_limit: str = ""
    """The option that limits the work of one question, in a unit of its own that does not depend on time."""
    time_limit: str = ""
    """The option that limits the time of one question, in milliseconds; the program then ends by itself."""
    safe_mode: str = ""
    """The setting that its maintainers ask fuzzers to use."""
    standard_escapes_since: str = ""
    """The first release that reads string escapes as the standard defines them; empty: all do."""

    build: Build | None = None
    """How to build it from source; None: only its wheels are used."""

    sources: SourceTree = SourceTree()
    """How its sources name what scripts use."""

    says: Says = Says()
    plumbing: tuple[Plumbing, ...] = ()
    tracker: Form
    """Its tracker, and the form of a report there."""

    @property
    def reads_scripts(self) -> bool:
        """Whether it reads SMT-LIB scripts; if not, only its programming interface can be tested."""
        return bool(self.theories)

    @property
    def kin(self) -> str:
        """The family whose input language and bugs it shares."""
        return self.like or self.family

    def file(self, name: str) -> Path | None:
        """A file from its folder, or from the folder of the solver that it is another build of."""
        return next((file for folder in self.folders if (file := folder / name).is_file()), None)

    def ask_options(self, argv: Sequence[str]) -> dict[str, AskedOption]:
        """The options by name, as described by the solver that ``argv`` starts."""
        if (own := getattr(self.code, "ask_options", None)) is not None:
            return dict(own(argv))
        return ask_driver(argv) if self.file("driver.py") else {}

    def ask_tactics(self, argv: Sequence[str]) -> frozenset[str]:
        """The names of the tactics of the solver that ``argv`` starts."""
        own = getattr(self.code, "ask_tactics", None)
        return frozenset(own(argv)) if own is not None else frozenset()

    def ask_rules(self, argv: Sequence[str]) -> str:
        """The rewrite rules that the proofs of the solver that ``argv`` starts rely on, as it prints them;
        empty if it prints none.
        """
        own = getattr(self.code, "ask_rules", None)
        return str(own(argv)) if own is not None else ""

    def spell_model(self, text: str) -> str:
        """Rewrite values in a formula with a model substituted into the form this solver accepts."""
        own = getattr(self.code, "spell_model", None)
        return str(own(text)) if own is not None else text


def any_of(patterns: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    """A pattern that matches where one of these does."""
    return re.compile("|".join(dict.fromkeys(pattern.pattern for pattern in patterns)) or r"(?!)")


def read_profile(folders: tuple[Path, ...], code: ModuleType | None) -> Profile:
    """The profile of the first of ``folders``; keys that it does not set are taken from the others.

    Raises BadProfile, which names the file (``options.toml``, too) and the wrong key.
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
    profile = msgspec.structs.replace(profile, folders=folders, code=code)
    if (file := profile.file(_OPTIONS_FILE)) is None:
        return profile
    try:
        return msgspec.structs.replace(profile, option_table=read_options(read_toml(file)))
    except msgspec.ValidationError as problem:
        raise BadProfile(f"{file}: {problem}") from problem


def _decode(kind: Any, value: Any) -> Any:
    """Convert what TOML cannot express; a ValueError becomes an error that names the key."""
    if get_origin(kind) is re.Pattern and isinstance(value, str):
        try:
            pattern = re.compile(value)
        except re.error as problem:
            raise ValueError(f"{value!r}: {problem}") from problem
        try:
            re.compile(f"{value}|{value}")
        except re.error as problem:
            why = "cannot be joined with other patterns; write (?i:...) for (?i), and do not name groups"
            raise ValueError(f"{value!r} {why}") from problem
        return pattern
    raise ValueError(f"{value!r} cannot be set here")


def read_toml(file: Path) -> dict[str, Any]:
    """The contents of a TOML file in a solver's folder; BadProfile if it cannot be read."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise BadProfile(f"{file}: {problem}") from problem
