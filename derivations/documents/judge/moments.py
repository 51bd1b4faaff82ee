r"""Mean and variance of a dot product, as the catalogue proves them of independent components.

Definition   `Var(\sum_i q_i k_i)`, `Var(q \cdot k)`, `E(...)`: of two vectors, written as a sum or as a product
Result       conditional  the mean 0, and the variance d_k sigma^4 or d_k: the assumptions are named
             wrong        another expression in the length, sigma or numbers, where the left side is known; a sum whose
                          variance is a number only where the words around say that components have variance 1
Assumes      a standard deviation is called sigma, or is 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Basic, Expr, IndexedBase, Integer, Sum, Symbol, expand, sqrt

from derivations.documents.judge.letters import Worded, rebuilt
from derivations.documents.judge.scalars import EXPECTATIONS, VARIANCES, is_size
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Name, Node, Number, Product, Transpose
from derivations.documents.verdicts import Finding
from derivations.dot_product import INDEPENDENT, UNCORRELATED, components, product
from derivations.language.derivation import Derivation
from derivations.language.proof import prove_equal
from derivations.language.scalars import Expectation, Variance
from derivations.symbols import d_k

__all__ = ["check_moments", "says_unit_variance", "shown", "with_sums"]

CHECK = "chain"
VARIANCE_WORD = r"(?:variance|變異數|变异数|方差|分散)"
UNIT_VARIANCE = re.compile(VARIANCE_WORD + r"\W*(?:of|is|equal to|為|为|是|が|は)?\W*(?:one\b|1(?![\d./]))")


def with_sums(left: Node, right: Node) -> tuple[Node, Node]:
    """Return sides with `q . k` under a mean or variance written as a sum, over the one size that they hold."""
    parts = [*left.walk(), *right.walk()]
    if not any(isinstance(part, Call) and part.function.base in VARIANCES | EXPECTATIONS for part in parts):
        return left, right
    lengths = {part.key: part for part in parts if isinstance(part, Name) and is_size(part)}
    if len(lengths) != 1 or any(isinstance(part, Aggregate) for part in parts):
        return left, right
    (length,) = lengths.values()
    return _summed(left, length), _summed(right, length)


def _summed(node: Any, length: Name) -> Any:
    factors = [each.operand if isinstance(each, Transpose) else each for each in getattr(node, "factors", ())]
    vectors = [each for each in factors if isinstance(each, Name) and each.base.islower() and not is_size(each)]
    if len(vectors) == len(factors) == 2 and vectors[0] != vectors[1]:
        place = Name("component")
        entries = (Name(each.base, (*each.subscripts, place), each.superscripts, each.primes) for each in vectors)
        return Aggregate("sum", Product(tuple(entries), ("",)), (place,), Number("1", Fraction(1)), length)
    return rebuilt(node, lambda each: _summed(each, length))


def says_unit_variance(statement: Statement, scope: object) -> bool:
    """Say whether the words around call the variance of something 1, and speak of no other variance."""
    around = scope.words(statement) if isinstance(scope, Worded) else ""
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
    left, right = renamed
    deviation = _deviation(right)
    if deviation is None:
        return
    spread = components(0, 0, deviation**2, deviation**2)
    source = Derivation("", "", (), assumptions=(*UNCORRELATED, *INDEPENDENT, *spread))
    texts = dict.fromkeys(each.text for each in (*UNCORRELATED, *INDEPENDENT))
    given = (f"components have mean 0 and variance {shown(deviation**2)}", *texts)
    result = "dot_product.variance" if deviation == 1 else "dot_product.variance_general"
    if _equal(left, right, source):
        yield Finding("conditional", CHECK, "by independence", result=result, assumptions=given)
    elif not right.has(Variance, Expectation) and (unit or not (right.is_number and _is_plain(left))):
        yield from _other_moment(left, right, source, deviation, (result, given[0]))


def _is_plain(left: Expr) -> bool:
    """Say whether this is the variance of a sum that nothing scales."""
    return isinstance(left, Variance) and isinstance(left.args[0], Sum)


def _other_moment(
    left: Expr, right: Expr, source: Derivation, deviation: Expr, named: tuple[str, str]
) -> Iterator[Finding]:
    """Say no where the left side is known, and the right side is refuted to be it."""
    scale = deviation**4 if left.has(Variance) else Integer(1)
    for value in (Integer(0), *(scale * each for each in (Integer(1), d_k, 1 / d_k, sqrt(d_k)))):
        if _equal(left, value, source):
            if prove_equal(value, right).level == "refuted":
                result, given = named
                reason = f"where {given} it is {shown(value)}, not {shown(right)}"
                yield Finding("wrong", CHECK, reason, right=shown(value), result=result)
            return


def _deviation(right: Expr) -> Expr | None:
    """Return the standard deviation that a result is written in: the letter sigma, or 1; None for other letters."""
    vectors = {each for base in right.atoms(IndexedBase) for each in base.free_symbols}
    symbols = (each for each in right.free_symbols - vectors - {d_k} if isinstance(each, Symbol))
    letters = [each for each in symbols if not each.is_integer]
    if not letters:
        return Integer(1)
    return letters[0] if len(letters) == 1 and letters[0].name in ("sigma", "σ") else None


def _equal(left: Expr, right: Expr, source: Derivation) -> bool:
    return any(prove_equal(left, right, source, rule).level == "proved" for rule in ("moments", "variance"))


def _renamed(first: Expr, second: Expr) -> tuple[Expr, Expr] | None:
    """Return both sides with their two vectors called q and k, of length d_k; None where there are not just two."""
    vectors = sorted(first.atoms(IndexedBase) | second.atoms(IndexedBase), key=str)
    ours = sorted(product.atoms(IndexedBase), key=str)
    lengths = {each.shape for each in vectors}
    if len(vectors) != 2 or len(lengths) != 1 or len(vectors[0].shape) != 1:
        return None
    (length,) = vectors[0].shape
    table: dict[Basic, Basic] = dict(zip(vectors, ours, strict=True))
    if isinstance(length, Symbol):
        table[length] = d_k
    return first.xreplace(table), second.xreplace(table)


def shown(expression: Expr) -> str:
    """Return an expression multiplied out, as a reader would write it."""
    return str(expand(expression)).replace("**", "^").replace("*", " ")
