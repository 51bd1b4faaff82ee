"""Names, settings and meanings: what nothing contradicts holds, and what is not understood is left alone."""

import pytest

from derivations.documents.judge.shapes.namings import check_namings
from tests.documents.judge.findings import read


def said(text: str) -> list[str]:
    """Return the verdicts on the formulas of a text."""
    statements, scopes = read(text)
    return [
        finding.verdict
        for statement in statements
        for link in statement.links or (None,)
        for check in (check_namings,)
        for finding in check(statement, link, scopes.at(statement))
    ]


@pytest.mark.parametrize(
    "formula",
    ["Q = H W_Q", "Q_i = H W_Q^{(i)}", r"S(i, j) = q_i \cdot k_j, \quad S = Q K^T", r"d_{model} = 96",
     r"X = \begin{bmatrix} x_1 \\ x_2 \\ \vdots \\ x_n \end{bmatrix}", r"z_1 = a_1 w_{11} + a_2 w_{21}"],
)  # fmt: skip
def test_a_name_that_nothing_contradicts_holds(formula: str) -> None:
    assert "holds" in said(f"${formula}$")


@pytest.mark.parametrize(
    "formula",
    ["Q = H W_K", "Q_i = H W_Q^{(j)}", r"S(i, j) = q_i \cdot k_i, \quad S = Q K^T", r"Y = X W_1, \quad X = W_2 Y",
     r"X = \begin{bmatrix} x_1 \\ x_3 \\ \vdots \\ x_n \end{bmatrix}", r"z_1 = a_1 w_{11} + a_2 w_{23}",
     r"z_1 = a_1 w_{11} - a_2 w_{21}", r"h_i = \text{Attention}(Q_i, V_i, K_i)"],
)  # fmt: skip
def test_a_name_with_a_slip_is_not_called_right(formula: str) -> None:
    assert "holds" not in said(f"${formula}$")


@pytest.mark.parametrize(
    "formulas",
    [
        (r"X \in \mathbb{R}^{m \times c}", r"X = \begin{bmatrix} u_1 \\ u_2 \\ \vdots \\ u_m \end{bmatrix}"),
        (r"X \in \mathbb{R}^{m \times c}", r"X = \begin{bmatrix} u_1 \\ \vdots \\ u_m \end{bmatrix}",
         r"f(X) = \begin{bmatrix} f(u_1) \\ \vdots \\ f(u_m) \end{bmatrix}"),
    ],
)  # fmt: skip
def test_rows_may_have_another_letter_than_their_matrix(formulas: tuple[str, ...]) -> None:
    assert said(" ".join(f"${formula}$" for formula in formulas)) == ["holds"] * (len(formulas) - 1)


@pytest.mark.parametrize(
    "formulas",
    [
        (r"X = \begin{bmatrix} u_1 \\ \vdots \\ u_m \end{bmatrix}",),
        (r"X \in \mathbb{R}^{m \times c}", r"X = \begin{bmatrix} u_1 \\ \vdots \\ u_c \end{bmatrix}"),
        (r"X, U \in \mathbb{R}^{m \times c}", r"X = \begin{bmatrix} u_1 \\ \vdots \\ u_m \end{bmatrix}"),
        (r"X \in \mathbb{R}^{m \times c}", r"f(X) = \begin{bmatrix} f(u_1) \\ \vdots \\ f(u_m) \end{bmatrix}"),
    ],
)
def test_letters_that_may_not_be_its_rows_are_left_alone(formulas: tuple[str, ...]) -> None:
    assert said(" ".join(f"${formula}$" for formula in formulas)) == []


TOLD = "$L$ is the query matrix, $H$ is the key matrix and $A$ is the value matrix."


def test_attention_may_be_of_letters_that_words_call_queries_keys_and_values() -> None:
    assert said(rf"{TOLD} $P_i = \text{{Attention}}(L_i, H_i, A_i)$") == ["holds"]
    assert said(rf"{TOLD} $P_i = \text{{Attention}}(H_i, L_i, A_i)$") == []
    assert said(r"$P_i = \text{Attention}(L_i, H_i, A_i)$") == []


def test_two_numbers_for_one_letter_are_left_alone() -> None:
    assert said(r"$d_{model} = 96$ and $d_{model} = 64$") == []


@pytest.mark.parametrize("words", ["is the number of heads", "is the dimension of the values", "is nice"])
def test_words_that_do_not_agree_are_left_alone(words: str) -> None:
    assert said(f"$d_k$ {words}.") == []
