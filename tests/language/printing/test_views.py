"""The views of results and layers: LaTeX, Markdown, text, tables."""

import pytest
from sympy import Derivative, Ge, Integer, KroneckerDelta, Lt, Rational, Symbol, exp, sqrt, true

from derivations.catalogue import layers
from derivations.language import Equations, array, named
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.scalars import Rounded
from derivations.language.layers.layer import Equation
from derivations.language.printing.exchange import NotClosedForm
from derivations.language.printing.loops import python_source
from derivations.language.printing.views import latex, markdown, table, text
from derivations.language.results.derivation import Assumption, Claim, Derivation, claim, derivation, step
from tests.language.printing.printed import _total, i, j, k, n, x, y

SOFTMAX = Equation(y, row_softmax(x))
JACOBIAN = Derivation(
    "softmax.jacobian",
    "Jacobian of softmax",
    (
        claim(
            Derivative(y[i], x[k]),
            step("definition", Derivative(exp(x[i]) / _total(exp(x[i])), x[k])),
            step("quotient rule", y[i] * (KroneckerDelta(i, k) - y[k])),
        ),
    ),
    (SOFTMAX,),
    {i: n, k: n},
    (Assumption(Ge(n, 2), {}, "two_entries & more"), Assumption(true, text="x is real")),
    "Bridle (1990)",
)
BOUNDS = Derivation(
    "softmax.bounds",
    "Bounds",
    (
        claim(y[i], step("bound", 1, "<=")),
        claim(y[i], step("bound", 1, "<"), given=(Assumption(Ge(n, 2)),)),
    ),
    ranges={i: n},
)


def test_a_result_is_one_formula_with_its_ranges_and_what_it_assumes():
    expected = r"\frac{\partial y_{i}}{\partial x_{k}} = y_{i} (\delta_{ik} - y_{k}), \qquad i, k = 1, \ldots, n, "
    expected += r"\qquad \text{assuming}\ n \ge 2 \; (\text{two\_entries \& more}), \qquad \text{x is real}"
    assert latex(JACOBIAN) == expected


def test_steps_are_aligned_with_the_rule_at_the_right():
    assert latex(JACOBIAN, steps=True).splitlines() == [
        r"\begin{aligned}",
        r"\frac{\partial y_{i}}{\partial x_{k}} &= \frac{\partial}{\partial x_{k}} "
        r"\frac{e^{x_{i}}}{\sum_{j=1}^{n} e^{x_{i}}} && \text{definition} \\",
        r" &= y_{i} (\delta_{ik} - y_{k}) && \text{quotient rule} \\",
        r"& && i, k = 1, \ldots, n \\",
        r"& && \text{assuming}\ n \ge 2 \; (\text{two\_entries \& more}) \\",
        r"& && \text{x is real}",
        r"\end{aligned}",
    ]


def test_several_claims_and_what_one_of_them_assumes():
    assert latex(BOUNDS).splitlines() == [
        r"\begin{aligned}",
        r"y_{i} &\le 1 \\",
        r"y_{i} &< 1 && \text{if}\ n \ge 2 \\",
        r"& && i = 1, \ldots, n",
        r"\end{aligned}",
    ]
    assert r"\text{若}" in latex(BOUNDS, lang="zh-Hant")


def test_text_view():
    assert text(JACOBIAN, steps=True).splitlines() == [
        "Jacobian of softmax (softmax.jacobian)",
        "    dy_i/dx_k = d/dx_k (e^(x_i) / (sum_{j=1}^n e^(x_i)))    [definition]",
        "      = y_i (delta_ik - y_k)    [quotient rule]",
        "Where y = softmax(x), x in R^n, i, k = 1, ..., n.",
        "Assuming n >= 2 (two_entries & more), x is real.",
        "Source: Bridle (1990).",
    ]
    assert text(BOUNDS).splitlines()[2] == "    y_i < 1    if n >= 2"
    assert text(y[i]) == "y_i"


def test_markdown_view_escapes_words_and_marks_formulas():
    page = markdown(JACOBIAN, math="fence")
    assert page.startswith("### Jacobian of softmax\n\n```math\n")
    assert r"Assuming $`n \ge 2`$ (two\_entries & more), x is real." in page
    assert page.endswith("Source: Bridle (1990).\n")
    assert "$$\n" in markdown(JACOBIAN)
    assert "\\[\n" in markdown(JACOBIAN, math="brackets")
    assert "其中 $`y = " in markdown(JACOBIAN, math="fence", lang="zh-Hans")


