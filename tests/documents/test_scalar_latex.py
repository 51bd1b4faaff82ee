r"""The reader of scalar LaTeX agrees with Python on what latexify-py prints, and refuses what is not a formula."""

import ast
import itertools
import linecache
import operator
import random
import re
from collections.abc import Mapping
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from derivations.documents.scalar_latex import MAX_DEPTH, MAX_LENGTH, LatexError, read

NAMES = ("x", "y", "g", "d_k", "epsilon")
SYMBOLS = {name: sympy.Symbol(name, positive=True) for name in NAMES}
X, Y, G, D_K, EPSILON = SYMBOLS.values()
FILES = itertools.count()


def printed(expression: str, *, use_signature: bool = True, arguments: str = ", ".join(NAMES)) -> str:
    """What latexify-py prints for a function of `arguments` that returns the Python expression."""
    latexify = pytest.importorskip("latexify", reason="latexify-py has no release for this Python")
    source = f"def f_1({arguments}):\n    return {expression}\n"
    file = f"<formula {next(FILES)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict = {}
    exec(compile(source, file, "exec"), namespace)  # noqa: S102 (latexify-py wants a function, and this text is ours)
    return latexify.get_latex(namespace["f_1"], use_math_symbols=True, use_signature=use_signature)


# --- what latexify-py prints is read as Python means it -------------------------------------------------------------


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        ("exp(-g)/(1 + exp(-g))**2", sympy.exp(-G) / (1 + sympy.exp(-G)) ** 2),
        ("-x**2", -(X**2)),
        ("(-x)**3", -(X**3)),
        ("x**-y", X**-Y),
        ("x**y**g", X ** (Y**G)),
        ("(x**y)**g", (X**Y) ** G),
        ("2**x*y", 2**X * Y),
        ("x - (y - g)", X - Y + G),
        ("x - y - g", X - Y - G),
        ("x - -y", X + Y),
        ("x*-y*g", -X * Y * G),
        ("x/y/g", X / (Y * G)),
        ("x/(y/g)", X * G / Y),
        ("2*(2/3)", sympy.Rational(4, 3)),
        ("2/3*4", sympy.Rational(8, 3)),
        ("2*d_k*x*epsilon", 2 * D_K * X * EPSILON),
        ("exp(x)*y", sympy.exp(X) * Y),
        ("g*exp(x)*y", G * sympy.exp(X) * Y),
        ("g*exp(2)*(x + y)", G * sympy.exp(2) * (X + Y)),
        ("exp(exp(x))", sympy.exp(sympy.exp(X))),
        ("exp(x**2)", sympy.exp(X**2)),
        ("exp(x)**2*y", sympy.exp(X) ** 2 * Y),
        ("exp(erf(x)*y)", sympy.exp(sympy.erf(X) * Y)),
        ("sqrt(x)**3/sqrt(d_k)", sympy.sqrt(X) ** 3 / sympy.sqrt(D_K)),
        ("abs(x - y)*abs(g)", sympy.Abs(X - Y) * G),
        ("max(0, x, -y)*min(x, y)", sympy.Max(0, X, -Y) * sympy.Min(X, Y)),
        (
            "sin(pi*x)*cos(e)*tanh(y)*log(x)",
            sympy.sin(sympy.pi * X) * sympy.cos(sympy.E) * sympy.tanh(Y) * sympy.log(X),
        ),
        ("0.1*x + 2.50", X / 10 + sympy.Rational(5, 2)),
        ("10000**(-2*x/d_k)", sympy.Integer(10000) ** (-2 * X / D_K)),
    ],
)
def test_a_printed_formula_is_read_back(python: str, expected: sympy.Expr) -> None:
    assert read(printed(python), SYMBOLS) == expected
    assert read(printed(python, use_signature=False), SYMBOLS) == expected


