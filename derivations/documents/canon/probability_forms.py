"""Canonical right sides about probabilities: divergence, entropy, perplexity."""

from __future__ import annotations

from functools import cache

from sympy import Expr, Indexed, Integer, Sum, exp, log

from derivations.documents.canon.forms import Form, result, scalar_form
from derivations.language.arrays.expression import Array, array
from derivations.symbols import j, n, scalar

__all__ = ["divergence_forms", "entropy_forms", "perplexity_forms"]

CROSS_ENTROPY, ENTROPY = "softmax.cross_entropy_least", "softmax.entropy_gradient"
p, q = array("p", n), array("q", n)


def _cross_entropy(of: Array, seen_as: Array) -> Expr:
    """Return the cross-entropy of the catalogue, for two distributions."""
    whole = result(CROSS_ENTROPY).claims[0].lhs
    entries = {entry.base.label.name: entry for entry in whole.atoms(Indexed)}
    return whole.xreplace({entries["t"]: of[j], entries["y"]: seen_as[j]})


@cache
def divergence_forms() -> tuple[Form, ...]:
    """The divergence of one distribution from another: cross-entropy less entropy."""
    ratio = Sum(p[j] * log(p[j] / q[j]), (j, 0, n - 1))
    return (Form(CROSS_ENTROPY, ratio), Form(CROSS_ENTROPY, _cross_entropy(p, q) - _cross_entropy(p, p)))


@cache
def entropy_forms() -> tuple[Form, ...]:
    """The entropy of a distribution."""
    return (Form(ENTROPY, _cross_entropy(p, p)),)


@cache
def perplexity_forms() -> tuple[Form, ...]:
    """Perplexity: the exponential of the mean negative logarithm of the probabilities given to the observed tokens."""
    mean = -Sum(log(p[j]), (j, 0, n - 1)) / n
    loss = scalar("loss")
    return (
        Form("softmax.cross_entropy_gradient", exp(mean)),
        scalar_form("softmax.cross_entropy_gradient", exp(loss)),
        scalar_form("softmax.cross_entropy_gradient", Integer(2) ** loss, ("the loss is counted in bits",)),
    )
