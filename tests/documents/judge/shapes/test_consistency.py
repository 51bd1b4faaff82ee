r"""Formulas against themselves and their section."""

import pytest

from tests.documents.judge.findings import findings, verdict


def test_an_index_that_is_a_letter_of_the_sum_is_renamed() -> None:
    finding = verdict(r"$$a = \frac{e^{q_i k_j}}{\sum_{k=1}^{n} e^{q_i k_k / \sqrt{d_k}}}$$", "a =")
    assert finding.verdict == "conditional"
    assert finding.right is not None
    assert "k_{l}" in finding.right or "k_l" in finding.right
    assert "d_{k}" in finding.right or "d_k" in finding.right


def test_an_index_of_its_own_is_left_alone() -> None:
    assert list(findings(r"$$a = \frac{e^{q_i k_j}}{\sum_{l=1}^{n} e^{q_i k_l / \sqrt{d_k}}}$$")) == []


VECTORS = "The query vector $q_i$ and the key vector $k_j$.\n\n"


def test_a_softmax_of_one_number_is_one() -> None:
    finding = verdict(VECTORS + r"$$a_{ij} = \text{softmax}\left(\frac{q_i k_j^T}{\sqrt{d}}\right)$$", "a_")
    assert finding.verdict == "wrong"
    assert "is 1" in finding.reason


@pytest.mark.parametrize(
    "formula",
    [r"A = \text{softmax}(Q K^T)", r"a_{ij} = \text{softmax}_j(q_i k_j^T)", r"a_i = \text{softmax}(q_i K^T)"],
)
def test_a_softmax_of_a_row_is_left_alone(formula: str) -> None:
    assert all(finding.verdict != "wrong" for _, _, finding in findings(VECTORS + f"$${formula}$$"))


def test_a_dot_product_needs_no_transpose() -> None:
    finding = verdict(VECTORS + r"$$s(q_i, k_j) = q_i \cdot k_j^T$$", "s(")
    assert (finding.verdict, finding.check) == ("conditional", "consistency.dot")


def test_a_number_that_contradicts_the_setting_is_wrong() -> None:
    text = "We set $d_{model} = 96$ and $h = 4$, and $d_k = d_{model} / h$.\n\nSo $d_k = 24$."
    assert all(finding.verdict != "wrong" for _, _, finding in findings(text))
    finding = verdict(text.replace("24", "32"), "32")
    assert (finding.verdict, finding.right) == ("wrong", "d_k = 24")


def test_two_settings_are_two_examples_and_no_contradiction() -> None:
    text = "With $d = 96$ and $h = 4$: $k = d / h$. With $d = 768$, $h = 12$: $k = 64$."
    assert all(finding.verdict != "wrong" for _, _, finding in findings(text))


NETWORK = """The input has shape `[batch, n, width]`, for example `[2, 7, 96]`.

```
# widths
input: [batch, n, width]  # for example [2, 7, 96]
y = U2 · activation(U1 · x + c1) + c2
# U1: [96, 384] - expands
# U2: [384, 96] - contracts
```
"""


def test_a_network_that_takes_in_its_inner_width_is_turned_round() -> None:
    finding = verdict(NETWORK, "y =")
    assert (finding.verdict, finding.check) == ("wrong", "consistency.network")
    assert finding.right is not None
    assert finding.right.index("x") < finding.right.index("U")
    turned = NETWORK.replace("U2 · activation(U1 · x + c1) + c2", "activation(x · U1 + c1) · U2 + c2")
    assert verdict(turned, "y =").verdict != "wrong"