def test_names_are_those_of_python() -> None:
    """A parameter hides a constant; a subscript is an entry, and no part of a name."""
    pi, entry, d_k = sympy.symbols("pi x_01 d_k")
    assert read(printed("pi*2", arguments="pi"), {"pi": pi}) == 2 * pi
    assert read(printed("pi*x", arguments="x"), {"pi": pi, "x": X}) == sympy.pi * X
    assert read(printed("x[0][i]**2", arguments="x"), {"x[0][i]": entry}) == entry**2
    assert read(r"\mathrm{epsilon} - \epsilon", SYMBOLS) == 0
    with pytest.raises(LatexError, match=r"'d\[k\]': unknown identifier"):
        read(r"d_{k}", {"d_k": d_k})


def test_brackets_and_roots_may_be_plain() -> None:
    """Spacing macros around brackets are optional, and a root may have an index."""
    assert read(r"\left( x + y \right)^{2} + \left| -x \right|", SYMBOLS) == (X + Y) ** 2 + X
    assert read(r"\sqrt[3]{x}", SYMBOLS) == X ** sympy.Rational(1, 3)


# --- expressions by the hundred, against an evaluation of the Python syntax tree ------------------------------------

BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
MPMATH = {"exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos}
MPMATH |= {"tanh": mpmath.tanh, "erf": mpmath.erf}
EXACT = {"abs": abs, "max": max, "min": min}


class NoValueError(ArithmeticError):
    """The Python expression has no comfortable real value at the point."""


def value(node: ast.expr, at: Mapping[str, Fraction | mpmath.mpf], number: type) -> Fraction | mpmath.mpf:
    """Evaluate a Python expression with every constant a `number` (Fraction or mpf), by Python's own syntax tree."""
    match node:
        case ast.Constant():
            return number(str(node.value))
        case ast.Name():
            return {"pi": mpmath.pi, "e": mpmath.e}[node.id] + 0 if node.id in ("pi", "e") else at[node.id]
        case ast.UnaryOp():
            operand = value(node.operand, at, number)
            result = -operand if isinstance(node.op, ast.USub) else +operand
        case ast.BinOp():
            left, right = value(node.left, at, number), value(node.right, at, number)
            if isinstance(node.op, ast.Div) and right == 0:
                raise NoValueError
            result = power(left, right) if isinstance(node.op, ast.Pow) else BINARY[type(node.op)](left, right)
        case ast.Call():
            arguments = [value(argument, at, number) for argument in node.args]
            if (node.func.id == "sqrt" and arguments[0] < 0) or (node.func.id == "log" and arguments[0] <= 0):
                raise NoValueError
            result = (MPMATH | EXACT)[node.func.id](*arguments)
    if result != 0 and not 1e-12 < abs(result) < 1e12:
        raise NoValueError
    return result


def power(base: Fraction | mpmath.mpf, exponent: Fraction | mpmath.mpf) -> Fraction | mpmath.mpf:
    """A real power, with small exponents only."""
    if abs(exponent) > 50 or (base == 0 and exponent <= 0) or (base < 0 and exponent != int(exponent)):
        raise NoValueError
    return base ** (int(exponent) if exponent == int(exponent) else exponent)


def call(function: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function), list(arguments), [])


def expressions(atoms: st.SearchStrategy, functions: list[str], signs: list[ast.unaryop]) -> st.SearchStrategy:
    """Python expressions four deep over the atoms, weighted towards products: there the print is most ambiguous."""
    operators = st.sampled_from([ast.Add(), ast.Sub(), ast.Mult(), ast.Mult(), ast.Mult(), ast.Div()])
    exponents = st.sampled_from(["-2", "-1", "2", "3", *["0.5", "-1.5"] * bool(functions)]).map(
        lambda text: ast.parse(text, mode="eval").body
    )
    inner = atoms
    for _ in range(4):
        inner = st.one_of(
            st.builds(ast.BinOp, inner, operators, inner),
            st.builds(ast.BinOp, inner, operators, atoms),
            st.builds(ast.BinOp, atoms, operators, inner),
            st.builds(ast.UnaryOp, st.sampled_from(signs), inner),
            st.builds(ast.BinOp, inner, st.just(ast.Pow()), exponents),
            st.builds(call, st.sampled_from(["abs", *functions]), inner),
            st.builds(call, st.sampled_from(["max", "min"]), inner, inner),
        )
    return inner


