"""The public proof of a gradient: layers of one's own, with and without parts; a wrong gradient is refused."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Symbol, exp, sqrt

from derivations.catalogue import layer as layer_called
from derivations.language import (
    ColumnBroadcast,
    Derivation,
    Equations,
    FalseStepError,
    Hadamard,
    Layer,
    Member,
    RowSum,
    array,
    named,
    part,
    prove_gradient,
    relu,
    square,
)
from derivations.language.differentiation import proving
from derivations.symbols import N, d, i, n, scalar

t = Symbol("t", real=True)
X, W, g = array("X", n, d), array("W", d, d), array("g", n)
gauss = named("gauss", exp(-(t**2)), t)


def one_equation(value: Callable[[], object]) -> Layer:
    let = Equations()
    return Layer("mine", (X, g), (W,), let, let("Y")(value()))


def wrong(claims: Callable[[Layer], Derivation]) -> Callable[[Layer], Derivation]:
    """The claims with the first right-hand side negated."""

    def changed(layer: Layer) -> Derivation:
        found = claims(layer)
        first = found.claims[0]
        negated = replace(first, steps=(replace(first.steps[0], expression=-first.rhs),))
        return replace(found, claims=(negated, *found.claims[1:]))

    return changed


def test_a_layer_without_parts_is_proved_whole() -> None:
    proof = prove_gradient(one_equation(lambda: gauss(X @ W)))
    assert proof.evidence.level == "proved"
    assert [str(claim.lhs.args[1][0].base) for claim in proof.claims] == ["X", "g", "W"]


def test_what_is_assumed_is_listed() -> None:
    assert [a.text for a in prove_gradient(one_equation(lambda: relu(X @ W))).assumptions] == ["off the kink"]


def test_a_family_of_members_is_proved() -> None:
    let = Equations()
    rows = let("R", over=(i, n))(Hadamard(Member(g, i), Member(X, i)))
    assert prove_gradient(Layer("rows", (X, g), (), let, rows)).evidence.level == "proved"


def test_parts_are_proved_too() -> None:
    inner, let = one_equation(lambda: gauss(X @ W)), Equations()
    output = let("Z")(part("inner", inner)(X, g) + X)
    assert prove_gradient(Layer("outer", (X, g), (), let, output)).title.startswith("The gradient of outer")


def test_a_layer_that_only_repeats_another_has_its_proof() -> None:
    inner, let = one_equation(lambda: gauss(X @ W)), Equations()
    stack = Layer("stack", (X, g), (), let, let("Z")(part("inner", inner, N)(X, g)))
    assert prove_gradient(stack).title == "The gradient of mine"


def test_a_long_layer_is_proved_equation_by_equation() -> None:
    let, value = Equations(), X
    for number in range(proving.UNFOLDED + 1):
        value = let(f"X_{number}")(value @ W)
    proof = prove_gradient(Layer("long", (X,), (W,), let, value))
    assert proof.title == "The gradient of long, equation by equation"
    assert len(proof.claims) == 2 * (proving.UNFOLDED + 1)


# --- it says no -----------------------------------------------------------------------------------------------------


def test_a_wrong_sign_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "whole_claims", wrong(proving.whole_claims))
    with pytest.raises(FalseStepError, match=r"'The gradient of mine' is not proved: claim 1, step 1 .* is refuted"):
        prove_gradient(one_equation(lambda: gauss(X @ W)))


def test_a_wrong_sign_in_a_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    inner, let = one_equation(lambda: gauss(X @ W)), Equations()
    outer = Layer("outer", (X, g), (), let, let("Z")(part("inner", inner)(X, g) + X))
    monkeypatch.setattr(proving, "whole_claims", wrong(proving.whole_claims))
    with pytest.raises(FalseStepError, match="'The gradient of mine' is not proved"):
        prove_gradient(outer)


def test_a_layer_without_real_arrays_has_no_gradient() -> None:
    with pytest.raises(ValueError, match="no real input and no parameter"):
        prove_gradient(layer_called("positional_encoding"))


@pytest.mark.parametrize("value", [X, one_equation, "feed_forward"], ids=["array", "function", "text"])
def test_what_is_no_layer_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="a layer is needed"):
        prove_gradient(value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rms_norm", "grouped_query_attention", "decoder", "transformer_loss"])
def test_the_gradient_of_layers_of_the_catalogue_is_proved(name: str) -> None:
    assert prove_gradient(layer_called(name)).evidence.level == "proved"


def test_a_function_of_positive_numbers_is_smooth_where_what_it_gets_is_positive() -> None:
    """Rows divided by their length: that no row is 0 is what the gradient assumes, not what a letter was declared."""
    positive = scalar("t", positive=True)
    let = Equations()
    r = let("r")(named("rsqrt", 1 / sqrt(positive), positive)(RowSum(square(X))))
    Y = let("Y")(Hadamard(ColumnBroadcast(r, d), X))
    proof = prove_gradient(Layer("normalised", (X,), (), let, Y))
    assert proof.evidence.level == "proved"
    assert [assumption.text for assumption in proof.assumptions] == ["where the root is smooth"]
