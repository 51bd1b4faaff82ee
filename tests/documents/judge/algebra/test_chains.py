"""Chains of scalars: proved by algebra, by definition, under assumptions; refuted only where nothing else is meant."""

import pytest
from sympy import Integer, Symbol

from derivations.documents.judge.algebra.chains import check_chains
from derivations.documents.judge.algebra.scalars import scalar
from derivations.documents.syntax import Call, Fence, Name, Node, Power, Product, Sum
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import FakeScope, name, statement, tree


def decided(*sides: Node | str, link: int = 0, scope: FakeScope | None = None) -> Finding | None:
    found = tuple(check_chains(statement(*sides), link, scope or FakeScope()))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("2 * N * D + 4 * N * D", "6 * N * D"),
        ("6 * n * d**2 + 8 * n * d**2 + 2 * n * d**2", "16 * n * d**2"),
        ("total(1, i, 1, d_k)", "d_k"),
        ("total(i, i, 1, n)", "n * (n + 1) / 2"),
        ("total(2 * x_i, i, 1, n)", "2 * total(x_i, i, 1, n)"),
        ("exp(a) / exp(a)", "1 + 0 * b"),
        ("(a + b)**2", "a**2 + 2 * a * b + b**2"),
        ("y * (1 - y)", "y - y**2"),
        ("exp(a + b)", "exp(a) * exp(b)"),
        ("4 * d_model * 4 * d_model", "16 * d_model**2"),
    ],
)
def test_algebra_is_proved(left: str, right: str) -> None:
    found = decided(left, right)
    assert found is not None
    assert found.verdict == "proved"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("2 * N * D + 4 * N * D", "8 * N * D"),
        ("6 * n * d**2 + 8 * n * d**2 + 2 * n * d**2", "18 * n * d**2"),
        ("4 * d_model * 4 * d_model", "8 * d_model**2"),
        ("total(1, i, 1, d_k)", "2 * d_k"),
    ],
)
def test_a_constant_ratio_is_wrong(left: str, right: str) -> None:
    found = decided(left, right)
    assert found is not None
    assert found.verdict == "wrong"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("h * d_v", "d_model"),
        ("n**2 * d", "n * d**2"),
        ("a + b", "c"),
        ("x", "2 * x"),
        ("x**2", "2 * x + 3"),
        ("Q @ K", "K @ Q"),
        ("Q @ K.T", "K @ Q.T"),
        ("f(x) + 1", "2 * f(x)"),
        ("cos(m) @ t + a", "2 * cos(m) @ t"),
        ("x**2 + (a + b)**(10**9)", "3"),
    ],
)
def test_conditions_definitions_and_matrices_are_left_alone(left: str, right: str) -> None:
    found = decided(left, right)
    assert found is None or found.verdict not in ("wrong", "proved")


def test_a_link_within_a_chain_is_refuted_by_a_counterexample() -> None:
    found = decided("s", "n * (n + 1) / 2", "n * (n - 1) / 2", link=1)
    assert found is not None
    assert found.verdict == "wrong"
    assert "n =" in found.reason


def test_usual_sizes_are_named_as_assumptions() -> None:
    found = decided("4 * d_model**2 + 2 * d_model * d_ff", "12 * d_model**2")
    assert found is not None
    assert (found.verdict, found.assumptions) == ("conditional", ("d_ff = 4*d_model",))
    assert decided("4 * d_model**2 + 2 * d_model * d_ff", "14 * d_model**2") is None


def test_sizes_of_the_section_are_used() -> None:
    scope = FakeScope({"d_ff": 8 * Symbol("d_model")})
    found = decided("4 * d_model**2 + 2 * d_model * d_ff", "20 * d_model**2", scope=scope)
    assert found is not None
    assert found.verdict == "proved"
    assert found.assumptions == ("d_ff = 8*d_model",)


def test_a_letter_is_replaced_by_its_definition() -> None:
    scope = FakeScope(definitions={"z_1": tree("X @ W_1 + b_1")})
    relu = [Call(Name("ReLU"), (tree(text),)) for text in ("z_1", "X @ W_1 + b_1", "X @ W_1 + b_2")]
    found = decided(name("a"), relu[0], relu[1], link=1, scope=scope)
    assert found is not None
    assert found.verdict == "holds"
    other = decided(name("a"), relu[0], relu[2], link=1, scope=scope)
    assert other is None or other.verdict not in ("proved", "holds")


def test_brackets_do_not_matter_to_a_definition() -> None:
    scope = FakeScope(definitions={"z": tree("x + b")})
    found = decided(
        Product((tree("z"), tree("W")), ("",)), Product((Fence("(", tree("x + b")), tree("W")), ("",)), scope=scope
    )
    assert found is not None
    assert found.verdict == "holds"


def test_the_variance_of_a_dot_product_is_conditional() -> None:
    sides = ("Var(total(q_i * k_i, i, 1, d_k))", "total(Var(q_i * k_i), i, 1, d_k)", "total(1, i, 1, d_k)", "d_k")
    for link in (0, 1):
        found = decided(*sides, link=link)
        assert found is not None
        assert (found.verdict, found.result) == ("conditional", "dot_product.variance")
        assert any("mean 0" in text for text in found.assumptions)
        assert any("independent" in text for text in found.assumptions)
    last = decided(*sides, link=2)
    assert last is not None
    assert last.verdict == "proved"


