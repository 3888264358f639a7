"""bitwuzla 0.9.1: a printed term uses let variables outside of the quantifier in which they are bound."""

from bitwuzla import BitwuzlaException, Kind, Options, Parser, TermManager

manager = TermManager()
x, y = manager.mk_const(manager.mk_bv_sort(8), "x"), manager.mk_var(manager.mk_bool_sort(), "y")
shared = manager.mk_term(Kind.BV_NOT, [x])
less = manager.mk_term(Kind.BV_ULT, [shared, shared])
body = manager.mk_term(
    Kind.AND, [manager.mk_term(Kind.DISTINCT, [shared, x]), manager.mk_term(Kind.OR, [y, less])]
)
sum_ = manager.mk_term(Kind.BV_ADD, [shared, shared])
term = manager.mk_term(
    Kind.AND, [manager.mk_term(Kind.EXISTS, [y, body]), manager.mk_term(Kind.BV_ULT, [shared, sum_])]
)
print(term)
parser = Parser(TermManager(), Options())
parser.parse("(declare-const x (_ BitVec 8))", True, False)
try:
    print(parser.parse_term(str(term)))
except BitwuzlaException as error:
    print(error)
