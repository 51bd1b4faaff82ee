r"""Mean and variance of a dot product, as the catalogue proves them for independent components.

Definition   `Var(\sum_i q_i k_i)`, `Var(q \cdot k)`, `E(...)`: of two vectors, written as a sum or as a product
Result       conditional  the mean 0, and the variance d_k sigma^4 or d_k: the assumptions are named
             wrong        another expression in the length, sigma or numbers, where the left side is known; a sum whose
                          variance is a number only where the words around say that components have variance 1
Assumes      a standard deviation is called sigma, or is 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sympy import Basic, Expr, IndexedBase, Integer, Sum, Symbol, expand, sqrt

from derivations.attention.dot_product import INDEPENDENT, UNCORRELATED, components, product
from derivations.documents.proving import are_equal, weighed
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding
from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.results.derivation import Derivation
from derivations.symbols import d_k

__all__ = [
    "check_moments",
    "says_unit_variance",
    "shown",
]

CHECK = "chain"
OF_AN_AXIS = ":"  # in the name of the length of an axis that nothing names
VARIANCE_WORD = r"(?:variance|變異數|变异数|方差|分散)"
UNIT_VARIANCE = re.compile(VARIANCE_WORD + r"\W*(?:of|is|equal to|為|为|是|が|は)?\W*(?:one\b|1(?![\d/]|\.\d))")


def says_unit_variance(statement: Statement, scope: Scope) -> bool:
    """Return whether the words around call the variance of something 1, and speak of no other variance."""
    around = scope.words(statement)
    named, unit = (len(re.findall(pattern, around.lower())) for pattern in (VARIANCE_WORD, UNIT_VARIANCE))
    return 0 < named == unit


def check_moments(first: Expr, second: Expr, *, unit: bool) -> Iterator[Finding]:
    """Decide mean and variance of a dot product under the assumptions of the catalogue.

    A sum whose variance is a number, whatever its length, has components of another variance: it is refuted only where
    `unit` says that theirs is 1.
    """
    renamed = _renamed(first, second)
    if renamed is None:
        return
    left, right, length = renamed
    deviation = _deviation(right)
    if deviation is None:
        return
    texts = dict.fromkeys(each.text for each in (*UNCORRELATED, *INDEPENDENT))
    given = (f"components have mean 0 and variance {shown(deviation**2)}", *texts)
    result = "dot_product.variance" if deviation == 1 else "dot_product.variance_general"
    if _equal(left, right, deviation):
        yield Finding("conditional", CHECK, "by independence", result=result, assumptions=given)
    elif not right.has(Variance, Expectation) and (unit or not (right.is_number and _is_plain(left))):
        value = _known(left, deviation)
        if value is not None and weighed(value, right)[0] == "refuted":
            shown_value, shown_right = (shown(each.xreplace({d_k: length})) for each in (value, right))
            reason = f"where {given[0]} it is {shown_value}, not {shown_right}"
            yield Finding("wrong", CHECK, reason, right=shown_value, result=result)


def _is_plain(left: Expr) -> bool:
    """Return whether a side is the variance of a sum without a factor."""
    return isinstance(left, Variance) and isinstance(left.args[0], Sum)


def _known(left: Expr, deviation: Expr) -> Expr | None:
    """Return the value of a moment if it is one of those that the catalogue gives for dot products, or None."""
    scale = deviation**4 if left.has(Variance) else Integer(1)
    values = (Integer(0), *(scale * each for each in (Integer(1), d_k, 1 / d_k, sqrt(d_k), 1 / sqrt(d_k))))
    return next((value for value in values if _equal(left, value, deviation)), None)


def _source(deviation: Expr) -> Derivation:
    """Return the assumptions of the catalogue, for components of mean 0 and of this standard deviation."""
    spread = components(0, 0, deviation**2, deviation**2)
    return Derivation("", "", (), assumptions=(*UNCORRELATED, *INDEPENDENT, *spread))


def _deviation(right: Expr) -> Expr | None:
    """Return the standard deviation that a result contains: the letter sigma, or 1. Other letters give None."""
    vectors = {each for base in right.atoms(IndexedBase) for each in base.free_symbols}
    symbols = (each for each in right.free_symbols - vectors - {d_k} if isinstance(each, Symbol))
    letters = [each for each in symbols if not each.is_integer]
    if not letters:
        return Integer(1)
    return letters[0] if len(letters) == 1 and letters[0].name in ("sigma", "σ") else None


@lru_cache(maxsize=1024)
def _equal(left: Expr, right: Expr, deviation: Expr) -> bool:
    """Return whether two sides are equal for components of mean 0 and of this standard deviation."""
    source = _source(deviation)
    return any(are_equal(left, right, source, rule) for rule in ("moments", "variance"))


def _renamed(first: Expr, second: Expr) -> tuple[Expr, Expr, Expr] | None:
    """Return both sides with their vectors renamed to q and k, of length d_k, and the original name of that length.

    Result       None where there are not just two
    Assumes      the length of a sum without bounds is the one size that stands beside
    """
    vectors = sorted(first.atoms(IndexedBase) | second.atoms(IndexedBase), key=str)
    ours = sorted(product.atoms(IndexedBase), key=str)
    lengths = {each.shape for each in vectors}
    if len(vectors) != 2 or len(lengths) != 1 or len(vectors[0].shape) != 1:
        return None
    (length,) = vectors[0].shape
    if OF_AN_AXIS in str(length):
        sizes = [each for each in (first.free_symbols | second.free_symbols) if each.is_integer and each != length]
        written = [each for each in sizes if OF_AN_AXIS not in str(each)]
        if len(written) != 1:
            return None
        first, second = (side.xreplace({length: written[0]}) for side in (first, second))
        return _renamed(first, second)
    table: dict[Basic, Basic] = dict(zip(vectors, ours, strict=True))
    if isinstance(length, Symbol):
        table[length] = d_k
    return first.xreplace(table), second.xreplace(table), length


def shown(expression: Expr) -> str:
    """Return an expression multiplied out, as a reader would write it."""
    return str(expand(expression)).replace("**", "^").replace("*", " ")
