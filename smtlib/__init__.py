"""SMT-LIB: reader, sorts, terms, theories, sort checker, printer. Imports only ``base``."""

from smtlib.checker import CheckedCommand, CheckedScript, Definition, check_script
from smtlib.commands import print_command, print_datatypes, print_declaration, print_script
from smtlib.errors import ReadError, SmtLibError, SortError, TheoryError
from smtlib.printer import Naming, print_term, sort_text
from smtlib.reader import quote_symbol, read_sexps, sexp_text
from smtlib.script import Command, Script, read_script
from smtlib.signature import Signature
from smtlib.sorts import BOOL, INT, REAL, STRING, Sort, make_sort
from smtlib.terms import (
    Declaration,
    Kind,
    Op,
    Term,
    TermTable,
    declarations_in,
    free_variables,
    postorder,
    rewrite,
)
from smtlib.theory import Theories, default_theories, load_theories
