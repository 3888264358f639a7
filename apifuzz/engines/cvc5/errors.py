"""cvc5's exceptions as the interface's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from apifuzz.engines.cvc5.profile import profile
from apifuzz.interface import LimitReached, Rejected, Unsupported


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """cvc5's exceptions inside become Rejected; Unsupported or LimitReached where the profile knows them.

    cvc5 says of most of its exceptions that objects may be unsafe afterwards, but its Python interface does
    not tell of which: all are plain RuntimeErrors. Only those that the profile marks so are taken to have
    changed nothing. A subclass (RecursionError) is Python's own.
    """
    try:
        yield
    except RuntimeError as error:
        if type(error) is not RuntimeError:
            raise
        message = " ".join(str(error).split())
        limit = profile().known_limit(message)
        if limit is not None:
            known = Unsupported if limit.goes_on else LimitReached
            raise known(f"{limit.why}: {message[:300]}") from error
        raise Rejected(message[:2000]) from error
