r"""Spellings that public pages use and books do not: each is the tree of the usual spelling, or is not read at all."""

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.readers import read_text
from derivations.documents.syntax import Arrow, Call, Cases, List, MatrixLiteral, Name, Power, Space, Transpose, Words
from tests.documents.formulas.reading import read, side

ALIKE = [  # a spelling, its syntax, and the usual one
    # fractions and roots
    (r"{a \over b} = c", "latex", r"\frac{a}{b} = c"),
    (r"{{a + 1 \over b} \over {x_{i \over 2}}}", "latex", r"\frac{\frac{a + 1}{b}}{x_{\frac{i}{2}}}"),
    (r"{n \choose k}", "latex", r"\binom{n}{k}"),
    (r"\sqrt(d_k) x", "latex", r"\sqrt{d_k} x"),
    (r"\sqrt(x)^2", "latex", r"\sqrt{x}^2"),
    # primes and scripts
    (r"\phi^{(l)'}(z)", "latex", r"\phi'^{(l)}(z)"),
    ('f"(x) > 0', "latex", "f''(x) > 0"),
    (r"s_+ + s_{-}", "latex", r"s_{\text{+}} + s_{\text{-}}"),
    (r"\sum_{i=1}^{r*} x_i", "latex", r"\sum_{i=1}^{r^*} x_i"),
    (r"x_{pi}", "latex", "x_{p,i}"),
    (r"\mathcal{L_{CE}}", "latex", r"\mathcal{L}_{CE}"),
    (r"W \in \mathbb{R^{n \times d}}", "latex", r"W \in \mathbb{R}^{n \times d}"),
    (r"\underset{x \sim p}{\mathbb{E}}[x]", "latex", r"\mathbb{E}_{x \sim p}[x]"),
    (r"h_t^\rightarrow", "latex", r"h_t^{\to}"),
    (r"\sum_{i}^{ } x_i", "latex", r"\sum_i x_i"),
    (r"\verb|batch_size| + 1", "latex", r"\text{batch_size} + 1"),
    # letters and signs
    (r"\vect{x} = \vb{y}", "latex", r"\mathbf{x} = \mathbf{y}"),
    ("x_1, ..., x_n", "latex", r"x_1, \ldots, x_n"),
    ("x_1, x_2,..,x_n", "latex", r"x_1, x_2, \ldots, x_n"),
    ("(1, . . ., n)", "latex", r"(1, \hdots, n)"),
    ("a <= b", "latex", r"a \le b"),
    ("x_{i != j}", "latex", r"x_{i \ne j}"),
    ("x -> y", "latex", r"x \to y"),
    ("a ──→ b", "plain", r"a \to b"),
    # boxes
    (r"\colorbox{red}{ $a = b$ }", "latex", "a = b"),
    (r"\definecolor{mint}{rgb}{0.6, 0.9, 0.8} \boxed{x} = y", "latex", "x = y"),
    (r"{} \frac{a}{b}{} = c", "latex", r"\frac{a}{b} = c"),
    # products
    (r"p_i.(y_i - \sum_j p_j .y_j) .k_i", "latex", r"p_i \cdot (y_i - \sum_j p_j \cdot y_j) \cdot k_i"),
    (r"\frac{N.(x_i)^3}{2}", "latex", r"\frac{N \cdot (x_i)^3}{2}"),
    (r"\sum_b g_b . \frac{a}{b}", "latex", r"\sum_b g_b \cdot \frac{a}{b}"),
    ("[N x D]", "code", "[N × D]"),
    # updates
    (r"\theta -= \eta g + h", "latex", r"\theta \gets \theta - (\eta g + h)"),
    ("dV += P.T @ dO", "code", "dV ← dV + P.T @ dO"),
    ("x *= 2", "code", "x ← x * 2"),
    # lines
    (r"a = b \\ - c \\ + d", "latex", "a = b - c + d"),
    (r"a = b \qquad (3)", "latex", "a = b"),
    (r"a = b ~~~~~ (3) \\ c = d ~~~~~ (4)", "latex", r"a = b \\ c = d"),
    (r"\begin{array}{rl} a &= b \\ c &= d \end{array}", "latex", r"a = b \\ c = d"),
    (r"\begin{cases} x = x_1, \ldots, x_n \\ y = z \end{cases}", "latex", r"x = x_1, \ldots, x_n \\ y = z"),
    (r"f(x) = \begin{cases} x, x > 0 \\ 0, x \le 0 \end{cases}", "latex",
     r"f(x) = \begin{cases} x & x > 0 \\ 0 & x \le 0 \end{cases}"),
    (r"\begin{bmatrix} a, b, c \end{bmatrix}", "latex", r"\begin{bmatrix} a & b & c \end{bmatrix}"),
    (r"x \xrightarrow{f} \quad y", "latex", r"x \xrightarrow{f} y"),
    # remarks behind a formula
    ("Q = W x   ← LoRA 적용 가능", "plain", "Q = W x"),
    ("1 + 2 = 3 ✅ fits", "plain", "1 + 2 = 3"),
    # amounts and arrays of code
    ("2 * 8 = 16kB", "code", r"2 * 8 = 16\,\text{kB}"),
    ("[0.9 -0.1 2]", "code", "[0.9, -0.1, 2]"),
    ("dX = W.T.dot(dD)", "code", "dX = dot(W.T, dD)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "syntax", "usual"), ALIKE)
def test_an_unusual_spelling_is_the_tree_of_the_usual_one(text, syntax, usual):
    assert read(text, syntax) == read(usual, "latex" if "\\" in usual else syntax)


def test_brackets_between_superscripts_and_behind_a_power_are_a_factor():
    assert len(side(r"\delta^{(2)} (W^{(2)})^T").factors) == 2
    assert side(r"\phi^{(2)} (W^{(2)})^T") == Transpose(side(r"\phi^{(2)} (W^{(2)})"))  # a function of its own
    assert len(side(r"\lambda^2 (n)").factors) == 2
    assert isinstance(side(r"\sigma^2 (n)").base, Call)


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        # a period that could end an abbreviation, a sentence, or name a method
        (r"\min f \quad s.t. \quad x_i > 0", "latex"),
        ("w.r.t. x_i", "latex"),
        ("(a vs. x_i)", "latex"),
        ("X.T", "latex"),
        ("x_i.shape", "latex"),
        ("10.5.x_i", "latex"),
        # bars that match nothing
        (r"x \mid y", "latex"),
        (r"a \mid b \Rightarrow c \mid d", "latex"),
        # what stands above a line of TeX when no braces say so
        (r"a = b \over c", "latex"),
        (r"\left( {a \right) \over b}", "latex"),
        # cells between commas, and others between signs of alignment
        (r"\begin{bmatrix} a, b & c \end{bmatrix}", "latex"),
        (r"\begin{cases} x = 1, y = 2 & z > 0 \end{cases}", "latex"),
        # no statement but a question
        ("24 n d == 12 n^2", "latex"),
        # names of models are no differences
        ("Qwen3-80B-A3B", "code"),
        ("x y", "code"),
        ("x += y = z", "code"),
        (r"\nabla^k f", "latex"),
        ('"x', "latex"),
    ],
)
def test_what_could_be_something_else_is_not_read(text, syntax):
    assert read_formula(text, syntax).stopped is not None


