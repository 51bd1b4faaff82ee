"""Weights as arguments and as bound parameters: the same value, and there and back the same application."""

from derivations.attention.grouped_query import query_group
from derivations.language.arrays.arrangements import SumOver
from derivations.language.arrays.expression import array
from derivations.language.layers.layer import Apply, Equations, Layer, part
from derivations.language.layers.passing import with_arguments_bound, with_arrays_passed, with_bound_passed
from derivations.language.results.derivation import claim, derivation, step
from derivations.symbols import d_k, d_model, d_v, index, m, n, size

X, K, V = array("X", n, d_model), array("K", m, d_k), array("V", m, d_v)
g, r, a = size("g"), size("r"), index("a")
GROUP = query_group()
W_Q, W_O = (array(v.name, g, *v.shape) for v in GROUP.inputs[-2:])


def applied() -> Apply:
    return part("group", GROUP)(X, K, V, W_Q[a], W_O[a])


def test_bound_arguments_are_parameters_and_the_value_stays() -> None:
    node = applied()
    bound = with_arguments_bound(node, node.layer.inputs[-2:])
    assert [v.name for v in bound.layer.inputs] == ["X_Q", "K", "V"]
    assert bound.bound == {"W_Q": W_Q[a], "W_O": W_O[a]}
    assert bound.shape == node.shape
    same = derivation("bound", claim(bound, step("algebra", node)), ranges={a: g})
    assert same.evidence.level == "proved"


def test_passed_again_it_is_the_same_application() -> None:
    node = applied()
    assert with_bound_passed(with_arguments_bound(node, node.layer.inputs[-2:])) == node


def test_other_weights_are_another_value() -> None:
    node = applied()
    other = with_arguments_bound(part("group", GROUP)(X, K, V, 2 * W_Q[a], W_O[a]), node.layer.inputs[-2:])
    wrong = derivation("bound", claim(other, step("algebra", node)), ranges={a: g})
    assert wrong.evidence.level != "proved"


def test_whole_weights_stay_bound_and_members_are_passed() -> None:
    """Code has one array for a parameter, and one for each member for an input."""
    let, U_O = Equations(), array("U_O", *GROUP.inputs[-1].shape)
    members = with_arguments_bound(applied(), applied().layer.inputs[-2:])
    Z = let("Z", over=(a, g))(members)
    layer = Layer("groups", (X, K, V), (W_Q, W_O), let, let("Y")(SumOver(Z[a], a, g)))
    assert with_arrays_passed(layer).equations[0].value == applied()
    assert with_arrays_passed(layer).equations[1:] == layer.equations[1:]

    let = Equations()
    whole = part("group", GROUP)(X, K, V, array("U_Q", *GROUP.inputs[-2].shape), U_O)
    Y = let("Y")(with_arguments_bound(whole, whole.layer.inputs[-2:]))
    kept = Layer("one_group", (X, K, V), tuple(whole.arguments[-2:]), let, Y)
    assert with_arrays_passed(kept) is kept
