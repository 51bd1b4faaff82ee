"""Equations of the catalogue's layers in its own letters: one slip is wrong, another convention is not."""

from __future__ import annotations

import pytest

from derivations.catalogue import LAYERS
from derivations.documents.canon.differences import difference
from derivations.documents.canon.layer_lines import lines_of
from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.syntax import Name, Node
from derivations.documents.verdicts import Finding


def judged(formula: str, before: str = "") -> Finding:
    return check_text(f"{before}\n\n$${formula}$$", "markdown").claims[-1].finding


def sides(formula: str) -> tuple[Node, ...]:
    return read_formula(formula, "latex").statements[0].sides


@pytest.mark.parametrize(
    ("formula", "slip"),
    [
        (r"S = \frac{\sqrt{d_k}}{Q K^T}", "the fraction is upside down"),
        (r"S = \frac{Q K}{\sqrt{d_k}}", "K must be transposed"),
        (r"\hat{X} = \frac{\sqrt{\text{ms} + \epsilon}}{X}", "the fraction is upside down"),
        (r"\hat{X} = \frac{\sqrt{\sigma^2 + \epsilon}}{X_c}", "the fraction is upside down"),
        (r"y = \text{softmax}\left(\frac{T}{x}\right)", "the fraction is upside down"),
        (r"Y = W_2 W_2 + b_2", "G belongs where W_2 stands"),
        (r"Q_i = W_i^Q W_i^Q", "X_Q belongs where W_i^Q stands"),
        (r"\text{loss} = \frac{1}{n} \sum_{j=1}^{n} (z_j + \text{chosen}_j)", "chosen_j must be subtracted"),
    ],
)
def test_one_slip_is_wrong(formula: str, slip: str) -> None:
    """The check says no, with the slip and the equation."""
    finding = judged(formula)
    assert (finding.verdict, finding.check) == ("wrong", "layers")
    assert slip in finding.reason
    assert finding.right is not None


@pytest.mark.parametrize(
    "formula",
    [
        r"S = \frac{Q K^T}{\sqrt{d_k}}",
        r"S = Q K^T",
        r"S = \frac{Q Q^T}{\sqrt{d_k}}",  # keys that are the queries
        r"S = \frac{K^T Q}{\sqrt{d_k}}",
        r"S = \frac{1}{n} X^T X",
        r"Y = W_2 G + b_2",
        r"Y = H W_2 + b_2",
        r"Y = G W_2 - b_2",
        r"Y = X X + b",
        r"O = V V",
        r"Z = A A",
        r"X_c = X + \mu",
        r"Q_i = X W_i^Q",
        r"y = \text{softmax}(x)",
        r"y = \text{softmax}\left(\frac{x}{T}\right)",
        r"\hat{X} = \frac{X - \mu}{\sigma}",
    ],
)
def test_other_conventions_and_letters_are_no_slip(formula: str) -> None:
    assert judged(formula).verdict != "wrong"


def test_keys_that_are_declared_as_columns_need_no_transpose() -> None:
    declared = r"Let $Q \in \mathbb{R}^{n \times d_k}$ and $K \in \mathbb{R}^{d_k \times n}$."
    assert judged(r"S = \frac{Q K}{\sqrt{d_k}}", declared).verdict == "holds"


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_no_layer_has_a_slip_in_its_own_equations(name: str) -> None:
    text = LAYERS[name]().latex()
    assert all(claim.finding.check != "layers" for claim in check_text(f"$$\n{text}\n$$", "markdown").claims)


def test_equations_are_found_by_their_left_side() -> None:
    (left,) = read_formula("O", "latex").statements[0].sides
    assert {line.title for line in lines_of(left)} >= {"scaled_dot_product_attention"}
    assert lines_of(Name("nothing")) == ()


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ("A V + b", "V V + b", ("A", "V")),
        ("A V", "A V", None),
        ("A V", "V A", ("A V", "V A")),
        (r"\frac{a}{b + c}", r"\frac{b + c}{a}", (r"\frac{a}{b + c}", r"\frac{b + c}{a}")),
        ("f(x, y)", "f(x)", ("f(x, y)", "f(x)")),
        ("W_i x", "W_j x", ("W_i", "W_j")),
    ],
)
def test_the_one_place_at_which_formulas_differ(first: str, second: str, apart: tuple[str, str] | None) -> None:
    wanted = None if apart is None else tuple(sides(each)[0] for each in apart)
    assert difference(sides(first)[0], sides(second)[0]) == wanted
