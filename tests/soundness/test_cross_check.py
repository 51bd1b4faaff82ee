"""The cross-check: right values by hand and by mpmath, the three outcomes, and no code shared with the judge."""

import ast
from dataclasses import replace
from decimal import Decimal, localcontext
from pathlib import Path

import mpmath
import pytest
from sympy import (
    Derivative,
    Eq,
    Expr,
    Function,
    Ge,
    Gt,
    Integer,
    KroneckerDelta,
    Lambda,
    Limit,
    Max,
    Mod,
    Mul,
    Pow,
    Rational,
    Sum,
    Symbol,
    exp,
    log,
    oo,
    sqrt,
)

from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import get, layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Concatenate, SumOver, Tabulated, column_block
from derivations.language.arrays.expression import Array, ColumnBroadcast, Member, Plus, array, mask_array, token_array
from derivations.language.arrays.functions import (
    CausalMask,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    RowMean,
    RowSum,
    gelu,
    row_softmax,
    square,
)
from derivations.language.arrays.rows import RowRange, Stacked
from derivations.language.arrays.scalars import Expectation, Iverson, Rounded, Variance
from derivations.language.counting.costs import Count, count_flops, count_parameters
from derivations.language.cross_check import cross_check, real_functions
from derivations.language.cross_check.assignment import CONTEXT, Assignment, NotCovered, Undefined, meaning
from derivations.language.cross_check.comparison import compare, points_of
from derivations.language.cross_check.counting import run_count
from derivations.language.differentiation.proving import prove_gradient
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, step
from derivations.language.results.statements import Conformable, NullSpace, Rank, Span, SpectralNorm, Supremum
from derivations.normalisation.layer_norm import layer_norm
from derivations.softmax.softmax import softmax
from derivations.symbols import batch, d, h, i, j, k, l, m, n, scalar
from derivations.transformer.encoder import encoder_layer
from tests.tiers import few

FOLDER = Path(real_functions.__file__).parent
x, y = array("x", n), array("y", n)
A, B, W = array("A", n, m), array("B", m, n), array("W", n, n)
a, t = scalar("a"), scalar("t")
g = scalar("g", positive=True)
delta = KroneckerDelta


def outcome(left: object, right: object, rule: str = "algebra", relation: str = "=", **setting: object) -> str:
    """What the cross-check says of one statement."""
    return cross_check(derivation("", claim(left, step(rule, right, relation)), **setting)).outcome


def total(of: object, last: Expr = n - 1) -> Sum:
    """A sum over j."""
    return Sum(of, (j, 0, last))


# --- values ----------------------------------------------------------------------------------------------------------


def assignment(arrays: dict[str, object], **symbols: int) -> Assignment:
    """An assignment with given arrays and sizes."""
    made = Assignment({{"n": n, "m": m, "d": d, "h": h}[name]: value for name, value in symbols.items()}, {}, "by hand")
    made.arrays |= arrays
    return made


