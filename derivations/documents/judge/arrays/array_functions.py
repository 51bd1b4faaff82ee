"""Functions of arrays: a table of those applied entry by entry, and rules for those that act along an axis.

Definition   a function of one argument that has no entry in the table is an uninterpreted one, applied entry
             by entry; softmax, attention, Concat, max, diag and mean have rules of their own
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sympy import Expr, Integer, KroneckerDelta, Lambda, Max, Min, cos, erf, exp, log, sin, sqrt, tanh

from derivations.activations.gelu import normal_distribution
from derivations.activations.sigmoid import sigmoid, silu, softplus
from derivations.attention.attention import scaled_dot_product_attention
from derivations.documents import syntax
from derivations.documents.judge.arrays.array_reading import NotRead, Reading, Value, function_word
from derivations.documents.syntax import Call, Name, Node
from derivations.language.arrays.arrangements import Concatenate, Tabulated
from derivations.language.arrays.expression import Array, Transpose
from derivations.language.arrays.functions import Elementwise, RowMean, gelu, named, row_softmax, uninterpreted_function
from derivations.symbols import index, scalar

__all__ = ["FUNCTIONS", "call", "largest"]

_x = scalar("x")

FUNCTIONS: dict[str, Lambda] = {
    word: Lambda((_x,), formula)
    for words, formula in (
        ("exp", exp(_x)),
        ("log ln", log(_x)),
        ("sin", sin(_x)),
        ("cos", cos(_x)),
        ("tanh", tanh(_x)),
        ("erf", erf(_x)),
        ("sqrt", sqrt(_x)),
        ("relu", Max(0, _x)),
        ("gelu", gelu.formula.expr.xreplace({gelu.formula.variables[0]: _x})),
        ("sigmoid logistic sigma", sigmoid.formula(_x)),
        ("silu swish", silu.formula(_x)),
        ("softplus", softplus.formula(_x)),
        ("Phi", normal_distribution(_x)),
    )
    for word in words.split()
}


def call(reader: Reading, node: Call) -> Value:
    """Return the value of a function call, by the rule for that function or entry by entry."""
    word = function_word(node.function)
    arguments = [each for each in node.arguments if not isinstance(each, syntax.Chain)]
    special = _SPECIAL.get(word)
    if special is not None:
        return special(reader, node, arguments)
    if len(arguments) != 1:
        raise NotRead(f"{word} of {len(arguments)} arguments")
    value = reader.value(arguments[0])
    formula = FUNCTIONS.get(word)
    if formula is None:
        formula = uninterpreted_function("act").formula
    if isinstance(value, Array) and value.shape:
        return Elementwise(named(f"{word or 'f'}_", formula.expr, *formula.variables), value)
    return formula(value.entry() if isinstance(value, Array) else value)


def _softmax(reader: Reading, node: Call, arguments: list[Node]) -> Value:
    value = reader.value(arguments[0]) if len(arguments) == 1 else None
    if not isinstance(value, Array) or not value.shape:
        raise NotRead("softmax of a number")
    along = _axis(reader, node)
    columns = reader.columns if along is None else along in (0, -2)
    return Transpose(row_softmax(Transpose(value))) if columns and len(value.shape) == 2 else row_softmax(value)


def _axis(reader: Reading, node: Call) -> int | None:
    """Return the axis that a keyword names: `dim=-1`, `axis=0`."""
    for each in node.arguments:
        if isinstance(each, syntax.Chain) and len(each.sides) == 2 and isinstance(each.sides[0], Name):
            value = reader.scalar(each.sides[1]) if each.sides[0].key in ("dim", "axis") else None
            return int(value) if isinstance(value, Integer) else None
    return None


def _attention(reader: Reading, node: Call, arguments: list[Node]) -> Value:
    values = [reader.value(each) for each in arguments]
    if len(values) != 3 or not all(isinstance(each, Array) for each in values):
        raise NotRead("attention of other than three arrays")
    return scaled_dot_product_attention().result(*values)


def _concatenation(reader: Reading, node: Call, arguments: list[Node]) -> Value:
    """Read `Concat(head_1, ..., head_h)`: the concatenation of all members of one family."""
    while len(arguments) == 1 and isinstance(arguments[0], syntax.List | syntax.Fence):
        inside = arguments[0].items if isinstance(arguments[0], syntax.List) else (arguments[0].inside,)
        arguments = list(inside)
    first = arguments[0] if arguments else None
    family = None
    if isinstance(first, Name) and first.subscripts:
        family = reader.meaning.get(Name(first.base, (), first.superscripts, first.primes, first.accent).key)
    if not isinstance(family, Array) or len(family.shape) != 3:
        raise NotRead("a concatenation of what is no family")
    if not any(isinstance(each, syntax.Dots) for each in arguments):
        raise NotRead("a concatenation of members that are counted")
    member = index("member")
    whole = Concatenate(family[member], member, family.shape[0])
    return Transpose(whole) if reader.columns else whole


def _extreme(reader: Reading, node: Call, arguments: list[Node]) -> Value:
    if len(arguments) == 1 and isinstance(arguments[0], syntax.List):
        arguments = list(arguments[0].items)
    pick = Max if function_word(node.function) == "max" else Min
    if len(arguments) == 1:
        return largest()
    values = [reader.value(each) for each in arguments]
    arrays = [each for each in values if isinstance(each, Array) and each.shape]
    if not arrays:
        return pick(*(each.entry() if isinstance(each, Array) else each for each in values))
    if len(arrays) > 1:
        raise NotRead("a maximum of several arrays")
    return Elementwise(named("extreme", pick(_x, *(v for v in values if not isinstance(v, Array))), _x), arrays[0])


def largest() -> Expr:
    """Return an unknown number, which stands for the largest or smallest entry of an array."""
    return scalar("largest")


def _diagonal(reader: Reading, node: Call, arguments: list[Node]) -> Value:
    value = reader.value(arguments[0]) if len(arguments) == 1 else None
    if not isinstance(value, Array) or len(value.shape) != 1:
        raise NotRead("diag of no vector")
    a, b = index("a_diagonal"), index("b_diagonal")
    return Tabulated(Lambda((a, b), KroneckerDelta(a, b) * value.entry(a)), value.shape[0], value.shape[0])


def _average(reader: Reading, node: Call, arguments: list[Node]) -> Value:
    value = reader.value(arguments[0]) if len(arguments) == 1 else None
    if not isinstance(value, Array) or len(value.shape) != 1:
        raise NotRead("the mean of no vector")
    return RowMean(value).entry()


_SPECIAL: Mapping[str, Callable[[Reading, Call, list[Node]], Value]] = {
    "softmax": _softmax, "max": _extreme, "min": _extreme, "diag": _diagonal, "mean": _average, "avg": _average,
    "attention": _attention, "attn": _attention,
    "concat": _concatenation, "concatenate": _concatenation, "cat": _concatenation,
}  # fmt: skip
