"""Gradients are linear in those they follow from: none is divided by another."""

import pytest

from tests.documents.judge.claims import last


@pytest.mark.parametrize(
    "formula",
    [
        r"dZ = dT \odot \frac{1}{r} + \frac{d}{dv \odot (2 Z)}",
        r"\mathrm{d}Z = \frac{w}{\mathrm{d}\sigma^{2} \odot (2 Z)}",
        r"\mathrm{d}Z = (1 - q) / (\mathrm{d}T \odot M)",
        r"\mathrm{d}Z = \frac{Z^{\top}}{\mathrm{d}T}",
    ],
)
def test_a_gradient_that_divides_is_wrong(formula: str) -> None:
    found = last(formula, r"Let $\mathrm{d}T$ be the gradient by $T$, with $v$ and $Z$.")
    assert (found.verdict, found.check) == ("wrong", "gradient.degree")


@pytest.mark.parametrize(
    "formula",
    [
        r"\mathrm{d}Z = \frac{\mathrm{d}T \odot M}{1 - q}",
        r"\mathrm{d}Z = c \frac{\mathrm{d}Z}{\|\mathrm{d}Z\|}",  # clipped by its norm
        r"\mathrm{d}Z = \frac{c}{\|\mathrm{d}Z\|} \mathrm{d}Z",
        r"\mathrm{d}Z = \mathrm{d}T \frac{\mathrm{d}Z}{\mathrm{d}T}",
        r"\mathrm{d}Z = \frac{\mathrm{d}T}{\mathrm{d}T / \mathrm{d}Z}",
        r"\mathrm{d}Z = P - T",
        r"\frac{\mathrm{d}Z}{\mathrm{d}T} = \frac{1}{\mathrm{d}T / \mathrm{d}Z}",
        r"dt = \frac{1}{dn}",
        r"dk = dm / dh",
        r"\mathrm{d}Z = \frac{\eta}{\sqrt{\mathrm{d}Z^2 + \epsilon}} \mathrm{d}Z",
    ],
)
def test_norms_derivatives_and_widths_are_left_alone(formula: str) -> None:
    found = last(formula, r"Let $\mathrm{d}T$ be the gradient by $T$, with $v$ and $Z$.")
    assert found.check != "gradient.degree"
