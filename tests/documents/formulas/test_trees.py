"""What formulas mean as trees: labels and powers, functions and products, numbers, statements and conditions."""

from fractions import Fraction

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Arrow,
    Call,
    Cases,
    Chain,
    Derivative,
    Dots,
    Entry,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Set,
    Space,
    Sum,
    Transpose,
    Words,
)

Q, K, V, W, X = (Name(letter) for letter in "QKVWX")
d, h, i, j, k, n, x, y = (Name(letter) for letter in "dhijknxy")
D_MODEL = Name("d", (Words("model"),))
D_K = Name("d", (k,))


def number(text):
    value = Fraction(text)
    decimals = len(text.partition(".")[2])
    return Number(text, value, Fraction(1, 2 * 10**decimals), "." not in text)


def number_of(text):
    return Number(text, Fraction(text), Fraction(1, 2), exact=False)


ONE, TWO = number("1"), number("2")


def read(text, syntax="latex", functions=frozenset()):
    reading = read_formula(text, syntax, functions)
    assert reading.stopped is None, reading.stopped
    return reading.statements


def side(text, syntax="latex", functions=frozenset()):
    (statement,) = read(text, syntax, functions)
    assert not statement.relations and statement.condition is None
    return statement.sides[0]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("W_i^Q", Name("W", (i,), (Q,))),
        ("W^Q_i", Name("W", (i,), (Q,))),
        (r"W_Q^{(i)}", Name("W", (Q,), (Fence("(", i),))),
        (r"W^{[l]}", Name("W", (), (Fence("[", Name("l")),))),
        (r"\theta^{\text{new}}", Name("theta", (), (Words("new"),))),
        ("K^T", Transpose(K)),
        (r"K^\top", Transpose(K)),
        (r"K^{\mathsf{T}}", Transpose(K)),
        (r"W_i^{Q\top}", Transpose(Name("W", (i,), (Q,)))),
        ("W^{DKV}", Name("W", (), (Words("DKV"),))),
        ("W^{DK}_i", Name("W", (i,), (Words("DK"),))),
        (r"\mathbf{k}_i^C", Name("k", (i,), (Name("C"),), font="bold")),
        ("x^{AB}", Power(x, Product((Name("A"), Name("B")), ("",)))),
        ("X^{AT}", Transpose(Name("X", (), (Name("A"),)))),
        ("x^C", Power(x, Name("C"))),
        ("x^2", Power(x, TWO)),
        (r"x_i^{2}", Power(Name("x", (i,)), TWO)),
        ("x^2_i", Power(Name("x", (i,)), TWO)),
        (r"\sigma^2", Power(Name("sigma"), TWO)),
        ("A^{-1}", Power(Name("A"), Negative(ONE))),
        ("e^{-x}", Power(Name("e"), Negative(x))),
        (r"e^{\text{score}}", Power(Name("e"), Name("score"))),
        ("y^*", Name("y", (), (Words("*"),))),
        ("h''", Name("h", primes=2)),
        (r"\hat{x}_i", Name("x", (i,), accent="hat")),
        (r"\mathbf{h}'", Name("h", primes=1)),
        (r"\mathcal{L}", Name("L", accent="cal")),
        ("{W}_i^Q", Name("W", (i,), (Q,))),
        (r"\textcolor{cyan}{x}^2", Power(x, TWO)),
    ],
)
def test_labels_transposes_and_powers_are_told_apart(text, tree):
    assert side(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (r"d_{\text{model}}", D_MODEL),
        (r"d_{model}", D_MODEL),
        ("d_model", D_MODEL),
        (r"d\_model", D_MODEL),
        (r"\text{d\_model}", D_MODEL),
        ("d_{ff}", Name("d", (Words("ff"),))),
        ("y_{ij}", Name("y", (i, j))),
        ("W_{1,1}", Name("W", (ONE, ONE))),
        ("w_{11}", Name("w", (number("11"),))),
        ("z_{i1}", Name("z", (i, ONE))),
        (r"PE_{(pos, 2i)}", Name("PE", (Words("pos"), Product((TWO, i), ("",))))),
        (r"\text{head}_i", Name("head", (i,))),
        (r"\text{Attention Weight}_{ij}", Name("Attention Weight", (i, j))),
        (r"\text{batch\_size}", Name("batch_size")),
        ("x_{t-1}", Name("x", (Sum((Name("t"), ONE), (1, -1)),))),
        ("k_{max}", Name("k", (Words("max"),))),
    ],
)
def test_subscripts(text, tree):
    assert side(text) == tree


