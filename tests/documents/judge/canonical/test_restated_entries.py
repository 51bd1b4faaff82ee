r"""Entries of a matrix that the words behind the formula define by more letters; factors there in another order."""

import pytest

from tests.documents.judge.claims import verdicts

NORM = r"""# Rows

{before}

$$
\begin{{aligned}}
m_{{i}} &= \frac{{1}}{{w}} \sum_{{j=1}}^{{w}} Z_{{ij}} \\
v_{{i}} &= \frac{{1}}{{w}} \sum_{{j=1}}^{{w}} (Z_{{ij}} - m_{{i}})^2 \\
N_{{ik}} &= {entry}
\end{{aligned}}
$$

Where $m_{{i}} = \frac{{1}}{{w}} \sum_{{j=1}}^{{w}} Z_{{ij}}$, $D = Z - m \mathbf{{1}}^{{\top}}$,
$v_{{i}} = \frac{{1}}{{w}} \sum_{{j=1}}^{{w}} D_{{ij}}^2$, $N = {matrix}$.
"""
MATRIX = r"\frac{D}{\sqrt{v + \epsilon}}"


def of_entry(entry: str, matrix: str = MATRIX, before: str = "") -> bool:
    return "wrong" in verdicts(NORM.format(entry=entry, matrix=matrix, before=before))


@pytest.mark.parametrize(
    "entry",
    [
        r"Z_{ik} - m_{i}",
        r"\frac{Z_{ik} - m_{i}}{\sqrt{\epsilon}}",
        r"\frac{Z_{ik} - m_{i}}{\sqrt{v_{i}}}",
    ],
)
def test_a_letter_that_is_missing_in_the_entries_is_told(entry: str) -> None:
    assert of_entry(entry)


def test_entries_with_all_letters_and_with_others_are_left_alone() -> None:
    assert not of_entry(r"\frac{Z_{ik} - m_{i}}{\sqrt{v_{i} + \epsilon}}")
    assert not of_entry(r"\frac{D_{ik}}{\sqrt{v_{i} + \epsilon}}")
    assert not of_entry(r"(Z_{ik} - m_{i}) r_i")  # r may be one over the root
    assert not of_entry(r"\frac{Z_{ik} - \bar{Z}_{i}}{s_i}")
    assert not of_entry(r"f(Z_{ik} - m_{i})")


def test_a_letter_that_is_said_to_be_left_out_is_not_missing() -> None:
    assert not of_entry(r"\frac{Z_{ik} - m_{i}}{\sqrt{v_{i}}}", before="In what follows epsilon is neglected.")


def test_sizes_and_functions_behind_a_formula_are_no_missing_letters() -> None:
    assert not of_entry(r"\frac{Z_{ik} - m_{i}}{\sqrt{v_{i}}}", matrix=r"w \frac{D}{\sqrt{v}} / w")
    assert not of_entry(r"Z_{ik} - m_{i}", matrix=r"\operatorname{Norm}_{\epsilon}(Z)")


@pytest.mark.parametrize(
    ("formula", "where", "expected"),
    [
        (r"P = f(B^{\top} Z)", r"$S = Z B^{\top}$, $P = f(S)$", True),
        (r"P = f(Z B^{\top})", r"$S = Z B^{\top}$, $P = f(S)$", False),
        (r"P = f(B Z)", r"$S = Z B$, $P = f(S)$", False),  # numbers commute
        (r"P = f(B^{\top} Z)", r"$S = Z B^{\top}$", False),
        (r"P = f(B^{\top} Z)", r"$P = f(B^{\top} Z)$", False),
        (r"P = f(B^{\top} Z)", r"positions are columns; in rows it is $S = Z B^{\top}$, $P = f(S)$", False),
    ],
)
def test_factors_in_another_order_behind_a_formula(formula: str, where: str, expected: bool) -> None:
    assert ("wrong" in verdicts(f"# Scores\n\n$${formula}$$\n\nWhere {where}.\n")) is expected
