"""cvc5 1.4.2: the parser refuses a quoted symbol as a variable of a match pattern; its printer writes it."""

import cvc5

TEXT = """
(set-logic ALL)
(declare-datatype D ((a) (b (s Bool))))
(declare-const d D)
(assert (match d ((a true) ((b |x y|) |x y|))))
"""
manager = cvc5.TermManager()
solver, symbols = cvc5.Solver(manager), cvc5.SymbolManager(manager)
parser = cvc5.InputParser(solver, symbols)
parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, TEXT, "text")
try:
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
except RuntimeError as error:
    print(error)
