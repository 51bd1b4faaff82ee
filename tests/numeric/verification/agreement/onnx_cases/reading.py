"""The ONNX node cases of a Transformer's operators, and the layer that is written for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from warnings import catch_warnings, simplefilter

import pytest

from tests.numeric.verification.agreement.onnx_cases.activations import FORMULAS, ROWS, activation, of_rows
from tests.numeric.verification.agreement.onnx_cases.attention import attention, rotary
from tests.numeric.verification.agreement.onnx_cases.case import Given, Written
from tests.numeric.verification.agreement.onnx_cases.losses import LOSSES, loss
from tests.numeric.verification.agreement.onnx_cases.norms import NORMS

__all__ = ["WRITERS", "cases"]

helper = pytest.importorskip("onnx.helper")
collect_testcases = pytest.importorskip("onnx.backend.test.case.node").collect_testcases

WRITERS: dict[str, Callable[[Given], Written]] = {
    **dict.fromkeys(FORMULAS, activation),
    **dict.fromkeys(ROWS, of_rows),
    **NORMS,
    **dict.fromkeys(LOSSES, loss),
    "Attention": attention,
    "RotaryEmbedding": rotary,
}


def cases() -> Iterator[Given]:
    """Yield the cases of one node; those with the node written out in others are the same again."""
    with catch_warnings():
        simplefilter("ignore")  # the cases of other operators cast what overflows
        found = collect_testcases(None)
    for case in found:
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in WRITERS:
            continue
        node, (inputs, outputs) = nodes[0], case.data_sets[0]
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        given = zip(filter(None, node.input), inputs, strict=True)
        wanted = zip(filter(None, node.output), outputs, strict=True)
        yield Given(case.name, node.op_type, attributes, dict(given), dict(wanted))
