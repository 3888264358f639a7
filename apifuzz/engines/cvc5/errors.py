"""cvc5's exceptions as the interface's."""

from __future__ import annotations

from apifuzz.engines.cvc5.profile import profile
from apifuzz.interface import LimitReached, Rejected, Unsupported


def translate(error: BaseException) -> BaseException:
    """An exception of cvc5's as Rejected; Unsupported or LimitReached where the profile knows it.

    cvc5 says of most of its exceptions that objects may be unsafe afterwards, but its Python interface does
    not tell of which: all are plain RuntimeErrors. Only those that the profile marks so are taken to have
    changed nothing. A subclass (RecursionError) is Python's own.
    """
    if type(error) is not RuntimeError:
        return error
    message = " ".join(str(error).split())
    limit = profile().known_limit(message)
    if limit is None:
        return Rejected(message[:2000])
    return (Unsupported if limit.goes_on else LimitReached)(f"{limit.why}: {message[:300]}")
