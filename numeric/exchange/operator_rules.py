"""The operators of exported graphs as NumPy: one rule for each, which returns the text of its result.

Result       a rule returns the text of an array, or the numbers that follow from sizes alone
Raises       NotFollowed for a form of an operator that is not exported, with the node's name
Source       the operators of ONNX, opset 18: https://onnx.ai/onnx/operators
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from numeric.codegen.onnx_graph.operators import BINARY, COMPARISONS, ENTRYWISE, REDUCTIONS
from numeric.exchange.graph_source import GraphSource, Known, array_text, named, numbers_of
from numeric.exchange.loops import scan_text
from numeric.lifting.refusals import NotFollowed

__all__ = ["RULES", "Rule"]

INFIX = {
    "add": "+",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "divide": "/",
    "equal": "==",
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "multiply": "*",
    "power": "**",
    "subtract": "-",
}
FUNCTIONS = {operator: name for name, operator in ENTRYWISE.items()}
OPERATIONS = {operator: name for name, operator in (BINARY | COMPARISONS).items() if name != "floor_divide"}
SUMS = {operator: name for name, operator in REDUCTIONS.items()}
SPECIAL = ("erf", "expit")
LARGEST_SLICE = 2**31 - 1  # an end at or beyond it is that of the axis
NUMBER_TYPES = {1: "float", 11: "float", 7: "int", 9: "bool"}  # of TensorProto: float, double, int64, bool


Rule = Callable[[GraphSource, Any, Mapping[str, Any]], Known | str]


def _entrywise(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known | str:
    name, known = FUNCTIONS[node.op_type], found.known.get(node.input[0])
    if known is not None and not known.is_vector:
        return Known((f"(-{known.text})" if name == "negative" else f"math.{name}({known.text})",), False)
    x = array_text(found, node.input[0])
    if name in ("invert", "negative"):
        return f"{'~' if name == 'invert' else '-'}{x}"
    return f"{'special' if name in SPECIAL else 'np'}.{name}({x})"


def _binary(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known | str:
    name = OPERATIONS[node.op_type]
    known = [found.known.get(each) for each in node.input]
    one, two = (array_text(found, each) if k is None else k.text for each, k in zip(node.input, known, strict=True))
    numbers = all(k is not None and not k.is_vector for k in known)
    if name in INFIX:
        sign = "//" if numbers and name == "divide" and node.output[0] in found.whole else INFIX[name]
        text = f"{one} {sign} {two}"
    else:
        text = f"{name[:3]}({one}, {two})" if numbers else f"np.{name}({one}, {two})"
    return Known((f"({text})",), False) if numbers else text


def _reduction(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    axes = ", ".join(numbers_of(found, node, 1))
    keeps = ", keepdims=True" if attributes.get("keepdims", 1) else ""
    return f"{array_text(found, node.input[0])}.{SUMS[node.op_type]}(axis=({axes},){keeps})"


def _softmax(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    x, powers = array_text(found, node.input[0]), named(found, f"{node.output[0]}/powers")
    axis = attributes.get("axis", -1)
    found.lines.append(f"{powers} = np.exp({x} - {x}.max(axis={axis}, keepdims=True))")
    return f"{powers} / {powers}.sum(axis={axis}, keepdims=True)"


def _cast(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known | str:
    known, kind = found.known.get(node.input[0]), NUMBER_TYPES.get(attributes["to"])
    if kind is None:
        raise NotFollowed(f"the node {node.name} casts to the number type {attributes['to']}, which has no rule")
    return known if known is not None else f"{array_text(found, node.input[0])}.astype({kind})"


def _shape(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known:
    start, end = attributes.get("start", 0), attributes.get("end")
    if end is None:
        raise NotFollowed(f"the node {node.name} asks for a whole shape; one with an end is read")
    if node.input[0] not in found.apart:
        x = array_text(found, node.input[0])
        return Known(tuple(f"{x}.shape[{axis}]" for axis in range(start, end)), True)
    names = [found.shapes[node.input[0]][axis].dim_param for axis in range(start, end)]
    for name in names:
        if not name.isidentifier():
            raise NotFollowed(f"the node {node.name} reads a size of {node.input[0]} that has no name of its own")
        found.arguments[name] = name
    return Known(tuple(names), True)


def _squeeze(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known | str:
    known = found.known.get(node.input[0])
    if known is not None:
        return Known(known.texts, False)
    return f"np.squeeze({array_text(found, node.input[0])}, axis=({', '.join(numbers_of(found, node, 1))},))"


def _unsqueeze(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known | str:
    known = found.known.get(node.input[0])
    if known is not None and not known.is_vector:
        return Known(known.texts, True)
    return f"np.expand_dims({array_text(found, node.input[0])}, ({', '.join(numbers_of(found, node, 1))},))"


def _concat(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known | str:
    known = [found.known.get(each) for each in node.input]
    if all(k is not None and k.is_vector for k in known):
        return Known(tuple(text for k in known if k is not None for text in k.texts), True)
    parts = ", ".join(array_text(found, each) for each in node.input)
    return f"np.concatenate([{parts}], axis={attributes['axis']})"


def _reshape(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    x = array_text(found, node.input[0])
    lengths = [f"{x}.shape[{k}]" if n == "0" else n.strip("()") for k, n in enumerate(numbers_of(found, node, 1))]
    return f"{x}.reshape({', '.join(lengths)})"


def _expand(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    return f"np.broadcast_to({array_text(found, node.input[0])}, ({', '.join(numbers_of(found, node, 1))},))"


def _transpose(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    return f"np.transpose({array_text(found, node.input[0])}, {tuple(attributes['perm'])})"


def _gather(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> Known | str:
    axis, place = attributes.get("axis", 0), found.known.get(node.input[1])
    x, at = array_text(found, node.input[0]), array_text(found, node.input[1]) if place is None else place.text
    return f"{x}[{':, ' * axis}{at}]"


def _picked(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    x, at = (array_text(found, each) for each in node.input)
    return f"np.take_along_axis({x}, {at}, axis={attributes.get('axis', 0)})"


def _largest_places(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    if attributes.get("axis", -1) != -1 or not attributes.get("largest", 1):
        raise NotFollowed(f"the node {node.name} does not take the largest entries of rows")
    (count,) = numbers_of(found, node, 1)  # of equal entries the operator takes the first
    return f"np.argsort(-{array_text(found, node.input[0])}, axis=-1, kind='stable')[..., :{count}]"


def _slice(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    starts, ends, axes = (numbers_of(found, node, place) for place in (1, 2, 3))
    steps = numbers_of(found, node, 4) if len(node.input) > 4 else ("1",) * len(axes)
    cuts = dict.fromkeys(range(max(map(int, axes)) + 1), ":")
    for axis, start, end, step in zip(map(int, axes), starts, ends, steps, strict=True):
        to_end = end.isdecimal() and int(end) >= LARGEST_SLICE
        cuts[axis] = f"{'' if start == '0' else start}:{'' if to_end else end}{'' if step == '1' else f':{step}'}"
    return f"{array_text(found, node.input[0])}[{', '.join(cuts.values())}]"


def _pad(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    widths, x, shape = numbers_of(found, node, 1), array_text(found, node.input[0]), found.shapes.get(node.input[0])
    padded = [] if shape is None else [k for k in range(len(shape)) if {widths[k], widths[k + len(shape)]} != {"0"}]
    if shape is None or len(padded) != 1 or attributes.get("mode", b"constant") != b"constant":
        raise NotFollowed(f"the node {node.name} is read with zeros along one axis of an input whose axes are known")
    (axis,) = padded
    before, behind = widths[axis], widths[axis + len(shape)]

    def zeros(count: str) -> str:
        lengths = [count if k == axis else f"{x}.shape[{k}]" for k in range(len(shape))]
        return f"np.zeros(({', '.join(lengths)},))"

    parts = [zeros(before), x, zeros(behind)]
    kept = [part for part, count in zip(parts, (before, "", behind), strict=True) if count != "0"]
    return f"np.concatenate([{', '.join(kept)}], axis={axis})"


def _range(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    start, end, step = (numbers_of(found, node, place)[0] for place in range(3))
    if (start, step) in (("0", "1"), ("0.0", "1.0")):
        number = end.removesuffix(".0")
        return f"np.arange(known({number}))" if number.isdecimal() else f"np.arange({end})"
    return f"np.arange({start}, {end}, {step})"


def _called(text: str) -> Rule:
    """Return the rule of an operator that is a function or sign of NumPy; `text` has a placeholder for each input."""
    return lambda found, node, attributes: text.format(*(array_text(found, each) for each in node.input))


def _einsum(found: GraphSource, node: Any, attributes: Mapping[str, Any]) -> str:
    equation = attributes["equation"].decode()
    if not re.fullmatch(r"[A-Za-z.,]*->[A-Za-z.]*", equation):
        raise NotFollowed(f"the node {node.name} has the equation {equation!r}, which is not one of letters")
    return f"np.einsum({equation!r}, {', '.join(array_text(found, each) for each in node.input)})"


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(FUNCTIONS, _entrywise),
    **dict.fromkeys(OPERATIONS, _binary),
    **dict.fromkeys(SUMS, _reduction),
    "Cast": _cast,
    "Concat": _concat,
    "Einsum": _einsum,
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _picked,
    "Identity": _called("{0} * 1"),
    "MatMul": _called("{0} @ {1}"),
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Scan": scan_text,
    "Shape": _shape,
    "Slice": _slice,
    "Softmax": _softmax,
    "Squeeze": _squeeze,
    "TopK": _largest_places,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _called("np.where({0}, {1}, {2})"),
}