def test_latex_fragment_is_ready_to_input():
    fragment = latex(JACOBIAN, math="equation")
    assert fragment.startswith("\\paragraph{Jacobian of softmax.}\n\n\\begin{equation}\n")
    assert r"(two\_entries \& more)" in fragment
    assert "\\end{equation}\n\nWhere $y = " in fragment


@pytest.mark.parametrize(("view", "math"), [(latex, "fence"), (latex, "tex"), (markdown, "tex")])
def test_delimiters_that_do_not_exist_are_refused(view, math):
    with pytest.raises(ValueError, match=f"'{math}' here; choose one of dollars, brackets"):
        view(JACOBIAN, math=math)


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="no language 'de'; choose one of en, zh-Hans, zh-Hant"):
        markdown(JACOBIAN, lang="de")


def test_rounded_numbers_print_as_decimals():
    rounded = claim(Rounded(exp(2), 2), step("rounding", Rational(739, 100)))
    assert latex(rounded) == r"e^{2} \approx 7.39"
    assert text(rounded) == "    e^2 ~= 7.39\n"
    assert latex(claim(Rounded(exp(-10), 5), step("rounding", Rational(5, 100000)))) == r"e^{-10} \approx 0.00005"
    assert latex(claim(Rounded(-exp(2), 0), step("rounding", Integer(-7)))) == r"-e^{2} \approx -7"
    with pytest.raises(ValueError, match="not a number of 1 decimals"):
        latex(claim(Rounded(exp(2), 1), step("rounding", Rational(739, 100))))


def test_statements_stand_on_either_side_of_an_equivalence():
    stated = Claim(Lt(y[i], 1), (step("bound", Ge(n, 2), "<=>"),))
    assert latex(stated) == r"y_{i} < 1 \iff n \ge 2"


def test_layers_print_their_equations_and_spaces():
    multi_head = layers()["multi_head_attention"]
    assert latex(multi_head).splitlines() == [
        r"\begin{aligned}",
        r"Q_{i} &= X_{Q} W_{i}^{Q} && i = 1, \ldots, h \\",
        r"K_{i} &= X_{K} W_{i}^{K} && i = 1, \ldots, h \\",
        r"V_{i} &= X_{V} W_{i}^{V} && i = 1, \ldots, h \\",
        r"\mathrm{head}_{i} &= \mathrm{Attention}(Q_{i}, K_{i}, V_{i}) && i = 1, \ldots, h \\",
        r"Z &= \mathrm{Concat}(\mathrm{head}_{1}, \ldots, \mathrm{head}_{h}) \\",
        r"Y &= Z W^{O}",
        r"\end{aligned}",
    ]
    assert r"$W^{O} \in \mathbb{R}^{h d_{v} \times d_{\mathrm{model}}}$." in markdown(multi_head)
    assert text(layers()["linear"]).splitlines() == [
        "Linear (linear)",
        "    Y = X W + b",
        "Where X in R^{n x d_in}, W in R^{d_in x d_out}, b in R^{d_out}.",
    ]


@pytest.mark.parametrize(
    ("layer", "line"),
    [
        ("layer_norm", r"\mu_{i} &= \frac{1}{d} \sum_{j=1}^{d} X_{ij} && i = 1, \ldots, n"),
        ("layer_norm", r"\hat{X} &= \frac{X_{\mathrm{c}}}{\sqrt{\sigma^{2} + \epsilon}}"),
        ("layer_norm", r"Y &= \gamma \odot \hat{X} + \beta"),
        ("positional_encoding", r"\mathrm{PE}_{\mathrm{pos},2 i} &= \sin(\theta_{\mathrm{pos},i})"),
        ("positional_encoding", r"i = 0, \ldots, d_{\mathrm{model}} / 2 - 1"),
        ("encoder", r"Z^{(l)} &= \mathrm{EncoderLayer}_{l}(Z^{(l-1)}) && l = 1, \ldots, N"),
        ("encoder_layer", r"A &= \mathrm{MultiHead}(X, X, X)"),
        ("decoder_layer", r"A &= \mathrm{MultiHead}(X, X, X, M)"),
        ("transformer", r"M_{ij} &= [j \le i] && i, j = 1, \ldots, n"),
        ("dropout", r"Y = \frac{X \odot D}{1 - p}"),
        ("embedding", r"E_{\mathrm{tokens}}"),
        ("masked_scaled_dot_product_attention", r"A &= \mathrm{softmax}(S; M)"),
    ],
)
def test_equations_of_layers(layer, line):
    assert line in latex(layers()[layer])


