r"""Shapes of documents: what fits holds, what does not is wrong, and what cannot be known is left alone."""

import pytest

from derivations.documents.syntax import Name
from tests.documents.judge.findings import findings, read, verdict

NETWORK = r"""# Network
Let $X \in \mathbb{R}^{n \times a}$, where $n$ is the number of tokens.
$$H = \max(0, X W_1 + b_1)$$
$$Y = H W_2 + b_2$$
with $W_1 \in \mathbb{R}^{a \times m}$, $W_2 \in \mathbb{R}^{m \times a}$,
$b_1 \in \mathbb{R}^{m}$, $b_2 \in \mathbb{R}^{a}$.
"""


def test_a_product_that_fits_holds_and_says_its_shape() -> None:
    finding = verdict(r"$X \in \mathbb{R}^{n \times p}$, $W \in \mathbb{R}^{p \times q}$, $Y = X W$", "Y =")
    assert finding.verdict == "holds"
    assert finding.reason == "the shapes fit: n × q"


def test_a_bias_needs_the_assumption_that_it_is_added_to_every_row() -> None:
    finding = verdict(NETWORK, "H =")
    assert finding.verdict == "conditional"
    assert finding.assumptions == ("b_1 is added to every row of X W_1",)


def test_a_product_in_the_other_order_is_wrong_and_is_repaired() -> None:
    finding = verdict(NETWORK.replace("X W_1 +", "W_1 X +"), "H =")
    assert finding.verdict == "wrong"
    assert "line 5" in finding.reason
    assert finding.right is not None
    assert finding.right.index("X") < finding.right.index("W_")


def test_a_clash_names_both_sizes() -> None:
    text = r"$X \in \mathbb{R}^{n \times p}$, $r \in \mathbb{R}^{n}$, $g = X r$"
    assert verdict(text, "g =").reason.endswith(
        "needs p entries on the right, but r is a vector of n (line 1): p is not n"
    )


def test_a_declaration_that_no_formula_fits_is_wrong_itself() -> None:
    text = NETWORK.replace(r"\mathbb{R}^{a \times m}", r"\mathbb{R}^{m \times a}")
    said = verdict(text, r"W_1 \in")
    assert said.verdict == "wrong"
    assert said.right == "W_1: a × m"
    assert verdict(text, "H =").verdict != "wrong"


def test_a_declaration_that_another_formula_needs_is_kept() -> None:
    text = NETWORK.replace("X W_1 + b_1", "X W_1 + b_2")
    assert verdict(text, "H =").verdict == "wrong"
    assert verdict(text, r"b_2 \in").verdict == "holds"


def test_nothing_is_said_of_letters_without_declaration() -> None:
    assert list(findings(r"$Q = X W_Q$, $K = X W_K$ and $A = Q^T K$")) == []


def test_a_letter_bound_again_far_away_is_an_assumption() -> None:
    one = "# One\n$Q \\in \\mathbb{R}^{n \\times c}$, $c = 5$\n\n"
    text = one + "# Two\n$W \\in \\mathbb{R}^{e \\times c}$, $e = 7$\n\n$Z = Q W$\n"
    finding = verdict(text, "Z =")
    assert finding.verdict == "conditional"
    assert finding.assumptions == ("Q is not the Q of line 2, which is n × c",)


def test_sizes_are_the_same_by_what_the_section_sets_them_to() -> None:
    text = r"""$M \in \mathbb{R}^{n \times h d_v}$, $U \in \mathbb{R}^{d_{model} \times p}$, $d_v = d_{model}/h$
$$R = M U$$"""
    assert verdict(text, "R =").verdict == "holds"


def test_a_vector_is_a_row_or_a_column_as_the_product_asks() -> None:
    declared = r"$x \in \mathbb{R}^{p}$, $A \in \mathbb{R}^{q \times p}$. "
    assert verdict(declared + "$y = A x$", "y =").verdict == "holds"
    assert verdict(declared + "$y = x A^T$", "y =").assumptions == ("x is a row vector",)
    assert verdict(declared + "$y = x A$", "y =").verdict == "wrong"


@pytest.mark.parametrize("language", ["shape", "的維度是", "の形状は"])
def test_words_tie_a_shape_to_its_letter(language: str) -> None:
    text = f"$Q$ {language} $(n \\times c)$, $K$ {language} $(m \\times c)$.\n\n$$S = Q K$$"
    assert verdict(text, "S =").verdict == "wrong"
    assert verdict(text.replace("Q K$", "Q K^T$"), "S =").reason == "the shapes fit: n × m"


def test_the_subject_of_a_membership_may_stand_outside_of_it() -> None:
    text = "* **$U$ (up):** $\\in \\mathbb{R}^{p \\times q}$\n* **$x$:** $\\in \\mathbb{R}^{p}$\n\n$$y = U x$$"
    assert verdict(text, "y =").verdict == "wrong"
    assert verdict(text.replace("U x", "x U"), "y =").reason == "the shapes fit: a vector of q"


