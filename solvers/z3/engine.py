"""z3 in a running process: the library reads SMT-LIB text as the program would read a file.

It imports nothing from this package: a supervisor loads it by path before it forks. It calls the library
itself, not z3's Python module, which would turn ``(error`` lines into exceptions and lose the printed output.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint)
_IGNORE = _HANDLER(lambda context, code: None)


class State(NamedTuple):
    """The loaded library; a context that has already read a script; a new one, for runs with their own
    options; and whether positions in a second text continue from the first (z3 5) or start again (4.8).
    """

    library: Any
    ready: Any
    spare: Any
    counts_on: bool


def prepare(arguments: Sequence[str]) -> Callable[[Mapping[str, Any], bytes], int]:
    """The function that a supervisor runs in a forked child on a test, with the library ``arguments[0]``
    loaded and the other arguments set as options.
    """
    state = load(arguments[0], arguments[1:])

    def evaluate(head: Mapping[str, Any], text: bytes) -> int:
        code = run(state, text, head["chunks"], _print, head["options"])
        if head.get("share"):
            # Half the work of a new context.
            state.library.Z3_eval_smtlib2_string(state.ready, b"(reset)")
        return code

    return evaluate


def load(library_file: str, options: Sequence[str]) -> State:
    """Load the library, set ``name=value`` parameters, and make contexts ready to be forked."""
    library = ctypes.CDLL(library_file)
    library.Z3_global_param_set.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    library.Z3_mk_config.restype = ctypes.c_void_p
    library.Z3_mk_context.argtypes = [ctypes.c_void_p]
    library.Z3_mk_context.restype = ctypes.c_void_p
    library.Z3_del_context.argtypes = [ctypes.c_void_p]
    library.Z3_set_error_handler.argtypes = [ctypes.c_void_p, _HANDLER]
    library.Z3_eval_smtlib2_string.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.Z3_eval_smtlib2_string.restype = ctypes.c_char_p
    library.Z3_get_error_code.argtypes = [ctypes.c_void_p]
    library.Z3_get_error_msg.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    library.Z3_get_error_msg.restype = ctypes.c_char_p
    set_parameters(library, options)
    context = new_context(library)
    # Also creates the SMT-LIB part of the context, so that no child has to.
    library.Z3_eval_smtlib2_string(context, b"")
    return State(library, context, new_context(library), _counts_on(library))


def set_parameters(library: Any, options: Sequence[str]) -> None:
    """Set ``name=value`` parameters for the contexts that are made from now on."""
    for option in options:
        name, _, value = option.partition("=")
        library.Z3_global_param_set(name.encode(), value.encode())


def new_context(library: Any) -> Any:
    """A context for one script, in a library that ``load`` has loaded."""
    context = library.Z3_mk_context(library.Z3_mk_config())
    # Without a handler the library ends the process at the first ``(error``.
    library.Z3_set_error_handler(context, _IGNORE)
    return context


def problem_of(library: Any, context: Any) -> bytes | None:
    """z3's message about an error in the last call on ``context``; None if it succeeded."""
    code = library.Z3_get_error_code(context)
    return library.Z3_get_error_msg(context, code) if code else None


def _counts_on(library: Any) -> bool:
    context = new_context(library)
    library.Z3_eval_smtlib2_string(context, b"\n\n")
    printed = library.Z3_eval_smtlib2_string(context, b"(assert exhume-probe)")
    library.Z3_del_context(context)
    return b"line 3" in printed


def run(
    state: State,
    text: bytes,
    chunks: Sequence[Sequence[int]],
    write: Callable[[bytes], object],
    options: Sequence[str] = (),
) -> int:
    """Evaluate ``text`` chunk by chunk and write the output of each at once; returns the exit code.

    ``options`` are parameters in addition to those set by ``load``; they stay set in this process. ``chunks``
    holds (end, lines before, column): if z3 starts counting again, blank lines before each chunk make the
    positions in error messages those of the whole text.
    """
    library, context, spare, counts_on = state
    set_parameters(library, options)
    # A context reads global parameters when it is created, and those of modules (with a dot) when it starts
    # to read a script. Creating one in a fork costs more than most tests, so it is done only if necessary.
    if options:
        is_global = any("." not in option.partition("=")[0] for option in options)
        context = new_context(library) if is_global else spare
    start = 0
    failed = False
    for end, lines, column in chunks:
        padding = b"" if counts_on else b"\n" * lines + b" " * column
        printed = library.Z3_eval_smtlib2_string(context, padding + text[start:end])
        if isinstance(printed, bytes):
            write(printed)
            failed = failed or b"(error" in printed
        start = end
    return int(failed)


def _print(data: bytes) -> None:
    # Written at once, so that a crash does not lose earlier answers in a buffer.
    while data:
        data = data[os.write(1, data) :]
