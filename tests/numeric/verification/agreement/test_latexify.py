"""Code, formula and print cannot part ways: what latexify-py renders of the generated source is the result itself."""

import ast
import importlib.util
import inspect
import random
from collections.abc import Callable
from pathlib import Path

import mpmath
import pytest
import sympy

from derivations import get, names
from derivations.documents.scalar_latex import read
from derivations.language import NotClosedForm

latexify = pytest.importorskip("latexify", reason="latexify-py has no release for this Python")
pytestmark = pytest.mark.slow  # a round trip through code and LaTeX, for every closed form

POINTS, DIGITS = 20, 40
MODULES = {"math", "np", "numpy", "scipy", "special", "scipy.special"}  # latexify-py drops them: np.exp(x) is \exp x


def function_in(path: Path, source: str) -> Callable[..., float]:
    """Write Python source to a module file, import it, and return the one function it defines."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (function,) = (
        value for value in vars(module).values() if inspect.isfunction(value) and value.__module__ == path.stem
    )
    return function


def read_back(function: Callable[..., float], rhs: sympy.Expr) -> sympy.Expr:
    """Render a function with latexify-py and read the LaTeX over the symbols of `rhs`."""
    latex = latexify.get_latex(function, prefixes=MODULES, reduce_assignments=True, use_math_symbols=True)
    arguments = inspect.signature(function).parameters
    symbols = {symbol.name: symbol for symbol in rhs.free_symbols}
    assert set(symbols) <= set(arguments), f"the code does not take {set(symbols) - set(arguments)}"
    assert not {"e", "pi"} & set(arguments), "an argument would print as math.e or math.pi do"
    return read(latex, {name: symbols.get(name, sympy.Symbol(name, real=True)) for name in arguments})


def number_for(symbol: sympy.Symbol, random_numbers: random.Random) -> sympy.Rational:
    """A random value within the assumptions of the symbol."""
    if symbol.is_integer:
        return sympy.Integer(random_numbers.randint(1, 60))
    size = sympy.Rational(random_numbers.randint(1, 400), random_numbers.choice([97, 101, 103]))
    return size if symbol.is_nonnegative or random_numbers.random() < 0.5 else -size


def same(found: sympy.Expr, expected: sympy.Expr, seed: str) -> bool:
    """Equal after expansion, or equal to 40 digits at 20 random points within the assumptions."""
    if sympy.expand(found - expected) == 0:
        return True
    symbols = sorted(found.free_symbols | expected.free_symbols, key=str)
    random_numbers = random.Random(seed)
    with mpmath.workdps(2 * DIGITS):
        for _ in range(POINTS):
            point = {symbol: number_for(symbol, random_numbers) for symbol in symbols}
            left, right = (mpmath.mpf(str(side.subs(point).doit().evalf(2 * DIGITS))) for side in (found, expected))
            if not abs(left - right) <= mpmath.mpf(10) ** -DIGITS * max(abs(left), abs(right)):
                return False
    return True


def negated(source: str) -> str:
    """The same source with every returned value negated."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            node.value = ast.UnaryOp(ast.USub(), node.value)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@pytest.fixture(scope="module")
def closed_forms() -> dict[str, tuple[str, sympy.Expr]]:
    """The source and the right-hand side of each closed-form scalar result."""
    found = {}
    for identifier in names():
        result = get(identifier)
        try:
            found[identifier] = (result.python(), result.rhs)
        except NotClosedForm:
            continue
    return found


def test_there_are_closed_forms(closed_forms: dict[str, tuple[str, sympy.Expr]]) -> None:
    assert len(closed_forms) >= 5


def test_what_latexify_renders_is_the_result(closed_forms: dict[str, tuple[str, sympy.Expr]], tmp_path: Path) -> None:
    """From source to print and back, every closed form is the expression that its source came from."""
    for number, (identifier, (source, rhs)) in enumerate(closed_forms.items()):
        found = read_back(function_in(tmp_path / f"closed_form_{number}.py", source), rhs)
        assert same(found, rhs, seed=identifier), f"{identifier}: {found} is not {rhs}"


def test_a_wrong_sign_in_the_code_is_found(closed_forms: dict[str, tuple[str, sympy.Expr]], tmp_path: Path) -> None:
    """The check is checked on every closed form but 0, which is its own negative."""
    for number, (identifier, (source, rhs)) in enumerate(closed_forms.items()):
        found = read_back(function_in(tmp_path / f"negated_{number}.py", negated(source)), rhs)
        assert rhs == 0 or not same(found, rhs, seed=identifier), f"{identifier}: {found} passes for {rhs}"


def test_equal_values_in_different_forms_are_the_same() -> None:
    """The numeric route agrees where expansion does not decide, and sees a difference in the 39th digit."""
    x = sympy.Symbol("x", positive=True)
    tanh, quotient = sympy.tanh(x / 2), (1 - sympy.exp(-x)) / (1 + sympy.exp(-x))
    assert sympy.expand(tanh - quotient) != 0
    assert same(tanh, quotient, seed="tanh")
    assert not same(tanh, quotient * (1 + sympy.Rational(1, 10**39)), seed="tanh")