def test_the_table_of_shapes():
    rows = table(layers()["feed_forward"])
    assert [(row.name, row.shape_text, row.what) for row in rows] == [
        ("X", "n x d_model", "input"),
        ("W_1", "d_model x d_ff", "parameter"),
        ("b_1", "d_ff", "parameter"),
        ("W_2", "d_ff x d_model", "parameter"),
        ("b_2", "d_model", "parameter"),
        ("H", "n x d_ff", "intermediate"),
        ("G", "n x d_ff", "intermediate"),
        ("Y", "n x d_model", "output"),
    ]
    assert rows[1].latex == "W_{1}"
    assert rows[1].shape == r"d_{\mathrm{model}} \times d_{\mathrm{ff}}"
    assert table(layers()["feed_forward"], "columns")[1].shape == r"d_{\mathrm{ff}} \times d_{\mathrm{model}}"


def test_words_among_the_assumptions_of_a_claim_stay_words():
    stated = claim(y[i], step("shape", 1, "iff"), given=(Assumption(Ge(n, 2), {}, "a_b^T < {c}"),))
    words = r"\text{a\_b}\hat{\;}\text{T }<\text{ \{c\}}"
    assert latex(stated).splitlines()[1] == rf"y_{{i}} &\iff 1 && \text{{if}}\ n \ge 2 \; ({words})"
    assert text(stated) == "    y_i <=> 1    if n >= 2 (a_b^T < {c})\n"


def test_a_result_without_an_id_is_titled_by_its_title_alone():
    found = derivation("Rows add up to 1", claim(_total(y[i]), step("algebra", 1)), ranges={i: n})
    assert text(found).splitlines()[0] == "Rows add up to 1"
    with pytest.raises(ValueError, match="'Rows add up to 1' has no q"):
        found.at(q=3)


def test_a_result_without_an_id_is_python_all_the_same():
    found = derivation("Twice", claim(x[i] + x[i], step("algebra", 2 * x[i])), ranges={i: n})
    assert "def result(i, x):" in python_source(found)
    constant = derivation("Four", claim(Integer(2) + 2, step("algebra", 4)))
    assert "def result():" in constant.python()
    with pytest.raises(TypeError, match="'Twice': no value for i; give it by name"):
        found.function()(x=[1])
    with pytest.raises(NotClosedForm, match="'Twice': "):
        found.python()


def test_a_function_takes_its_sizes_from_the_arrays():
    let = Equations()
    v = let("v")(2 * array("u", n))
    value = derivation("Twice", claim(_total(v[j]), step("definition", _total(v[j]))), about=let).function()
    assert value(u=[1, 2, 5]) == value(u=[1, 2, 5, 7], n=3) == 16
    both = derivation("Both", claim(_total(x[j]), step("algebra", _total(x[j] * array("w", n)[j])))).function()
    assert both(x=[1, 2], w=[3, 5]) == 13
    with pytest.raises(TypeError, match="n is 2 by w, and 1 by an array before it"):
        both(x=[1], w=[2, 3])


def test_what_a_notebook_shows_of_ones_own():
    """A function with its formula, equations by their text; a result by one line where no formula can be set."""
    x_, let = Symbol("x", real=True), Equations()
    plus = named("squareplus", (x_ + sqrt(x_**2 + 4)) / 2, x_)
    let("Y")(plus(array("v", n)))
    shown = r"\frac{\sqrt{x^{2} + 4}}{2} + \frac{x}{2}"
    assert plus._repr_latex_() == rf"$\displaystyle {latex(plus)}$"
    assert latex(plus).endswith(rf"{{squareplus}}(x) = {shown}")
    assert repr(let) == "Equations(Y = squareplus(v))"
    assert repr(JACOBIAN) == "<derivation softmax.jacobian: 1 claim>"
    assert repr(derivation("Two", *JACOBIAN.claims, *JACOBIAN.claims)) == "<derivation 'Two': 2 claims>"
