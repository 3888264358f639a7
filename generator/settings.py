"""Settings of strategies: declared with name, default and meaning; read from ``NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from base.nearest import did_you_mean, nearest
from generator.errors import GenerationError

Value = int | float | str
"""A setting's value; its type is the default's."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a strategy. Numbers lie between ``least`` and ``most``; words may have ``choices``."""

    name: str
    default: Value
    about: str
    least: float = 0
    most: float = 1_000_000
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Value:
        """The value that ``text`` stands for. Raises :class:`GenerationError`."""
        if isinstance(self.default, str):
            if self.choices and text not in self.choices:
                raise GenerationError(
                    f"--set {self.name}={text}: must be one of {', '.join(map(repr, self.choices))}"
                )
            return text
        kind = type(self.default)
        try:
            value = kind(text)
        except ValueError:
            value = None
        # The comparison refuses nan, too.
        if value is None or not self.least <= value <= self.most:
            what = "a whole number" if kind is int else "a number"
            raise GenerationError(
                f"--set {self.name}={text}: must be {what} from {self.least:g} to {self.most:g}"
            )
        return value


def read_settings(strategy: str, known: Sequence[Setting], given: Iterable[str]) -> dict[str, Value]:
    """The values of all settings of a strategy: those ``given`` as ``NAME=VALUE``, and defaults for the
    others.

    Raises :class:`GenerationError` for an unknown name, an invalid value, or a text without ``=``.
    """
    by_name = {setting.name: setting for setting in known}
    values: dict[str, Value] = {setting.name: setting.default for setting in known}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            raise GenerationError(f"--set {pair}: must be NAME=VALUE")
        if name not in by_name:
            hint = did_you_mean(nearest(name, by_name))
            knows = f"it has {', '.join(by_name)}" if by_name else "it has none"
            raise GenerationError(f"{strategy} has no setting {name}; {knows}{hint}")
        values[name] = by_name[name].read(text)
    return values