NAME = st.sampled_from(NAMES).map(ast.Name)
CONSTANT = st.sampled_from([0, 1, 2, 3, 7, 12, 0.5, 2.75]).map(ast.Constant)
RATIONAL = expressions(NAME | NAME | CONSTANT, [], [ast.USub()])
REAL = expressions(NAME | NAME | CONSTANT | st.sampled_from(["pi", "e"]).map(ast.Name), sorted(MPMATH), [ast.USub()])
SIGNED = expressions(NAME | NAME | CONSTANT, [], [ast.USub(), ast.UAdd()])
POINTS = st.fixed_dictionaries(
    {name: st.builds(Fraction, st.integers(1, 40), st.sampled_from([2, 3, 5, 7, 11])) for name in NAMES}
)
MANY = settings(
    max_examples=1000,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def exact_value(tree: ast.expr, at: Mapping[str, Fraction]) -> Fraction:
    try:
        return value(tree, at, Fraction)
    except NoValueError:
        assume(False)
        raise


def exactly(expression: sympy.Expr, at: Mapping[str, Fraction]) -> sympy.Expr:
    """The value at a point; `doit`, because SymPy may keep Max(1/4, 1) as it stands where it factors Min and Max."""
    point = {SYMBOLS[name]: sympy.Rational(*number.as_integer_ratio()) for name, number in at.items()}
    return expression.subs(point).doit()


@pytest.mark.slow
@MANY
@given(RATIONAL, POINTS)
def test_rational_expressions_agree_exactly(tree: ast.expr, at: dict[str, Fraction]) -> None:
    """No tolerance and no refusal: wherever Python has a value, the reader has the same."""
    expected = exact_value(tree, at)
    assert exactly(read(printed(ast.unparse(tree)), SYMBOLS), at) == sympy.Rational(*expected.as_integer_ratio())


@pytest.mark.slow
@MANY
@given(REAL, POINTS)
def test_real_expressions_agree_to_40_digits(tree: ast.expr, at: dict[str, Fraction]) -> None:
    """Both sides to 100 digits, no value on the way over 1e12 or under 1e-12: they agree to 40."""
    with mpmath.workdps(100):
        try:
            expected = value(
                tree, {name: mpmath.mpf(q.numerator) / q.denominator for name, q in at.items()}, mpmath.mpf
            )
        except NoValueError:
            assume(False)
        found = exactly(read(printed(ast.unparse(tree)), SYMBOLS), at).evalf(60, maxn=400)
        assert abs(mpmath.mpf(str(found)) - expected) <= mpmath.mpf(10) ** -40 * (1 + abs(expected))


@pytest.mark.slow
@MANY
@given(SIGNED, POINTS)
def test_with_unary_plus_it_agrees_or_refuses(tree: ast.expr, at: dict[str, Fraction]) -> None:
    """latexify-py prints x*(+y) as `x +y`, which reads as a sum: refused there, and nowhere else."""
    expected = exact_value(tree, at)
    latex = printed(ast.unparse(tree))
    try:
        found = read(latex, SYMBOLS)
    except LatexError as error:
        assert "a product with a signed factor" in str(error)
        assert re.search(r" \+\S", latex)
    else:
        assert exactly(found, at) == sympy.Rational(*expected.as_integer_ratio())


def test_the_comparison_can_say_no() -> None:
    """The same machinery tells a formula from its neighbours: a sign, a factor, a bracket."""
    at = {name: Fraction(prime, 13) for name, prime in zip(NAMES, (2, 3, 5, 7, 11), strict=True)}
    tree = ast.parse("x - (y - g)", mode="eval").body
    for wrong in ("x - y - g", "x - (y + g)", "x*(y - g)", "x - 2*(y - g)"):
        assert exactly(read(printed(wrong), SYMBOLS), at) != sympy.Rational(*exact_value(tree, at).as_integer_ratio())


MERGING = (
    r"\mathrm{max} \left( \mathrm{max} \left( x, y, g, \epsilon, x^{2} \right), y^{2}, g^{2}, x^{3}, y^{3} \right)"
)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("latex", "message"),
    [
        ("", "position 0, the end of the formula"),
        (" ", "position 1, the end of the formula"),
        (r"\frac{x}{y", r"position 10, the end of the formula: expected '}'"),
        (r"\frac{x}y", r"position 8, 'y': expected '{'"),
        (r"\frac{x}", r"the end of the formula: expected '{'"),
        ("x}", r"position 1, '}': expected the formula to end"),
        (r"\left( x", r"the end of the formula: expected '\)'"),
        (r"\left( x \right|", r"position 9, '\|': expected '\)'"),
        (r"x \right)", r"position 2, '\)': expected the formula to end"),
        (r"\left[ x \right]", r"position 0, '\\\\left'"),
        ("( x )", r"position 0, '\('"),
        ("x^2", "position 2, '2': expected '{'"),
        ("x^{2}^{3}", r"position 5, '\^'"),
        ("x + ", "position 4, the end"),
        (r"x \cdot", "the end of the formula"),
        (r"x \cdot \cdot y", r"position 8"),
        (r"\operatorname{foo} x", r"position 0, '\\\\operatorname': the subset does not have this macro"),
        (r"\begin{array}{l} x \end{array}", r"'\\\\begin'"),
        (r"\sum_{i = 1}^{2} x", r"'\\\\sum'"),
        (r"\log_2 x", "position 4, '_'"),
        (r"\exp", "the end of the formula"),
        (r"\exp -x", "position 5, '-'"),
        (r"\exp x^{2}", r"position 6, '\^'"),
        (r"\exp^{2} x", r"position 4, '\^'"),
        (r"\frac{x}{y}^{2}", r"position 11, '\^'"),
        (r"\log \mathopen{}\left( x, 2 \mathclose{}\right)", "position 24, ','"),
        ("x; y", "position 1, ';': the subset does not have this character"),
        ("x % comment", "position 2, '%'"),
        ("x\\", "position 1"),
        ("x!", "position 1, '!'"),
        ("α", "position 0"),
        ("٣", "position 0"),
        ("x\u00a0y", "position 1"),
        ("z", "position 0, 'z': unknown identifier"),
        (r"\mathrm{d\_v}", "position 0, 'd_v': unknown identifier"),
        (r"\mathrm{d_k}", r"'\\\\mathrm'"),
        (r"\mathrm{True}", "'True': unknown identifier"),
        ("xy", "'xy': neither a decimal"),
        ("x 2", "position 2, '2'"),
        ("1e-05", "'1e': neither a decimal"),
        ("2j", "'2j': neither a decimal"),
        ("2.", r"'2\.': neither"),
        ("1.2.3", "neither a decimal"),
        ("7" * 101, "neither a decimal of at most 100 digits"),
        ("x +y", r"position 2, '\+': a space before the sign"),
        (r"x \mathopen{}\left( y \mathclose{}\right)", "'x': a name before a bracket is called"),
        (r"x_{0} \left( y \right)", r"an entry directly before a bracket"),
        (r"\mathrm{sorted} \left( y \right)", "'sorted': a name before a bracket is called"),
        (r"\mathrm{max} \left( x \right)", "called with 1 arguments, takes 2 to 8"),
        (r"\mathrm{erf} \left( x, y \right)", "called with 2 arguments, takes 1 to 1"),
        (r"\mathrm{max} \left( x" + ", y" * 8 + r" \right)", "called with 9 arguments"),
        (MERGING, "merged with those inside it, takes over 8"),
        (r"\mathrm{max} \left( \left( -8 \right)^{\frac{1}{3}}, 1 \right)", "'max': .* is not comparable"),
        (r"\mathrm{erf} x", "'erf': unknown identifier"),
        ("x = y", r"position 2, '=': expected '\('"),
        ("f(x = y", "expected '\\)'"),
        ("f(x,) = x", "expected a name"),
        ("f(x) = x = x", "position 9, '='"),
        ("f(x) = x + y", "'y': unknown identifier"),
        ("f(z) = z", "position 2, 'z': unknown identifier"),
        ("f(x) =", "the end of the formula"),
        ("f(x)", r"position 0, 'f': unknown identifier"),
        (r"\sqrt[1]{x}", "an integer >= 2"),
        (r"\sqrt[x]{x}", "expected a number"),
        (r"\frac{1}{x - x}", "no real value"),
        (r"\log 0", "no real value"),
        (r"\sqrt{ -1 }", "no real value"),
        ("0^{-1}", "no real value"),
    ],
)
def test_anything_else_is_refused_with_its_place(latex: str, message: str) -> None:
    with pytest.raises(LatexError, match=message):
        read(latex, SYMBOLS | {"x[0]": X})


