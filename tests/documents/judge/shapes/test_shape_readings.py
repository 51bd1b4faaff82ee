"""Readings of shapes: what is right in one of them is not wrong, and a slip next to it is."""

from tests.documents.judge.findings import findings, verdict

HEADS = r"""$X \in \mathbb{R}^{n \times d}$

$$\text{head}_i = \text{Attention}(X U_i, X K_i, X V_i)$$

$$Y = \text{Concat}(\text{head}_1, \dots, \text{head}_h) W^O$$

where $U_i \in \mathbb{R}^{d \times c}$, $K_i \in \mathbb{R}^{d \times c}$, $V_i \in \mathbb{R}^{d \times v}$ and
$W^O \in \mathbb{R}^{h v \times d}$.
"""


def test_gains_scale_every_row() -> None:
    text = r"$\gamma \in \mathbb{R}^{c}$, $X \in \mathbb{R}^{n \times c}$, $Y = \gamma X$"
    assert verdict(text, "Y =").assumptions == ("gamma multiplies every row of X",)
    assert verdict(text.replace(r"\gamma", "v"), "Y =").verdict == "wrong"


def test_a_formula_of_entries_multiplies_entries() -> None:
    text = r"$P \in \mathbb{R}^{n \times c}$, $Y = P (1 - \sigma(P))$"
    assert verdict(text, "Y =").assumptions == ("the product is taken entry by entry",)
    assert verdict(text.replace(r"(1 - \sigma(P))", "P"), "Y =").verdict == "wrong"


def test_one_index_over_two_letters_says_that_they_are_equally_long() -> None:
    declared = r"$Q \in \mathbb{R}^{n \times c}$, $K \in \mathbb{R}^{m \times c}$, "
    assert verdict(declared + r"$G = Q^T K = \sum_{i} Q_{ik} K_{il}$", "G =").verdict == "wrong"
    assert all(each.verdict != "wrong" for _, _, each in findings(declared + r"$Q^T K = \sum_{i} Q_{ik} K_{il}$"))


def test_a_declaration_with_its_sizes_in_the_other_order_is_wrong() -> None:
    assert {finding.verdict for _, _, finding in findings(HEADS)} == {"holds"}
    for sizes in (r"d \times h v", r"v \times d"):
        assert verdict(HEADS.replace(r"h v \times d", sizes), r"W^O \in").right == "W^O: h·v × d"


def test_a_family_is_what_its_stack_is_declared_as() -> None:
    text = r"$X \in \mathbb{R}^{n \times d}$, $W \in \mathbb{R}^{h \times d \times c}$, $Y = X W_i$"
    assert verdict(text, "Y =").reason == "the shapes fit: n × c"
    assert verdict(text.replace("X W_i", "W_i X"), "Y =").verdict == "unknown"


def test_a_condition_sets_nothing() -> None:
    text = r"$d_{ff} = 2048$, $d_{model} = 512$; it conforms only if $d_{ff} = d_{model}$"
    assert all(finding.verdict != "wrong" for _, _, finding in findings(text))


def test_every_column_or_every_row_may_be_the_same_vector() -> None:
    declared = r"$X \in \mathbb{R}^{n \times c}$, $r \in \mathbb{R}^{n}$, $b \in \mathbb{R}^{c}$, "
    for right in (r"X - r \mathbf{1}^T", r"X + \mathbf{1} b^T", r"X - \operatorname{rowmean}(X) \mathbf{1}^T"):
        assert verdict(declared + f"$Y = {right}$", "Y =").verdict == "holds"
    swapped = verdict(declared + r"$Y = X - \mathbf{1} r^T$", "Y =")
    assert (swapped.verdict, swapped.right) == ("unknown", r"Y = X - r \mathbf{1}^{T}")  # 1 is not declared
    assert verdict(declared + r"$Y = X - \mathbf{1} \operatorname{rowsum}(X)^T$", "Y =").verdict != "holds"


def test_what_is_vague_is_not_said_to_fit() -> None:
    declared = r"$X \in \mathbb{R}^{n \times c}$, "
    assert verdict(declared + r"$Y = X + \frac{1}{1 + e^{-X}}$", "Y =").verdict == "holds"
    for right in (r"X + \frac{c}{X \odot X}", "X + A A"):
        assert not [each for _, text, each in findings(declared + f"$Y = {right}$") if text.startswith("Y =")]


def test_a_letter_made_of_itself_at_another_place_is_not_said_to_fit() -> None:
    declared = r"$X_1 \in \mathbb{R}^{n \times c}$, "
    kept = findings(declared + "$X_{k+1} = X_k + X_1$")
    assert [each.verdict for _, text, each in kept if text.startswith("X_{k")] == ["holds"]
    strayed = findings(declared + "$X_{k+1} = X_j + X_1$")
    assert not [each for _, text, each in strayed if text.startswith("X_{k")]