THREE, SQUARE = [Decimal(1), Decimal(-2), Decimal(5)], [[Decimal(1), Decimal(2)], [Decimal(3), Decimal(4)]]
V = array("V", 2, 2)
ones, centred = Tabulated(Lambda(i, Integer(1)), n), Tabulated(Lambda((i, k), delta(i, k) - 1 / n), n, n)
rows_of_blocks = Concatenate(Tabulated(Lambda((k, l), 10 * i + l + k), 2, 2), i, 2)
by_hand = {
    "product": (V @ V, [[7, 10], [15, 22]]),
    "matrix times vector": (V @ Member(V, Integer(1)), [11, 25]),
    "vector times matrix": (Member(V, Integer(0)) @ V, [7, 10]),
    "transpose": (V.T, [[1, 3], [2, 4]]),
    "sum": (V + V.T, [[2, 5], [5, 8]]),
    "row added to rows": (V + Member(V, Integer(0)), [[2, 4], [4, 6]]),
    "columns of a vector": (Plus(V, ColumnBroadcast(Member(V, Integer(0)), 2)), [[2, 3], [5, 6]]),
    "entrywise": (Hadamard(V, V.T), [[1, 6], [6, 16]]),
    "elementwise": (Elementwise(square, V), [[1, 4], [9, 16]]),
    "row sums": (RowSum(V), [3, 7]),
    "row means": (RowMean(V), [Decimal("1.5"), Decimal("3.5")]),
    "causal mask": (CausalMask(2), [[1, 0], [1, 1]]),
    "blocks side by side": (Concatenate(Tabulated(Lambda((l,), 10 * i + l), 2), i, 3), [0, 1, 10, 11, 20, 21]),
    "sum of a family": (SumOver(Tabulated(Lambda((l,), 10 * i + l), 2), i, 3), [30, 33]),
    "one block": (column_block(rows_of_blocks, 1), [[10, 11], [11, 12]]),
    "in turn": (Interleave(V, V.T), [[1, 1, 2, 3], [3, 2, 4, 4]]),
    "rows of a table": (Lookup(V, token_array("q", 3)), [[3, 4], [1, 2], [3, 4]]),
    "a table of places": (Tabulated(Lambda((i, j), i - 2 * j), 2, 3), [[0, -2, -4], [1, -1, -3]]),
    "an equal softmax": (row_softmax(0 * V), [[Decimal("0.5")] * 2] * 2),
    "nothing visible": (row_softmax(V, mask_array("H", 2, 2)), [[0, 0], [0, 1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", by_hand)
def test_an_array_is_what_it_is_by_hand(name: str) -> None:
    node, expected = by_hand[name]
    given = assignment({"V": SQUARE, "q": [1, 0, 1], "H": [[0, 0], [0, 1]]})
    with localcontext(CONTEXT):
        assert meaning(node)(given) == expected


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (total(x[j]), 4),
        (Sum(1, (j, 3, 1)), 0),
        (Sum(x[j] * k, (k, 0, j), (j, 0, 2)), 13),
        (total(delta(j, 1) * x[j]), -2),
        (Max(x[0], x[1], x[2]), 5),
        (Iverson(Gt(x[0], x[1])), 1),
        (Rounded(exp(Integer(2)), Integer(2)), Decimal("7.39")),
        (Mod(n, 2), 1),
    ],
)
def test_a_scalar_is_what_it_is_by_hand(node: Expr, value: object) -> None:
    with localcontext(CONTEXT):
        assert meaning(node)(assignment({"x": THREE}, n=3)) == value


@pytest.mark.parametrize("argument", ["-7.25", "-0.5", "0", "0.125", "1", "3.5", "11"])
def test_functions_agree_with_mpmath(argument: str) -> None:
    ours = {
        "exp": real_functions.exponential, "sin": real_functions.sine, "cos": real_functions.cosine,
        "tanh": real_functions.hyperbolic_tangent, "erf": real_functions.error_function,
    }  # fmt: skip
    with localcontext(CONTEXT), mpmath.workdps(60):
        for name, function in ours.items():
            theirs = getattr(mpmath, name)(mpmath.mpf(argument))
            assert abs(mpmath.mpf(str(function(Decimal(argument)))) - theirs) < mpmath.mpf(10) ** -50 * (
                1 + abs(theirs)
            )
        assert str(real_functions.pi())[:50] == mpmath.nstr(+mpmath.pi, 60)[:50]


@pytest.mark.parametrize("node", [x[n], x[3], log(-g), sqrt(-g), Pow(0 * g, -1, evaluate=False), total(x[j + 1])])
def test_what_has_no_value_is_undefined(node: Expr) -> None:
    given = assignment({"x": THREE}, n=3)
    given.values[g] = given.base[g] = Decimal(2)
    with localcontext(CONTEXT), pytest.raises((Undefined, ArithmeticError, NotCovered)):
        meaning(node)(given)


# --- outcomes --------------------------------------------------------------------------------------------------------

in_row = {"ranges": {i: n, k: n}}
of_softmax = {"about": softmax(), **in_row}
sigma = Function("sigma", integer=True)
moments = [Assumption(Eq(Expectation(x[i]), 0), {i: n}), Assumption(Eq(Expectation(x[i] ** 2), 1), {i: n})]
outer = Tabulated(Lambda((i, k), x[i] * x[k]), n, n)
curvature = Derivative(log(total(exp(x[j]))), x[i], x[k])
statements = {  # left, right, something wrong, and the setting
    "sum": (total(a * x[j]), a * total(x[j]), total(x[j]), {}),
    "Jacobian": (Derivative(y[i], x[k]), y[i] * (delta(i, k) - y[k]), y[i] * delta(i, k), of_softmax),
    "second derivative": (curvature, y[i] * (delta(i, k) - y[k]), y[i] * y[k], of_softmax),
    "derivative of relu": (Derivative(Max(0, t), t), Iverson(Gt(t, 0)), Integer(1), {}),
    "matrices": ((A @ B) @ W, A @ (B @ W), A @ (B @ W.T), {}),
    "permutation": (total(x[sigma(j)]), total(x[j]), x[sigma(0)], {"bijections": [("sigma", "sigma_inverse", n)]}),
    "mean": (Expectation(total(x[j])), Integer(0), n, {"assuming": moments}),
    "variance": (Variance(total(x[j])), n, n**2, {"assuming": moments}),
    "limit": (Limit(1 / (1 + exp(-g)), g, oo), Integer(1), Rational(1, 2), {}),
    "rank": (Rank(outer), Integer(1), n, {"assuming": [Assumption(Gt(x[0], 0)), Assumption(Ge(n, 2))]}),
    "null space": (NullSpace(centred), Span(ones), Span(), {}),
    "parameters": (Count("parameters", feed_forward()), get("feed_forward.parameters").rhs, n, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", statements)
def test_what_is_true_agrees_and_what_is_wrong_disagrees(name: str) -> None:
    left, right, wrong, setting = statements[name]
    assert outcome(left, right, **setting) == "agrees"
    assert outcome(left, wrong, **setting) == "disagrees"


def test_inequalities_are_checked_in_their_direction() -> None:
    assert outcome(total(x[j] ** 2), 0, "bound", ">=") == "agrees"
    assert outcome(total(x[j] ** 2), 0, "bound", "<=") == "disagrees"
    assert outcome(total(x[j] ** 2), 100, "bound", ">=") == "disagrees"
    assert outcome(n, 1, "bound", ">") == "disagrees"  # equal at n = 1


def test_norm_supremum_and_conformability() -> None:
    twice = Tabulated(Lambda((i, k), 2 * delta(i, k)), n, n)
    assert outcome(SpectralNorm(twice), 2, "bound", "<=") == "agrees"
    assert outcome(SpectralNorm(twice), Rational(199, 100), "bound", "<=") == "disagrees"
    assert outcome(Supremum(Lambda(t, 1 / (1 + t**2))), 1, "supremum", "<=") == "agrees"
    assert outcome(Supremum(Lambda(t, 1 / (1 + t**2))), Rational(9, 10), "supremum", "<=") == "disagrees"
    assert outcome(Conformable(A, B), Eq(m, m, evaluate=False), "shape", "iff") == "agrees"
    assert outcome(Conformable(A, A), Eq(n, m), "shape", "iff") == "agrees"
    assert outcome(Conformable(A, A), Eq(n, 2 * m), "shape", "iff") == "disagrees"


def test_a_side_without_a_value_disagrees_with_one_that_has_one() -> None:
    quotient = Mul(a, Pow(a, -1, evaluate=False), evaluate=False)
    assert outcome(quotient, 1, assuming=[Assumption(Eq(a, 0))]) == "disagrees"
    assert outcome(total(x[j + 1]), total(x[j])) == "disagrees"


def test_what_is_not_covered_is_not_applicable_and_says_what() -> None:
    checked = cross_check(
        derivation("", claim(Symbol("w", complex=True), step("algebra", Symbol("w", complex=True) + 1)))
    )
    assert checked.outcome == "not applicable" and "w" in checked.reason
    assert checked.points == 0


def test_a_count_that_differs_where_an_assumed_size_is_too_small_is_told() -> None:
    """At the assumed size the layer is too large to run; elsewhere nothing is refuted, but the reader hears of it."""
    large = (Assumption(Eq(n, 10**9)),)
    right, wrong = (
        cross_check(derivation("", claim(Count("FLOPs", softmax()), step("count", flops)), assuming=large))
        for flops in (count_flops(softmax()).total, count_flops(softmax()).total + 2 * n)
    )
    assert right.outcome == "agrees"
    assert wrong.outcome == "not applicable"
    assert "where a size is too small, at " in wrong.reason


def test_assumptions_hold_at_every_point() -> None:
    weights = [Assumption(Eq(total(x[j]), 1)), Assumption(Ge(x[j], 0), {j: n})]
    assert outcome(total(x[j]), 1, assuming=weights) == "agrees"
    assert outcome(total(x[j]), 1, assuming=weights[1:]) == "disagrees"
    heads = [Assumption(Eq(d, n / h)), Assumption(Eq(Mod(d, 2), 0))]
    assert outcome(n, d * h, assuming=heads) == "agrees"
    assert outcome(Mod(n, 4), 0, assuming=heads) == "disagrees"
    seen = Assumption(Gt(total(mask_array("M", n, m)[i, j], m - 1), 0), {i: n})
    weights_of_row = RowSum(row_softmax(A, mask_array("M", n, m)))
    assert outcome(weights_of_row[i], 1, ranges={i: n}, assuming=[seen]) == "agrees"
    assert outcome(weights_of_row, Tabulated(Lambda(i, Integer(1)), n)) == "disagrees"


def test_assumptions_that_contradict_each_other_leave_nothing_to_compare() -> None:
    assert outcome(a, a + 1, assuming=[Assumption(Gt(a, 0)), Assumption(Gt(-a, 0))]) == "not applicable"


COUNTED = {  # sizes at which every layer is small; those of turned and of strided columns and rows are even
    **{"n": 3, "m": 2, "d_model": 6, "d_k": 4, "d_v": 2, "d_ff": 5, "h": 3, "N": 2, "vocab": 7, "d": 5, "d_in": 3},
    **{"d_out": 2, "g": 2, "r": 3, "w": 2, "r_Q": 3, "r_KV": 5, "d_r": 2, "E": 5, "K": 2, "d_expert": 3, "d_shared": 7},
    **{"h_I": 2, "d_P": 3, "k_I": 2, "d_E": 5, "S": 2, "r_A": 3, "w_1": 1},
    **{"frames": 4, "mel": 3, "pixels": 11, "buckets": 7},
    **{"d_inner": 3, "d_state": 2, "r_Delta": 2, "g_S": 2, "r_S": 2, "d_S": 3, "h_L": 2, "d_L": 3},
    **{"g_D": 2, "r_D": 2, "k_D": 3, "v_D": 2},
}
KINDS = ("matmul", "bias", "softmax", "norm", "activation", "reduction", "elementwise")


@pytest.mark.parametrize("kind", ["parameters", "FLOPs", "multiply-adds", *(f"{kind} FLOPs" for kind in KINDS)])
def test_counts_are_found_by_running(kind: str) -> None:
    let, Z = Equations(), Stacked(array("Z", 1, d), array("Z_below", n, d))
    sums = let("Y")(square(Z) + RowRange(array("P", 2 * n + 7, d), 5, n + 1, 2))
    positions = Layer("positions", (array("Z", 1, d),), (array("Z_below", n, d), array("P", 2 * n + 7, d)), let, sums)
    for layer in (
        feed_forward(),
        feed_forward(gelu),
        scaled_dot_product_attention(),
        scaled_dot_product_attention(masked=True),
        layer_norm(),
        encoder_layer(),
        positions,
    ):
        right = Count(kind, layer, batch)
        assert outcome(right, right.value()) == "agrees"
        assert outcome(right, right.value() + n) == "disagrees"


@pytest.mark.parametrize("name", few(sorted(layers()), fast=5))
def test_every_kind_of_count_of_every_layer_is_found_by_running(name: str) -> None:
    """Both routes, kind by kind; "elementwise FLOPs" are those of activations as well."""
    layer = layers()[name]
    sizes = {size: Integer(COUNTED[size.name]) for size in layer.sizes}
    assignment = Assignment({size: int(number) for size, number in sizes.items()}, {}, "counts")
    flops = count_flops(layer, 3)
    expected = {f"{kind} FLOPs": of_kind.xreplace(sizes) for kind, of_kind in flops.by_kind.items()}
    expected["elementwise FLOPs"] += expected["activation FLOPs"]
    assert {kind: run_count(kind, layer, 3, assignment) for kind in expected} == expected
    assert run_count("parameters", layer, 3, assignment) == count_parameters(layer).xreplace(sizes)


def test_a_broken_step_of_a_result_is_seen_and_named() -> None:
    right: Derivation = get("softmax.jacobian")
    steps = list(right.claims[0].steps)
    steps[1] = replace(steps[1], expression=-steps[1].expression)
    checked = cross_check(replace(right, claims=(replace(right.claims[0], steps=tuple(steps)),)))
    assert [s.outcome for s in checked.steps[0]] == ["agrees", "disagrees", "disagrees"]
    assert checked.reason.startswith("claim 1, step 2: at ")


def test_a_large_gap_is_open_only_between_the_two_bounds() -> None:
    one = derivation("", claim(n, step("algebra", n)))
    with localcontext(CONTEXT):
        given = next(points_of(one, one.claims[0], 1, 1))
        assert compare(n, "=", n + Rational(1, 10**30), given).verdict == "agree"
        assert compare(n, "=", n + Rational(1, 10**18), given).verdict == "open"
        assert compare(n, "=", n + Rational(1, 10**10), given).verdict == "differ"


# --- independence ----------------------------------------------------------------------------------------------------

TRUSTED_BY_THE_JUDGE = (
    "normal_form", "proof", "goal", "tactics", "certificates", "counterexample", "evaluate", "enclosure", "suprema",
    "limits", "linear_maps", "domains", "deferred", "explicit",
)  # fmt: skip


@pytest.mark.parametrize("module", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_no_code_is_shared_with_the_judge(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            assert not set(parts) & set(TRUSTED_BY_THE_JUDGE), node.module
            if "cross_check" not in parts:
                assert not {alias.name for alias in node.names} & set(TRUSTED_BY_THE_JUDGE)
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("entry", "_entry", "value_at", "doit", "simplify", "evalf"), ast.unparse(node)


def test_an_array_node_without_a_rule_is_named() -> None:
    class Unheard(Array):
        def _infer(self) -> tuple[Expr, ...]:
            return (n,)

    with pytest.raises(NotCovered, match="Unheard"):
        meaning(Unheard())


def test_an_array_of_one_number_gets_a_value() -> None:
    X, g = array("X", n, m), array("g")
    let = Equations()
    layer = Layer("scaled", (X,), (g,), let, let("Y")(Hadamard(g, X)))
    assert cross_check(prove_gradient(layer)).outcome == "agrees"
