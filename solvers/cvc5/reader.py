import sys

import cvc5

*options, file = sys.argv[1:]
manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("incremental", "false")  # as the program does for a file
for option in options:
    name, _, value = option.removeprefix("--").partition("=")
    negated = not value and name.startswith("no-")
    solver.setOption(name.removeprefix("no-") if negated else name, "false" if negated else value or "true")
symbols = cvc5.SymbolManager(manager)
parser = cvc5.InputParser(solver, symbols)
parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, file)
while not (command := parser.nextCommand()).isNull():
    print(command.invoke(solver, symbols), end="", flush=True)
