"""In a notebook results and layers show themselves as formulas."""

import pytest

pytest.importorskip("IPython", reason="notebooks come with the extra `dev`")

from IPython.core.formatters import DisplayFormatter

from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import LAYERS, layer
from derivations.language import array, claim, derivation, step
from derivations.symbols import n

pytestmark = pytest.mark.slow  # notebooks come with the extra `dev`


def displayed(shown):
    data, _ = DisplayFormatter().format(shown)
    return data


def test_a_layer_shows_its_equations():
    data = displayed(scaled_dot_product_attention())
    assert data["text/latex"] == f"$\\displaystyle {scaled_dot_product_attention().latex()}$"
    assert r"S &= \frac{Q K^{\top}}{\sqrt{d_{k}}} \\" in data["text/latex"]
    assert data["text/markdown"].startswith("### Scaled dot-product attention\n\n$$\n\\begin{aligned}\n")
    assert r"Where $Q \in \mathbb{R}^{n \times d_{k}}$" in data["text/markdown"]
    assert data["text/plain"] == "scaled_dot_product_attention(Q, K, V)"


def test_a_result_shows_its_statement():
    x = array("x", n)
    shown = derivation("Twice", claim(x + x, step("algebra", 2 * x)), source="Nobody (2000)")
    data = displayed(shown)
    assert data["text/latex"] == r"$\displaystyle x + x = 2 x$"
    assert (
        data["text/markdown"]
        == "### Twice\n\n$$\nx + x = 2 x\n$$\n\nWhere $x \\in \\mathbb{R}^{n}$.\n\nSource: Nobody (2000).\n"
    )


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_shows_itself(name):
    data = displayed(layer(name))
    assert data["text/latex"].startswith("$\\displaystyle ") and data["text/markdown"].count("$$") == 2
