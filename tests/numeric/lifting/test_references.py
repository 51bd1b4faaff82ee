"""Functions without a rule: followed by the library's own definition, and refused where that says something else."""

import numpy as np
import pytest

from derivations.symbols import d, m, n
from numeric.lifting import NotFollowed, lift, prove_same

torch = pytest.importorskip("torch")
from torch.nn import functional as F  # noqa: E402 - nothing of this file runs without PyTorch

pytestmark = pytest.mark.peers

OF_PYTORCH = "as PyTorch itself defines it"


def embedding_loss(x, y, t):
    return F.cosine_embedding_loss(x, y, t, margin=0.25, reduction="none")


def embedding_loss_written_out(x, y, t):
    cosine = (x * y).sum(-1) / np.sqrt(((x * x).sum(-1) + 1e-12) * ((y * y).sum(-1) + 1e-12))
    return np.where(t == 1, 1 - cosine, 0.0) + np.where(t == -1, np.maximum(cosine - 0.25, 0), 0.0)


def normed(x, mu, v):
    return F.batch_norm(x, mu, v, eps=0.01)


@pytest.mark.parametrize(
    ("function", "other", "reading", "shapes"),
    [
        (lambda x: F.hardshrink(x, 0.25), lambda x: np.where(np.abs(x) > 0.25, x, 0.0), OF_PYTORCH, {"x": (n, d)}),
        (embedding_loss, embedding_loss_written_out, OF_PYTORCH, {"x": (n, d), "y": (n, d), "t": (n,)}),
        (normed, lambda x, mu, v: (x - mu) / np.sqrt(v + 0.01), OF_PYTORCH, {"x": (n, d), "mu": (d,), "v": (d,)}),
        (lambda x: np.diff(x, axis=0), lambda x: x[1:] - x[:-1], "by NumPy's own code", {"x": (n, d)}),
    ],
    ids=["a reference", "operators", "a decomposition", "Python"],
)
def test_a_definition_is_followed_and_named(function, other, reading, shapes):
    verdict = prove_same(function, other, **shapes)
    assert verdict.level == "proved", str(verdict)
    assert reading in verdict.qualified


@pytest.mark.parametrize(
    ("function", "other", "shapes"),
    [
        (lambda x: F.hardshrink(x, 0.25), lambda x: np.where(np.abs(x) > 0.5, x, 0.0), {"x": (n, d)}),
        (embedding_loss, lambda x, y, t: embedding_loss_written_out(x, y, -t), {"x": (n, d), "y": (n, d), "t": (n,)}),
        (normed, lambda x, mu, v: (x - mu) / (np.sqrt(v) + 0.01), {"x": (n, d), "mu": (d,), "v": (d,)}),
        (lambda x: np.diff(x, axis=0), lambda x: x[:-1] - x[1:], {"x": (n, d)}),
    ],
)
def test_another_formula_is_refuted(function, other, shapes):
    verdict = prove_same(function, other, **shapes)
    assert verdict.level == ("unknown" if "t" in shapes else "refuted"), str(verdict)


def bounded_by_place(x):
    y = x + 0
    F.hardtanh(y, -1.0, 1.0, True)
    return y


def clipped_in_place(x):
    y = x + 0
    torch.clip_(y, -1, 1)
    return y


@pytest.mark.parametrize("function", [bounded_by_place, clipped_in_place])
def test_what_is_written_in_place_is_seen(function):
    """The option stands at a place, or the name says it; few draws of the mandatory run would show it."""
    assert prove_same(function, lambda x: torch.clamp(x, -1, 1), x=(n,)).level == "proved"
    assert prove_same(function, lambda x: x + 0, x=(n,)).level == "refuted"