@pytest.mark.parametrize(
    ("text", "syntax", "tree"),
    [
        ("batch_size", "plain", Name("batch_size")),
        ("d_model", "plain", D_MODEL),
        ("d_model", "code", D_MODEL),
        ("W1", "plain", Name("W", (ONE,))),
        ("w1", "code", Name("w", (ONE,))),
        ("x' + y'", "plain", Sum((Name("x", primes=1), Name("y", primes=1)), (1, 1))),
        ("[0., 1.]", "code", List((number_of("0."), number_of("1.")), "[")),
        ("W₁", "plain", Name("W", (ONE,))),
        ("dₖ", "plain", D_K),
        ("head_i", "plain", Name("head", (i,))),
        ("σ²", "plain", Power(Name("sigma"), TWO)),
        ("QKᵀ", "plain", Product((Q, Transpose(K)), ("",))),
        ("xW", "plain", Product((x, W), ("",))),
        ("QK", "code", Name("QK")),
        ("K.T", "code", Transpose(K)),
        ("√d_k", "plain", Root(D_K)),
        ("√(d)", "plain", Root(d)),
        ("e^(-x)", "plain", Power(Name("e"), Negative(x))),
        ("x**2", "code", Power(x, TWO)),
        ("torch.relu(x)", "code", Call(Name("relu"), (x,))),
        ("np.sqrt(d)", "code", Root(d)),
        ("x.mean(-1)", "code", Call(Name("mean"), (x, Negative(ONE)))),
        ("X[i, j]", "code", Entry(X, (i, j))),
        ("number of heads", "plain", Name("number of heads")),
        ("参数量", "plain", Name("参数量")),
        ("512 x 2048", "plain", Product((number("512"), number("2048")), ("times",))),
    ],
)
def test_plain_text_and_code_mean_the_same_trees(text, syntax, tree):
    assert side(text, syntax) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("QK^T V", Product((Q, Transpose(K), V), ("", ""))),
        (r"Q \cdot K \times V", Product((Q, K, V), ("dot", "times"))),
        (r"x \odot y", Product((x, y), ("odot",))),
        ("-x y", Negative(Product((x, y), ("",)))),
        ("x - y + 1", Sum((x, y, ONE), (1, -1, 1))),
        (r"x \pm y", Sum((x, y), (1, 0))),
        ("x y / k", Quotient(Product((x, y), ("",)), k, True)),
        (r"n \times d / h", Product((n, Quotient(d, h, True)), ("times",))),
        ("1/2n", Quotient(ONE, Product((TWO, n), ("",)), True)),
        ("1/2 n", Product((Quotient(ONE, TWO, True), n), ("",))),
        (r"\frac12 x", Product((Quotient(ONE, TWO), x), ("",))),
        (r"\sqrt[3]{x}", Root(x, number("3"))),
        ("y (1 - y)", Product((y, Fence("(", Sum((ONE, y), (1, -1)))), ("",))),
        ("|x| y", Product((Fence("|", x), y), ("",))),
        (r"\|x\|_2", Entry(Fence("||", x), (TWO,))),
        (r"\lfloor x \rfloor", Fence("⌊", x)),
        ("(QK^T)_{ij}", Entry(Fence("(", Product((Q, Transpose(K)), ("",))), (i, j))),
        ("n!", Call(Name("factorial"), (n,))),
    ],
)  # fmt: skip
def test_arithmetic_keeps_its_order(text, tree):
    assert side(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("f(x)", Call(Name("f"), (x,))),
        (r"\sigma(x)", Call(Name("sigma"), (x,))),
        (r"\sigma(1 - \sigma)", Product((Name("sigma"), Fence("(", Sum((ONE, Name("sigma")), (1, -1)))), ("",))),
        ("y(1 - k)", Product((y, Fence("(", Sum((ONE, k), (1, -1)))), ("",))),
        ("n(n + 1)", Product((n, Fence("(", Sum((n, ONE), (1, 1)))), ("",))),
        ("L(x)", Call(Name("L"), (x,))),
        ("h(x, y)", Call(h, (x, y))),
        (r"p(y \mid x)", Call(Name("p"), (Chain((y, x), ("|",)),))),
        ("p(y|x)", Call(Name("p"), (Chain((y, x), ("|",)),))),
        (r"\text{softmax}(x)_i", Entry(Call(Name("softmax"), (x,)), (i,))),
        (r"\text{softmax}_j(x)", Call(Name("softmax", (j,)), (x,))),
        (r"\sin x y", Call(Name("sin"), (Product((x, y), ("",)),))),
        (r"\sin x \cos y", Product((Call(Name("sin"), (x,)), Call(Name("cos"), (y,))), ("",))),
        (r"\sin^2 x", Power(Call(Name("sin"), (x,)), TWO)),
        (r"\log{\left(x \right)}^{2}", Power(Call(Name("log"), (x,)), TWO)),
        (r"\log{x}^{2}", Call(Name("log"), (Power(x, TWO),))),
        (r"\max(0, x)", Call(Name("max"), (number("0"), x))),
        (r"\max_j x", Aggregate("max", x, (j,))),
        (r"\operatorname*{argmax}_y x", Aggregate("argmax", x, (y,))),
        (r"\sum_{i=1}^{n} x y", Aggregate("sum", Product((x, y), ("",)), (i,), ONE, n)),
        (r"\sum_{j \le i} x + y", Sum((Aggregate("sum", x, (j,), over=Chain((j, i), ("≤",))), y), (1, 1))),
        (r"\underset{j}{\text{softmax}}(x)", Call(Name("softmax", (j,)), (x,))),
        (r"\mathbb{1}[i]", Call(Name("1", accent="bb"), (i,))),
        (r"\mathbb{E}[x]", Call(Name("E"), (x,))),
        (r"\mathbb{E}_{x \sim k}[y]", Aggregate("expectation", y, (x,), over=Chain((x, k), ("∼",)))),
        ("Var(x)", Call(Name("Var"), (x,))),
        (r"\frac{\partial y}{\partial x}", Derivative(y, (x,))),
        (r"\frac{\partial^2 y}{\partial x^2}", Derivative(y, (x, x))),
        (r"\frac{\partial}{\partial x} f(x)", Derivative(Call(Name("f"), (x,)), (x,))),
        (r"\partial y / \partial x", Derivative(y, (x,))),
        (r"\frac{dy}{dx}", Derivative(y, (x,))),
        (r"\frac{d}{h}", Quotient(d, h)),
        (r"\nabla_x L(x)", Derivative(Call(Name("L"), (x,)), (x,))),
    ],
)
def test_functions_sums_and_derivatives(text, tree):
    assert side(text) == tree


