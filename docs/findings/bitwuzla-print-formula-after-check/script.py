"""bitwuzla 0.9.1: after a check, get_assertions and print_formula leave assertions out."""

from bitwuzla import Bitwuzla, Kind, Options, Parser, TermManager

manager = TermManager()
byte = manager.mk_bv_sort(8)
x = manager.mk_const(byte, "x")
solver = Bitwuzla(manager)
solver.assert_formula(manager.mk_term(Kind.EQUAL, [x, manager.mk_bv_value(byte, 1)]))
print(solver.check_sat())
solver.push(1)
solver.assert_formula(manager.mk_term(Kind.EQUAL, [x, manager.mk_bv_value(byte, 2)]))
print(*solver.get_assertions())
text = solver.print_formula()
print(text)
parser = Parser(TermManager(), Options())
parser.parse(text, True, False)
print("asserted:", solver.check_sat(), "printed:", parser.bitwuzla().check_sat())