def test_no_proper_beginning_is_taken_for_the_formula() -> None:
    """Cut anywhere, a fraction is refused: nothing is dropped or completed in silence."""
    latex = printed("exp(-g)/(1 + exp(-g))**2")
    assert read(latex, SYMBOLS) == sympy.exp(-G) / (1 + sympy.exp(-G)) ** 2
    for end in range(len(latex)):
        with pytest.raises(LatexError):
            read(latex[:end], SYMBOLS)


@pytest.mark.parametrize(
    "deeper",
    [
        r"\left( %s \right)",
        "-%s",
        r"\sqrt{ %s }",
        "2^{%s}",
        r"\frac{1}{%s}",
        r"\sin %s",
        r"\mathrm{max} \left( 2, %s \right)",
    ],
)
def test_depth_has_a_budget(deeper: str) -> None:
    def formula(depth: int) -> str:
        latex = "x"
        for _ in range(depth):
            latex = deeper.replace("%s", latex)
        return latex

    assert read(formula(MAX_DEPTH - 1), SYMBOLS).free_symbols == {X}
    for depth in (MAX_DEPTH + 1, 2 * MAX_DEPTH):
        with pytest.raises(LatexError, match=f"nested over {MAX_DEPTH} deep"):
            read(formula(depth), SYMBOLS)


