"""The source of a graph while it is written: its lines, the names of its values, the numbers that follow from sizes."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sympy import Integer

from numeric.codegen.backends.backend import Functions
from numeric.lifting.numbers import Size
from numeric.lifting.refusals import NotFollowed
from numeric.lifting.trace import is_tracing
from numeric.runtime.special import special

__all__ = ["GraphSource", "Known", "array_text", "hold", "identifier_of", "named", "numbers_of"]


@dataclass(frozen=True)
class Known:
    """A value that follows from sizes: the text of a number, or of each number of a vector."""

    texts: tuple[str, ...]
    is_vector: bool

    @property
    def text(self) -> str:
        """The text of a single number."""
        return self.texts[0]


@dataclass
class GraphSource:
    """The source of a graph, the names of its arguments, and the arrays that it holds."""

    name: str
    arguments: dict[str, str]  # names of inputs in the graph, by the names of arguments
    lines: list[str] = field(default_factory=list)
    held: dict[str, Any] = field(default_factory=dict)  # weights inside, by name in the source
    names: dict[str, str] = field(default_factory=dict)  # of values of the graph in the source
    known: dict[str, Known] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()  # values that are whole numbers, where a quotient is rounded down
    shapes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # as far as the graph tells them
    apart: frozenset[str] = frozenset()  # inputs of the graph that are no arguments: their sizes are
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)  # that the lines call, beside NumPy's
    result: str = ""

    @property
    def text(self) -> str:
        """The text of the function."""
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return {self.result}"])
        return f"def {self.name}({', '.join(self.arguments)}):\n{body}\n"

    def function(self) -> Callable[..., Any]:
        """Return the function, compiled from its text."""
        space: dict[str, Any] = {
            "np": np,
            "math": math,
            "special": special,
            "known": known_size,
            **self.functions,
            **self.held,
        }
        return Functions({self.name: self.text}, space, "ONNX")[self.name]


def known_size(number: int) -> Any:
    """Return a length as an int, or as a symbolic `Size` while the function is lifted."""
    return Size(Integer(number)) if is_tracing() else number


def hold(found: GraphSource, value: str, array: Any) -> None:
    """Note a constant of the graph: a number, a vector of numbers, an array."""
    if array.ndim == 0:
        found.known[value] = Known((number_text(array),), False)
    elif array.ndim == 1 and array.dtype == np.int64 and array.size <= _FEW:
        found.known[value] = Known(tuple(map(number_text, array)), True)
    if array.ndim:
        found.held[named(found, value)] = array


_FEW = 16  # numbers of a vector that may be a shape


def number_text(value: Any) -> str:
    """Return a number as Python source; a float32 gets the digits that identify it among float32 numbers."""
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float) and not np.isfinite(number):
        return {np.inf: "np.inf", -np.inf: "-np.inf"}.get(number, "np.nan")
    if isinstance(number, float) and abs(number) == np.asarray(math.pi, np.asarray(value).dtype):
        return "math.pi" if number > 0 else "(-math.pi)"
    if np.asarray(value).dtype == np.float32:
        short = np.format_float_scientific(np.float32(number)) if abs(number) > _LARGE else str(np.float32(number))
        return f"({short})" if number < 0 else short
    return f"({number!r})" if isinstance(number, int | float) and number < 0 else repr(number)


_LARGE = 1e16


def identifier_of(name: str, taken: Sequence[str]) -> str:
    """Return a name of the graph as a Python identifier that is not taken."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    text = f"_{text}" if not text or text[0].isdigit() else text
    text = f"{text}_" if keyword.iskeyword(text) or text in ("np", "math", "special", "known") else text
    while text in taken:
        text += "_"
    return text


def named(found: GraphSource, value: str) -> str:
    """Return the name of a value in the source."""
    if value not in found.names:
        found.names[value] = identifier_of(value, tuple(found.names.values()))
    return found.names[value]


def array_text(found: GraphSource, value: str) -> str:
    """Return the text of a value that is used as an array."""
    if value in found.names:
        return found.names[value]
    known = found.known.get(value)
    if known is None:
        raise NotFollowed(f"the graph reads {value}, which no node before has written")
    return f"np.array([{', '.join(known.texts)}])" if known.is_vector else known.text


def numbers_of(found: GraphSource, node: Any, place: int) -> tuple[str, ...]:
    """Return the texts of the numbers of an input that is a shape, axes or bounds."""
    known = found.known.get(node.input[place])
    if known is None:
        raise NotFollowed(f"the node {node.name} takes {node.input[place]}, whose numbers do not follow from sizes")
    return known.texts
