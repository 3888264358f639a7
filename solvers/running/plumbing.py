"""Files and functions that tell nothing of a crash's cause, since faults of many causes show there.

A null pointer, a lost index or a failed allocation is found where memory is touched: in a container, a
reference count or the C library, below the code that made the mistake. One table holds all these places, and
none of a solver's reasoning: a row too many would let two places of one fault count as two faults.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Matches nothing.
NONE = r"(?!)"


@dataclass(frozen=True, slots=True)
class Plumbing:
    """One kind of places that tell nothing, and ``why``.

    Regular expressions: ``files`` is searched for in a path as it was printed, ``functions`` matches the
    beginning of a name without template arguments and parameters, ``modules`` is searched for in the path of
    a library. Functions tell nothing whatever their file is; files tell nothing in messages, too.
    """

    why: str
    files: str
    functions: str = NONE
    modules: str = NONE


TABLE = (
    Plumbing(
        "the C and C++ libraries, whose callers are at fault, and how any process begins and ends",
        files=r"/usr/(?:local/)?(?:include|lib)/|/usr/src/debug/(?:gcc|glibc)|/c\+\+/|libstdc\+\+-v3/"
        r"|(?:^|/)sysdeps/|(?:^|/)(?:bits|nptl|csu|stdlib|libio|malloc|assert|signal|libc)/[^/]+$",
        functions=r"std::|__|_[A-Z]|_start$|_int_\w+$|(?:abort|raise|gsignal|t?g?kill|exit|clone3?|main)$"
        r"|start_thread$|(?:m|c|re)alloc$|free$|operator (?:new|delete)|mem(?:cpy|move|set|cmp)$"
        r"|str(?:len|n?cmp|n?cpy|dup)$",
        modules=r"(?:^|/)(?:ld-linux|libc|libm|libpthread|libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s)\b",
    ),
    Plumbing(
        "the runtime of sanitizers, which sees a fault and has none (its functions begin with __, as above)",
        files=r"(?:^|/)(?:libsanitizer|compiler-rt)/",
        modules=r"(?:^|/)lib(?:asan|hwasan|lsan|msan|tsan|ubsan|clang_rt)\b",
    ),
    Plumbing(
        "what is under programs in other languages: Rust's, OCaml's, Java's and Python's own code",
        files=r"/rustc/|/library/(?:std|core|alloc)/|(?:^|/)(?:stdlib|pervasives)\.ml$",
        functions=r"(?:core|alloc)::|rust_|caml_|Stdlib|(?:java|javax|jdk|sun|scala)\b|_?Py\w*_",
        modules=r"(?:^|/)(?:lib)?python3",
    ),
    Plumbing(
        "z3: containers, references, memory, numbers, assertions, and what every node of a term has",
        files=r"(?:^|/)util/(?:\w*(?:vector|buffer|hashtable|map|ref\w*)|obj_\w+|parray|scoped_\w+|heap|debug"
        r"|memory_manager|small_object_allocator|region|symbol(?:_table)?|\w*rational|mp[qz])\.h$"
        r"|(?:^|/)util/(?:debug|memory_manager|small_object_allocator|region)\.cpp$|(?:^|/)ast/ast\.h$",
        functions=r"(?:\w*(?:vector|buffer|hashtable|map|_mark|_ref|rational)|ref|ref_\w+|scoped_\w+"
        r"|parray_manager|heap|memory|small_object_allocator|region|symbol|ast)::|mp[qz]_manager::(?:allocate|\w*set|del)$"
        r"|ast_manager::(?:(?:inc|dec)_ref|allocate_node|delete_node)$|notify_assertion_violation$|invoke_(?:gdb|debugger)$",
    ),
    Plumbing(
        "cvc5 and CVC4: assertions, structures with a context, numbers, nodes and how they are made",
        files=r"(?:^|/)base/(?:check|output|exception|map_util|cvc4_assert|cvc4_check)\.(?:h|cpp)$"
        r"|(?:^|/)context/\w+\.h$|(?:^|/)util/(?:integer|rational)\w*\.h$"
        r"|(?:^|/)expr/(?:node|node_value|node_self_iterator|type_node|attribute\w*|metakind\w*)\.h$",
        functions=r"(?:cvc5|CVC4)::(?:internal::)?(?:FatalStream|NodeTemplate|TypeNode|NodeBuilder\w*|Integer"
        r"|Rational|NodeManager::mk\w+|context::(?:CD|Context|Scope)\w*|expr::(?:NodeValue|attr))\b",
    ),
    Plumbing(
        "Bitwuzla: assertions and messages, structures that backtrack, nodes and how they are made",
        files=r"(?:^|/)util/(?:logger|exceptions|ostream_voider)\.(?:h|cpp)$"
        r"|(?:^|/)backtrack/(?:vector|unordered_\w+|object|backtrackable)\.h$"
        r"|(?:^|/)node/(?:node|node_data|node_ref_vector|unordered_\w+)\.h$"
        r"|(?:^|/)utils/bzla(?:abort|hash\w+|mem|stack|util)\.[ch]$",
        functions=r"bzla::(?:Node|NodeRefVector|NodeManager::mk_\w+|node::NodeData|util::Logger"
        r"|backtrack::(?:vector|unordered_\w+|object))\b|bzla_(?:abort|hash\w+|mem)_",
    ),
)

_FILES = re.compile("|".join(row.files for row in TABLE))
_FUNCTIONS = re.compile("|".join(row.functions for row in TABLE))
_MODULES = re.compile("|".join(row.modules for row in TABLE))


def is_plumbing_file(path: str) -> bool:
    """Whether a source file, by its path as printed, tells nothing of a cause."""
    return _FILES.search(path) is not None


def is_plumbing_function(name: str) -> bool:
    """Whether a function tells nothing; ``name`` is without template arguments and parameters."""
    return _FUNCTIONS.match(name) is not None


def is_plumbing_module(path: str) -> bool:
    """Whether a library is none of a solver's."""
    return _MODULES.search(path) is not None
