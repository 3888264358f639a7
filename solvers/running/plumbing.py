"""Files and functions that do not show a crash's cause, because faults of many causes crash there.

A null pointer, a bad index or a failed allocation crashes where memory is accessed: in a container, a
reference count or the C library, below the code with the mistake. One table lists all these places (a
solver's own are in its ``profile.toml``). It must not list places in a solver's reasoning, where a crash does
show the cause.
"""

from __future__ import annotations

import re

from solvers.profile import Plumbing, any_of
from solvers.registry import PROFILES


def _row(why: str, files: str, functions: str = "", modules: str = "") -> Plumbing:
    parts = {"files": files, "functions": functions, "modules": modules}
    return Plumbing(why=why, **{name: (re.compile(part),) for name, part in parts.items() if part})


TABLE = (
    _row(
        "the C and C++ libraries, whose callers are at fault, and how any process begins and ends",
        files=r"/usr/(?:local/)?(?:include|lib)/|/usr/src/debug/(?:gcc|glibc)|/c\+\+/|libstdc\+\+-v3/"
        r"|(?:^|/)sysdeps/|(?:^|/)(?:bits|nptl|csu|stdlib|libio|malloc|assert|signal|libc)/[^/]+$",
        functions=r"std::|__|_[A-Z]|_start$|_int_\w+$|(?:abort|raise|gsignal|t?g?kill|exit|clone3?|main)$"
        r"|start_thread$|(?:m|c|re)alloc$|free$|operator (?:new|delete)|mem(?:cpy|move|set|cmp)$"
        r"|str(?:len|n?cmp|n?cpy|dup)$|mp[nzqf]_\w+$",
        modules=r"(?:^|/)(?:ld-linux|libc|libm|libpthread|libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s)\b",
    ),
    _row(
        "the runtime of sanitizers, which only detects faults (its functions begin with __, as above)",
        files=r"(?:^|/)(?:libsanitizer|compiler-rt)/",
        modules=r"(?:^|/)lib(?:asan|hwasan|lsan|msan|tsan|ubsan|clang_rt)\b",
    ),
    _row(
        "the runtimes of other languages: Rust, OCaml, Java and Python",
        files=r"/rustc/|/library/(?:std|core|alloc)/|(?:^|/)(?:stdlib|pervasives)\.ml$",
        functions=r"(?:core|alloc)::|rust_|caml_|Stdlib|(?:java|javax|jdk|sun|scala)\b|_?Py\w*_",
        modules=r"(?:^|/)(?:lib)?python3[\w.-]*$",
    ),
    *(row for profile in PROFILES.values() for row in profile.plumbing),
)
"""The places that all programs have, and those of each solver."""

_FILES = any_of(pattern for row in TABLE for pattern in row.files)
_FUNCTIONS = any_of(pattern for row in TABLE for pattern in row.functions)
_MODULES = any_of(pattern for row in TABLE for pattern in row.modules)


def is_plumbing_file(path: str) -> bool:
    """Whether a source file, by its path as printed, does not show a cause."""
    return _FILES.search(path) is not None


def is_plumbing_function(name: str) -> bool:
    """Whether a function does not show a cause; ``name`` is without template arguments and parameters."""
    return _FUNCTIONS.match(name) is not None


def is_plumbing_module(path: str) -> bool:
    """Whether a library belongs to no solver."""
    return _MODULES.search(path) is not None
