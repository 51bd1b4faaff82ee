r"""Two-layer networks with weights on the wrong side: the shapes fit, but the input needs the hidden width.

Definition   in `W2 · f(W1 · x)` with W1 of 512 x 2048, x must have 2048 entries, and f is taken of 512; where 512 is
             the width of the model, x has 512, and x W1 was meant
Result       `inside_out` gives the width that x must have and the one that it has; None for any other formula
Assumes      the width of the model is said: by a letter that is called so, or by the shape of the input or the output
"""

from __future__ import annotations

from sympy import Expr

from derivations.documents.judge.shapes.fitting import fit, is_equation
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import KEEPS_SHAPE, folded
from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import is_bias, is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Product

__all__ = ["inside_out"]


def inside_out(statement: Statement, link: int, scope: Scope) -> tuple[Name, Expr, Expr] | None:
    """Return the input of a network, the width it needs to have and the width of the model, where these differ."""
    if not is_equation(statement.chain.relations[link]):
        return None
    right = statement.chain.sides[link + 1]
    activation = _inner(right, scope)
    if activation is None:
        return None
    found = fit(statement.chain.sides[link : link + 2], scope, statement.passage.syntax == "code")
    inference = found.inference
    if found.clashes or found.aside or inference.shape(activation).last is None:
        return None
    inner = inference.found(inference.shape(activation).last)
    for name in _inputs(activation, inference):
        outer = inference.found(inference.assumed[name.key].last)
        if outer is not None and inner is not None and _is_inner(outer, scope) and _is_model(inner, scope):
            return name, outer, inner
    return None


def _inner(node: Node, scope: Scope) -> Call | None:
    """Return the activation f(W1 x + b1) that is multiplied by a weight matrix, or None."""
    for part in node.walk():
        if isinstance(part, Product) and any(scope.document.is_weight(factor) for factor in part.factors):
            for factor in part.factors:
                if isinstance(factor, Call) and (folded(factor.function) in KEEPS_SHAPE or _is_maximum(factor)):
                    return factor
    return None


def _is_maximum(call: Call) -> bool:
    return call.function.base == "max" and len(call.arguments) == 2


def _inputs(activation: Call, inference: Inference) -> list[Name]:
    names = [part for part in activation.walk() if isinstance(part, Name) and part.key in inference.assumed]
    return [name for name in names if not is_weight(name) and not is_bias(name)]


def _is_model(width: Expr, scope: Scope) -> bool:
    return width in scope.document.model_widths or _is_called(width, "model width", scope)


def _is_inner(width: Expr, scope: Scope) -> bool:
    if width.free_symbols:
        return _is_called(width, "hidden width", scope)
    return bool(scope.document.model_widths) and width not in scope.document.model_widths


def _is_called(width: Expr, meaning: str, scope: Scope) -> bool:
    return scope.document.distinctions.is_called(getattr(width, "name", ""), meaning)
