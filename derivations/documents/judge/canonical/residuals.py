r"""Residual sums with their norms, seen from the structure of a formula alone.

Definition   Y = x + F(x) is a residual sum, Norm(x + F(x)) is post-norm, x + F(Norm(x)) is pre-norm; F is a sub-layer,
             or several one after the other, each called by its name
Result       `residual(node, scope)` is the verdict, the reason, the result of the catalogue and what is assumed, or
             None. A norm that the document does not define is assumed to act on each row; so is a summand that is a
             mere letter assumed to be made of the other one, where no formula says so
Assumes      letters are free; functions are told by name
"""

from __future__ import annotations

from dataclasses import dataclass

from derivations.documents.judge.arrays.arrays import function_word
from derivations.documents.judge.canonical.likeness import Likeness
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import fold_key
from derivations.documents.syntax import Call, Name, Node, Sum

__all__ = ["POST_NORM", "SUBLAYERS", "Seen", "branch_of", "is_norm", "residual"]

NORMS = frozenset(
    {"layernorm", "ln", "norm", "rmsnorm", "layernormalization", "layernormalisation", "lnorm", "normalize"}
)
SUBLAYERS = frozenset({
    "sublayer", "attention", "attn", "selfattention", "selfattn", "sa", "multihead", "multiheadattention", "mha",
    "mhsa", "msa", "maskedmultihead", "crossattention", "ffn", "feedforward", "mlp", "f", "sublayeroutput", "ff",
    "dropout",
})  # fmt: skip
MOST_USES, MOST_STEPS = 24, 8
POST_NORM = "residual.post_norm"


@dataclass(frozen=True)
class Seen:
    """A verdict from the structure of a formula alone."""

    verdict: Likeness
    reason: str
    result: str
    assumed: tuple[str, ...] = ()
    right: Node | None = None  # what would be right


def residual(node: Node, scope: Scope) -> Seen | None:
    """Return the verdict on a residual sum, with or without a norm, or None."""
    if isinstance(node, Call) and is_norm(node) and len(node.arguments) == 1:
        inner = node.arguments[0]
        if branch_of(inner) == "plain":
            reason = "this is a residual sum with its norm after it"
            return Seen("usual", reason, POST_NORM, _unsaid(node, scope))
        return _of_letters(node, inner, scope)
    match branch_of(node):
        case "plain":
            reason = "this is a residual sum: the input is added to what is made of it"
            return Seen("usual", reason, POST_NORM)
        case "normalised":
            norm = next(part for part in node.walk() if isinstance(part, Call) and is_norm(part))
            reason = "this is a residual sum whose branch sees the normalised input"
            return Seen("usual", reason, "residual.pre_norm", _unsaid(norm, scope))
    return None


def _of_letters(norm: Call, inner: Node, scope: Scope) -> Seen | None:
    """Judge Norm(x + z) of two letters: post-norm, if one of them is computed from the other."""
    match inner:
        case Sum(terms=(Name() as first, Name() as second), signs=(1, 1)) if first != second:
            assumed = _unsaid(norm, scope)
            if not (_is_made_of(first, second, scope) or _is_made_of(second, first, scope)):
                assumed = (*assumed, f"{second.key} is what a sub-layer makes of {first.key}, or the other way round")
            verdict: Likeness = "conditional" if assumed else "usual"
            reason = f"this is a residual sum of {first.key} and {second.key} with its norm after it (post-norm)"
            return Seen(verdict, reason, POST_NORM, assumed)
    return None


def is_norm(node: Call) -> bool:
    """Return whether a function is a normalisation, judged by its name."""
    return function_word(node.function) in NORMS


def branch_of(node: Node) -> str:
    """Return what the branch of a residual sum gets: "plain" for the input, "normalised" for the input after a norm."""
    if not isinstance(node, Sum) or len(node.terms) != 2 or node.signs != (1, 1):
        return ""
    for stream, branch in (node.terms, node.terms[::-1]):
        while isinstance(branch, Call) and function_word(branch.function) in SUBLAYERS and branch.arguments:
            first = branch.arguments[0]
            if not isinstance(stream, Name) or any(each != first for each in branch.arguments):
                break
            if first == stream:
                return "plain"
            if isinstance(first, Call) and is_norm(first) and first.arguments == (stream,):
                return "normalised"
            branch = first
    return ""


def _unsaid(norm: Call, scope: Scope) -> tuple[str, ...]:
    """Return the assumption about a norm that no formula of the document defines."""
    users = scope.document.users.get(fold_key(norm.function.key), [])[:MOST_USES]
    for number in users:
        left, *rights = scope.document.kept[number].chain.sides
        if isinstance(left, Call) and is_norm(left) and rights and not isinstance(rights[0], Call):
            return ()
    name = norm.function.key
    return (f"{name} normalises each row over its features, with a scale and a shift of its own",)


def _is_made_of(part: Name, whole: Name, scope: Scope) -> bool:
    """Return whether the definitions in scope compute one letter from another, in one step or several."""
    pending, seen = [part], {part}
    for _ in range(MOST_STEPS):
        if not pending:
            return False
        definition = scope.near_definition(pending.pop(0))
        names = [each for each in definition.walk() if isinstance(each, Name)] if definition is not None else []
        if whole in names:
            return True
        pending += [each for each in dict.fromkeys(names) if each not in seen]
        seen.update(names)
    return False