@pytest.mark.parametrize(
    ("function", "because"),
    [
        (lambda x: torch.hypot(x, x, out=x + 0), "out="),
        (lambda x: torch.nansum(x, -1, out=x[:, 0] + 0), "out="),
        (lambda x: F.hardtanh_(x), "a write into an argument"),
        (lambda x: x.clamp_min_(0), "a write into an argument"),
        (lambda x: F.batch_norm(x, x[0], x[1] ** 2, training=True), "a write into"),
        (lambda x: F.rrelu(x, training=True), "random"),
        (lambda x: F.alpha_dropout(x, 0.5, training=True), ""),
        (lambda x: F.gumbel_softmax(x, dim=-1), ""),
        (lambda x: torch.poisson(x), "random"),
        (lambda x: x.clone().normal_(), "what no function gives"),
        (lambda x: torch.nansum(x, -1, dtype=torch.int32), "nansum"),
        (lambda x: torch.erfinv(x), "erfinv has no rule"),
        (lambda x: torch.cummax(x, 0).values, "cummax"),
        (lambda x: torch.unique(x), ""),
    ],
)
def test_what_a_definition_hides_is_refused(function, because):
    with pytest.raises(NotFollowed, match=because or None):
        lift(function, x=(n, d))


def test_a_definition_that_ignores_an_argument_is_not_trusted(monkeypatch):
    """The run of the function itself decides: no definition is taken for the function without it."""
    table = torch._decomp.decomposition_table
    right = table[torch.ops.aten.hardshrink.default]
    monkeypatch.setitem(table, torch.ops.aten.hardshrink.default, lambda a, lambd=0.5: right(a))
    verdict = prove_same(lambda x: F.hardshrink(x, 2.0), lambda x: np.where(np.abs(x) > 2, x, 0.0), x=(n, d))
    assert verdict.level == "not followed"
    assert "the equations are not what the function does" in verdict.reason


def test_an_attempt_that_failed_leaves_no_reading():
    """What was noted on the way of a definition that wants sizes with values is forgotten."""
    lifted = lift(lambda x: F.instance_norm(x), x=(n, m, d))
    assert [each for each in lifted.readings if OF_PYTORCH in each] == [f"instance_norm {OF_PYTORCH}"]


# --- checks that raise ----------------------------------------------------------------------------------------------


def checked(x):
    if not (x > 0).all():
        raise ValueError("out of range")
    if (x > 9).any():
        raise ValueError("out of range")
    assert (x != 1).all()
    return np.log(x)


def branching(x):
    if (x < 0).any():
        x = -x
    return x


def test_a_check_that_raises_is_a_condition():
    verdict = prove_same(checked, lambda x: np.log(x), x=(n, d))
    assert verdict.level == "proved", str(verdict)
    for condition in ("x[row_0, row_1] > 0", "x[row_0, row_1] <= 9", "Ne(x[row_0, row_1], 1)"):
        assert f"where {condition}" in verdict.qualified
    assert prove_same(checked, lambda x: -np.log(x), x=(n, d)).level == "refuted"


def test_a_function_that_raises_for_other_numbers_says_so():
    """PyTorch's check is in C++, so that no condition can be read off."""
    verdict = prove_same(
        lambda x, y: F.binary_cross_entropy(x, y, reduction="none"),
        lambda x, y: -y * np.log(x) - (1 - y) * np.log(1 - x),
        x=(n, d),
        y=(n, d),
    )
    assert verdict.level == "proved", str(verdict)
    assert (
        "reading the arguments as probabilities: for some others the function raises RuntimeError" in verdict.qualified
    )
    assert "reading logarithms below -100" in verdict.qualified


def test_a_check_that_leads_on_is_refused():
    with pytest.raises(NotFollowed, match="a branch on the truth value"):
        lift(branching, x=(n, d))


def test_a_check_of_the_library_is_a_condition():
    """PyTorch raises for a negative variance."""
    verdict = prove_same(
        lambda x, y, v: F.gaussian_nll_loss(x, y, v, eps=0.25, reduction="none"),
        lambda x, y, v: (np.log(np.maximum(v, 0.25)) + (x - y) ** 2 / np.maximum(v, 0.25)) / 2,
        **dict.fromkeys("xyv", (n, d)),
    )
    assert verdict.level == "proved"
    assert "where v[row_0, row_1] >= 0" in verdict.qualified
