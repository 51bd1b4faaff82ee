"""Canonical right sides about softmax: its entries, its derivatives, the cross-entropy."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from sympy import Integer, KroneckerDelta, Sum, exp

from derivations.activations.sigmoid import sigmoid
from derivations.documents.canon.forms import Form, result, right, scalar_form
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import row_softmax
from derivations.softmax.softmax import softmax
from derivations.symbols import i, j, k, m, n, scalar

__all__ = [
    "COLUMNS",
    "ENERGIES",
    "cross_entropy_forms",
    "cross_entropy_gradient_forms",
    "diagonal_forms",
    "jacobian_forms",
    "log_softmax_forms",
    "log_sum_exp_forms",
    "logit_gradient_forms",
    "row_softmax_forms",
    "slope_forms",
    "softmax_forms",
    "softmax_vector_forms",
]

ENERGIES = "it is taken of energies, the lowest of which weighs most"
COLUMNS = "columns here stand for its rows: it is taken over the first index"
temperature = scalar("T", positive=True)
S = array("S", n, m)
x, y, t = array("x", n), array("y", n), array("t", n)


@cache
def softmax_forms() -> tuple[Form, ...]:
    """Entry i of softmax, with and without a temperature."""
    return (
        Form("softmax.definition", softmax().result(x).entry(i), ("i",)),
        Form("softmax.temperature", softmax().result(x / temperature).entry(i), ("i",)),
        Form("softmax.temperature", softmax().result(temperature * x).entry(i), ("i",)),
        Form("softmax.definition", softmax().result(-x).entry(i), ("i",), assumed=(ENERGIES,)),
    )


@cache
def row_softmax_forms() -> tuple[Form, ...]:
    """Entry (i, j) of the softmax of the rows of a matrix, or of its columns."""
    name, places = "softmax.definition", ("i", "j")
    return (
        Form(name, row_softmax(S).entry(i, j), places),
        Form("softmax.temperature", row_softmax(S / temperature).entry(i, j), places),
        Form(name, row_softmax(-S).entry(i, j), places, assumed=(ENERGIES,)),
        Form(name, row_softmax(S.T).entry(j, i), places, assumed=(COLUMNS,)),
    )


@cache
def softmax_vector_forms() -> tuple[Form, ...]:
    """The Jacobian of softmax as a matrix."""
    return (Form("softmax.jacobian_matrix", right("softmax.jacobian_matrix")),)


@cache
def jacobian_forms() -> tuple[Form, ...]:
    """The Jacobian of softmax entry by entry, in general and off the diagonal."""
    whole = right("softmax.jacobian")
    apart = whole.xreplace({KroneckerDelta(i, k): Integer(0)})
    return (
        Form("softmax.jacobian", whole, ("i", "k")),
        Form("softmax.jacobian", apart, ("i", "k"), assumed=("the two indices differ",), condition=True),
    )


@cache
def diagonal_forms() -> tuple[Form, ...]:
    """The derivative of an entry with respect to its own input. The sigmoid has the same derivative."""
    return (Form("softmax.jacobian_diagonal", right("softmax.jacobian_diagonal"), ("i", "i")),)


@cache
def slope_forms() -> tuple[Form, ...]:
    """The slope of the sigmoid in terms of its value."""
    value = scalar("s")
    slope = right("activation.sigmoid_derivative").xreplace({sigmoid.formula(scalar("t")): value})
    return (scalar_form("activation.sigmoid_derivative", slope),)


@cache
def log_softmax_forms() -> tuple[Form, ...]:
    """Log-softmax."""
    return (Form("softmax.log_jacobian", right("softmax.log_jacobian", 0), ("i",)),)


@cache
def log_sum_exp_forms() -> tuple[Form, ...]:
    """Log-sum-exp."""
    lse, shift = -(right("softmax.log_jacobian", 0) - x[i]), scalar("m")
    shifted = shift + lse.replace(lambda part: part.func is exp, lambda part: exp(part.args[0] - shift))
    return (Form("softmax.log_sum_exp_bounds", lse), Form("softmax.log_sum_exp_bounds", shifted))


@cache
def cross_entropy_forms() -> tuple[Form, ...]:
    """The cross-entropy of targets and predictions."""
    return (Form("softmax.cross_entropy_gradient", result("softmax.cross_entropy_gradient").claims[0].lhs),)


@cache
def cross_entropy_gradient_forms() -> tuple[Form, ...]:
    """The gradient of the cross-entropy with respect to the logits, entry by entry."""
    name = "softmax.cross_entropy_gradient"
    entry, mean, count = right(name, 1), "softmax.cross_entropy_mean_gradient", scalar("N", positive=True)
    chained = -Sum(t[i] * right("softmax.log_jacobian", 1), (i, 0, n - 1))
    return (
        Form(name, entry, ("k",)),
        Form(name, chained, ("k",)),
        scalar_form(name, entry),
        replace(scalar_form(mean, entry / count, ("the loss is the mean over the rows",)), condition=True),
    )


@cache
def logit_gradient_forms() -> tuple[Form, ...]:
    """The gradient with respect to the logits, with the prediction written as their softmax."""
    name, softened = "softmax.cross_entropy_gradient", softmax().result(x)
    return (Form(name, softened - t), Form(name, softened.entry(k) - t[k], ("k",)))
