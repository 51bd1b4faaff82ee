"""The verdict on one case of a function under test: whether its output is right, and if not, why.

Result       None, or a `Failure` of one kind: raised, nothing, type, shape, dtype, finite, values, overwritten,
             gradient; or declined, which does not count as a failure: it raised for an unusual memory layout
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from numeric.verification.conformance.drawing import Case, leaves, mapped
from numeric.verification.conformance.frameworks import Framework, Untraceable
from numeric.verification.conformance.gradients import expected_gradients
from numeric.verification.conformance.tolerance import tolerance

__all__ = ["FLOATS", "Failure", "described", "given", "judged", "verdict"]

FLOATS = ("float64", "float32")  # in this order: a failure in float64 is not due to rounding
OURS = str(Path(__file__).resolve().parents[2])
Call = Callable[..., Any]  # of the arguments, in the layer's order


@dataclass(frozen=True)
class Failure:
    """A failure: its kind, a sentence, the case, a second case where two calls matter; whether batch axes cause it."""

    kind: str
    sentence: str
    case: Case
    then: Case | None = None
    batch_alone: bool = False


def verdict(call: Call, case: Case, framework: Framework, gradients: bool) -> Failure | None:
    """Return the failure of a function in one case, or None."""
    rng = np.random.default_rng([case.plan.seed, 1])
    cotangent = np.asarray(rng.standard_normal(case.expected.shape)).astype(case.plan.dtype)
    real = frozenset(path for path, each in leaves(case.arguments).items() if each.dtype.kind == "f")
    differentiate = framework.pull_back if gradients and case.plan.gradient and real else None
    slopes: dict[str, Any] = {}
    try:
        with framework.precision(case.plan.dtype), np.errstate(all="ignore"):
            arguments = given(case, framework)
            if differentiate is None:
                output = call(*arguments.values())
            else:
                output, slopes = differentiate(lambda each: call(*each.values()), arguments, real, cotangent)
    except Untraceable as error:
        return Failure("gradient", f"it gives no gradient: {error}", case)
    except Exception as error:
        kind = "raised" if case.plan.layout == "plain" else "declined"
        return Failure(kind, f"it raised {described(error)}", case)
    return (
        judged(output, case, framework)
        or _overwritten(arguments, case, framework)
        or _gradients(slopes, case, framework, cotangent)
    )


def given(case: Case, framework: Framework) -> dict[str, Any]:
    """Return the arguments of a case as arrays of a framework, in the memory layout of the plan."""
    layout = framework.layouts.get(case.plan.layout, lambda array: array)
    arguments: dict[str, Any] = mapped(dict(case.arguments), lambda path, each: layout(framework.to(each)))
    return arguments


def judged(output: Any, case: Case, framework: Framework) -> Failure | None:
    """Return the failure of an output, in its type, shape, number type or values, or None."""
    wrong = _form(output, case.expected, case, framework)
    if wrong is not None:
        return wrong
    found = framework.back(output).astype(np.float64)
    if np.array_equal(found, case.expected):
        return None
    allowed = tolerance(case, case.plan.dtype if case.layer.inputs else _dtype(output))
    return _values("values", "", found, case.expected, allowed, case)


def _overwritten(arguments: dict[str, Any], case: Case, framework: Framework) -> Failure | None:
    """Return a failure where the call changed an argument, or None."""
    found = leaves(arguments)
    for path, before in leaves(case.arguments).items():
        if path not in found:
            return Failure("overwritten", f"it removed {path} from its argument", case)
        after = framework.back(found[path])
        changed = np.argwhere(after != before) if after.shape == before.shape else [()]
        if len(changed):
            where = tuple(map(int, changed[0]))
            what = f"the entry at {list(where)} was {before[where]:.6g} and became {after[where]:.6g}" if where else (
                f"its shape was {before.shape} and became {after.shape}"
            )  # fmt: skip
            return Failure("overwritten", f"it overwrote its argument {path}: {what}", case)
    return None


def _form(output: Any, expected: Any, case: Case, framework: Framework) -> Failure | None:
    """Return the failure of an output in its type, shape or number type, or None."""
    if output is None:
        return Failure("nothing", "it returned None (a `return` may be missing)", case)
    if not framework.owns(output):
        kind = type(output).__name__
        hint = "; choose the array by `call`" if isinstance(output, tuple | list | dict) else ""
        return Failure("type", f"it returned a {kind}, where a {framework.kind} is needed{hint}", case)
    if tuple(output.shape) != expected.shape:
        needed = f"{expected.shape} is needed for {case.layer.output.name}"
        return Failure("shape", f"it returned the shape {tuple(output.shape)}, where {needed}", case)
    dtype, wanted = _dtype(output), [case.plan.dtype] if leaves(case.arguments) else FLOATS
    if dtype not in wanted:
        hint = "" if framework.name != "numpy" or dtype != "float64" else (
            "; a NumPy scalar such as np.sqrt(d_k) turns float32 into float64, math.sqrt(d_k) does not"
        )  # fmt: skip
        return Failure("dtype", f"it returned {dtype} for arguments of {case.plan.dtype}{hint}", case)
    return None


def _dtype(output: Any) -> str:
    return str(output.dtype).rpartition(".")[2]


def _gradients(slopes: dict[str, Any], case: Case, framework: Framework, cotangent: Any) -> Failure | None:
    if not slopes:
        return None
    expected = expected_gradients(case, cotangent.astype(np.float64))
    for path, (value, allowed) in expected.items():
        slope = framework.back(slopes[path])
        if slope.shape != value.shape:
            return Failure("gradient", f"its gradient by {path} has the shape {slope.shape}, not {value.shape}", case)
        wrong = _values("gradient", f"its gradient by {path}: ", slope.astype(np.float64), value, allowed, case)
        if wrong is not None:
            given = np.array2string(cotangent, precision=6, separator=", ", threshold=20).replace("\n", "")
            return replace(wrong, sentence=f"{wrong.sentence} (the cotangent of the output is {given})")
    return None


def _values(kind: str, what: str, found: Any, expected: Any, allowed: Any, case: Case) -> Failure | None:
    """Return a failure at the worst entry, where one is not within its bound, or None."""
    known = np.isfinite(expected)
    lost = known & ~np.isfinite(found)
    if lost.any():
        where = tuple(map(int, np.argwhere(lost)[0]))
        sentence = f"{what}it returned {found[where]} at {list(where)}, where the layer gives {expected[where]:.6g}"
        return Failure("finite" if kind == "values" else kind, sentence, case)
    allowed = np.broadcast_to(np.where(np.isnan(allowed), np.inf, allowed), expected.shape)
    excess = np.where(known, np.abs(found - expected) - allowed, -np.inf)
    if excess.max(initial=-np.inf) <= 0:
        return None
    where = tuple(map(int, np.unravel_index(np.argmax(excess), excess.shape)))
    off, explained = abs(found[where] - expected[where]), allowed[where]
    sentence = (
        f"{what}it returned {found[where]:.6g} at {list(where)}, where the layer gives {expected[where]:.6g}: "
        f"off by {off:.2g}, of which rounding explains {explained:.1g}"
    )
    return Failure(kind, sentence, case)


def described(error: Exception) -> str:
    """Return an exception as words: its type, its text, and the line of the function under test that raised it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(OURS)]
    own = [frame for frame in frames if "site-packages" not in frame.filename]
    place = f" (line {own[-1].lineno} of {Path(own[-1].filename).name})" if own else ""
    return f"{type(error).__name__}: {str(error).strip() or 'no message'}{place}"