def test_a_period_at_the_end_of_a_sentence_is_no_product():
    assert read(r"a = b. \quad c = d") == read(r"a = b; \quad c = d")
    assert read("y = x_i .") == read("y = x_i")


def test_numbers_with_a_minus_sign_between_spaces_are_a_difference():
    assert side("[0.9 - 0.1]", "code") != side("[0.9 -0.1]", "code")
    assert side("[0.9-0.1]", "code") == side("[0.9 - 0.1]", "code")


def test_a_line_with_a_minus_sign_and_a_relation_is_a_statement():
    assert len(read(r"a = b \\ -c = d")) == 2
    assert len(read(r"-a \\ -b")) == 2


def test_a_number_in_brackets_is_a_factor_where_nothing_keeps_it_apart():
    (statement,) = read(r"a = b (3)")
    assert statement.sides[1] == side("b (3)")
    assert len(read(r"f \quad (3)")) == 2  # nothing is said that could be numbered


# --- bars ---


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        (r"g = \lambda ||\phi||_1 = \sum_i |\phi_i|", r"g = \lambda \|\phi\|_1 = \sum_i |\phi_i|"),
        (r"||a| - |b||", r"\left| |a| - |b| \right|"),
        (r"\lambda \mid w \mid + c", r"\lambda |w| + c"),
        (r"p(x \lvert y)", r"p(x \mid y)"),
        (r"\lVert w \lVert_2", r"\|w\|_2"),
        (r"\|x^*\|^2", r"\|{x^*}\|^2"),
        (r"KL(p \mid\mid q)", r"KL(p \| q)"),
        (r"KL[q(z | x) \, ||\, p(z)]", r"KL[q(z | x) \,\|\, p(z)]"),
    ],
)
def test_bars_open_and_close_as_they_are_meant(text, usual):
    assert read(text) == read(usual)


