r"""What is seen from the structure of a formula alone: residual sums with their norm, causal masks written by cases.

Definition   Y = x + F(x) is a residual sum, Norm(x + F(x)) is post-norm, x + F(Norm(x)) is pre-norm; a causal mask is 0
             where key j is not behind query i, and minus infinity elsewhere
Result       `by_structure(left, right)` is the verdict, the reason and the result of the catalogue, or None
Assumes      letters are free; functions are told by name, and a function F of nothing else is any sub-layer
"""

from __future__ import annotations

from derivations.documents.judge.arrays import function_word
from derivations.documents.syntax import Call, Cases, Chain, Fence, Name, Negative, Node, Number, Sum, Words
from derivations.documents.verdicts import Verdict

__all__ = ["Seen", "by_structure"]

Seen = tuple[Verdict, str, str]

NORMS = frozenset(
    {"layernorm", "ln", "norm", "rmsnorm", "layernormalization", "layernormalisation", "lnorm", "normalize"}
)
SUBLAYERS = frozenset({
    "sublayer", "attention", "attn", "selfattention", "selfattn", "sa", "multihead", "multiheadattention", "mha",
    "mhsa", "msa", "maskedmultihead", "crossattention", "ffn", "feedforward", "mlp", "f", "sublayeroutput", "ff",
})  # fmt: skip
TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">"}


def by_structure(left: Node | None, right: Node) -> Seen | None:
    """Return what the structure of a right side, or of a formula that stands alone (no left side), tells."""
    if isinstance(right, Cases):
        return _mask(left, right)
    if left is None or isinstance(left, Name):
        return _residual(right)
    return None


# --- residual sums ---


def _residual(node: Node) -> Seen | None:
    if isinstance(node, Call) and function_word(node.function) in NORMS and node.arguments:
        if _branch(node.arguments[0]) == "plain":
            return "proved", "this is a residual sum with its norm behind it", "residual.post_norm"
        return None
    match _branch(node):
        case "plain":
            return "proved", "this is a residual sum: the input is added to what is made of it", "residual.post_norm"
        case "normalised":
            return "proved", "this is a residual sum whose branch sees the normalised input", "residual.pre_norm"
    return None


def _branch(node: Node) -> str:
    """Say what the branch of a residual sum sees: the input ("plain"), or the input after a norm ("normalised")."""
    if not isinstance(node, Sum) or len(node.terms) != 2 or node.signs != (1, 1):
        return ""
    for stream, branch in (node.terms, node.terms[::-1]):
        if isinstance(stream, Name) and isinstance(branch, Call) and function_word(branch.function) in SUBLAYERS:
            first = branch.arguments[0] if branch.arguments else None
            if all(each == stream for each in branch.arguments) and first is not None:
                return "plain"
            if isinstance(first, Call) and all(each == first for each in branch.arguments):
                normed = function_word(first.function) in NORMS and first.arguments[:1] == (stream,)
                return "normalised" if normed else ""
    return ""


# --- causal masks ---


def _mask(left: Node | None, right: Cases) -> Seen | None:
    if not isinstance(left, Name) or len(left.subscripts) != 2 or len(right.branches) != 2:
        return None
    query, key = left.subscripts
    seen = [_visible(value, condition, query, key) for value, condition in right.branches]
    (first, _), (second, condition) = right.branches
    if {_kind(first), _kind(second)} != {"0", "-oo"} or seen[0] is None:
        return None
    if seen[1] not in (None, seen[0]) or (seen[1] is None and not isinstance(condition, Words | None)):
        return None
    if seen[0] == "≤":
        return "proved", "this is the causal mask: no position sees a later one", "attention.causal_weights"
    if seen[0] == ">":
        reason = "this mask shows later positions alone: 0 and minus infinity have changed places"
        return "wrong", reason, "attention.causal_weights"
    return None


def _visible(value: Node, condition: Node | None, query: Node, key: Node) -> str | None:
    """Return how visible keys stand to the query, as one branch tells it."""
    while isinstance(condition, Fence):
        condition = condition.inside
    if not isinstance(condition, Chain) or len(condition.relations) != 1 or not isinstance(condition.relations[0], str):
        return None
    relation = condition.relations[0]
    if relation not in TURNED or {*condition.sides} != {query, key}:
        return None
    relation = relation if condition.sides[0] == key else TURNED[relation]
    return relation if _kind(value) == "0" else OPPOSITE[relation]


def _kind(value: Node) -> str:
    match value:
        case Number(value=number) if number == 0:
            return "0"
        case Negative(operand=Name(base="infty" | "∞" | "inf" | "infinity")):
            return "-oo"
    return ""
