"""cvc5's exceptions as the interface's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from apifuzz.interface import Rejected, Unsupported
from apifuzz.wrappers.cvc5.profile import profile


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """cvc5's exceptions inside become Rejected, or Unsupported where the profile knows the message.

    cvc5's Python interface raises plain RuntimeErrors; a subclass (RecursionError) is Python's own.
    """
    try:
        yield
    except RuntimeError as error:
        if type(error) is not RuntimeError:
            raise
        message = " ".join(str(error).split())
        reason = profile().known_limit(message)
        if reason:
            raise Unsupported(f"{reason}: {message[:300]}") from error
        raise Rejected(message[:2000]) from error
