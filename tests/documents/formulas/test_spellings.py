"""Spellings of one formula: written in another way it is the same tree, and what could be two stops the reading."""

import pytest

from derivations.documents.formulas import formula_text, read_formula
from derivations.documents.syntax import Aggregate, Call, Chain, Dots, List, Name, Negative, Number, Power, Transpose
from tests.documents.formulas.reading import read, side

x, n = Name("x"), Name("n")


ALIKE = [  # a spelling, its syntax, and the same in plainer LaTeX
    # numbers
    ("1 024 = 2^{10}", "latex", "1{,}024 = 2^{10}"),
    ("1'024", "latex", "1{,}024"),
    ("12 288 × 4", "plain", r"12{,}288 \times 4"),
    ("12'288 × 4", "plain", r"12{,}288 \times 4"),
    ("512x2048", "plain", r"512 \times 2048"),
    ("2 X 3", "plain", r"2 \times 3"),
    ("３ × ４ ＝ １２", "plain", r"3 \times 4 = 12"),
    ("0.1 = 10 %", "latex", r"0.1 = 10\%"),
    # letters and accents
    ("ŷ = x̂ + ȳ", "latex", r"\hat{y} = \hat{x} + \bar{y}"),
    ("ŷ = W x̂_i", "plain", r"\hat{y} = W \hat{x}_i"),
    (r"g^{\prime}(x) = g^{\prime\prime}", "latex", "g'(x) = g''"),
    # functions
    (r"\exp\left\{ -x \right\}", "latex", r"\exp(-x)"),
    (r"\mathop{\text{argmax}}_{x} f(x)", "latex", r"\operatorname*{argmax}_x f(x)"),
    (r"\mathop{\rm max}_x f(x)", "latex", r"\max_x f(x)"),
    (r"\text{arg}\max_\theta L", "latex", r"\arg\max_\theta L"),
    (r"\mathbf{1}\{i = j\}", "latex", r"\mathbf{1}[i = j]"),
    (r"\mathbf{1}(i = j)", "latex", r"\mathbf{1}[i = j]"),
    (r"D_{KL}(p \parallel q)", "latex", r"D_{KL}(p \| q)"),
    (r"\norm{x}_2^2", "latex", r"\lVert x \rVert_2^2"),
    (r"\abs{x_i - y_i}", "latex", "|x_i - y_i|"),
    ("n mod 2 = 0", "plain", r"n \bmod 2 = 0"),
    ("a <> b", "plain", r"a \neq b"),
    # sums and integrals
    (r"\sum_{\substack{i=1 \\ i \ne j}}^{n} x_i", "latex", r"\sum_{i=1, i \ne j}^{n} x_i"),
    (r"\int p(x) \log p(x) dx", "latex", r"\int (p(x) \log(p(x))) \, \mathrm{d}x"),
    # sizes
    ("X ∈ ℝⁿˣᵈ", "plain", r"X \in \mathbb{R}^{n \times d}"),
    ("X ∈ R^(n x d)", "plain", r"X \in \mathbb{R}^{n \times d}"),
    (r"X \in \R^{n \times d}", "latex", r"X \in \mathbb{R}^{n \times d}"),
    # derivatives
    ("dL/dW = X^T dL/dY", "plain", r"\frac{dL}{dW} = X^T \frac{dL}{dY}"),
    ("dL/dW = X^T dL/dY", "latex", r"\frac{dL}{dW} = X^T \frac{dL}{dY}"),
    ("dy/dx = 2x", "plain", r"\frac{dy}{dx} = 2x"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "syntax", "plainer"), ALIKE)
def test_spellings_of_one_formula_are_one_tree(text, syntax, plainer):
    assert _without_brackets(read(text, syntax)) == _without_brackets(read(plainer))


def _without_brackets(statements):
    """The formulas in one spelling, where brackets around the body of an integral do not count."""
    text = "; ".join(formula_text(statement, "latex") for statement in statements)
    for mark in (r"\left( ", r" \right)", r"\left(", r"\right)", "(", ")"):
        text = text.replace(mark, "")
    return text.replace(r"\cdot ", "")


@pytest.mark.parametrize(
    ("text", "syntax", "offset"),
    [
        ("2 3", "latex", 2),  # side by side numbers are no product
        ("2½", "plain", 1),
        ("0x10", "plain", 1),
        ("512x2048", "code", 3),
        ("12 288", "code", 0),
        ("512/8 ≈ 60–70", "plain", 10),  # a range, or a difference
        ("512/8 ≈ 60-70", "plain", 10),
        (r"512/8 \approx 60-70", "latex", 16),
        ("10~20", "plain", 2),
        (r"3 \cdot 5 \approx 10 \sim 20", "latex", 20),
        (r"10^4 \sim 10^5", "latex", 4),
        (r"\log \frac{a}{b} c", "latex", 17),  # c may stand behind the logarithm
        (r"\nabla \log p(a|s) A", "latex", 19),
        ("a/(b)(c)", "latex", 5),
        (r"\sout{x} + y", "latex", 0),
        (r"\norm x", "latex", 0),
        (r"Q \,\|\, K", "latex", 4),
        ("a ̂", "plain", 2),
    ],
)
def test_what_could_be_two_things_stops_the_reading(text, syntax, offset):
    reading = read_formula(text, syntax)
    assert reading.stopped is not None
    assert reading.stopped.offset == offset