def test_comments_of_code_are_shapes_of_what_stands_beside_them() -> None:
    text = "```python\nx = f(y)  # [B, T, C]\nw = g(y)  # [C, F]\nz = x @ w  # [B, T, F]\n```\n"
    assert {finding.verdict for _, _, finding in findings(text)} == {"holds"}
    assert "wrong" in {finding.verdict for _, _, finding in findings(text.replace("x @ w", "w @ x"))}


def test_a_table_declares_in_its_rows() -> None:
    head = "| name | shape |\n|---|---|\n"
    table = head + "| $Q$ | $(T \\times c)$ |\n| $K$ | $(T \\times c)$ |\n| $Q K^T$ | $(T \\times T)$ |\n"
    assert {finding.verdict for _, _, finding in findings(table)} == {"holds"}
    assert verdict(table.replace(r"T \times T", r"c \times c"), r"c \times c").right == "T × T"


def test_attention_compares_queries_with_keys() -> None:
    text = r"""$Q \in \mathbb{R}^{n \times e}$, $K \in \mathbb{R}^{m \times e}$, $V \in \mathbb{R}^{m \times v}$
$$Z = \text{Attention}(Q, K, V)$$"""
    assert verdict(text, "Z =").reason == "the shapes fit: n × v"
    assert verdict(text.replace("(Q, K, V)", "(Q, V, K)"), "Z =").verdict == "wrong"


def test_a_network_without_declared_input_does_not_hold_where_no_reading_fits() -> None:
    text = r"""$U \in \mathbb{R}^{d_{model} \times d_{ff}}$, $W \in \mathbb{R}^{d_{ff} \times d_{model}}$
$$f(x) = \max(0, U x + b) W + c$$"""
    assert verdict(text, "f(x) =").verdict == "unknown"
    assert verdict(text.replace("U x", "x U"), "f(x) =").verdict in ("holds", "conditional")


def test_a_table_of_positions_may_be_longer_than_the_rows_it_is_added_to() -> None:
    declared = r"$X \in \mathbb{R}^{n \times c}$, $P \in \mathbb{R}^{m \times c}$, $A \in \mathbb{R}^{n \times m}$, "
    text = declared + "$Z = X + P$"
    assert verdict(text, "Z =").assumptions == ("n = m",)
    assert verdict(text.replace(r"m \times c}$, $A", r"m \times e}$, $A"), "Z =").verdict == "wrong"


KEYS = r"$Q \in \mathbb{R}^{n \times c}$, $K \in \mathbb{R}^{m \times c}$, $v \in \mathbb{R}^{n}$, "


@pytest.mark.parametrize(
    "formula", [r"S = \frac{\sqrt{c}}{Q K^T}", r"S = \sqrt{c} / (Q K^T)", "S = v / Q", r"S = \frac{\sqrt{v}}{Q}"]
)
def test_nothing_is_divided_by_a_matrix(formula: str) -> None:
    finding = verdict(f"{KEYS} ${formula}$", "S =")
    assert (finding.verdict, finding.check) == ("wrong", "shapes.clash")
    assert finding.right is not None
    assert finding.right.index("Q") < finding.right.index("sqrt" if "sqrt" in formula else "v")


@pytest.mark.parametrize(
    "side", [
        r"\frac{Q K^T}{\sqrt{c}}", r"\frac{1}{1 + e^{-Q K^T}}", r"\frac{1}{\exp(Q K^T)}", r"Q / (Q \odot Q)",
        r"\frac{Q}{v}", r"\frac{1}{Q}", r"\frac{Q K^T}{Q K^T + 1}", r"\frac{1}{v^T Q c}",
    ],
)  # fmt: skip
def test_entries_may_be_divided(side: str) -> None:
    assert all(finding.verdict != "wrong" for _, _, finding in findings(rf"{KEYS} $S = {side}$"))


@pytest.mark.parametrize("formula", ["Y = W W + b", "Y = W W", r"Y = \text{ReLU}(W W)"])
def test_where_a_letter_meets_itself_the_formula_is_wrong_and_not_its_declaration(formula: str) -> None:
    shapes = r"$G \in \mathbb{R}^{n \times e}$, $W \in \mathbb{R}^{e \times c}$, $b \in \mathbb{R}^{c}$"
    text = f"{shapes}, ${formula}$"
    finding = verdict(text, "Y =")
    assert (finding.verdict, finding.right) == ("wrong", None)
    assert verdict(text, r"W \in").verdict == "holds"


@pytest.mark.parametrize("sign", [r"\iff", r"\Leftrightarrow", "⟺"])
def test_an_equivalence_sets_no_size(sign: str) -> None:
    text = r"$X \in \mathbb{R}^{n \times c}$, $W \in \mathbb{R}^{m \times c}$. "
    condition = rf"$X W \text{{ conforms}} {sign} c = m$. "
    assert verdict(f"{text}$c = m$. $Z = X W$", "Z =").verdict == "holds"
    assert verdict(f"{text}{condition}$Z = X W$", "Z =").verdict != "holds"


