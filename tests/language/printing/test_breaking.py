"""Breaking formulas: what is read is written again, lines fit, nothing is lost, what cannot be read is refused."""

import re

import pytest

from derivations.catalogue import get
from derivations.language.printing.breaking.atoms import read, written
from derivations.language.printing.breaking.displays import Row, display
from derivations.language.printing.breaking.lines import TextLine, broken, moved_left, stacked_lines
from derivations.language.printing.breaking.widths import width
from derivations.language.printing.fragments import definitions, fragment, listed, points
from derivations.language.printing.statement import statement

SUM = (
    r"\sum_{j=1}^{n} a_{j} + \frac{b}{c} - \sqrt{d_{k}} + e^{-x} + \operatorname{FFN}(X) + \left(\frac{u}{v}\right)^{2}"
)
DEEP = r"y = \frac{\operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_{k}}} + B + C + D + E + F + G\right) V}{n + m}"
MATRIX = r"\left(\begin{bmatrix} \cos(a + b) & -\sin(a + b) \\ \sin(a + b) & \cos(a + b) \end{bmatrix}\right)^{\top} x"
NAME = r"\text{saved bytes}(\operatorname{ScaledDotProductAttentionWithDropout}, B)"
LAYOUT = re.compile(
    r"\{\} \\times|\\begin\{(?:aligned|gathered)\}|\\end\{(?:aligned|gathered)\}|\\quad|\\\\|\\left|\\right|\{\}|[&\s]"
)


def bare(tex: str) -> str:
    """The signs of a formula, without what sets it in lines."""
    return LAYOUT.sub("", tex)


@pytest.mark.parametrize("formula", [SUM, DEEP, MATRIX, NAME, r"\{0\}", r"x_{1}^{2}", r"|a| \; (i = 1, \ldots, n)"])
def test_what_is_read_is_written_again(formula: str):
    assert written(read(formula)) == formula


def test_the_name_of_a_macro_ends_before_a_letter():
    assert written(read(r"\alpha") + read("b")) == r"\alpha b"
    assert written(read(r"\left(a\right)") + read("b")) == r"\left(a\right)b"


@pytest.mark.parametrize("formula", [r"\frac{1}{", "a}", "x_{1}_{2}", r"\begin{bmatrix} a", r"\left(a"])
def test_what_does_not_match_is_refused(formula: str):
    with pytest.raises(ValueError, match="formula"):
        read(formula)


@pytest.mark.parametrize("formula", [SUM, DEEP])
@pytest.mark.parametrize("room", [120.0, 160.0])
def test_lines_fit_and_lose_nothing(formula: str, room: float):
    lines = broken(formula, room)
    assert len(lines) > 1
    assert all(line.width <= room for line in lines)
    assert bare("".join(line.tex for line in lines)) == bare(formula)


def test_a_break_is_before_a_relation_then_before_a_sign():
    lines = [line.tex for line in broken("a_{1} + a_{2} + a_{3} + a_{4} = b_{1} + b_{2} + b_{3} + b_{4}", 90.0)]
    assert lines[0] == "a_{1} + a_{2} + a_{3} + a_{4}"
    assert lines[1].startswith(r"\quad = b_{1} + b_{2}")
    assert all(re.match(r"(?:\\quad )+\{\} \+ ", line) for line in lines[2:])


def test_a_formula_that_fits_is_left_alone():
    (line,) = broken(SUM, 500.0)
    assert line.tex == written(read(SUM))


def test_nothing_is_broken_where_nothing_can_be():
    """A line that is too wide is seen by its width: breaking does not pretend."""
    (line,) = broken(r"\mathrm{oneverylongwordwithoutanycapital}", 50.0)
    assert line.width > 50.0


def test_a_line_that_stays_too_wide_loses_its_indentation():
    """Centred lines have none, and lines inside brackets keep theirs only where they have room for it."""
    line = TextLine(read("+ b"), 3)
    assert moved_left(line, 100.0) == line
    assert moved_left(line, 30.0).indent == 1
    assert moved_left(line, 1.0).indent == 1
    fraction = r"\frac{(a_{1} + a_{2} + a_{3}) \odot (b_{1} + b_{2} + b_{3})}{2}"
    assert r"\begin{gathered} (a_{1} + a_{2} + a_{3}) \\ {} \odot (b" in broken(fraction, 90.0)[0].tex
    bracket = r"\left(a b c d e f + \mathrm{wordofmine}\right)"
    whole = width(read(bracket))
    assert r"f \\ & \quad {} + " in broken(bracket, 0.95 * whole)[0].tex
    assert r"f \\ & {} + " in broken(bracket, 0.85 * whole)[0].tex


