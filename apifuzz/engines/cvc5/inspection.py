"""Sorts and terms are asked all they can be asked, and the answers compared with what they were made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cvc5 import Kind, SortKind

from apifuzz.engines.cvc5.operators import kind_of
from apifuzz.engines.cvc5.sorts import Sorts
from apifuzz.engines.cvc5.special import is_special
from apifuzz.engines.cvc5.values import ROUNDING_MODES
from apifuzz.interface import ApiTerm, DatatypeSpec, Field, HeadKind, TermKind, expect
from smtlib import Sort

# Sorts

# Name of a sort: the question that only such sorts answer with yes, and their kind.
_SORT_QUESTIONS = {
    "Bool": ("isBoolean", SortKind.BOOLEAN_SORT),
    "Int": ("isInteger", SortKind.INTEGER_SORT),
    "Real": ("isReal", SortKind.REAL_SORT),
    "String": ("isString", SortKind.STRING_SORT),
    "RegLan": ("isRegExp", SortKind.REGLAN_SORT),
    "RoundingMode": ("isRoundingMode", SortKind.ROUNDINGMODE_SORT),
    "BitVec": ("isBitVector", SortKind.BITVECTOR_SORT),
    "FloatingPoint": ("isFloatingPoint", SortKind.FLOATINGPOINT_SORT),
    "FiniteField": ("isFiniteField", SortKind.FINITE_FIELD_SORT),
    "Array": ("isArray", SortKind.ARRAY_SORT),
    "Set": ("isSet", SortKind.SET_SORT),
    "Bag": ("isBag", SortKind.BAG_SORT),
    "Seq": ("isSequence", SortKind.SEQUENCE_SORT),
    "Nullable": ("isNullable", SortKind.NULLABLE_SORT),
    "->": ("isFunction", SortKind.FUNCTION_SORT),
    "Tuple": ("isTuple", SortKind.TUPLE_SORT),
    "UnitTuple": ("isTuple", SortKind.TUPLE_SORT),
}

# Tuples and nullable sorts are datatypes underneath.
_ALSO_DATATYPES = frozenset(("Tuple", "UnitTuple", "Nullable"))

_NEVER = ("isAbstract", "isRecord", "isNull", "isDatatypeConstructor", "isDatatypeSelector")
_NEVER_TERMS = ("isDatatypeTester", "isDatatypeUpdater")

_PARTS: dict[str, tuple[str, ...]] = {
    "Array": ("getArrayIndexSort", "getArrayElementSort"),
    "Set": ("getSetElementSort",),
    "Bag": ("getBagElementSort",),
    "Seq": ("getSequenceElementSort",),
    "Nullable": ("getNullableElementSort",),
}

_NUMBERS: dict[str, tuple[str, ...]] = {
    "BitVec": ("getBitVectorSize",),
    "FloatingPoint": ("getFloatingPointExponentSize", "getFloatingPointSignificandSize"),
    "FiniteField": ("getFiniteFieldSize",),
}


def inspect_sort(sorts: Sorts, sort: Sort, handle: Any) -> None:
    """Compare all that a sort says of itself with ``sort``."""
    declared = sorts.declared.get(sort.name)
    if declared is not None:
        _inspect_declared(sorts, sort, handle, declared)
        return
    about = f"sort {sort}"
    asked, kind = _SORT_QUESTIONS[sort.name]
    expect("sort", handle.getKind(), kind, f"kind of {about}")
    for question, _ in _SORT_QUESTIONS.values():
        expect("sort", getattr(handle, question)(), question == asked, f"{question} of {about}")
    for question in (*_NEVER, *_NEVER_TERMS, "isUninterpretedSort", "isUninterpretedSortConstructor"):
        expect("sort", getattr(handle, question)(), False, f"{question} of {about}")
    expect("sort", handle.isDatatype(), sort.name in _ALSO_DATATYPES, f"isDatatype of {about}")
    is_predicate = sort.is_function and sort.args[-1].name == "Bool"
    expect("sort", handle.isPredicate(), is_predicate, f"isPredicate of {about}")
    for question, index in zip(_NUMBERS.get(sort.name, ()), sort.indices, strict=False):
        expect("sort", getattr(handle, question)(), index, f"{question} of {about}")
    for question, arg in zip(_PARTS.get(sort.name, ()), sort.args, strict=False):
        expect("sort", getattr(handle, question)(), sorts.of(arg), f"{question} of {about}")
    if sort.is_function:
        expect("sort", handle.getFunctionArity(), len(sort.args) - 1, f"arity of {about}")
        expect("sort", handle.getFunctionDomainSorts(), _handles(sorts, sort.args[:-1]), f"domain of {about}")
        expect("sort", handle.getFunctionCodomainSort(), sorts.of(sort.args[-1]), f"codomain of {about}")
    if sort.name in ("Tuple", "UnitTuple"):
        expect("sort", handle.getTupleLength(), len(sort.args), f"length of {about}")
        expect("sort", handle.getTupleSorts(), _handles(sorts, sort.args), f"parts of {about}")
        expect("sort", handle.getDatatype().isTuple(), True, f"{about} as a datatype")
    _inspect_identity(handle, about)
    _substitute_arguments(sorts, sort, handle)


def _handles(sorts: Sorts, parts: Sequence[Sort]) -> list[Any]:
    return [sorts.of(part) for part in parts]


def _inspect_identity(handle: Any, about: str) -> None:
    """Equality, order and hash are those of one object."""
    expect("sort", handle == handle.substitute(handle, handle), True, f"{about} against itself")
    expect("sort", handle < handle or handle > handle, False, f"{about} before itself")
    expect("sort", hash(handle), hash(handle.substitute([], [])), f"hash of {about}")
    if handle.hasSymbol():
        expect("sort", bool(handle.getSymbol()), True, f"symbol of {about}")


def _substitute_arguments(sorts: Sorts, sort: Sort, handle: Any) -> None:
    """A sort with its first argument replaced by Bool is the sort that is made so."""
    if len(sort.args) == 0 or sort.name not in _PARTS or sort.args.count(sort.args[0]) > 1:
        return
    first = sorts.of(sort.args[0])
    boolean = sorts.session.manager.getBooleanSort()
    changed = handle.substitute(first, boolean)
    expect("sort", getattr(changed, _PARTS[sort.name][0])(), boolean, f"sort {sort} with Bool put in")


def _inspect_declared(sorts: Sorts, sort: Sort, handle: Any, declared: Any) -> None:
    about = f"sort {sort}"
    spec = sorts.specs.get(sort.name)
    expect("sort", handle.isDatatype(), spec is not None, f"isDatatype of {about}")
    expect("sort", handle.isUninterpretedSort(), spec is None, f"isUninterpretedSort of {about}")
    if spec is None or sort.args:
        # Of datatypes without parameters 1.4.2 says that they are instantiated, too.
        expect("sort", handle.isInstantiated(), bool(sort.args), f"isInstantiated of {about}")
    for question in ("isBoolean", "isInteger", "isArray", "isTuple", "isRecord", "isFunction", "isNull"):
        expect("sort", getattr(handle, question)(), False, f"{question} of {about}")
    if sort.args:
        expect(
            "sort", handle.getInstantiatedParameters(), _handles(sorts, sort.args), f"arguments of {about}"
        )
        again = declared.instantiate(_handles(sorts, sort.args))
        expect("sort", again, handle, f"{about} made again")
    if spec is None:
        if sort.args:
            # Their kind is an internal one in 1.4.2.
            maker = handle.getUninterpretedSortConstructor()
            expect("sort", maker, declared, f"constructor of {about}")
            expect("sort", maker.isUninterpretedSortConstructor(), True, f"constructor of {about}")
            arity = maker.getUninterpretedSortConstructorArity()
            expect("sort", arity, len(sort.args), f"arity of the constructor of {about}")
        else:
            expect("sort", handle.getKind(), SortKind.UNINTERPRETED_SORT, f"kind of {about}")
            expect("sort", handle.getSymbol(), sort.name, f"symbol of {about}")
    else:
        inspect_datatype(sorts, spec, sort, handle)
    _inspect_identity(handle, about)


def inspect_constructor_sort(name: str, arity: int, handle: Any) -> None:
    """Compare a declared sort constructor with what it was declared as."""
    expect("sort", handle.isUninterpretedSortConstructor(), True, f"{name} is a sort constructor")
    expect("sort", handle.getUninterpretedSortConstructorArity(), arity, f"arity of {name}")


def inspect_datatype(sorts: Sorts, spec: DatatypeSpec, sort: Sort, handle: Any) -> None:
    """Compare a datatype with its declaration."""
    about = f"datatype {spec.name}"
    datatype = handle.getDatatype()
    expect("sort", datatype.getName(), spec.name, f"name of {about}")
    expect("sort", datatype.getNumConstructors(), len(spec.constructors), f"constructors of {about}")
    expect("sort", datatype.isParametric(), bool(spec.parameters), f"{about} is parametric")
    expect("sort", handle.getDatatypeArity(), len(spec.parameters), f"arity of {about}")
    for question, wanted in (
        ("isCodatatype", False),
        ("isTuple", False),
        ("isRecord", False),
        ("isNull", False),
        ("isWellFounded", True),
    ):
        expect("sort", getattr(datatype, question)(), wanted, f"{question} of {about}")
    if spec.parameters:
        expect("sort", len(datatype.getParameters()), len(spec.parameters), f"parameters of {about}")
    has_fields = any(fields for _, fields in spec.constructors)
    if not has_fields and not spec.parameters:
        expect("sort", datatype.isFinite(), True, f"isFinite of {about}")
    for place, ((name, fields), constructor) in enumerate(zip(spec.constructors, datatype, strict=True)):
        where = f"constructor {name} of {spec.name}"
        expect("sort", constructor.getName(), name, f"name of {where}")
        expect("sort", datatype[place].getName(), name, f"place of {where}")
        expect("sort", datatype[name].getName(), name, f"{where} by name")
        expect("sort", constructor.isNull(), False, f"{where} is null")
        expect("sort", constructor.getNumSelectors(), len(fields), f"fields of {where}")
        _inspect_tester(constructor, where)
        for number, (field, selector) in enumerate(zip(fields, constructor, strict=True)):
            expect("sort", constructor[number].getName(), field.name, f"field {number} of {where}")
            _inspect_selector(sorts, sort, spec, field, selector, constructor)
        if not spec.parameters:
            _inspect_constructor_term(constructor, handle, where)


def _inspect_tester(constructor: Any, where: str) -> None:
    sort = constructor.getTesterTerm().getSort()
    expect("sort", sort.isDatatypeTester(), True, f"tester sort of {where}")
    expect("sort", sort.getDatatypeTesterCodomainSort().isBoolean(), True, f"tester of {where}")
    expect("sort", sort.getDatatypeTesterDomainSort().isDatatype(), True, f"tester of {where}")


def _inspect_constructor_term(constructor: Any, handle: Any, where: str) -> None:
    sort = constructor.getTerm().getSort()
    expect("sort", sort.isDatatypeConstructor(), True, f"sort of {where}")
    expect("sort", sort.getDatatypeConstructorCodomainSort(), handle, f"codomain of {where}")
    arity = constructor.getNumSelectors()
    expect("sort", sort.getDatatypeConstructorArity(), arity, f"arity of {where}")
    domain = [selector.getCodomainSort() for selector in constructor]
    expect("sort", sort.getDatatypeConstructorDomainSorts(), domain, f"domain of {where}")


def _inspect_selector(
    sorts: Sorts, sort: Sort, spec: DatatypeSpec, field: Field, selector: Any, constructor: Any
) -> None:
    where = f"selector {field.name} of {spec.name}"
    expect("sort", selector.getName(), field.name, f"name of {where}")
    expect("sort", selector.isNull(), False, f"{where} is null")
    expect("sort", constructor.getSelector(field.name).getName(), field.name, f"{where} by name")
    made = selector.getTerm().getSort()
    expect("sort", made.isDatatypeSelector(), True, f"sort of {where}")
    expect("sort", made.getDatatypeSelectorDomainSort().isDatatype(), True, f"domain of {where}")
    expect("sort", selector.getUpdaterTerm().getSort().isDatatypeUpdater(), True, f"updater of {where}")
    if not spec.parameters:
        wanted = sorts.of_field(field)
        expect("sort", selector.getCodomainSort(), wanted, f"codomain of {where}")
        expect("sort", made.getDatatypeSelectorCodomainSort(), wanted, f"codomain of {where}")


# Terms

_FIRST_IS_MEMBER = {
    HeadKind.CONSTRUCTOR: Kind.APPLY_CONSTRUCTOR,
    HeadKind.SELECTOR: Kind.APPLY_SELECTOR,
    HeadKind.TESTER: Kind.APPLY_TESTER,
    HeadKind.UPDATER: Kind.APPLY_UPDATER,
}


def inspect_term(sorts: Sorts, term: ApiTerm) -> None:
    """Compare all that a term says of itself with what it was made of."""
    handle = term.handle
    expect("term", handle.isNull(), False, f"{term} is null")
    children = [handle[place] for place in range(handle.getNumChildren())]
    expect("term", list(handle), children, f"children of {term}, counted and walked through")
    if children:
        expect("term", handle.hasOp(), True, f"{term} has an operator")
    expect("term", handle == handle.substitute([], []), True, f"{term} against itself")
    expect("term", handle < handle or handle > handle, False, f"{term} before itself")
    expect("term", hash(handle), hash(handle.substitute([], [])), f"hash of {term}")
    expect("term", handle.getId(), handle.substitute([], []).getId(), f"id of {term}")
    if handle.hasSymbol():
        expect("term", isinstance(handle.getSymbol(), str), True, f"symbol of {term}")
    if term.kind in (TermKind.CONSTANT, TermKind.VARIABLE, TermKind.FUNCTION):
        _inspect_leaf(term)
    elif term.head is not None:
        _inspect_application(term, children)
    inspect_value(handle, str(term))


def _inspect_leaf(term: ApiTerm) -> None:
    handle = term.handle
    kind = Kind.VARIABLE if term.kind is TermKind.VARIABLE else Kind.CONSTANT
    expect("term", handle.getKind(), kind, f"kind of {term}")
    expect("term", handle.isSkolem(), False, f"{term} is a skolem")
    for question in _VALUE_QUESTIONS:
        expect("term", getattr(handle, question)(), False, f"{question} of {term}")


def _inspect_application(term: ApiTerm, children: list[Any]) -> None:
    assert term.head is not None
    head, args = term.head, [arg.handle for arg in term.args]
    found = term.handle.getKind()
    if head.kind is HeadKind.APPLY:
        if found is Kind.APPLY_UF:
            expect("term", children, args, f"function and arguments of {term}")
        else:
            expect("term", (found, children[-1]), (Kind.HO_APPLY, args[-1]), f"application {term}")
    elif head.kind in _FIRST_IS_MEMBER:
        expect("term", found, _FIRST_IS_MEMBER[head.kind], f"kind of {term}")
        expect("term", children[1:], args, f"arguments of {term}")
    elif head.kind is HeadKind.OPERATOR and not is_special(head.name) and len(args) in (1, 2):
        kind = kind_of(head.name, [arg.sort.sort for arg in term.args])
        if len(args) == 1 and kind in (Kind.AND, Kind.OR, Kind.TO_REAL) and term.handle == args[0]:
            return
        expect("term", found, kind, f"kind of {term}")
        expect("term", children, args, f"arguments of {term}")
        _inspect_operator(term, kind, head.indices)


def _inspect_operator(term: ApiTerm, kind: Any, indices: tuple[int, ...]) -> None:
    operator = term.handle.getOp()
    expect("term", operator.getKind(), kind, f"kind of the operator of {term}")
    expect("term", operator.isNull(), False, f"operator of {term} is null")
    expect("term", operator.isIndexed(), bool(indices), f"operator of {term} is indexed")
    expect("term", operator.getNumIndices(), len(indices), f"indices of the operator of {term}")
    expect("term", operator == term.handle.getOp(), True, f"operator of {term} against itself")
    expect("term", hash(operator), hash(term.handle.getOp()), f"hash of the operator of {term}")
    found = tuple(_index(operator[place]) for place in range(len(indices)))
    expect("term", found, indices, f"indices of the operator of {term}")


def _index(index: Any) -> int:
    return int(index.getIntegerValue())


# Values

_VALUE_QUESTIONS: dict[str, Callable[[Any], object]] = {
    "isBooleanValue": lambda t: t.getBooleanValue(),
    "isIntegerValue": lambda t: (t.getIntegerValue(), t.getRealOrIntegerValueSign()),
    "isRealValue": lambda t: (t.getRealValue(), t.getRealOrIntegerValueSign()),
    "isBitVectorValue": lambda t: (t.getBitVectorValue(2), t.getBitVectorValue(10), t.getBitVectorValue(16)),
    "isFiniteFieldValue": lambda t: t.getFiniteFieldValue(),
    "isFloatingPointValue": lambda t: t.getFloatingPointValue(),
    "isRoundingModeValue": lambda t: t.getRoundingModeValue(),
    "isStringValue": lambda t: t.getStringValue(),
    "isUninterpretedSortValue": lambda t: t.getUninterpretedSortValue(),
    "isSequenceValue": lambda t: t.getSequenceValue(),
    "isSetValue": lambda t: t.getSetValue(),
    "isTupleValue": lambda t: t.getTupleValue(),
    "isConstArray": lambda t: t.getConstArrayBase(),
    "isCardinalityConstraint": lambda t: t.getCardinalityConstraint(),
}

_FLOAT_QUESTIONS = (
    "isFloatingPointNaN",
    "isFloatingPointPosInf",
    "isFloatingPointNegInf",
    "isFloatingPointPosZero",
    "isFloatingPointNegZero",
)


def inspect_value(handle: Any, about: str) -> None:
    """Ask a term whether it is a value, and for the value: what it says in different forms must agree."""
    if handle.isBitVectorValue():
        binary, decimal, hexadecimal = (handle.getBitVectorValue(base) for base in (2, 10, 16))
        forms = {int(binary, 2), int(decimal), int(hexadecimal, 16)}
        expect("value", len(forms), 1, f"binary, decimal and hexadecimal value of {about}")
        expect("value", len(binary), handle.getSort().getBitVectorSize(), f"width of {about}")
        expect("value", handle.toPythonObj(), int(binary, 2), f"{about} as a Python object")
    elif handle.isRealValue():
        value = handle.getRealValue()
        sign = (value > 0) - (value < 0)
        expect("value", handle.getRealOrIntegerValueSign(), sign, f"sign of {about}")
        expect("value", handle.toPythonObj(), value, f"{about} as a Python object")
    elif handle.isIntegerValue():
        number = handle.getIntegerValue()
        sign = (number > 0) - (number < 0)
        expect("value", handle.getRealOrIntegerValueSign(), sign, f"sign of {about}")
    elif handle.isFloatingPointValue():
        exponent, significand, whole = handle.getFloatingPointValue()
        expect("value", handle.getSort().getFloatingPointExponentSize(), exponent, f"format of {about}")
        width = whole.getSort().getBitVectorSize()
        expect("value", width, exponent + significand, f"width of the bits of {about}")
        yes = [question for question in _FLOAT_QUESTIONS if getattr(handle, question)()]
        expect("value", len(yes) <= 1, True, f"{about} is {' and '.join(yes)}")
    elif handle.isRoundingModeValue():
        expect("value", handle.getRoundingModeValue() in ROUNDING_MODES.values(), True, f"mode of {about}")
    else:
        for question, ask in _VALUE_QUESTIONS.items():
            if getattr(handle, question)():
                ask(handle)
