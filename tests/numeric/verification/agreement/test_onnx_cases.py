"""The node cases of ONNX, each written as one layer of the language and run along every route.

What a case wants was computed elsewhere. A layer is written for it from its attributes, by a table of operators; heads,
examples and what an axis flattens are batch axes or one axis of the layer, all else stands in its equations.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the peers tests compare with ONNX's node cases")
torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")

from derivations.language.layers.layer import Layer  # noqa: E402 - after what may skip
from numeric import compile_layer  # noqa: E402
from tests.numeric.every_route.arguments import Call  # noqa: E402
from tests.numeric.every_route.routes import GRADIENTS, PEERS, VALUES, cotangents, plain, plain_gradient  # noqa: E402
from tests.numeric.verification.agreement.onnx_cases.activations import FORMULAS, ROWS  # noqa: E402
from tests.numeric.verification.agreement.onnx_cases.case import Given, NotWritten, Written  # noqa: E402
from tests.numeric.verification.agreement.onnx_cases.losses import LOSSES  # noqa: E402
from tests.numeric.verification.agreement.onnx_cases.norms import NORMS  # noqa: E402
from tests.numeric.verification.agreement.onnx_cases.reading import WRITERS, cases  # noqa: E402

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]

CASES = {case.name: case for case in cases()}
NOT_WRITTEN = {  # they want the scores of hidden keys as -inf
    "test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal",
    "test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal",
}
CLOSE = {"float16": 2e-3, "bfloat16": 2e-2}  # half a unit in the last place of what is stored, times the values; else:
SINGLE = 2e-6


def written(case: Given) -> Written:
    return WRITERS[case.operator](case)


def number_types(case: Given) -> set[str]:
    return {str(getattr(value, "dtype", "")) for value in case.inputs.values()}


def assert_close(found, wanted, tolerance):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        scale = np.maximum(1, np.abs(other))
        assert np.nanmax(np.abs(one - other) / scale, initial=0) < tolerance
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_WRITTEN])
def test_a_case_agrees(name):
    case = CASES[name]
    tolerance = max((CLOSE.get(each, SINGLE) for each in number_types(case)), default=SINGLE)
    call = written(case)
    assert_close(plain(call.call), call.wanted, tolerance)


def test_how_many_are_written():
    refused = Counter()
    for case in CASES.values():
        try:
            written(case)
        except NotWritten:
            refused[case.name] += 1
    assert set(refused) == NOT_WRITTEN & set(CASES)
    assert len(CASES) - len(refused) >= 250


def layers() -> dict[str, Written]:
    """One case for each layer: routes differ in layers, not in numbers."""
    found: dict[Layer, tuple[str, Written]] = {}
    for name, case in CASES.items():
        if name not in NOT_WRITTEN:
            call = written(case)
            found.setdefault(call.layer, (name, call))
    return dict(found.values())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "call"), [pytest.param(name, call, id=name) for name, call in layers().items()])
def test_every_route_agrees(name, call):
    values = plain(call.call)
    for route in (*VALUES.values(), *PEERS.values()):
        assert_close(route(call.call), values, 1e-9)
    given = cotangents(call.call, values, 7)
    gradients = plain_gradient(call.call, given)
    for route in (*GRADIENTS.values(), *PEERS.values()):
        assert_close(route(call.call, given), gradients, 1e-9)


def in_the_engine(call: Call, dtype: type) -> list[np.ndarray]:
    """What onnxruntime makes of the layer as a graph."""

    def given(value):
        return np.asarray(value, dtype) if np.asarray(value).dtype.kind == "f" else np.asarray(value)

    weights = {name: given(value) for name, value in call.weights.items()}
    run = compile_layer(call.layer, "onnxruntime")
    found = run(*map(given, call.inputs), **weights, **call.asked, **call.scalars)
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "call"), [pytest.param(name, call, id=name) for name, call in layers().items()])
def test_the_graph_of_a_layer_agrees(name, call):
    pytest.importorskip("onnxruntime")
    tolerance = max((CLOSE.get(each, SINGLE) for each in number_types(CASES[name])), default=SINGLE)
    dtype = np.float32 if CASES[name].operator in ("Erf", "Gelu") else np.float64  # it has no Erf of float64
    assert_close(in_the_engine(call.call, dtype), call.wanted, tolerance)


def test_the_page_tells_how_many_there_are():
    """The rows of the table on docs/onnx.md."""
    groups = {
        "attention": {"Attention"},
        "rotary embedding": {"RotaryEmbedding"},
        "norms": set(NORMS),
        "losses": set(LOSSES),
        "softmax and others of rows": set(ROWS),
        "activations": set(FORMULAS),
    }
    page = (Path(__file__).parents[4] / "docs" / "onnx.md").read_text(encoding="utf-8")
    for group, operators in groups.items():
        own = [case.name for case in CASES.values() if case.operator in operators]
        assert f"| {group} | {len(own)} | {len(set(own) - NOT_WRITTEN)} |" in page


def test_a_wrong_mask_is_seen():
    """The comparison is checked: the causal mask one key too wide does not pass."""
    case = CASES["test_attention_4d_causal"]
    wider = Given(case.name, case.operator, {"right_window_size": 1}, case.inputs, case.outputs)
    call = written(wider)
    with pytest.raises(AssertionError):
        assert_close(plain(call.call), call.wanted, SINGLE)


def test_an_index_that_is_not_ignored_is_seen():
    case = CASES["test_sce_mean_no_weight_ii"]
    call = written(Given(case.name, case.operator, {"reduction": b"mean"}, case.inputs, case.outputs))
    with pytest.raises(AssertionError):
        assert_close(plain(call.call), call.wanted, SINGLE)