def test_a_dot_alone_between_bars_stands_for_an_argument():
    assert side(r"\|\cdot\|_2").of.inside == Name("·")
    assert side(r"p(\cdot | x)").arguments[0].sides[0] == Name("·")
    assert side(r"(*, d)") == List((Name("*"), Name("d")), "(")


# --- words and names ---


@pytest.mark.parametrize("remark", ["(activación)", "(激活)", "(활성화)"])
def test_words_in_brackets_behind_a_formula_of_plain_text_are_a_remark(remark):
    (statement,) = read(f"a = σ(z)   {remark}", "plain")
    assert statement.sides == read("a = σ(z)", "plain")[0].sides
    assert statement.condition == Words(remark.strip("()"))


def test_words_between_quotation_marks_are_words():
    assert side(r'\mathrm{vec}("Italy")') == Call(Name("vec"), (Words("Italy"),))
    assert side("[x, <eos>]") == List((Name("x"), Words("<eos>")), "[")
    assert read("a <bcd> e") == read("a < bcd > e")


def test_a_hessian_or_a_laplacian_is_a_function_of_its_own():
    assert side(r"\nabla_\theta^2 L") == Call(Name("∇", (Name("theta"),), (side("2"),)), (Name("L"),))
    assert side(r"\nabla_\theta^2 L") != side(r"\nabla_\theta L")


def test_a_set_named_as_a_space_of_numbers_is_that_set():
    assert read(r"u \in N(v)")[0].sides[1] == Call(Name("N"), (Name("v"),))
    assert read(r"c \in C_j")[0].sides[1] == Name("C", (Name("j"),))
    assert read(r"n \in N")[0].sides[1] == Space("N")


def test_a_note_at_an_arrow_is_kept():
    (statement,) = read(r"A \rightarrow_p B")
    assert statement.relations == (Arrow(None, Name("p")),)


def test_brackets_with_nothing_in_them_are_read():
    assert side("h^{()}") == Power(Name("h"), List((), "("))


def test_commas_in_braces_with_a_note():
    assert isinstance(side(r"\underbrace{a, \dots, a}_{n}").of, List)


def test_rows_and_cases_keep_their_kinds():
    assert isinstance(side(r"\begin{bmatrix} a, b \end{bmatrix}"), MatrixLiteral)
    assert isinstance(side(r"\begin{cases} 1, x = 0 \\ 0, x = 1 \end{cases}"), Cases)


def test_conditions_in_other_languages():
    for word in ("si", "wenn", "para todo", "이면"):
        (statement,) = read(rf"y = x \text{{ {word} }} x > 0")
        assert statement.condition is not None, word


# --- letters of a template ---


def test_letters_of_the_template_of_a_conference_are_letters_in_a_font():
    text = r"\begin{document} $\va = \rmA \vb$ and $\gL = \sB$ \end{document}"
    first, second = (passage for block in read_text(text, "latex").blocks for passage in block.formulas)
    assert read(first.text) == read(r"a = A b")
    assert read(second.text) == read(r"\mathcal{L} = \mathbb{B}")


def test_a_macro_of_the_document_goes_before_the_template():
    text = r"\newcommand{\va}{\alpha} \begin{document} $\va = 1$ \end{document}"
    (passage,) = (passage for block in read_text(text, "latex").blocks for passage in block.formulas)
    assert read(passage.text) == read(r"\alpha = 1")
