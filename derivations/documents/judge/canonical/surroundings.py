"""How the text around a compared link changes its verdict: by an assumption, by another verdict, or by dropping it.

Definition   every rule looks at one circumstance: a width that is explained and not used, a letter that may be a
             variance, a factor that another formula adds, a likelihood in the place of a loss
Result       `in_its_surroundings(found, link)` is what is said at last; None where nothing is
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from derivations.documents.canon.attention_forms import UNSCALED
from derivations.documents.canon.role_letters import KEY_WIDTHS, NORM
from derivations.documents.canon.slips import MISSING, TOO_MANY, SlipKind
from derivations.documents.canon.softmax_forms import COLUMNS
from derivations.documents.judge.arrays.left_sides import is_deviation, plain, word_of
from derivations.documents.judge.canonical.deviations import may_be_a_variance
from derivations.documents.judge.canonical.inputs_of_heads import other_inputs
from derivations.documents.judge.canonical.labelled_heads import mixes_heads
from derivations.documents.judge.canonical.mending import Judged, letter_of
from derivations.documents.judge.canonical.recognition import ELEMENTARY
from derivations.documents.judge.canonical.softmax_axes import counts_keys
from derivations.documents.judge.canonical.temperatures import multiplies
from derivations.documents.judge.canonical.terms_of_sums import counted_from_zero
from derivations.documents.judge.canonical.told_scaling import is_said_scaled
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Call,
    Derivative,
    Name,
    Negative,
    Node,
    Number,
    Product,
    Quotient,
    Root,
    Sum,
    Transpose,
    rebuilt,
)

__all__ = ["Compared", "in_its_surroundings"]

NORMS = frozenset({"layer_norm.definition", "rms_norm.definition"})
HEADS = frozenset({"multi_head.definition", "multi_head.one_head"})
EPSILON = NORM["epsilon"]
K = SlipKind
OF_DIVISION = frozenset({
    K.DIVISION, K.ROOT_DIVISION, K.NO_DIVISION, K.DIVISION_TOO_FAR, K.DIVISION_INSIDE, K.DIVISION_OF_FIRST,
    K.DIVISION_OUTSIDE, K.DIVIDED, K.ALL_DIVIDED,
})  # fmt: skip
OF_SCALE = MISSING | TOO_MANY | OF_DIVISION | {K.SIGN, K.NUMBER}  # another formula may multiply by what is lacking
OF_A_FACTOR = OF_DIVISION | {K.FACTOR, K.FACTOR_TOO_MANY, K.FACTOR_INSIDE, K.FACTOR_OF_ALL, K.ORDER, K.NUMBER}
LIKELIHOOD = ("likelihood", "似然", "尤度")
LOSS_GRADIENTS = ("softmax.cross_entropy_gradient", "softmax.cross_entropy_mean_gradient")
CROSS_ENTROPY = ("cross-entropy", "cross entropy", "交叉熵", "交差エントロピー", "クロスエントロピー")
SQUARES = ("square", "mse", "平方", "均方", "二乗", "2乗")
TEMPERED, WARM, RECIPROCAL = (
    "softmax.temperature",
    ("temperature", "温度", "溫度"),
    ("inverse", "reciprocal", "逆", "倒"),
)
NEGATIVE = ("negative", "minus", "nll", "負", "负")


@dataclass(frozen=True)
class Compared:
    """A link whose right side was compared with a form, and its scope."""

    left: Node
    right: Node
    statement: Statement
    scope: Scope


Rule = Callable[[Judged, Compared], Judged | None]


def in_its_surroundings(found: Judged, link: Compared) -> Judged | None:
    """Return the verdict on a link after every rule was applied, or None."""
    said: Judged | None = found
    for rule in RULES:
        said = rule(said, link) if said is not None else None
    return said


def _assuming(found: Judged, *assumed: str) -> Judged:
    """Return a verdict with more assumptions, which make it conditional."""
    return found._replace(verdict="conditional", assumed=(*found.assumed, *assumed)) if assumed else found


# --- mistakes that may be none ---


def _of_likelihood(found: Judged, link: Compared) -> Judged | None:
    """Drop a verdict `wrong` on the gradient of a likelihood, which has the opposite sign to that of the loss."""
    words = link.scope.words(link.statement).lower() if isinstance(link.left, Derivative) else ""
    likely = any(word in words for word in LIKELIHOOD) and not any(word in words for word in NEGATIVE)
    return None if found.verdict == "wrong" and likely else found


def _of_another_loss(found: Judged, link: Compared) -> Judged | None:
    """Drop a verdict `wrong` on the gradient of a squared error, or of a loss defined without a logarithm."""
    if found.verdict != "wrong" or found.result not in LOSS_GRADIENTS or not isinstance(link.left, Derivative):
        return found
    defined = link.scope.definitions(link.left.of) if isinstance(link.left.of, Name) else ()
    if defined:
        return found if any(map(_has_logarithm, defined)) else None
    words = link.scope.words(link.statement).lower()
    if any(word in words for word in (*CROSS_ENTROPY, "softmax", "logit")):
        return found
    return None if found.kind in OF_A_FACTOR or any(word in words for word in SQUARES) else found


def _has_logarithm(node: Node) -> bool:
    """Return whether a formula has a logarithm, or a function with a longer name that may contain one."""
    calls = (part.function.base for part in node.walk() if isinstance(part, Call))
    return any(word in ("log", "ln") or len(word) > 1 for word in calls)


def _multiplied_elsewhere(found: Judged, link: Compared) -> Judged | None:
    """Drop a verdict `wrong` on a function that is a factor elsewhere, where the missing scale may be added."""
    left = link.left
    if found.verdict != "wrong" or not isinstance(left, Call) or found.kind not in OF_SCALE:
        return found
    if left.function.base in ELEMENTARY:  # that of which it is taken is named, and no function of the document
        return found
    others = link.scope.document.used_in(left.function, link.statement)
    sides = (side for other in others for side in other.chain.sides)
    if found.kind is K.SIGN:  # which a formula without any minus does not turn
        sides = (side for side in sides if any(map(_is_negative, side.walk())))
    products = (part for side in sides for part in side.walk() if isinstance(part, Product))
    if found.kind is K.NUMBER:  # which no matrix after a function makes good
        products = (part for part in products if not any(map(link.scope.document.is_weight, part.factors)))
    factors = (each for part in products for each in part.factors)
    return None if any(isinstance(each, Call) and each.function == left.function for each in factors) else found


def _is_negative(part: Node) -> bool:
    """Return whether a part of a formula is negative, or subtracts from something other than a number."""
    match part:
        case Sum(terms=(first, *_), signs=signs):
            return -1 in signs and not isinstance(first, Number)
    return isinstance(part, Negative)


def _of_a_variance(found: Judged, link: Compared) -> Judged | None:
    """Drop a verdict `wrong` where sigma may be the variance, or where a mean that is not subtracted may be 0."""
    if found.verdict != "wrong" or found.mended is None:
        return found
    if is_deviation(link.left) and found.kind is K.SUBTRACTED:
        return None
    return None if may_be_a_variance(link.left, link.right, found.mended, link.statement, link.scope) else found


# --- what more is assumed ---


def _of_heads(found: Judged, link: Compared) -> Judged | None:
    """Add the assumptions about the inputs of heads. The verdict is dropped if a formula mixes two heads."""
    if found.verdict == "usual" and mixes_heads(link.left, link.right):
        return None
    if found.verdict != "usual" or found.result not in HEADS:
        return found
    return _assuming(found, *other_inputs(link.statement, link.left, plain(link.right), link.scope))


def _of_rows(found: Judged, link: Compared) -> Judged:
    """Add the assumption that a letter is a row, if its product y^T y is a matrix."""
    if found.verdict != "usual" or found.result != "softmax.jacobian_matrix":
        return found
    return _assuming(found, *(f"{each} is a row" for each in _rows(link.right)))


def _rows(right: Node) -> Iterator[str]:
    for part in right.walk():
        match part:
            case Product(factors=(Transpose(operand=Name() as turned), Name() as other)) if turned == other:
                yield other.key


def _without_epsilon(found: Judged, link: Compared) -> Judged:
    """Add the assumption that epsilon is 0, if a root lacks it and the document uses it elsewhere."""
    if found.verdict != "usual" or found.result not in NORMS or is_deviation(link.left):
        return found
    letters = {part.key for part in link.right.walk() if isinstance(part, Name)}
    rooted = any(isinstance(part, Root) for part in link.right.walk())
    lacks = rooted and not letters & {*EPSILON} and any(link.scope.is_used(letter_of(key)) for key in EPSILON)
    return _assuming(found, "epsilon is 0") if lacks else found


def _of_sums(found: Judged, link: Compared) -> Judged:
    """Judge a sum from 0 to n: `wrong` where it must have n terms, else conditional on counting from 0."""
    if found.verdict == "wrong":
        return found
    counted = counted_from_zero(link.right, link.scope)
    if counted is None:
        return found
    if counted.mended is None:
        return _assuming(found, counted.said)
    return Judged("wrong", counted.said, counted.mended, found.result)


# --- assumptions that the text denies ---


def _over_queries(found: Judged, link: Compared) -> Judged:
    """Return `wrong` for a softmax over the first index, if the lines around count the keys by the second."""
    if found.verdict != "conditional" or COLUMNS not in found.assumed:
        return found
    if not counts_keys(link.left, link.right, link.statement, link.scope):
        return found
    reason = "the sum goes over the first index, and the lines around take the second one to count the keys"
    return Judged("wrong", reason, found.mended, found.result)


def _unscaled(found: Judged, link: Compared) -> Judged:
    """Return `wrong` for unscaled scores, if the text explains a key width after them or calls the attention scaled."""
    if found.verdict != "conditional" or UNSCALED not in found.assumed:
        return found
    letters = {part.key for part in link.right.walk() if isinstance(part, Name)}
    widths = (letter_of(key) for key in KEY_WIDTHS.split())
    width = next((each for each in widths if each.key not in letters and link.scope.is_explained_behind(each)), None)
    if width is None and isinstance(link.left, Call) and is_said_scaled(link.statement, link.scope):
        reason = (
            "the words around call this attention scaled, and the scores are not divided by the root of their width"
        )
        return Judged("wrong", reason, _scaled(link.right, letter_of(KEY_WIDTHS.split()[0])), found.result)
    if width is None:
        return found
    reason = f"the scores are not divided by the root of {width.key}, which is explained after the formula"
    return Judged("wrong", reason, _scaled(link.right, width), found.result)


def _scaled(node: Any, width: Name) -> Any:
    """Return a formula with the scores under its softmax divided by the root of a width."""
    if isinstance(node, Call) and word_of(node) == "softmax":
        return replace(node, arguments=(Quotient(node.arguments[0], Root(width)), *node.arguments[1:]))
    return rebuilt(node, lambda part: _scaled(part, width))


def _of_temperature(found: Judged, link: Compared) -> Judged:
    """Return `wrong` if the logits are multiplied by a letter that the text calls a temperature."""
    letter = multiplies(link.right) if found.verdict == "usual" and found.result == TEMPERED else None
    words = link.scope.words(link.statement).lower()
    if letter is None or not any(word in words for word in WARM) or any(word in words for word in RECIPROCAL):
        return found
    return Judged("wrong", f"{letter.key} is a temperature, by which scores are divided", result=found.result)


RULES: tuple[Rule, ...] = (
    _of_temperature,
    _of_likelihood,
    _of_another_loss,
    _multiplied_elsewhere,
    _of_a_variance,
    _of_heads,
    _of_rows,
    _without_epsilon,
    _of_sums,
    _over_queries,
    _unscaled,
)