def test_length_has_a_budget() -> None:
    assert read("x" + " + x" * 2000, SYMBOLS) == 2001 * X
    assert len("x" + " " * (MAX_LENGTH - 1)) == MAX_LENGTH
    assert read("x" + " " * (MAX_LENGTH - 1), SYMBOLS) == X
    with pytest.raises(LatexError, match="10001 characters, over the budget of 10000"):
        read("x" + " " * MAX_LENGTH, SYMBOLS)


@pytest.mark.parametrize(
    "latex",
    [
        "9^{9^{9^{9}}}",
        "2^{1000000000}",
        r"\left( 2 x \right)^{1000000000}",
        r"\exp \left( 1000000000 \cdot \log 2 \right)",
        r"2^{x + 1000000000} \cdot 2^{-x}",
        r"\left( \left( 2^{x + 1000} \right)^{1000} \right)^{1000}",
        r"\mathrm{max} \left( 1, \exp \exp \exp 99 \right)",
        r"2^{\frac{1000000001}{2}}",
    ],
)
def test_a_short_formula_cannot_ask_for_a_huge_number(latex: str) -> None:
    with pytest.raises(LatexError, match="may have over 200000 bits"):
        read(latex, SYMBOLS)


@pytest.mark.slow
def test_random_lexemes_are_read_or_refused_and_never_crash() -> None:
    """No other exception than LatexError, and both outcomes do occur."""
    lexemes = [
        r"\frac{",
        "}",
        "}{",
        "^{",
        r"\sqrt{",
        r"\left( ",
        r" \right)",
        r"\left|",
        r"\right|",
        r"\exp ",
        r"\log ",
    ]
    lexemes += [r"\cdot ", "x ", "y", "2", "0", "3.5", " + ", "-", ", ", r"\mathrm{max} \left( ", "f(x) = ", "=", "_{"]
    random_lexemes = random.Random(11)
    outcomes = set()
    for _ in range(20_000):
        latex = "".join(random_lexemes.choice(lexemes) for _ in range(random_lexemes.randint(1, 7)))
        try:
            outcomes.add(isinstance(read(latex, SYMBOLS), sympy.Expr))
        except LatexError:
            outcomes.add("refused")
    assert outcomes == {True, "refused"}
