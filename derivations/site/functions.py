r"""Answers about a NumPy function that a reader pastes into a page: whether it is a layer, its gradient, its cost.

Definition   the text is run, as `derivations prove` runs a file, and its function is lifted; two questions, so that the
             verdict is shown before the gradient is proved
Result       JSON as text: the verdict in the words of `derivations prove`, the equations, FLOPs; the gradient with the
             level of its proof
Raises       ValueError in one sentence for what is no function, raises while it is defined, or lacks a shape
Assumes      the reader asked for the text to be run: in a browser this happens in a worker of its own, which judges no
             documents. Nothing limits what the text does; the page ends the worker

>>> import json
>>> json.loads(function("def shifted(x):\n    return np.exp(x - 1)", "x: n", ""))["equations"]
['y = e^{x - 1}']
"""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from derivations.catalogue import layer as layer_called
from derivations.language.arrays.shapes import shape_called
from derivations.language.differentiation.adjoints import GradientError
from derivations.language.differentiation.proving import prove_gradient
from derivations.language.differentiation.reverse import gradient as gradient_of
from derivations.language.layers.layer import Layer
from derivations.language.printing.latex import LatexPrinter, latex_of
from derivations.language.printing.page import layer_page
from derivations.language.printing.views import latex
from derivations.site.questions import Questions, answer, lines_of_shapes

if TYPE_CHECKING:
    from numeric.lifting import Lifted, Verdict

__all__ = ["QUESTIONS", "SAMPLE", "SAMPLE_LAYER", "answered", "function", "gradient", "warm"]

FILE = "<pasted>"
LARGEST = 100_000  # characters
SAMPLE = """import numpy as np

def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    S = S - S.max(axis=-1, keepdims=True)  # exp cannot overflow
    E = np.exp(S)
    return E / E.sum(axis=-1, keepdims=True) @ V
"""
SAMPLE_LAYER = "scaled_dot_product_attention"
_BETWEEN_SIZES = re.compile(r",|\s[x×]\s")


@dataclass(frozen=True)
class _Studied:
    """A pasted function: its equations or its refusal, and the verdict if it was compared with a layer."""

    verdict: Verdict | None
    lifted: Lifted | None
    refusal: str = ""  # why it was not followed


def function(text: str, shapes: str, layer: str) -> str:
    """Return the verdict on whether a pasted function is a layer, its equations in LaTeX, and its FLOPs.

    `shapes` has a line `argument: sizes` for each argument whose shape is not that of the layer's, such as `Q: n x d`.
    Without a layer the function is only lifted, and needs all shapes.
    """
    studied = _studied(text, shapes, layer)
    verdict, lifted = studied.verdict, studied.lifted
    if verdict is not None:
        told = {"level": verdict.level, "said": str(verdict), "verdict": verdict.json(), "arrays": verdict.arrays}
    elif lifted is not None:
        told = {"level": "lifted", "said": "its equations were run against the function", "arrays": ()}
    else:
        told = {"level": "not followed", "said": studied.refusal, "arrays": ()}
    if lifted is None:
        return _json({**told, **_shown(None), "notes": [], "flops": None})
    return _json({**told, **_shown(lifted.layer), "notes": lifted.notes, "flops": _flops(lifted)})


def gradient(text: str, shapes: str, layer: str) -> str:
    """Return the backward pass of a pasted function in LaTeX, and the level of the proof that it is the gradient.

    Arrays that are proved to be a softmax or a norm are written as one before it is differentiated.
    """
    from numeric.lifting import recognise  # deferred, like all of numeric: the page of documents has no NumPy

    lifted = _studied(text, shapes, layer).lifted
    if lifted is None:
        return _json({"level": "unknown", "reason": "the function was not followed", **_shown(None), "notes": []})
    named = recognise(lifted)
    try:
        backward = gradient_of(named.layer)
    except GradientError as error:
        return _json({"level": "unknown", "reason": str(error), **_shown(None), "notes": []})
    level, reason = "proved", "each equation is differentiated by the chain rule, for all sizes"
    try:
        assumed = prove_gradient(named.layer).assumptions
    except (ValueError, NotImplementedError) as error:  # a step that is refuted or not decided, or no real array
        level, reason, assumed = "unknown", str(error), ()
    notes = [*named.notes, *(f"where {each.text}" for each in assumed)]
    return _json({"level": level, "reason": reason, **_shown(backward), "notes": list(dict.fromkeys(notes))})


QUESTIONS: Questions = {each.__name__: each for each in (function, gradient)}
answered = partial(answer, QUESTIONS)


