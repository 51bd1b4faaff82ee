"""The ONNX node cases of a Transformer's operators, and the layer that is written for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

import pytest

from tests.numeric.verification.agreement.onnx_cases.activations import FORMULAS, ROWS, activation, of_rows
from tests.numeric.verification.agreement.onnx_cases.attention import attention, rotary
from tests.numeric.verification.agreement.onnx_cases.case import Given, Written
from tests.numeric.verification.agreement.onnx_cases.losses import LOSSES, loss
from tests.numeric.verification.agreement.onnx_cases.norms import NORMS

__all__ = ["WRITERS", "cases"]

helper = pytest.importorskip("onnx.helper")
node_cases = pytest.importorskip("onnx.backend.test.case.node")

WRITERS: dict[str, Callable[[Given], Written]] = {
    **dict.fromkeys(FORMULAS, activation),
    **dict.fromkeys(ROWS, of_rows),
    **NORMS,
    **dict.fromkeys(LOSSES, loss),
    "Attention": attention,
    "RotaryEmbedding": rotary,
}


MODULES = {  # of cases, where the name is not that of the operator
    "BatchNormalization": "batch_normalization",
    "InstanceNormalization": "instance_normalization",
    "SoftmaxCrossEntropyLoss": "softmax_cross_entropy_loss",
}


def _import_those_written(package: ModuleType) -> None:
    """Import the cases of the operators: each module computes its cases, and those of pooling take many seconds."""
    for operator in WRITERS:
        import_module(f"{package.__name__}.{MODULES.get(operator, operator.lower())}")


def cases() -> Iterator[Given]:
    """Yield the cases of one node; those with the node written out in others are the same again."""
    with catch_warnings(), patch.object(node_cases, "import_recursive", _import_those_written):
        simplefilter("ignore")  # some cases cast what overflows
        found = node_cases.collect_testcases(None)
    for case in found:
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in WRITERS:
            continue
        node, (inputs, outputs) = nodes[0], case.data_sets[0]
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        given = zip(filter(None, node.input), inputs, strict=True)
        wanted = zip(filter(None, node.output), outputs, strict=True)
        yield Given(case.name, node.op_type, attributes, dict(given), dict(wanted))