def test_what_stands_beside_an_equivalence_is_a_condition_and_no_product() -> None:
    text = r"$X \in \mathbb{R}^{n \times c}$, $W \in \mathbb{R}^{m \times c}$. "
    assert [each for _, said, each in findings(rf"{text} $X W \text{{ is tall}}$") if "X W" in said]
    assert not [each for _, said, each in findings(rf"{text} $X W \text{{ conforms}} \iff c = m$") if "X W" in said]


def test_blocks_of_one_shape_side_by_side_are_no_product() -> None:
    shapes = r"$A \in \mathbb{R}^{n \times c}$, $B \in \mathbb{R}^{n \times c}$, $C \in \mathbb{R}^{n \times c}$, "
    assert not [said for _, said, _ in findings(rf"{shapes} and \[A B C\]") if said == "A B C"]
    assert verdict(rf"{shapes} and $$A B$$", "A B").verdict == "unknown"
    assert verdict(rf"{shapes} and $$C = A B$$", "C = A B").verdict == "wrong"


def test_a_label_is_no_use_of_a_letter() -> None:
    statements, scopes = read(r"$H = X W^G$ and $Y = X W_{i}^{Q} + v_B$")
    scope = scopes.at(statements[0])
    assert [scope.is_used(Name(base)) for base in ("X", "H", "G", "Q", "B")] == [True, True, False, False, False]


def test_letters_in_front_of_arrays_that_are_added_are_numbers() -> None:
    shapes = r"$P \in \mathbb{R}^{n \times m}$, $V \in \mathbb{R}^{m \times c}$. "
    assert not [said for _, said, _ in findings(rf"{shapes} $P (a V + b U) = a P V + b P U$") if "a V" in said]
    assert verdict(rf"{shapes} $Y = V (a P + b U)$", "Y =").verdict == "unknown"


def test_a_small_letter_is_no_matrix_where_a_bias_tells_the_shape() -> None:
    shapes = r"$U \in \mathbb{R}^{c \times m}$, $b \in \mathbb{R}^{m}$, $W \in \mathbb{R}^{m \times c}$. "
    assert "cannot be added" in verdict(rf"{shapes} $y = U x + b$", "y =").reason
    assert verdict(rf"{shapes} $y = W x + b$", "y =").verdict == "holds"
    assert verdict(rf"{shapes} $y = x U + b$", "y =").verdict == "conditional"
    assert verdict(rf"{shapes} $Y = X U + b$", "Y =").verdict == "conditional"


TWICE = r"""# Two layers
$$P = Z W$$

where $Z \in \mathbb{R}^{n \times a}$, $W \in \mathbb{R}^{a \times m}$.

$$R = Z U$$

where $Z \in \mathbb{R}^{n \times a}$, $U \in \mathbb{R}^{a \times m}$.
"""


@pytest.mark.parametrize("other", [r"n \times m", r"a \times n"])
def test_a_declaration_that_the_formula_in_front_sets_aside_is_wrong(other: str) -> None:
    """The formula that it explains fits with the other declaration of the letter alone."""
    first, _, rest = TWICE.rpartition(r"Z \in \mathbb{R}^{n \times a}")
    said = [finding for _, _, finding in findings(f"{first}Z \\in \\mathbb{{R}}^{{{other}}}{rest}")]
    assert [each.verdict for each in said].count("wrong") == 1
    assert all(finding.verdict != "wrong" for _, _, finding in findings(TWICE))


def test_a_letter_may_be_declared_anew_for_another_formula() -> None:
    text = TWICE.replace(r"$Z \in \mathbb{R}^{n \times a}$, $U", r"$Z \in \mathbb{R}^{n \times b}$, $U").replace(
        r"$U \in \mathbb{R}^{a", r"$U \in \mathbb{R}^{b"
    )
    assert all(finding.verdict != "wrong" for _, _, finding in findings(text))


@pytest.mark.parametrize(("width", "expected"), [("d_{ff}", "wrong"), ("d_{model}", "holds"), ("d", "conditional")])
def test_the_hidden_width_is_not_that_of_the_model(width: str, expected: str) -> None:
    text = rf"$X \in \mathbb{{R}}^{{n \times {width}}}$, $W \in \mathbb{{R}}^{{d_{{model}} \times q}}$, $Y = X W$"
    assert expected in {finding.verdict for _, _, finding in findings(text)}
    assert expected == "wrong" or "wrong" not in {finding.verdict for _, _, finding in findings(text)}


def test_two_declarations_in_other_orders_are_of_two_conventions() -> None:
    text = r"$X \in \mathbb{R}^{n \times d}$ or $X \in \mathbb{R}^{d \times n}$"
    said = [finding for _, _, finding in findings(text)]
    assert [each.verdict for each in said] == ["conditional", "conditional"]
    assert all("also declared" in each.reason for each in said)
