"""Customs of writing: conditions in brackets, angles behind brackets, values at a point, parts of the real numbers."""

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.syntax import Call, Chain, Dots, Entry, Fence, List, Name, Number, Product, Space, Sum, Words

i, m, n, x, y = (Name(letter) for letter in "imnxy")
theta = Name("theta")
TURN = Fence("(", Sum((m, n), (1, -1)))


def read(text, syntax="latex"):
    reading = read_formula(text, syntax)
    assert reading.stopped is None, reading.stopped
    return reading.statements


def side(text):
    (statement,) = read(text)
    (only,) = statement.sides
    return only


# --- what stands behind a formula in brackets ---


@pytest.mark.parametrize("space", [r"\;", r"\quad", r"\qquad", r"\ "])
def test_a_relation_in_brackets_behind_a_wide_space_is_a_condition(space):
    (statement,) = read(rf"y_i = \sin(x) {space} (i = 0, \dots, n, \; m > 1)")
    assert statement.sides[1] == Call(Name("sin"), (x,))
    ranged, bounded = statement.condition.items
    assert ranged.sides[0] == i and Dots() in ranged.sides[1].items
    assert bounded.sides[0] == m and bounded.relations == (">",)


def test_a_membership_in_brackets_is_a_statement():
    first, second = read(r"y = x \quad (x \in \mathbb{R}^n)")
    assert first.condition is None and second == Chain((x, Space("R", (n,))), ("∈",))


def test_brackets_that_stand_close_are_a_factor_or_an_argument():
    (statement,) = read("y = p(x = 1)")
    assert isinstance(statement.sides[1], Call) and statement.condition is None
    (statement,) = read(r"y = x \; (m - n)")
    assert statement.sides[1] == Product((x, TURN), ("",))


# --- angles ---


def test_an_angle_behind_brackets_that_stand_apart_is_in_the_argument():
    assert side(r"\cos (m - n) \theta") == Call(Name("cos"), (Product((TURN, theta), ("",)),))
    assert side(r"x \sin (m - n) \theta").factors[1] == Call(Name("sin"), (Product((TURN, theta), ("",)),))


@pytest.mark.parametrize(
    ("text", "syntax"),
    [(r"\cos(m - n)\theta", "latex"), (r"\sin (m + n) x", "latex"), ("cos (m - n) θ", "plain")],
)
def test_it_is_not_guessed_where_the_argument_ends(text, syntax):
    assert "cannot be told" in read_formula(text, syntax).stopped.reason


def test_an_argument_that_is_an_angle_ends_with_its_brackets():
    assert side(r"\cos(m\theta) x") == Product((Call(Name("cos"), (Product((m, theta), ("",)),)), x), ("",))
    assert side(r"\cos (m - n)\, \theta").factors[1] == theta
    assert side(r"\cos (m - n) \cdot \theta").operators == ("dot",)


def test_a_line_that_ends_with_a_sign_goes_on():
    (chain,) = read("\\begin{align} y &= \\\\ \n m &+ \\\\ \n n &= \\\\ \n\n x \\end{align}")
    assert chain == Chain((y, Sum((m, n), (1, 1)), x), ("=", "="))


# --- columns ---


def test_further_columns_of_aligned_lines_are_conditions_and_notes():
    first, second = read(r"\begin{aligned} y_i &= x_i && i = 1, \dots, n \\ m &= n \end{aligned}")
    assert first.sides[1] == Name("x", (i,)) and first.condition.sides[0] == i
    assert second == Chain((m, n), ("=",))
    chain, *notes = read(r"\begin{align} x &= y && \text{by the rule} \\ &= m && \text{again} \\ &= n \end{align}")
    assert chain == Chain((x, y, m, n), ("=", "=", "="))
    assert [note.sides[0] for note in notes] == [Name("by the rule"), Name("again")]


def test_two_equations_in_a_line_are_two_statements():
    assert [s.sides for s in read(r"\begin{align} x &= y & m &= n \end{align}")] == [(x, y), (m, n)]
    (chain,) = read(r"\begin{eqnarray} x &=& y \\ &=& m \end{eqnarray}")
    assert chain.sides == (x, y, m)


def test_brackets_behind_a_denominator_like_those_above_it_stop_the_reading():
    assert "denominator" in read_formula("x (m - n) / y (m + n)", "plain").stopped.reason
    assert read_formula("x (m - n) / 2 (m + n)", "plain").stopped is None


# --- single signs ---


def test_values_at_a_point():
    assert side(r"\left. y \right|_{x = 0}") == Entry(Fence("(", y), (Chain((x, side("0")), ("=",)),))
    assert read_formula(r"\left. y \right)", "latex").stopped is not None


@pytest.mark.parametrize(
    ("text", "letter"),
    [(r"\mathbb{R}_+", "R+"), (r"\mathbb{R}^+", "R+"), (r"\mathbb{R}_{>0}", "R>0"), (r"\mathbb{N}_{\ge 0}", "N≥0")],
)
def test_parts_of_the_numbers(text, letter):
    (statement,) = read(rf"x \in {text}")
    assert statement.sides[1] == Space(letter)
    assert read_formula(r"x \in \mathbb{R}_q", "latex").stopped is not None


def test_binomials_bars_and_sets_whose_braces_do_not_show():
    assert side(r"\binom{m}{n}") == Call(Name("binom"), (m, n))
    assert side(r"\overline{m n}") == Call(Name("overline"), (Product((m, n), ("",)),))
    (statement,) = read(r"i \in {m, \dots, n}")
    assert statement.sides[1] == List((m, Dots(), n), "{")


def test_a_word_in_two_sizes_is_one_word():
    assert side(r"\text{A\small{TTN}}(x)") == Call(Name("ATTN"), (x,))
    (statement,) = read(r"y = \begin{cases} x & {\text{for } x > 1} \\ m & \textbf{\small otherwise} \end{cases}")
    assert statement.sides[1].branches[0][1] == Chain((x, side("1")), (">",))
    assert statement.sides[1].branches[1][1] == Words("otherwise")


@pytest.mark.parametrize(
    ("text", "syntax"), [("7 % 4", "plain"), ("7%4", "plain"), ("7 % n", "plain"), (r"7 \% 4", "latex")]
)
def test_a_percentage_before_a_factor_may_be_a_remainder(text, syntax):
    assert "cannot be told" in read_formula(text, syntax).stopped.reason
    assert read_formula("7 % = 0.07", "plain").stopped is None


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        (r"\mathbf{0.73} \approx \textcolor{red}{0.7 + x}", r"\mathbf{0.73}", r"\textcolor{red}{0.7 + x}"),
        (r"\textcolor{red}{\mathbf{2 \cdot 3}} = \mathbf{6}", r"\textcolor{red}{\mathbf{2 \cdot 3}}", r"\mathbf{6}"),
    ],
)
def test_a_side_takes_the_font_around_it_along(text, left, right):
    (statement,) = read(text)
    assert [text[each.start : each.end] for each in statement.sides] == [left, right]
    assert any(isinstance(node, Number) for node in statement.walk())
