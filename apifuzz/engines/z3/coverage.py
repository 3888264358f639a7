"""Which of z3's functions are called: for benchmarks only, by a shim around those of ``z3.z3core``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import z3
from z3 import z3core

_LEFT_OUT: tuple[tuple[str, str], ...] = (
    (r"_bytes$", "the same function with another result type in Python"),
    (r"_eh$|_eh_type$", "types of callbacks"),
    (
        r"^Z3_rcf_|^Z3_algebraic_|^Z3_polynomial_",
        "arithmetic libraries, without sorts, terms or solvers of a run",
    ),
    (r"^Z3_(open_log|append_log|close_log|enable_trace|disable_trace)$", "logs"),
    (r"^Z3_(finalize_memory|reset_memory|get_estimated_alloc_size|toggle_warning_messages)$", "the process"),
    (r"^Z3_(get_version|get_full_version|global_param_\w+|get_global_param_descrs)$", "the process"),
    (r"^Z3_(set_error|set_error_handler|get_error_code|get_error_msg|enable_concurrent_dec_ref)$", "errors"),
    (
        r"^Z3_(mk_context|mk_config|del_config|set_param_value|interrupt|solver_interrupt)$",
        "contexts without references",
    ),
    (r"^Z3_(mk|set)_proof_check_callback$", "proof checkers"),
    (r"_(inc|dec)_ref$|^Z3_(inc|dec)_ref$|^Z3_del_", "references"),
    (r"_from_file$|^Z3_parse_smtlib2_file$", "files"),
    (r"^Z3_tactic_(par_or|par_and_then|try_for)$", "threads and time limits"),
)
"""Functions that do not count, by patterns, and why: those that count are about sorts, terms and solvers."""


def api_functions() -> tuple[str, ...]:
    """The functions about sorts, terms and solvers, in order."""
    names = [n for n in dir(z3core) if n.startswith("Z3_") and _is_call(n)]
    return tuple(sorted(n for n in names if not any(re.search(pattern, n) for pattern, _ in _LEFT_OUT)))


def _is_call(name: str) -> bool:
    """Whether this is a function that asks the library: those have the library's as a default argument."""
    return bool(getattr(getattr(z3core, name), "__defaults__", None))


@contextmanager
def calls_counted() -> Iterator[set[str]]:
    """Inside, the set that is yielded takes the names of the functions that are called."""
    called: set[str] = set()
    saved: list[tuple[Any, str, Any]] = []
    for name in api_functions():
        noted = _noting(getattr(z3core, name), name, called)
        # The module took the names over when it was imported.
        for module in (z3core, z3.z3, z3.z3printer):
            if name in vars(module):
                saved.append((module, name, vars(module)[name]))
                setattr(module, name, noted)
    try:
        yield called
    finally:
        for module, name, function in saved:
            setattr(module, name, function)


def _noting(function: Callable[..., Any], name: str, called: set[str]) -> Callable[..., Any]:
    def noted(*args: Any) -> Any:
        called.add(name)
        return function(*args)

    return noted
