"""Stated gradients are compared with those that follow from what the document defines."""

import pytest

from derivations.documents.decide.gradients import check_stated_gradients
from tests.documents.elaborated import said


def verdicts(text):
    return [finding.verdict for finding in said(check_stated_gradients, text)]


PRODUCT = "Let $C = A @ B$.\n\n"
LINEAR = "$$\\mathbf{y} = \\mathbf{W} \\mathbf{x} + \\mathbf{b}$$\n\n"
MATRICES = "$$\\mathbf{Y} = \\mathbf{X} \\mathbf{W}$$\n\n"
LOSS_BY_Y = r"\frac{\partial L}{\partial \mathbf{y}}"


@pytest.mark.parametrize(
    ("given", "right", "wrong"),
    [
        (PRODUCT, "dA = dC @ B^T", "dA = dC @ B"),
        (PRODUCT, "dB = A^T @ dC", "dB = A @ dC"),
        (
            MATRICES,
            r"\nabla_{\mathbf{W}} L = \mathbf{X}^\top \nabla_{\mathbf{Y}} L",
            r"\nabla_{\mathbf{W}} L = \nabla_{\mathbf{Y}} L \mathbf{X}^\top",
        ),
        (
            LINEAR,
            rf"\frac{{\partial L}}{{\partial \mathbf{{x}}}} = \mathbf{{W}}^\top {LOSS_BY_Y}",
            rf"\frac{{\partial L}}{{\partial \mathbf{{x}}}} = \mathbf{{W}} {LOSS_BY_Y}",
        ),
        (
            LINEAR,
            rf"\frac{{\partial L}}{{\partial \mathbf{{b}}}} = {LOSS_BY_Y}",
            rf"\frac{{\partial L}}{{\partial \mathbf{{b}}}} = - {LOSS_BY_Y}",
        ),
    ],
)
def test_the_right_one_holds_and_the_wrong_one_does_not(given, right, wrong):
    assert verdicts(f"{given}$${right}$$") == ["holds"]
    assert verdicts(f"{given}$${wrong}$$") == ["wrong"]


def test_without_a_definition_nothing_is_said():
    assert verdicts("$$dA = dC @ B$$") == []
    assert verdicts("Let $C = E @ B$.\n\n$$dA = dC @ B$$") == []


@pytest.mark.slow
def test_one_edit_must_mend_what_is_wrong():
    """A gradient of something else is not called wrong."""
    assert verdicts("Let $C = A @ B$.\n\n$$dA = B @ dC @ dC @ B$$") == []
