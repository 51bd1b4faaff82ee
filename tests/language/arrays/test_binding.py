"""Nothing that is put in is captured by an index that is bound there."""

from sympy import Integer, Lambda, Limit, Sum, Symbol, oo

from derivations.language.arrays.arrangements import Concatenate, Tabulated
from derivations.language.arrays.binding import fresh_index, replace_free
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named
from derivations.language.judge.proof import prove_equal
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d_k, d_model, d_v, h, i, j, k, n, scalar

l, p = (Symbol(name, integer=True) for name in ("l", "p"))
a, u, v = array("a", n, n), array("u", n), array("v", n)


def test_fresh_indices_avoid_names_whatever_their_assumptions():
    assert fresh_index(set()).name == "j"
    assert fresh_index({Symbol("j"), l}).name == "p"
    assert fresh_index({Symbol(name) for name in "jlpqrstuvw"}).name == "j_1"


def test_a_bound_index_of_a_sum_steps_aside():
    assert replace_free(Sum(a[i, j], (j, 0, n - 1)), {i: j}) == Sum(a[j, l], (l, 0, n - 1))
    assert replace_free(Sum(a[i, j], (j, 0, i)), {i: j}) == Sum(a[j, l], (l, 0, j))
    assert replace_free(Sum(a[i, j], (j, 0, n - 1)), {j: k}) == Sum(a[i, j], (j, 0, n - 1))


def test_nested_sums_step_aside_one_after_the_other():
    nested = Sum(a[i, j] * a[k, l], (l, 0, n - 1), (j, 0, n - 1))
    put = replace_free(nested, {i: j, k: l})
    (inner, *_), (outer, *_) = put.limits
    assert {inner, outer}.isdisjoint({j, l})
    assert put.function == a[j, outer] * a[l, inner]


def test_a_limit_keeps_its_variable():
    g = scalar("g", positive=True)
    assert replace_free(Limit(i / g, g, oo), {i: Integer(2)}) == Limit(2 / g, g, oo)


def test_a_tabulated_array_does_not_capture_a_place():
    rows = Tabulated(Lambda((i,), Sum(a[i, j], (j, 0, n - 1))), n)
    trace = Sum(a[j, j], (j, 0, n - 1))
    assert prove_equal((rows @ v).entry(), trace * Sum(v[j], (j, 0, n - 1))).level != "proved"
    right = Sum(a[p, l] * v[p], (l, 0, n - 1), (p, 0, n - 1))
    assert prove_equal((rows @ v).entry(), right).level == "proved"


def test_an_elementwise_formula_does_not_capture_an_entry():
    x = scalar("x")
    shifted = named("f", Sum(x * v[j], (j, 0, n - 1)), x)
    assert shifted(u).entry(j) == Sum(u[j] * v[l], (l, 0, n - 1))


def test_a_family_does_not_capture_an_input():
    X, W = array("X", n, d_model), array("W", h, d_model, d_k)
    let = Equations()
    Q = let("Q", over=(i, h))(X @ W[i])
    layer = Layer("family", (X,), (W,), let, Q)
    entry = layer.result(i * X).entry(k, p, 0)
    assert entry.function == i * W[k, j, 0] * X[p, j] or entry.function.has(i)
    assert not entry.function.xreplace({i: Integer(1)}).has(i)


def test_a_concatenation_does_not_capture_what_it_holds():
    head, X = array("head", h, n, d_v), array("X", n, d_v)
    joined = replace_free(Concatenate(head[i] + X, i, h), {X: i * array("Y", n, d_v)})
    assert joined.entry(p, (k, l)) == head[k, p, l] + i * array("Y", n, d_v)[p, l]
