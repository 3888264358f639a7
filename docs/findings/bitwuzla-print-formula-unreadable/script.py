"""bitwuzla 0.9.1: print_formula writes text that bitwuzla's own parser refuses."""

from bitwuzla import Bitwuzla, BitwuzlaException, Kind, Options, Parser, Term, TermManager

manager = TermManager()
boolean, byte = manager.mk_bool_sort(), manager.mk_bv_sort(8)


def show(formula: Term) -> None:
    solver = Bitwuzla(manager)
    solver.assert_formula(formula)
    text = solver.print_formula()
    print(text)
    try:
        Parser(TermManager(), Options()).parse(text, True, False)
    except BitwuzlaException as error:
        print("refused:", error)


sort = manager.mk_array_sort(boolean, manager.mk_array_sort(byte, boolean))
c, d = manager.mk_const(sort, "c"), manager.mk_const(sort, "d")
show(manager.mk_term(Kind.EQUAL, [c, d]))
element = manager.mk_uninterpreted_sort("U")
a = manager.mk_const(manager.mk_array_sort(element, boolean), "a")
show(manager.mk_term(Kind.ARRAY_SELECT, [a, manager.mk_const(element, "e")]))