def warm() -> None:
    """Prove and differentiate the sample function, so that caches are filled before a reader asks."""
    function(SAMPLE, "", SAMPLE_LAYER)
    gradient(SAMPLE, "", SAMPLE_LAYER)


def _json(found: Mapping[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False)


def _shown(layer: Layer | None) -> dict[str, Any]:
    """Return the equations of a layer as formulas below one another, and as LaTeX to copy."""
    if layer is None:
        return {"equations": [], "latex": ""}
    rows = layer_page(layer, LatexPrinter, "ours").rows
    return {"equations": [row.formula for row in rows], "latex": latex(layer)}


def _flops(lifted: Lifted) -> dict[str, Any]:
    """Return the FLOPs of a function as a formula, and notes on what was counted as a named function."""
    from numeric.lifting import count_lifted  # deferred, as above

    try:
        counted = count_lifted(lifted)
    except (ValueError, NotImplementedError) as error:
        return {"latex": "", "notes": [str(error)]}
    return {"latex": latex_of(counted.flops.total), "notes": counted.notes}


@lru_cache(maxsize=1)
def _studied(text: str, shapes: str, layer: str) -> _Studied:
    """Return what is known of a pasted function. A cache runs it only once for both questions."""
    from numeric.lifting import NotFollowed, checked_lift, prove  # deferred, as above

    defined = _defined(text)
    given = _shapes(shapes)
    _refuse_unknown(defined, given)
    try:
        if layer:
            verdict = prove(defined, _layer(layer), {}, **given)
            return _Studied(verdict, verdict.lifted)
        missing = [name for name in _needed(defined) if name not in given]
        if missing:
            raise ValueError(f"give the shape of {', '.join(missing)}: write a line such as {missing[0]}: n x d")
        return _Studied(None, checked_lift(defined, **given))
    except NotFollowed as refusal:
        return _Studied(None, None, str(refusal))
    except (TypeError, ImportError) as error:  # shapes that do not fit; SciPy, which a browser does not have
        raise ValueError(str(error)) from error


def _layer(name: str) -> Layer:
    try:
        return layer_called(name)
    except LookupError as error:
        raise ValueError(str(error.args[0])) from error


def _defined(text: str) -> Callable[..., Any]:
    """Run a text and return its function. Of several functions, return the one that no other function refers to."""
    if len(text) > LARGEST:
        raise ValueError(f"more than {LARGEST:,} characters: paste one function")
    try:
        tree = ast.parse(text, FILE)
        code = compile(tree, FILE, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        told = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise ValueError(f"this is no Python: {told}{f' (line {line})' if line else ''}") from error
    name = _only(tree)
    import numpy as np  # deferred, as above

    space: dict[str, Any] = {"__name__": "pasted", "np": np, "numpy": np}
    linecache.cache[FILE] = len(text), None, text.splitlines(keepends=True), FILE  # inspect reads its source there
    try:
        exec(code, space)  # noqa: S102 - the reader asked for it
    except (Exception, SystemExit) as error:  # whatever the text raises
        raise ValueError(f"the text raises {type(error).__name__}: {error}") from error
    found = space.get(name)
    if not inspect.isfunction(found):
        raise ValueError(f"{name} is of type {type(found).__name__}: a function is needed here")
    return found


def _only(tree: ast.Module) -> str:
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if not functions:
        raise ValueError("there is no function here: paste one that begins with def")
    named = {
        inner.id
        for name, node in functions.items()
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and inner.id != name
    }
    open_ = [name for name in functions if name not in named]
    if len(open_) != 1:
        raise ValueError(
            f"these are {len(functions)} functions: {', '.join(functions)}; paste one, with those it calls"
        )
    return open_[0]


def _needed(defined: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that have no default value."""
    return [
        name
        for name, parameter in inspect.signature(defined).parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def _refuse_unknown(defined: Callable[..., Any], given: Mapping[str, Any]) -> None:
    parameters = inspect.signature(defined).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return
    for name in given:
        if name not in parameters:
            raise ValueError(f"{defined.__name__} has no argument {name}: it has {', '.join(parameters) or 'none'}")


def _shapes(text: str) -> dict[str, Any]:
    """Return the shapes of arguments: `Q: n x d_k`, a line each."""
    lines = lines_of_shapes(text, "write an argument and its sizes, such as Q: n x d")
    return {name: shape_called(",".join(_BETWEEN_SIZES.split(sizes))) for name, sizes in lines}
