r"""Shapes that entries and their ranges tell: a formula may not need the two sizes of one matrix to be the same."""

import pytest

from tests.documents.judge.claims import verdicts

CHECK = "shapes.entries"

#: Entries of Z and T, p x w, tell their shape in the formula, the ranges of the indices behind it.
TEXT = r"""# Blocks

$$\frac{{\partial T_{{ab}}}}{{\partial Z_{{cd}}}} = \delta_{{ac}} F_{{db}}$$

Where ${formula}$, $a, c = 1, \ldots, p, \; b, d = 1, \ldots, w$.
"""


@pytest.mark.parametrize(
    "formula",
    [
        r"T = Z + G G",
        r"T = Z + Z Z",
        r"T = G G",
        r"T = Z - \mathbf{1} \operatorname{rowmean}(Z)^{\top}",
        r"T = Z + Z^{\top} G^{\top} G",
    ],
)
def test_a_square_is_no_matrix_of_two_sizes(formula: str) -> None:
    assert "wrong" in verdicts(TEXT.format(formula=formula))


@pytest.mark.parametrize(
    "formula",
    [
        r"T = Z + Z G",
        r"T = G Z + Z",
        r"T = G Z H",
        r"T = Z - \operatorname{rowmean}(Z) \mathbf{1}^{\top}",
        r"T = Z Z^{\top} Z",
        r"T = G G Z",
        r"T = Z H H + b",
        r"T = Z \odot Z",
        r"T = t t^{\top} + Z",
        r"G = Z^{\top} Z",
        r"G = A A",
    ],
)
def test_a_formula_that_fits_some_shapes_is_left_alone(formula: str) -> None:
    assert "wrong" not in verdicts(TEXT.format(formula=formula))


@pytest.mark.parametrize(
    "text",
    [
        r"$s_i = \sum_{j=1}^{n} M_{ij}$ for $i = 1, \ldots, n$, and $P = M + M M$",  # a square
        r"$\sum_{j=1}^{d} x_{ij} = 0$ for $i = 1, \ldots, n$, and $z = x x$",  # entries of vectors x_i
        r"$M_{ij} = 1$ for $j \le i$, and $P = M + M M$",  # no range
        r"$\sum_{i=1}^{n} \sum_{j=1}^{i} M_{ij} = 1$, and $P = M + M M$",  # a part of each row
        r"$\sum_{i=1}^{n} \sum_{j=1}^{d} M_{ij} = \sum_{i=1}^{n} \sum_{j=1}^{n} M_{ij}$, and $P = M + M M$",
        r"The random variables $\sum_{i=1}^{n} \sum_{j=1}^{d} M_{ij} = 1$ are copies of $M$, and $P = M + M M$",
        "$\\sum_{i=1}^{n} \\sum_{j=1}^{d} M_{ij} = 1$\n\n# Another\n\n$P = M + M M$",  # another M
    ],
)
def test_nothing_is_told_by_entries_of_squares_of_vectors_and_of_parts(text: str) -> None:
    assert "wrong" not in verdicts(f"# One\n\n{text}\n")


def test_a_gradient_tells_the_shape_of_its_letter() -> None:
    text = r"""# Shift

$$\mathrm{d}s_{b} = \sum_{a=1}^{p} \mathrm{d}T_{ab}$$

Where $T = G G + s$, $b = 1, \ldots, w$.
"""
    assert "wrong" in verdicts(text)
    assert "wrong" not in verdicts(text.replace("G G", "Z G"))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [("B = D G", False), ("B = G D", True), ("B = (D G) H", False), ("B = f(G D)", True), ("B = M D", False)],
)
def test_indices_that_go_as_far_in_a_whole_section_tell_shapes(formula: str, expected: bool) -> None:
    """M of p x p is multiplied by D of m x w: here there may be as many rows as there, m = p."""
    text = rf"""# Gates

$D \in \mathbb{{R}}^{{m \times d_w}}$ has a row for each of $m$ tokens, $U \in \mathbb{{R}}^{{d_w \times d_h}}$.

## Alike

$$F_e = [G_{{lu}}], \quad {formula}, \quad M_{{ab}} = 1 \; (a, b = 1, \ldots, p)$$

$$r_u = \sum_{{l=1}}^{{d_w}} z_l e_{{lu}}, \quad s_l = \sum_{{u=1}}^{{d_h}} e_{{lu}} z_u$$
"""
    assert ("wrong" in verdicts(text)) is expected