def test_differences_that_look_like_ranges_are_differences():
    for text, syntax in (("512-8=504", "plain"), ("2-5=-3", "latex"), ("x = (1-2) y", "latex"), ("20-10", "plain")):
        assert read_formula(text, syntax).stopped is None, text


def test_dots_between_numbers_and_letters_are_a_list():
    (statement,) = read("i = 1…n", "plain")
    assert statement.sides[1] == List((statement.sides[1].items[0], Dots(), n))


def test_a_fraction_of_one_character_is_a_number():
    half = side("½ x").factors[0]
    assert isinstance(half, Number) and half.value == Number("1", 1).value / 2 and half.exact
    assert formula_text(Chain((side("½"),)), "latex") == "½"


def test_a_negative_power_of_a_function_is_its_inverse():
    assert side(r"\sigma^{-1}(p)") == Call(Name("sigma", (), (Negative(side("1")),)), (Name("p"),))
    assert isinstance(side(r"\sin^2 x"), Power) and isinstance(side(r"\sin^{-1} x"), Call)
    assert isinstance(side("W^{-1} x").factors[0], Power)


def test_the_transpose_of_an_inverse():
    assert side("A^{-T}") == Transpose(Power(Name("A"), Negative(side("1"))))


def test_the_variable_of_an_integral_ends_the_argument_of_a_function():
    whole = side(r"\int_0^1 \log x \, dx")
    assert isinstance(whole, Aggregate) and whole.index == (x,)
    assert whole.body == Call(Name("log"), (x,))
    assert side(r"\log d x") == Call(Name("log"), (side("d x"),))  # no integral: a product


def test_lower_case_sizes_are_no_differentials():
    assert side("dk / dv", "plain").children[0] == Name("dk")


def test_italic_letters_behind_a_space_that_shows_are_bytes():
    assert side(r"2.1\,GB").unit == "GB"
    assert len(side("2 GB").factors) == 3


def test_the_label_of_a_transposed_projection():
    assert side("W_i^{K^T}") == side(r"{W_i^K}^\top") == Transpose(Name("W", (Name("i"),), (Name("K"),)))


@pytest.mark.parametrize("note", [r"\text{（每个头）}", r"\quad \text{(per head)}"])
def test_words_in_brackets_behind_a_side_are_a_remark(note):
    (statement,) = read(rf"d = 512 / 8 = 64 {note}")
    assert statement.sides[-1] == side("64")
    assert statement.condition is not None


def test_chinese_words_of_a_condition_are_no_factors():
    (statement,) = read(r"y = x, \text{当 } x > 0 \text{ 时}")
    assert statement.sides == (Name("y"), x)
    assert statement.condition is not None
    (alone,) = read(r"\text{当 } x > 0 \text{ 时}")
    assert alone.sides == (x, side("0")) and alone.condition is not None
    assert len(side(r"\begin{cases} x & x > 0 \text{ 时} \\ 0 & \text{其他} \end{cases}").branches) == 2
    (plain,) = read("y = x 当 x > 0 时")
    assert plain.sides == (Name("y"), x)


def test_a_mantissa_with_its_power_of_ten_is_one_denominator():
    (statement,) = read(r"8.4 \times 10^{22} / 3.2 \times 10^{15} \approx 2.625 \times 10^7")
    assert statement.sides[0].factors[1].denominator == side(r"3.2 \times 10^{15}")
    assert read("8.4×10²² / 3.2×10¹⁵", "plain")[0].sides == statement.sides[:1]
    assert read_formula(r"6 / 3 \times 10^8", "latex").stopped is not None  # 2 of them, or one
    code = side("8.4 * 10**22 / 3.2 * 10**15", "code")
    assert code.factors[1] == side("10**15", "code")  # code has its own order


def test_two_dots_are_a_range():
    assert read("E = 1..30", "plain")[0].sides[1].items[1] == Dots()


def test_bars_in_pairs_are_one_sign_each():
    assert side("||x||_2^2") == side(r"\|x\|_2^2")
    assert side("D_{KL}(P || Q)") == side(r"D_{KL}(P \| Q)")
    assert side("|a||b|") == side("|a| |b|")


REMARKS = (
    r"\quad \text{(by definition)}",
    r"\quad \text{by the chain rule}",
    r"\qquad (x = 1)",
    r"\quad \text{where } x > 0",
    r"& \text{by definition}",
)


@pytest.mark.parametrize("remark", REMARKS)
def test_a_line_goes_on_behind_a_remark(remark: str) -> None:
    lines = rf"\begin{{aligned}} a &= 2 \times 3 {remark} \\ &= 6 \\ b &= 7 \end{{aligned}}"
    first = read_formula(lines, "latex").statements[0]
    assert [formula_text(each, "plain") for each in first.sides] == ["a", "2 × 3", "6"]


@pytest.mark.parametrize("remark", REMARKS[:2])
def test_the_next_line_is_no_part_of_a_remark(remark: str) -> None:
    lines = rf"\begin{{aligned}} a &= 2 \times 3 {remark} \\ b &= 7 {remark} \end{{aligned}}"
    chains = [each for each in read_formula(lines, "latex").statements if each.relations]
    assert [formula_text(chain.sides[0], "plain") for chain in chains] == ["a", "b"]
