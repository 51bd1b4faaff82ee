r"""Claims about what something costs: parameters, operations, the key-value cache.

Definition   what is counted is told by the words around, nearest first: the left side, the block, the prose before it
             and the headings; the letters are sizes by what the scope calls them, by their names, or by custom
Result       holds        the count that the equations of the package give
             conditional  with sizes related as is usual; without biases and norms; in multiply-adds, where a
                          multiply-add is 2 FLOPs; forward and backward together; for one token: named as assumptions
             wrong        one part is named, its letters are known, and no reading gives this count
             nothing      where it is not clear what is counted
Units        parameters; FLOPs in products, a multiply-add being 2; numbers or bytes of the cache
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from sympy import Expr, Integer, Poly, PolynomialError, Rational, Symbol, expand

from derivations.documents.judge.chains import USUAL, related
from derivations.documents.judge.letters import Worded
from derivations.documents.judge.scalars import scalar
from derivations.documents.judge.size_letters import readings_of_letters
from derivations.documents.judge.subjects import (
    PARTS,
    Cost,
    Part,
    costs,
    parts_named,
    quantity_named,
    words_of,
)
from derivations.documents.judge.training_compute import check_training
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Number, Product, Words
from derivations.documents.verdicts import Finding
from derivations.symbols import batch, d_ff, d_k, d_model, d_v, n

__all__ = ["check_counting"]

CHECK = "counting"
LEFT = frozenset({"C", "N", "P", "F", "M", "params", "FLOPs", "flops", ""})
TRAINING = ("train", "backward", "训练", "訓練", "反向", "学習", "逆伝播")
GATED = ("glu", "gate", "llama", "门控", "門控", "ゲート", "three matrices", "three weight")
WHOLE = frozenset(
    {"feed-forward network", "gated feed-forward network", "layer norm", "root-mean-square norm", "embedding"}
)
_SHARES = tuple(Rational(*each) for each in ((1, 4), (1, 3), (1, 2), (2, 3), (3, 4)))
_NEAR = 24  # characters behind a formula that say what it counts
WIDTHS = (d_model, d_ff, d_k, d_v)


def check_counting(statement: Statement, link: int | None, scope: object) -> Iterator[Finding]:
    """Yield what is found of a count."""
    sides = statement.chain.sides
    left: Node
    if link is None:
        left, right = Name(""), sides[0]
    elif link == 0 and isinstance(sides[0], Name | Words) and statement.chain.relations[0] in ("=", "≈", "∼", "≃"):
        left, right = sides[0], sides[1]
    else:
        return
    if isinstance(right, Name):
        return
    texts = _texts(statement, left, scope)
    if isinstance(left, Name) and left.base not in LEFT and quantity_named(words_of(left)) is None:
        return  # a letter that is defined, no count
    counted = scalar(right, scope)
    if counted is None or not counted.free_symbols or not counted.is_polynomial(*counted.free_symbols):
        return
    training = tuple(check_training(left, counted, texts))
    if training:
        yield from training
        return
    after = _after(statement)
    quantity = next(filter(None, map(quantity_named, (texts[0], after, *texts[1:]))), None)
    parts = PARTS[:1] if quantity == "cache" else next(filter(None, map(parts_named, texts)), ())
    letters = readings_of_letters(right, counted, scope)
    if quantity is None or not parts or letters is None:
        return
    beside = _before(statement) + _after(statement)
    certain = link is not None or (quantity_named(beside) == quantity and not _is_shape(right))
    near = texts if quantity_named(" ".join(texts[:-1])) is None else texts[:-1]
    words, all_words = (" ".join(each).lower() for each in (near, texts))
    yield from _judged(_Count(counted, quantity, parts, letters, words, all_words, certain))


def _texts(statement: Statement, left: Node, scope: object) -> list[str]:
    """Return what tells what is counted, nearest first."""
    block = " ".join(passage.text for passage in statement.block.passages if not passage.is_formula)
    around = scope.words(statement) if isinstance(scope, Worded) else ""
    return [words_of(left), block, " ".join(statement.block.headers), around]


def _after(statement: Statement) -> str:
    """Return the prose right behind the formula: `$12 d^2$ parameters`."""
    passages = statement.block.passages
    following = (after for before, after in pairwise(passages) if before is statement.passage)
    return next((each.text[:_NEAR] for each in following if not each.is_formula), "")


def _before(statement: Statement) -> str:
    """Return the prose right before the formula, in its sentence."""
    passages = statement.block.passages
    before = next((one for one, after in pairwise(passages) if after is statement.passage), None)
    if before is None or before.is_formula:
        return ""
    return re.split(r"[.!?;] |[。！？；]", before.text[-2 * _NEAR :])[-1]


def _is_shape(node: Node) -> bool:
    """Say whether a count may be a shape, d × 4 d."""
    if not isinstance(node, Product) or "times" not in node.operators:
        return False
    first = node.factors[0]
    while isinstance(first, Product):
        first = first.factors[0]
    return not isinstance(first, Number)


# --- a count against the equations ---


@dataclass(frozen=True)
class _Count:
    """A count with what is known of it."""

    counted: Expr
    quantity: str
    parts: tuple[Part, ...]
    letters: list[Mapping[Symbol, Symbol]]
    near: str
    text: str
    certain: bool


def _judged(count: _Count) -> Iterator[Finding]:
    for letters in count.letters:
        said = count.counted.xreplace(dict(letters))
        for part in count.parts:
            for cost in costs(part.name, count.quantity):
                assumptions = _agreement(said, cost.value, count)
                if assumptions is not None:
                    verdict = "conditional" if assumptions else "holds"
                    reason = f"the {count.quantity} of: {cost.of}"
                    yield Finding(verdict, CHECK, reason, result=cost.result, assumptions=assumptions)  # type: ignore[arg-type]
                    return
    if count.certain and len(count.parts) == 1 and len(count.letters) == 1 and count.quantity != "cache":
        yield from _refuted(count, count.parts[0])


def _agreement(said: Expr, value: Expr, count: _Count) -> tuple[str, ...] | None:
    """Return under which assumptions a count is a cost; None where it is not."""
    operations = count.quantity == "operations"
    for relations in ((), ((d_v, d_k),), USUAL[:2], USUAL[2:], USUAL):
        first, second = (expand(related(each, relations)) for each in (said, value))
        if relations and second == expand(value) and first == expand(said):
            continue
        present = said.free_symbols | value.free_symbols
        usual = tuple(f"{name} = {size}" for name, size in relations if name in present)
        for fewer, text in _lengths(first, second, operations=operations):
            if first == fewer:
                return (*usual, *text)
            if operations and expand(2 * first) == fewer:
                return (*usual, *text, "a multiply-add counts as one operation; it is 2 FLOPs")
            if operations and first == expand(3 * fewer) and any(word in count.near for word in TRAINING):
                return (*usual, *text, "the backward pass costs twice the forward pass")
            if not operations and _leading(first, fewer):
                return (*usual, *text, "biases and norms are left out")
    return None


def _lengths(said: Expr, value: Expr, *, operations: bool) -> Iterator[tuple[Expr, tuple[str, ...]]]:
    """Yield a cost, and the same for one sequence or one token where the count has none of these lengths."""
    yield value, ()
    if operations and batch not in said.free_symbols:
        yield expand(value.xreplace({batch: Integer(1)})), ("one sequence",)
        yield expand(value / (batch * n)), ("for one token",)


def _leading(said: Expr, value: Expr) -> bool:
    """Say whether a count has all terms of the highest degree in the widths, and leaves out others only."""
    first, second = (_by_monomial(each) for each in (said, value))
    if not set(first.items()) < set(second.items()):
        return False
    degrees = {monomial: _width_degree(monomial) for monomial in second}
    return all(degrees[each] < max(degrees.values()) for each in second if each not in first)


def _by_monomial(expression: Expr) -> dict[Expr, Expr]:
    coefficients = expand(expression).as_coefficients_dict()
    return {monomial: value for monomial, value in coefficients.items() if value != 0}


def _width_degree(monomial: Expr) -> int:
    try:
        return int(Poly(monomial, *WIDTHS).total_degree())
    except PolynomialError:
        return 0


# --- a count that nothing gives ---


def _refuted(count: _Count, part: Part) -> Iterator[Finding]:
    """Say no where one part is meant, and the count is of the same letters with other factors or exponents."""
    said = expand(count.counted.xreplace(dict(count.letters[0])))
    if any(word in count.near for word in TRAINING) or (part.name == "feed-forward network" and _gated(count.text)):
        return
    if not said.is_Add and said.as_coeff_Mul()[0] == 1:
        return  # an order of growth, its factor left out
    if any(_is_share(said, cost) for cost in costs(part.name, count.quantity)):
        return  # of one matrix, or of some of them
    for cost in costs(part.name, count.quantity):
        if _same_terms(said, cost, count.quantity) or (part.name in WHOLE and _near(said, cost)):
            back = {size: letter for letter, size in count.letters[0].items()}
            right = _shown(cost.value.xreplace(back))
            reason = f"the {count.quantity} of the {cost.of} are {right}"
            yield Finding("wrong", CHECK, reason, right=right, result=cost.result)
            return


def _is_share(said: Expr, cost: Cost) -> bool:
    """Say whether a count is a simple share of the leading terms of a cost."""
    for relations in ((), USUAL[:2], USUAL[2:], USUAL):
        value = expand(related(cost.value, relations))
        terms = _by_monomial(value)
        most = max((_width_degree(each) for each in terms), default=0)
        leading = expand(sum(factor * each for each, factor in terms.items() if _width_degree(each) == most))
        ratio = (expand(related(said, relations)) / leading).cancel()
        if ratio in _SHARES:
            return True
    return False


def _gated(text: str) -> bool:
    return any(word in text for word in GATED)


def _same_terms(said: Expr, cost: Cost, quantity: str) -> bool:
    """Say whether two counts have the same terms, two or more, with other coefficients."""
    first, value = _by_monomial(said), cost.value
    for fewer, _ in _lengths(said, expand(related(value, USUAL[:2])), operations=quantity == "operations"):
        second = _by_monomial(fewer)
        if first and second and len(first) > 1 and set(first) == set(second):
            return True
    return False


def _near(said: Expr, cost: Cost) -> bool:
    """Say whether a count is of all the widths of the cost, and of no other letters: 5 d^2 leaves d_ff / d open."""
    letters, widths = said.free_symbols, cost.value.free_symbols & set(WIDTHS)
    return widths <= letters <= cost.value.free_symbols and _width_degree_of(said) >= 2


def _width_degree_of(expression: Expr) -> int:
    terms = _by_monomial(expression)
    return max((_width_degree(each) for each in terms), default=0)


def _shown(expression: Expr) -> str:
    return str(expression).replace("**", "^").replace("*", " ")
