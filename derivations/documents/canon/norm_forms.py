"""Canonical right sides of normalisation layers, of their statistics and of the positional encoding."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Literal

from sympy import Expr, Indexed, Integer, sqrt

from derivations.documents.canon.forms import Form, right, scalar_form
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import Hadamard
from derivations.symbols import d, epsilon, index, scalar

__all__ = [
    "BARE",
    "deviation_forms",
    "layer_norm_forms",
    "mean_along_forms",
    "mean_forms",
    "position_forms",
    "rms_norm_forms",
    "root_mean_square_forms",
    "variance_along_forms",
    "variance_forms",
]


Axis = Literal["rows", "columns"]
BARE = "without scale and shift"
FIRST = "columns here stand for its rows: it is taken over the first index"
LESS = "the divisor is one less than the number of entries"


@cache
def layer_norm_forms() -> tuple[Form, ...]:
    """Layer normalisation, entry by entry, with and without gamma and beta."""
    hat, whole = right("layer_norm.definition", 2), right("layer_norm.definition", 3)
    spread = scalar("sigma", positive=True)
    variance = next(entry for entry in hat.atoms(Indexed) if entry.base.label.name == "sigma2")
    hat = hat.xreplace({variance: spread**2})
    inner = next(entry for entry in whole.atoms(Indexed) if entry.base.label.name == "X_hat")
    full = whole.xreplace({inner: hat})
    forms = []
    for value in (hat, full, full.xreplace({next(e for e in full.atoms(Indexed) if e.base.label.name == "beta"): 0})):
        title = BARE if value is hat else ""
        forms.append(scalar_form("layer_norm.definition", value, title=title))
        exact = value.xreplace({epsilon: Integer(0)}).replace(sqrt(spread**2), spread)
        forms.append(scalar_form("layer_norm.definition", exact, title=title))
        direct = value.xreplace({spread**2 + epsilon: (spread + epsilon) ** 2})
        outside = ("epsilon is added to the standard deviation",)
        forms.append(scalar_form("layer_norm.definition", direct, outside, title))
    place = ("sigma", tuple(map(str, variance.indices)))
    spreads = (replace(form, places=(*form.places, place)) for form in forms)
    return (*spreads, scalar_form("layer_norm.definition", whole))


@cache
def rms_norm_forms() -> tuple[Form, ...]:
    """Root mean square normalisation of one vector."""
    vector, place = array("x", d), index("i")
    total = _mean_square(vector)
    gamma, forms = array("gamma", d), []
    hat = right("rms_norm.definition", 1)
    names = {e.base.label.name: e for e in hat.atoms(Indexed)}
    hat = hat.xreplace({names["X"]: vector[place], names["ms"]: total})
    for value in (hat, hat.xreplace({epsilon: Integer(0)})):
        forms += [
            Form("rms_norm.definition", value, ("i",)),
            Form("rms_norm.definition", gamma[place] * value, ("i",)),
        ]
    for under in (total + epsilon, total):
        row = 1 / sqrt(under) * vector
        forms += [Form("rms_norm.definition", row), Form("rms_norm.definition", Hadamard(row, gamma))]
    return tuple(forms)


@cache
def root_mean_square_forms() -> tuple[Form, ...]:
    """The root mean square of a vector."""
    total = _mean_square(array("x", d))
    return (Form("rms_norm.definition", sqrt(total)), Form("rms_norm.definition", sqrt(total + epsilon)))


def _mean_square(vector: Array) -> Expr:
    """Return the mean of the squares of a vector, taken from the catalogue."""
    mean = right("rms_norm.definition", 0)
    return mean.xreplace({each: vector[each.indices[1]] for each in mean.atoms(Indexed)})


@cache
def mean_forms() -> tuple[Form, ...]:
    """The mean of a vector."""
    vector, mean = array("x", d), right("layer_norm.definition", 0)
    return (Form("layer_norm.definition", mean.xreplace({e: vector[e.indices[1]] for e in mean.atoms(Indexed)})),)


@cache
def mean_along_forms(axis: Axis) -> tuple[Form, ...]:
    """The mean of row i of a matrix, or of column i."""
    return (_along(axis, "layer_norm.definition", right("layer_norm.definition", 0)),)


@cache
def variance_forms() -> tuple[Form, ...]:
    """The variance of a vector, dividing by d, or by d - 1; or the mean of its squares less the square of its mean."""
    vector, centre, spread = array("x", d), scalar("mu"), right("layer_norm.definition", 1)
    names = {e.base.label.name: e for e in spread.atoms(Indexed)}
    one = spread.xreplace({names["X"]: vector[names["X"].indices[1]], names["mu"]: centre})
    return (
        Form("layer_norm.definition", one),
        Form("layer_norm.variance", one * d / (d - 1), assumed=(LESS,)),
        Form("", _mean_square(vector) - centre**2, assumed=("mu is the mean of the entries",), condition=True),
    )


@cache
def deviation_forms() -> tuple[Form, ...]:
    """The standard deviation of a vector: the root of each form of the variance, with and without epsilon."""
    return tuple(replace(form, value=sqrt(form.value + added)) for form in variance_forms() for added in (0, epsilon))


@cache
def variance_along_forms(axis: Axis) -> tuple[Form, ...]:
    """The variance of row i of a matrix, or of column i, dividing by d, or by d - 1."""
    spread = right("layer_norm.definition", 1)
    return (
        _along(axis, "layer_norm.definition", spread),
        _along(axis, "layer_norm.variance", spread * d / (d - 1), LESS),
    )


def _along(axis: Axis, name: str, value: Expr, *assumed: str) -> Form:
    """Return a form of the entries of row i of X, or of those of column i."""
    if axis == "rows":
        return Form(name, value, ("i",), assumed=assumed)
    entry = next(each for each in value.atoms(Indexed) if each.base.label.name == "X")
    turned = array("X", *reversed(entry.base.shape))[tuple(reversed(entry.indices))]
    return Form(name, value.xreplace({entry: turned}), ("i",), assumed=(*assumed, FIRST))


@cache
def position_forms() -> tuple[Form, ...]:
    """The sinusoidal positional encoding: a form with sine for even columns, and one with cosine for odd columns."""
    name = "positional_encoding.definition"
    return (
        Form(name, right(name, 0), scalars=True, title="sine"),
        Form(name, right(name, 1), scalars=True, title="cosine"),
    )