def test_letters_given_as_functions_are_functions():
    assert side("h(x + y)") == Product((h, Fence("(", Sum((x, y), (1, 1)))), ("",))
    assert side("h(x + y)", functions=frozenset("h")) == Call(h, (Sum((x, y), (1, 1)),))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (r"[x, y]", List((x, y), "[")),
        (r"(n, d_k)", List((n, D_K), "(")),
        (r"(n \times d)", Fence("(", Product((n, d), ("times",)))),
        (r"\{1, \dots, n\}", List((ONE, Dots(), n), "{")),
        (r"\{x \mid x > 1\}", Set(x, Chain((x, ONE), (">",)))),
        (r"\begin{bmatrix} x & y \\ 1 & 2 \end{bmatrix}", MatrixLiteral(((x, y), (ONE, TWO)))),
        (r"\left(\begin{array}{c} x \\ y \end{array}\right)", MatrixLiteral(((x,), (y,)))),
        (
            r"\begin{cases} x & \text{if } x > 1 \\ y & \text{otherwise} \end{cases}",
            Cases(((x, Chain((x, ONE), (">",))), (y, Words("otherwise")))),
        ),
        (r"\underbrace{Q}_{n \times d}", Annotated(Q, Product((n, d), ("times",)))),
        (r"\underbrace{Q}_{\text{Input Row}}", Annotated(Q, Words("Input Row"))),
    ],
)
def test_collections(text, tree):
    assert side(text) == tree


