r"""Sums over a part, means that divide by another count, entries of another place, and matrices of one head."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.judge.canonical.labelled_heads import without_labels
from derivations.documents.syntax import Name, Number
from tests.documents.judge.claims import last

PROVED = (
    r"\text{softmax}(z)_i = \frac{e^{z_i}}{\sum_{j=1}^{n} e^{z_j}}",
    r"p_i = \frac{e^{z_i}}{\sum_{j=0}^{n-1} e^{z_j}}",
    r"\mu = \frac{1}{d} \sum_{i=1}^{d} x_i",
    r"\mu_B = \frac{1}{m} \sum_{i=1}^{m} x_i",
    r"\text{head}_i = \text{softmax}\left(\frac{Q_i K_i^T}{\sqrt{d_k}}\right) V_i",
    r"Z_h = \text{softmax}\left(\frac{Q_h K_h^T}{\sqrt{d_k}}\right) V_h",
    r"A_1 = \text{softmax}\left(\frac{Q_1 K_1^T}{\sqrt{d_k}}\right)",
    r"\text{Attention}(Q_i, K_i, V_i) = \text{softmax}\left(\frac{Q_i K_i^T}{\sqrt{d_k}}\right) V_i",
)
WRONG = (
    r"\text{softmax}(z)_i = \frac{e^{z_i}}{\sum_{j=2}^{n} e^{z_j}}",
    r"\text{softmax}(z)_i = \frac{e^{z_j}}{\sum_{k} e^{z_k}}",
    r"\mu = \frac{1}{n} \sum_{j=2}^{n} x_j",
    r"q \cdot k = \sum_{j=2}^{d} q_j k_j",
    r"\text{head}_i = \text{softmax}\left(\frac{Q_i K_i}{\sqrt{d_k}}\right) V_i",
    r"\text{head}_i = \text{softmax}\left(\frac{Q_i K_i^T}{d_k}\right) V_i",
)
OPEN = (
    r"o_i = \sum_{j=1}^{i} \alpha_{ij} v_j",  # causal attention
    r"\alpha_{ij} = \frac{\exp(s_{ij})}{\sum_{l=1}^{i} \exp(s_{il})}",
    r"\text{softmax}(z)_i = \frac{e^{z_i}}{\sum_{j=i}^{n} e^{z_j}}",
    r"\text{PPL} = \exp\left(-\frac{1}{N} \sum_{i=2}^{N} \log p(x_i \mid x_{<i})\right)",  # nothing predicts the first
    r"\mu = \frac{1}{n} \sum_{i=1}^{m} x_i",
    r"\sigma^2 = \frac{1}{n} \sum_{i=1}^{m} (x_i - \mu)^2",
    r"\mu_m = \frac{1}{C} \sum_{c=1}^{C} x_{nc}",
    r"\sigma_m^2 = \frac{1}{C} \sum_{c=1}^{C} (x_{nc} - \mu_n)^2",
    r"c_j = \sum_{j=1}^{T} \alpha_{ij} h_j",
    r"\text{Attention}(K, K, V) = \text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right) V",
)


def verdict(formula: str) -> str:
    (claim,) = check_text(f"$${formula}$$", "markdown").claims
    return claim.finding.verdict


@pytest.mark.parametrize("formula", PROVED)
def test_a_formula_of_all_entries_is_proved(formula: str) -> None:
    assert verdict(formula) == "holds"


@pytest.mark.parametrize("formula", WRONG)
def test_a_slip_is_wrong(formula: str) -> None:
    assert verdict(formula) == "wrong"


@pytest.mark.parametrize("formula", OPEN)
def test_a_part_of_the_entries_is_neither_proved_nor_wrong(formula: str) -> None:
    assert verdict(formula) == "unknown"


@pytest.mark.parametrize(
    ("formula", "label"),
    [(r"O_h = Q_h K_h^T V_h", Name("h")), (r"O_2 = Q_2 K_2^T", "2"), (r"O_i = Q_i K_j^T", None), ("O = Q K^T", None)],
)
def test_one_label_of_all_matrices_is_that_of_a_head(formula: str, label: Name | str | None) -> None:
    (chain,) = read_formula(formula, "latex", frozenset()).statements
    found = without_labels(*chain.sides)
    if label is None:
        assert found is None
        return
    assert found is not None
    assert not any(isinstance(part, Name) and part.subscripts for part in found.right.walk())
    assert found.left == Name("O")
    assert found.labelled_again(found.right) == chain.sides[1]
    ((first, *_),) = [whole.subscripts for short, whole in found.labelled.items() if short.base == "Q"]
    assert first == label or (isinstance(first, Number) and first.text == label)


ONE_HEAD = r"{} = \text{{softmax}}\left(\frac{{{} {}^T}}{{\sqrt{{d_k}}}}\right) {}"


@pytest.mark.parametrize(
    ("names", "is_proved"), [
        ((r"\text{head}_1", "Q_1", "K_1", "V_1"), True),
        ((r"\text{Attention}(Q_1, K_2, V_2)", "Q_1", "K_2", "V_2"), True),
        ((r"\text{head}_1", "Q", "K", "V"), True),
        ((r"\text{head}_1", "Q_1", "K_2", "V_1"), False),
        ((r"\text{head}_2", "Q_1", "K_1", "V_1"), False),
        ((r"\text{Attention}(Q_1, K_1, V_1)", "Q_1", "K_2", "V_1"), False),
        (("O_2", "Q_1", "K_1", "V_2"), False),
    ],
)  # fmt: skip
def test_matrices_of_several_heads_are_not_proved(names: tuple[str, ...], is_proved: bool) -> None:
    assert (last(ONE_HEAD.format(*names)).verdict == "holds") is is_proved
