"""Writing: from the normal form back to SymPy, for messages to the user."""

import sympy
from sympy import Expr, IndexedBase, KroneckerDelta, Mul, Ne, Product, Sum, Symbol

from derivations.language.arrays.internal import MARK
from derivations.language.arrays.scalars import MASK, Expectation, Iverson
from derivations.language.judge.normal_form.terms import Atom, Mono, Number, Poly

__all__ = ["TOTAL", "TOTAL_FUNCTIONS", "write"]

# Functions of all real numbers that the normal form has as unknown ones, under names that no user can write.
TOTAL = f"{MARK}total{MARK}"
TOTAL_FUNCTIONS = {kind.__name__: kind for kind in (sympy.floor, sympy.atan, sympy.atan2)}


def write(p: Poly) -> Expr:
    """Return the SymPy expression of a polynomial."""
    return sympy.Add(*(_number(c) * _mono(mono) for mono, c in p))


def _number(value: Number) -> Expr:
    return sympy.Rational(value.numerator, value.denominator)


def _mono(mono: Mono) -> Expr:
    return Mul(*(_power(atom, exponent) for atom, exponent in mono))


def _power(atom: Atom, exponent: Number) -> Expr:
    if atom[0] == "exp":
        return sympy.exp(_number(exponent) * _mono(atom[1]))
    return _atom(atom) ** _number(exponent)


def _atom(atom: Atom) -> Expr:
    kind = atom[0]
    if kind == "sym":
        return Symbol(atom[1].removeprefix(MARK))
    if kind in ("b", "t", "c"):
        return Symbol("_".join(map(str, atom)), integer=True)
    if kind == "x":
        label = Symbol(atom[1].partition(MARK)[0], real=True)
        return IndexedBase(label)[tuple(map(write, atom[2]))] if atom[2] else label
    if kind == "true":
        mask = IndexedBase(Symbol(atom[1], **MASK))
        return Iverson(Ne(mask[tuple(map(write, atom[2]))], 0, evaluate=False))
    if kind == "fun" and atom[1].startswith(TOTAL):
        return TOTAL_FUNCTIONS[atom[1].removeprefix(TOTAL)](*map(write, atom[3]))
    if kind == "fun":
        mark = "'" * atom[2] if isinstance(atom[2], int) else "".join(map(str, atom[2]))
        return sympy.Function(atom[1].removeprefix(MARK).partition(MARK)[0] + mark)(*map(write, atom[3]))
    if kind == "sum":
        level = max((a[1] for a in _bound(atom)), default=1)
        names = [Symbol(f"b_{level}_{number}", integer=True) for number in range(len(atom[1]))]
        limits = [(name, write(low), write(high)) for name, (low, high) in zip(names, atom[1], strict=True)]
        return Sum(_mono(atom[2]), *reversed(limits))
    if kind == "prod":
        (low, high), index = atom[1][0], Symbol(f"b_{max((a[1] for a in _bound(atom)), default=1)}_0", integer=True)
        return Product(_mono(atom[2]), (index, write(low), write(high)))
    if kind == "ipow":
        return (sympy.Integer(-1) if atom[1] == ("minus",) else _atom(atom[1])) ** _mono(atom[2])
    if kind == "E":
        return Expectation(_mono(atom[1]))
    return _SIMPLE[kind](*(write(part) if isinstance(part, tuple) else part for part in atom[1:]))


def _bound(atom: Atom) -> list[Atom]:
    found = []
    stack = [atom]
    while stack:
        part = stack.pop()
        if part[:1] == ("b",):
            found.append(part)
        stack.extend(inner for inner in part if isinstance(inner, tuple))
    return found


_SIMPLE = {
    "delta": lambda p: KroneckerDelta(p, 0),
    "ge": lambda p: Iverson(sympy.Ge(p, 0, evaluate=False)),
    "step": lambda p: Iverson(sympy.Gt(p, 0, evaluate=False)),
    "prime": sympy.Integer,
    "pi": lambda: sympy.pi,
    "I": lambda: sympy.I,
    "poly": lambda p: p,
    "log": sympy.log,
    "erf": sympy.erf,
    "tanh": sympy.tanh,
    "relu": lambda p: sympy.Max(0, p),
}