def test_the_variance_with_other_letters_and_another_length() -> None:
    found = decided("Var(total(a_j * b_j, j, 1, m))", "m")
    assert found is not None
    assert found.verdict == "conditional"
    scaled = decided("Var(total(a_j * b_j, j, 1, m) / sqrt(m))", "1")
    assert scaled is not None
    assert scaled.verdict == "conditional"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Var(total(a_j * b_j, j, 1, m))", "m**2"),
        ("Var(total(a_j * b_j, j, 1, m))", "sqrt(m)"),
        ("Var(total(a_j * b_j, j, 1, m) / m)", "1"),
        ("Var(total(a_j * b_j, j, 1, m) / sqrt(m))", "m"),
        ("E(total(a_j * b_j, j, 1, m))", "m"),
    ],
)
def test_a_wrong_variance_is_wrong(left: str, right: str) -> None:
    found = decided(left, right)
    assert found is not None
    assert found.verdict == "wrong"


def test_scalars_of_the_judge() -> None:
    assert scalar(tree("2 * d_k + 1")) == 2 * Symbol("d_k", integer=True, positive=True) + 1
    for text in ("X @ W", "softmax(x)", "X.T", "2**(10**9)", "[1, 2]"):
        found = scalar(tree(text))
        assert found is None or found.is_polynomial(), text


def test_budgets_end_without_a_number() -> None:
    tower: Node = tree("9")
    for _ in range(50):
        tower = Power(tree("9"), tower)
    assert scalar(tower) is None
    assert scalar(Sum(tuple(tree(f"x_{k}") for k in range(600)), (1,) * 600)) is None
    assert scalar(tree("1 / (2 - 2)")) is None
    assert scalar(tree("x"), FakeScope({"x": Integer(3)})) is not None


@pytest.mark.parametrize(
    ("right", "verdict"),
    [("sigma**4 * m", "conditional"), ("sigma**2 * m", "wrong"), ("sigma**4 * m**2", "wrong"), ("tau * m", None)],
)
def test_a_variance_in_sigma(right: str, verdict: str | None) -> None:
    found = decided("Var(total(a_j * b_j, j, 1, m))", right)
    assert (found.verdict if found else None) == verdict


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("Var(q * k)", "d_k", "conditional"),
        ("Var(q @ k.T)", "d_k", "conditional"),
        ("Var(q_i * k_j)", "d_k", "conditional"),
        ("Var(q * k / sqrt(d_k))", "1", "conditional"),
        ("E(q * k / sqrt(d_k))", "0", "conditional"),
        ("Var(q * k)", "d_k**2", "wrong"),
        ("Var(q * k / d_k)", "1", "wrong"),
        ("Var(q * k)", "d_k * d_model", None),
    ],
)
def test_the_variance_of_vectors_without_a_sum(left: str, right: str, verdict: str | None) -> None:
    found = decided(left, right)
    assert (found.verdict if found else None) == verdict


def test_numbers_alone_are_left_to_arithmetic() -> None:
    assert decided("x", "2 * log(2)", "1.386", link=1) is None


def test_fractions_that_cancel_are_equal() -> None:
    """Under the conditions that no denominator is 0, and that letters are the sizes that their spelling tells."""
    found = decided("(h * n * (d_k + d_r) + h * n * d_v) / (n * d_r + n * r)", "h * (d_k + d_v + d_r) / (d_r + r)")
    assert found is not None
    assert found.verdict == "conditional"
    assert {"d_r + r is not 0", "n is a whole number of at least 1"} <= set(found.assumptions)
    found = decided("d_k / sqrt(d_k)", "sqrt(d_k)")
    assert found is not None
    assert (found.verdict, found.assumptions) == ("conditional", ("d_k is a whole number of at least 1",))


@pytest.mark.parametrize(
    ("left", "right", "verdict"), [("sqrt(8)", "2 * sqrt(2)", "proved"), ("sqrt(8)", "sqrt(9)", None)]
)
def test_irrational_numbers_are_proved_by_algebra(left: str, right: str, verdict: str | None) -> None:
    found = decided(left, right)
    assert (found.verdict if found else None) == verdict


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("", None),
        ("a table of variance 1/d", None),
        ("q and k have variance 1", "wrong"),
        ("各元素的方差为 1", "wrong"),
        ("features of variance 1, a table of another variance", None),
    ],
)
def test_a_sum_of_constant_variance_is_wrong_only_where_components_have_variance_1(
    words: str, verdict: str | None
) -> None:
    found = decided("Var(total(a_j * b_j, j, 1, m))", "1", scope=FakeScope(around=words))
    assert (found.verdict if found else None) == verdict


def test_the_power_behind_the_bracket_of_a_logarithm_may_be_of_the_value() -> None:
    squares = (Power(tree("n + 1"), tree("2")), Power(Fence("(", tree("n + 1")), tree("2")))
    logarithms = [Call(Name("log"), (square,)) for square in squares]
    found = [decided("s", "3 * log(n + 1)", each, link=1) for each in logarithms]
    assert [each.verdict if each else None for each in found] == ["wrong", None]


def test_arrays_and_letters_that_are_defined_may_satisfy_more_than_is_written() -> None:
    total = "total(y_i, i, 1, n)"
    assert decided("s", f"{total}**2", f"{total}**3", link=1) is None
    scope = FakeScope(definitions={"y": tree("a / b")})
    assert decided("s", "y**2", "y**3", link=1, scope=scope) is None
    found = decided("s", "y**2", "y**3", link=1)
    assert found is not None
    assert found.verdict == "wrong"
