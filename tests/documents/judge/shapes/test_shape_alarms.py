"""What looks like a misfit of shapes and is none, and beside each the misfit that it must not hide."""

from tests.documents.judge.findings import findings


def _wrong(text: str) -> list[str]:
    return [part for _, part, finding in findings(text) if finding.verdict == "wrong"]


def test_one_number_says_nothing_of_another() -> None:
    """W_2 is declared and W_1 is not, so W_1 may have any shape; W_i tells of both."""
    text = r"$X \in \mathbb{R}^{n \times d}$, $%s \in \mathbb{R}^{m \times d}$, $H = X W_1$"
    assert _wrong(text % "W_2") == []
    assert _wrong(text % "W_1") == [r"W_1 \in \mathbb{R}^{m \times d}"]
    assert len(_wrong(text % "W_i")) == 1


def test_an_index_runs_through_the_axis_of_its_bound() -> None:
    text = r"$x \in \mathbb{R}^{n \times d}$, $\mu \in \mathbb{R}^{%s}$, $\mu = \frac{1}{d} \sum_{k=1}^{%s} x_k$"
    assert _wrong(text % ("n", "d")) == []
    assert _wrong(text % ("d", "n")) == []
    assert len(_wrong(text % ("d", "d"))) == 1


def test_an_index_without_bound_may_run_through_any_axis() -> None:
    assert _wrong(r"$x \in \mathbb{R}^{n \times d}$, $\mu \in \mathbb{R}^{n}$, $\mu = \frac{1}{d} \sum_k x_k$") == []


def test_heads_in_brackets_are_no_numbers() -> None:
    text = r"$W \in \mathbb{R}^{m \times d}$, $Y = [%s_1; \ldots; %s_h] W$"
    assert _wrong(text % (r"\text{head}", r"\text{head}")) == []
    assert _wrong(text % ("z", "z")) == []


def test_a_list_of_letters_may_be_of_vectors() -> None:
    text = r"The keys are kept, $C = [k_1, \dots, k_t]$. The scores are $q C^T$, where $q \in \mathbb{R}^{1 \times d}$."
    assert _wrong(text) == []


def test_a_tensor_that_is_split_into_heads_is_declared_step_by_step() -> None:
    text = r"""First $Q, K \in \mathbb{R}^{B \times n \times d}$, then
$Q, K \in \mathbb{R}^{B \times n \times h \times c}$ and at last
$Q, K \in \mathbb{R}^{B \times h \times n \times c}$.

$$S = Q K^T \in \mathbb{R}^{B \times h \times n \times n}$$
"""
    assert _wrong(text) == []


def test_an_interval_is_no_shape() -> None:
    text = r"$x \in \mathbb{R}^{n \times d}$. `σ(x)` has values in `(0, 1)`."
    assert _wrong(text) == []


def test_two_shapes_that_are_multiplied_are_not_one() -> None:
    text = r"查詢和鍵都是 $n \times d$ 矩陣。其中 $n \times d$ 矩陣乘以 $d \times n$ 矩陣，得到 $n \times n$ 矩陣。"
    assert _wrong(text) == []


def test_keys_beside_queries_assume_self_attention() -> None:
    text = r"""
| Letter | Meaning | Shape |
|---|---|---|
| $A$ | query | $(L \times d_k)$ |
| $B$ | key | $(%s \times d_k)$ |
"""
    found = [finding for _, _, finding in findings(text % "L")]
    assert [finding.verdict for finding in found] == ["holds", "conditional"]
    assert found[1].assumptions == ("as many keys as queries (self-attention)",)
    assert [finding.verdict for _, _, finding in findings(text % "S")] == ["holds", "holds"]
    made = text % "L" + "\n" + r"$B = X U$, $A = X V$"
    assert [finding.verdict for _, _, finding in findings(made)][:2] == ["holds", "holds"]


SECTIONS = r"""# Network

## Weights

$W_1 \in \mathbb{R}^{d \times m}$, $X \in \mathbb{R}^{n \times d}$, $H = X W_1$

%s One token

$x \in \mathbb{R}^{d}$, $b \in \mathbb{R}^{m}$, $h = W_1 x + b$
"""


def test_shapes_of_another_section_are_no_witness() -> None:
    """What does not fit with a declaration of another section is unknown: that section may be of another model."""
    assert _wrong(SECTIONS % "##") == _wrong(SECTIONS % "#") == []