@pytest.mark.parametrize(
    ("text", "syntax", "value", "half_unit", "exact", "unit"),
    [
        ("485,165,195", "latex", 485165195, Fraction(1, 2), True, ""),
        (r"22\,026", "latex", 22026, Fraction(1, 2), True, ""),
        ("0.73", "latex", Fraction(73, 100), Fraction(1, 200), False, ""),
        (r"\mathbf{0.73}", "latex", Fraction(73, 100), Fraction(1, 200), False, ""),
        ("0.000049", "latex", Fraction(49, 10**6), Fraction(1, 2 * 10**6), False, ""),
        ("1e-5", "plain", Fraction(1, 10**5), Fraction(1, 2 * 10**5), False, ""),
        ("37e9", "plain", 37 * 10**9, Fraction(10**9, 2), False, ""),
        ("4.8 億", "plain", 48 * 10**7, 5 * 10**6, False, ""),
        ("2 萬", "plain", 20000, 5000, False, ""),
        (r"4.8\text{ 亿}", "latex", 48 * 10**7, 5 * 10**6, False, ""),
        ("3.7 billion", "plain", 37 * 10**8, 5 * 10**7, False, ""),
        ("1.5M", "plain", 15 * 10**5, 5 * 10**4, False, ""),
        ("175B", "plain", 175 * 10**9, Fraction(10**9, 2), False, ""),
        ("20%", "plain", Fraction(1, 5), Fraction(1, 200), False, ""),
        (r"33.5\%", "latex", Fraction(335, 1000), Fraction(1, 2000), False, ""),
        (r"80\,\text{GB}", "latex", 80, Fraction(1, 2), True, "GB"),
        ("512维", "plain", 512, Fraction(1, 2), True, "维"),
    ],
)
def test_printed_numbers_are_exact(text, syntax, value, half_unit, exact, unit):
    node = side(text, syntax)
    assert isinstance(node, Number)
    assert (node.value, node.half_unit, node.exact, node.unit) == (value, half_unit, exact, unit)


def test_a_power_of_ten_stays_a_power():
    assert side("10^9") == Power(number("10"), number("9"))


def test_commas_separate_entries_of_lists_and_thousands_elsewhere():
    assert len(side("[64,256,512]").items) == 3
    assert side("(1,200)") == List((ONE, number("200")), "(")
    assert side("1,200 x").factors[0].value == 1200
    assert len(side("[1,200]", "code").items) == 2


def test_a_letter_behind_a_number_is_a_factor_unless_it_stands_for_an_amount():
    assert side("2B") == Product((TWO, Name("B")), ("",))
    assert side("2k + 1", "plain") == Sum((Product((TWO, k), ("",)), ONE), (1, 1))


def test_spaces_have_sizes():
    (statement,) = read(r"W^O \in \mathbb{R}^{h d_v \times d}")
    assert statement.sides[1] == Space("R", (Product((h, Name("d", (Name("v"),))), ("",)), d))
    (statement,) = read("x ∈ R^{n×d}", "plain")
    assert statement.sides[1] == Space("R", (n, d))
    (statement,) = read(r"\in \mathbb{R}^n")
    assert statement.sides == (Name(""), Space("R", (n,)))


def test_statements_are_separated():
    assert [s.sides[0] for s in read(r"Q = X, \quad K = X, \quad V = X")] == [Q, K, V]
    assert [s.sides[0] for s in read(r"Q = X \\ K = X")] == [Q, K]
    assert [s.sides[0] for s in read(r"Q = X \text{ and } K = X")] == [Q, K]
    assert [s.sides[0] for s in read("Q, K = X, W", "code")] == [Q, K]
    (chain,) = read(r"\begin{aligned} y &= a \\ &= b \\ &\quad + c \end{aligned}")
    assert chain.relations == ("=", "=") and chain.sides[2] == Sum((Name("b"), Name("c")), (1, 1))


