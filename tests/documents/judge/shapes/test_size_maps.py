r"""Maps of sizes in documents."""

import pytest

from tests.documents.judge.findings import findings, verdict

SETTING = "We set $d_{model} = 96$, $d_{ff} = 384$ and $h = 4$, so that $d_k = d_v = d_{model} / h$.\n\n"


@pytest.mark.parametrize(
    "formula", [r"96 \to 384", r"d_{model} \to d_{ff}", r"(96 \rightarrow 24)", r"h \times d_v \to d_{model}"]
)
def test_a_map_of_known_widths_holds(formula: str) -> None:
    text = (
        SETTING
        + r"$W \in \mathbb{R}^{d_{model} \times d_k}$, $U \in \mathbb{R}^{d_{model} \times d_{ff}}$, "
        + f"${formula}$"
    )
    assert verdict(text, formula.strip("()")).verdict == "holds"


def test_a_map_of_numbers_that_nothing_explains_is_left_alone() -> None:
    assert list(findings(r"from $11 \to 13$ of them")) == []


def test_the_matrix_on_an_arrow_must_map_one_side_to_the_other() -> None:
    arrow = r"$\underbrace{x}_{(1 \times 5)} \xrightarrow{W (5 \times 7)} \underbrace{y}_{(1 \times 7)}$"
    assert verdict(arrow, "xrightarrow").verdict == "holds"
    wrong = verdict(arrow.replace(r"(1 \times 7)", r"(1 \times 11)"), "xrightarrow")
    assert (wrong.verdict, wrong.right) == ("wrong", "5 → 7")


def test_the_matrix_in_the_row_must_map_one_side_to_the_other() -> None:
    table = "$W \\in \\mathbb{R}^{5 \\times 7}$\n\n| step | sizes |\n|---|---|\n| $x W$ | $5 \\to 7$ |\n"
    assert verdict(table, r"5 \to 7").verdict == "holds"
    assert verdict(table.replace(r"5 \to 7", r"5 \to 11"), r"5 \to 11").verdict == "wrong"


def test_a_matrix_acts_on_each_vector() -> None:
    line = "`1000个64维的向量->W->1000个64*4维的向量`"
    assert {finding.verdict for _, _, finding in findings(line)} <= {"holds"}


def test_inner_sizes_of_a_product_of_shapes_agree() -> None:
    declared = r"$Q \in \mathbb{R}^{n \times c}$, "
    assert verdict(declared + r"$(n \times c) \cdot (c \times n)$", "cdot").verdict == "holds"
    assert verdict(declared + r"$(n \times c) \cdot (n \times c)$", "cdot").verdict == "wrong"


def test_an_arrow_between_numbers_maps_no_sizes() -> None:
    found = list(findings("logits = [200, 100, 50] → softmax ≈ [1.0, 0.0, 0.0]"))
    assert all(finding.verdict != "wrong" for _, _, finding in found)