def test_what_its_own_section_declares_is_evidence() -> None:
    same = SECTIONS.replace("%s One token", "One token")
    assert _wrong(same) == ["h = W_1 x + b"]
    assert _wrong(same.replace("W_1 x", "x W_1")) == []


def test_a_letter_that_is_set_to_another_one_is_no_clash() -> None:
    declared = r"$X \in \mathbb{R}^{n \times d}$, $Y \in \mathbb{R}^{n \times e}$, $A \in \mathbb{R}^{d \times e}$. "
    assert _wrong(declared + "For self-attention $X = Y$.") == []
    assert _wrong(declared + "$Z = X + Y$.") == ["Z = X + Y"]


def test_a_paragraph_speaks_of_more_than_one_map() -> None:
    text = r"$W_1 \in \mathbb{R}^{512 \times 2048}$ maps $512 \to 2048$, and the activation keeps $2048 \to 2048$."
    assert _wrong(text) == []


HEADS = r"$\text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^V)$, $W_i^Q \in \mathbb{R}^{%s}$"


def test_what_a_head_projects_is_another_letter_than_what_its_projection_makes() -> None:
    of_scores = r"$A = \text{softmax}(Q K^T)$ where $Q \in \mathbb{R}^{n \times d_k}$." + "\n\n"
    assert _wrong(of_scores + HEADS % r"d_{model} \times d_k") == []
    inputs = r"$Q, K, V \in \mathbb{R}^{n \times d_{model}}$. "
    assert _wrong(inputs + HEADS % r"d_{model} \times d_k") == []
    assert len(_wrong(inputs + HEADS % r"d_k \times d_{model}")) == 1


def test_an_index_of_an_array_with_many_axes_may_count_any_of_them() -> None:
    text = r"$q_1, \dots, q_T \in \mathbb{R}^{p}$, $K \in \mathbb{R}^{%s}$, $s = q_t^T k_s$"
    assert _wrong(text % r"B \times H \times T \times p") == []
    assert _wrong(text % r"p \times T") == []
    assert _wrong(text % r"T \times p") == []
    assert len(_wrong(r"$k_1, \dots, k_T \in \mathbb{R}^{r}$, " + text % r"T \times r")) == 1


def test_a_matrix_is_not_of_its_own_sizes_exchanged() -> None:
    text = r"$Q \in \mathbb{R}^{%s \times p}$, $K \in \mathbb{R}^{m \times p}$, $Q K^T \in \mathbb{R}^{m \times n}$"
    assert len(_wrong(text % "n")) == 1
    assert _wrong(text % "m") == []


def test_small_labels_of_weights_are_no_powers() -> None:
    text = r"$X \in \mathbb{R}^{n \times d}$, $W^q, W^k \in \mathbb{R}^{%s}$, $Q = X W^q$"
    assert _wrong(text % r"d \times p") == []
    assert len(_wrong(text % r"p \times d")) == 1


def test_a_small_example_of_a_large_array_is_no_contradiction() -> None:
    """Q of n x 64 is shown as a matrix of 2 x 2: unless a size of it is that of another axis, it is an example."""
    text = (
        r"$n = %d$, $d_k = %d$, $Q \in \mathbb{R}^{n \times d_k}$. $Q = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$"
    )
    assert _wrong(text % (100, 64)) == []
    assert len(_wrong(text % (2, 3))) == 1
    rows = r"$d = %d$, $x \in \mathbb{R}^d$. $x = [1, 2]$"
    assert _wrong(rows % 512) == []
    assert _wrong(rows % 2) == []
    assert len(_wrong(r"$x \in \mathbb{R}^3$. $x = [1, 2]$")) == 1


def test_an_example_does_not_turn_the_blame() -> None:
    """The declaration contradicts the product that makes Q, whatever Q is in an example behind it."""
    text = (
        r"$d_k = 64$. $X \in \mathbb{R}^{n \times d}$, $W \in \mathbb{R}^{d \times d_k}$. $Q = X W$, where"
        r" $Q \in \mathbb{R}^{%s}$." + "\n\n" + r"$Q = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$"
    )
    assert _wrong(text % r"d_k \times n") == [r"Q \in \mathbb{R}^{d_k \times n}"]
    assert _wrong(text % r"n \times d_k") == []