def test_lists_and_conditions():
    (chain,) = read(r"i = 1, \dots, h")
    assert chain == Chain((i, List((ONE, Dots(), h))), ("=",))
    (chain,) = read(r"Q, K \in \mathbb{R}^n")
    assert chain.sides[0] == List((Q, K))
    (chain,) = read(r"y = x_i, \quad i = 1, \dots, h")
    assert chain.condition == Chain((i, List((ONE, Dots(), h))), ("=",))
    (chain,) = read(r"y = x \text{ for } x > 1")
    assert chain.condition == Chain((x, ONE), (">",))
    first, second = read(r"y = x \implies k = d")
    assert second.condition == first


def test_arrows_keep_their_notes():
    (chain,) = read(r"x \xrightarrow[\text{ReLU}]{W} y \to k")
    assert chain.relations == (Arrow(W, Words("ReLU")), Arrow())
    (chain,) = read("512→2048", "plain")
    assert chain == Chain((number("512"), number("2048")), (Arrow(),))


@pytest.mark.parametrize(
    ("text", "syntax", "offset"),
    [
        (r"x = \foo{y}", "latex", 4),
        ("x = ", "latex", 4),
        (r"\frac{x}{y", "latex", 8),
        ("x } y", "latex", 2),
        (r"\begin{tikzpicture} x \end{tikzpicture}", "latex", 0),
        (r"x \begin{bmatrix} 1 & \\ 2 & 3 \end{bmatrix}", "latex", 22),
        ("(x + y", "latex", 6),
        ("(x + y]", "latex", 6),
        ("x_i_j", "latex", 3),
        ("x^2^3", "latex", 3),
        ("1/n(n + 1)", "latex", 3),
        (r"\log x (1 + y)", "latex", 7),
        (r"a {b + c}", "latex", 2),
        ("{a b}^2", "latex", 0),
        (r"\vec{A B}", "latex", 0),
        (r"x \mathbin y", "latex", None),
        ("x y", "code", 2),
        ("lambda x: x", "code", 7),
        ("x if y else z", "code", 2),
        ("x # y", "plain", 2),
        ("x ? y", "plain", 2),
    ],
)
def test_what_is_not_understood_stops_the_reading_where_it_stands(text, syntax, offset):
    reading = read_formula(text, syntax)
    if offset is None:
        assert reading.stopped is None  # a command that says only how it looks
    else:
        assert reading.stopped is not None and reading.stopped.offset == offset


def test_statements_before_a_stop_are_kept_only_when_whole():
    reading = read_formula(r"Q = X W \\ K = X \foo", "latex")
    assert reading.statements == () and reading.stopped.offset == 17
    reading = read_formula("Q = X; K = ", "latex")
    assert [s.sides[0] for s in reading.statements] == [Q] and reading.stopped.offset == 11


@pytest.mark.parametrize(
    "text",
    [
        r"\left\{\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}\right.",
        r"\left\{\begin{array}{l} x = 1 \\ y = 2 \end{array}\right.",
        r"\left\{\begin{array}{rl} x &= 1, \\ y &= 2. \end{array}\right.",
        r"\begin{cases} x = 1, \\ y = 2 \end{cases}",
    ],
)
def test_a_system_of_equations_is_one_statement_a_line(text):
    first, second = read(text)
    assert (first.sides, second.sides) == ((x, ONE), (Name("y"), TWO))


@pytest.mark.parametrize(
    "text",
    [
        r"\begin{cases} 0 & x < 0 \\ x & x \ge 0 \end{cases}",
        r"\begin{cases} y = 0 & x < 0 \\ y = x & x \ge 0 \end{cases}",
        r"\begin{cases} y = 0, x < 0 \\ y = x, x \ge 0 \end{cases}",
        r"f = \left\{\begin{array}{ll} 0 & x < 0 \\ x & x \ge 0 \end{array}\right.",
    ],
)
def test_a_function_by_cases_is_no_system(text):
    assert len(read_formula(text, "latex").statements) < 2