def test_matrices_and_long_names_are_broken_inside():
    assert r"\begin{smallmatrix}" in broken(MATRIX, 140.0)[0].tex
    assert "ScaledDotProduct" in (text := " ".join(line.tex for line in broken(NAME, 150.0)))
    assert r"\text{-}" in text


def test_a_name_is_not_hyphenated_where_its_argument_may_stand_below_it():
    """Beside its argument there would be room for half of the name only."""
    formula = r"\mathrm{LayerNorm}\left(X + \mathrm{MultiHead}(X, X, X, \mathrm{Causal}(n))\right)"
    for room in (130.0, 150.0, 180.0):
        text = " ".join(line.tex for line in broken(formula, room))
        assert r"\text{-}" not in text
        assert r"\mathrm{LayerNorm}" in text
        assert r"\mathrm{MultiHead}" in text
    # nothing is parted where a bracket of two lines is enough
    (line,) = broken(r"\mathrm{LayerNorm}(X + Y + Z + A + B + C)", 150.0)
    assert stacked_lines(line.formula) == 1
    assert line.tex.startswith(r"\mathrm{LayerNorm}\left(")


def test_widths_are_those_of_the_font():
    assert width(read("x = y")) == pytest.approx(5.72 + 2.78 + 7.78 + 2.78 + 5.26, abs=0.05)
    assert width(read("-x")) < width(read("a - x")) - width(read("a"))  # a sign without a left side is set tight
    assert width(read(r"\text{若 x}y")) == pytest.approx(
        10 + 3.33 + 5.28 + 2.5 + 5.26, abs=0.1
    )  # a gap before a square


def test_a_rule_stands_at_the_margin_or_below_the_line():
    rows = [Row("a", "=", "b", r"\text{algebra}")]
    assert r"a & = b \tag*{$\text{algebra}$}" in display(rows, 345.0)
    wide = [Row("a", "=", " + ".join(f"b_{{{n}}}" for n in range(9)), r"\text{linearity of expectation}")]
    lines = display(wide, 200.0).splitlines()
    assert lines[-3].endswith(r" \\*")  # no page ends between a line and its rule
    assert lines[-2] == r"& \tag*{$\text{linearity of expectation}$}"


def test_a_number_stands_at_the_last_line_of_a_row():
    rows = [Row("a", "=", "b"), Row("", "=", "c", r"\text{algebra}", label="eq:c")]
    assert display(rows, 345.0, numbered=True).splitlines() == [
        r"\begin{alignat}{2}",
        r"a & = b \notag \\",
        r"& = c \label{eq:c} \\*",
        r"& \tag*{$\text{algebra}$}",
        r"\end{alignat}",
    ]


def test_fragments_take_numbers_and_labels():
    parts = statement(get("softmax.jacobian"), "ours")
    plain, labelled = fragment(parts, 345.0), fragment(parts, 345.0, label="eq")
    assert r"\begin{alignat*}{2}" in plain
    assert r"\label" not in plain
    assert r"\label{eq:softmax-jacobian}" in labelled


@pytest.mark.parametrize(
    ("length", "expected"), [("345pt", 345.0), ("3.3in", 238.5), ("8.4cm", 239.0), ("84 mm", 239.0)]
)
def test_lengths_are_read(length: str, expected: float):
    assert points(length) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("length", ["3.3", "wide", "3em", "-3in", "1in"])
def test_what_is_no_length_or_too_narrow_is_refused(length: str):
    with pytest.raises(ValueError, match="width"):
        points(length)


def test_a_wide_relation_is_counted():
    """Aligned at an equivalence, this line is wider than the text by what the sign is wider than an equals sign."""
    row = Row(r"\mathrm{" + "w" * 20 + "}", r"\iff", "a b c")
    needed = width(read(f"{row.left} {row.relation} {row.right}"))
    assert len(display([row], 1.02 * needed).splitlines()) == 3
    assert len(display([row], needed - 1).splitlines()) > 3


def test_a_fraction_stays_whole_where_the_next_line_has_room():
    """Aligned, the denominator would be a tower of four lines; below its left side, the fraction fits."""
    left = r"\frac{4 n^{2} d_{\mathrm{model}}}{\text{matmul FLOPs}(\mathrm{EncoderLayer})}"
    lines = display([Row(left, "=", r"\frac{n}{n + 2 d_{\mathrm{model}} + d_{\mathrm{ff}}}")], 203.0)
    assert r"\begin{gathered}" not in lines
    assert r"\quad = \frac{n}{n + 2 d_{\mathrm{model}} + d_{\mathrm{ff}}}" in lines
    assert stacked_lines(read(DEEP)) == 0
    assert stacked_lines(read(r"\frac{\begin{gathered} a \\ + b \\ + c \end{gathered}}{d}")) == 2


