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


def test_weights_of_the_section_beside_are_the_same_ones() -> None:
    assert _wrong(SECTIONS % "##") == ["h = W_1 x + b"]
    assert _wrong((SECTIONS % "##").replace("W_1 x", "x W_1")) == []


def test_weights_of_another_chapter_may_be_others() -> None:
    assert _wrong(SECTIONS % "#") == []


def test_a_paragraph_speaks_of_more_than_one_map() -> None:
    text = r"$W_1 \in \mathbb{R}^{512 \times 2048}$ maps $512 \to 2048$, and the activation keeps $2048 \to 2048$."
    assert _wrong(text) == []
