"""Files and functions that say nothing of a crash's cause, since faults of many causes show there.

A null pointer, a lost index or a failed allocation is found where memory is touched: in a container, a
reference count or the C library, below the code that made the mistake. One table holds all these places (a
solver's own are in its ``profile.toml``), and none of a solver's reasoning: a row too many would let two
places of one fault count as two faults.
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
        r"|str(?:len|n?cmp|n?cpy|dup)$",
        modules=r"(?:^|/)(?:ld-linux|libc|libm|libpthread|libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s)\b",
    ),
    _row(
        "the runtime of sanitizers, which sees a fault and has none (its functions begin with __, as above)",
        files=r"(?:^|/)(?:libsanitizer|compiler-rt)/",
        modules=r"(?:^|/)lib(?:asan|hwasan|lsan|msan|tsan|ubsan|clang_rt)\b",
    ),
    _row(
        "what is under programs in other languages: Rust's, OCaml's, Java's and Python's own code",
        files=r"/rustc/|/library/(?:std|core|alloc)/|(?:^|/)(?:stdlib|pervasives)\.ml$",
        functions=r"(?:core|alloc)::|rust_|caml_|Stdlib|(?:java|javax|jdk|sun|scala)\b|_?Py\w*_",
        modules=r"(?:^|/)(?:lib)?python3",
    ),
    *(row for profile in PROFILES.values() for row in profile.plumbing),
)
"""Those that all programs have, and those of each solver."""

_FILES = any_of(pattern for row in TABLE for pattern in row.files)
_FUNCTIONS = any_of(pattern for row in TABLE for pattern in row.functions)
_MODULES = any_of(pattern for row in TABLE for pattern in row.modules)


def is_plumbing_file(path: str) -> bool:
    """Whether a source file, by its path as printed, says nothing of a cause."""
    return _FILES.search(path) is not None


def is_plumbing_function(name: str) -> bool:
    """Whether a function says nothing; ``name`` is without template arguments and parameters."""
    return _FUNCTIONS.match(name) is not None


def is_plumbing_module(path: str) -> bool:
    """Whether a library is none of a solver's."""
    return _MODULES.search(path) is not None