def test_the_name_of_a_rule_stays_whole_at_the_margin():
    """Behind the left side there is no room for the name, at the margin below it there is."""
    row = Row(r"\mathrm{" + "w" * 14 + "}", "=", "a + b", r"\text{Kronecker delta}", label="eq:d")
    lines = display([row], 200.0, numbered=True)
    assert r"\label{eq:d} \\*" + "\n" + r"& \tag*{$\text{Kronecker delta}$}" in lines


def test_the_number_of_a_condition_stands_beside_it():
    rows = [Row("a", "<", "b"), Row("", "", "", r"\text{if } n \ge 2", "if $n \\ge 2$.", label="eq:d")]
    assert r"& \qquad \text{if } n \ge 2 \label{eq:d}" in display(rows, 345.0, numbered=True)


def test_a_broken_product_goes_on_with_a_sign_and_a_sum_keeps_its_factor():
    lines = [line.tex for line in broken(r"\mathrm{softmax}(X X X X X) (Y W_{V}) + b_{V}", 110.0)]
    assert lines[1].startswith(r"\quad {} \times (Y W_{V})")
    assert lines[-1].endswith("b_{V}")
    lines = [line.tex for line in broken(r"\frac{1}{d} \sum_{k=1}^{d} G_{k} H_{k}", 50.0)]
    assert [r"\sum_{k=1}^{d} G_{k}" in line for line in lines].count(True) == 1


@pytest.mark.parametrize(
    ("formula", "goes_on"),
    [
        (r"N_{a b c} \left(\frac{a}{b}\right)", r"\left(\frac{a}{b}\right)"),
        (r"X_{i,2 j + k} \mathrm{d}Y_{i,j}", r"\mathrm{d}Y_{i,j}"),
        (r"\mathrm{vocab} \, d_{\mathrm{model}}", r"d_{\mathrm{model}}"),
        (r"f(x + y) g(x + y)", "g(x + y)"),
    ],
)
def test_every_broken_product_goes_on_with_a_sign(formula: str, goes_on: str):
    """A space stands between two factors, and none between a function and its argument."""
    first, second = broken(formula, 0.9 * width(read(formula)))
    assert second.tex == rf"\quad {{}} \times {goes_on}"
    assert not first.tex.endswith(r"\,")


def test_the_space_of_a_sign_at_the_beginning_of_a_line_is_counted():
    """A line that would fit without the space on both sides of its sign is broken once more."""
    terms = "a + b + c + d"
    needed = width(read("{} + b + c + d")) + 10.0
    assert [line.tex for line in broken(terms, 1.02 * needed, 1.02 * needed)] == [terms]
    first = width(read("a")) * 1.1
    assert len(broken(terms, first, 1.02 * needed)) == 2
    lines = broken(terms, first, needed - 1.0)
    assert len(lines) == 3
    assert all(line.width <= needed - 1.0 for line in lines)


@pytest.mark.parametrize(
    "formula", [r"\frac{\partial}{\partial q_{i}} \left(\sum_{j} q_{j}\right)", r"\mathrm{softmax}(X X X)"]
)
def test_no_sign_stands_before_the_argument_of_a_function_or_a_derivative(formula: str):
    lines = broken(formula, 40.0)
    assert len(lines) > 1
    assert not any(r"\times" in line.tex for line in lines)


def test_what_is_said_of_a_broken_assumption_stands_below_its_lines():
    formula = r"\mathbb{E} [R_{ik} R_{il} X_{ik} X_{il}] = \mathbb{E} [R_{ik} R_{il}] \mathbb{E} [X_{ik} X_{il}]"
    said = r"$(i = 1, \ldots, n)$ (the mask is drawn independently)"
    item = rf"{formula} \; (i = 1, \ldots, n)", "the mask is drawn independently"
    assert listed(*item, 900, "${}$") == f"${formula}$ {said}"
    assert listed(*item, 120, "${}$").endswith(rf"\end{{aligned}}$ \newline {said}")
    assert listed("", "the mask is drawn independently", 120, "${}$") == "the mask is drawn independently"


def test_a_long_list_of_letters_may_end_a_line_behind_a_comma():
    letters = ", ".join(f"d_{{{name}}}" for name in ("model", "expert", "vocab", "encoder"))
    item = rf"{letters} \in \mathbb{{N}}_{{>0}}, \; i = 1, \ldots, n"
    assert definitions("where", (), [item], 900, "${}$", "en").count(r"\allowbreak") == 0
    broken_lines = definitions("where", (), [item], 90, "${}$", "en")
    assert broken_lines.count(r", \allowbreak d_") == 3
    assert broken_lines.replace(r"\allowbreak ", "") == definitions("where", (), [item], 900, "${}$", "en")
