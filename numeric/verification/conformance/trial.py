"""The test of a function against a layer: the cases one after another, and the report.

Result       `Conformance`: how many cases agreed, whether gradients were compared, and the smallest failing case
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from derivations.language.arrays.functions import RowSoftmax
from derivations.language.layers.layer import Layer
from derivations.language.printing.views import text
from derivations.symbols import i, j
from numeric.runtime.checks import InputError
from numeric.verification.conformance.cases import EXTREMES, Scope, cases
from numeric.verification.conformance.drawing import Case, draw, leaves
from numeric.verification.conformance.frameworks import FRAMEWORKS, Framework, framework_of
from numeric.verification.conformance.repetition import repeated
from numeric.verification.conformance.shrinking import shrunk
from numeric.verification.conformance.verdict import FLOATS, Failure, verdict

__all__ = ["Conformance", "conformance"]

SHOWN = 60  # most entries of an argument that are printed
LAYOUTS = {
    "columns first": "The matrices lie in memory column by column.",
    "spread": "The arrays are every second entry of larger arrays.",
    "reversed": "The arrays lie in memory from the last entry to the first.",
    "read-only": "The arrays are read-only.",
}
BATCH = "It is right here without batch axes: count axes from the end (.mT for .T, axis=-1), or say batch=False."
LARGE = "The numbers are large: subtract the largest entry before exp, which leaves the softmax as it is."
HIDDEN = "A row of the mask has no visible key; fully_masked_rows=False leaves such cases out."


@dataclass(frozen=True)
class Conformance:
    """The outcome: the layer's name, the number of cases that agreed, whether gradients were compared, a failure."""

    name: str
    framework: str
    cases: int
    gradients: bool
    failure: Failure | None = None

    def __str__(self) -> str:
        """Return one line where all cases agree, else the smallest failing case and the formula."""
        if self.failure is not None:
            return "\n".join(_lines(self.name, self.failure, FRAMEWORKS[self.framework]))
        what = "values and gradients" if self.gradients else "values"
        return f"{self.name}: {what} agree in {self.cases} case{'s' * (self.cases != 1)} ({self.framework})"


def conformance(
    function: Callable[..., Any],
    layer: Layer,
    name: str = "",
    *,
    call: Callable[..., Any] | None = None,
    arrays: str | None = None,
    gradients: bool = True,
    dtypes: Sequence[str] = FLOATS,
    batch: bool = True,
    fully_masked_rows: bool = True,
    seed: int = 0,
    given: Mapping[str, Any] | None = None,
) -> Conformance:
    """Test a function against a layer up to the first failure, which is then reduced to a small case.

    Raises       InputError for an unknown framework, number type, size or scalar
    """
    framework, chosen = _framework(function, arrays), _number_types(dtypes)
    sizes, scalars = _given(layer, given or {})
    layouts = tuple(framework.layouts)
    scope = Scope(sizes, chosen, batch, fully_masked_rows, seed, scalars, layouts, framework.shapes)

    def adapted(*arguments: Any) -> Any:
        return function(*arguments) if call is None else call(function, *arguments)

    trial = _Trial(adapted, framework, gradients, frozenset(sizes))
    failure = trial.run(cases(layer, scope))
    compared = failure is None and gradients and framework.differentiable and trial.differentiated
    return Conformance(name or layer.name, framework.name, trial.count, compared, failure)


@dataclass
class _Trial:
    """A function, the way to call it, and the findings so far."""

    call: Callable[..., Any]
    framework: Framework
    gradients: bool
    pinned: frozenset[str]
    count: int = 0
    differentiated: bool = False
    first: Case | None = None

    def run(self, some: Iterable[Case]) -> Failure | None:
        """Return the first failure, made small, or None; the first case is repeated with other numbers."""
        for case in some:
            failure = verdict(self.call, case, self.framework, self.gradients)
            if failure is None and self.first is None:
                self.first, failure = case, repeated(self.call, case, self.framework, self.pinned)
            if failure is None:
                self.count += 1
                self.differentiated |= any(each.dtype.kind == "f" for each in leaves(case.arguments).values())
            elif failure.kind != "declined":
                return self._forgotten(failure) or self._shrunk(failure)
        return None

    def _forgotten(self, failure: Failure) -> Failure | None:
        """Return a failure where the first case, which passed before, fails now, or None."""
        if self.first is None or failure.kind in ("state", "kept", "overwritten", "gradient"):
            return None
        again = verdict(self.call, self.first, self.framework, False)
        if again is None:
            return None
        told = (
            f"{again.sentence}, after {self.count} other calls; before them the same call was right: it keeps something"
        )
        return replace(again, kind="state", sentence=told)

    def _shrunk(self, failure: Failure) -> Failure:
        gradients = self.gradients and failure.kind in ("gradient", "raised")  # other failures show without gradients

        def again(case: Case) -> Failure | None:
            if failure.kind in ("state", "kept"):
                return repeated(self.call, case, self.framework, self.pinned)
            return verdict(self.call, case, self.framework, gradients)

        smallest = shrunk(failure, again, self.pinned, self.framework.shapes)
        return replace(smallest, batch_alone=self._right_without_batch_axes(smallest))

    def _right_without_batch_axes(self, failure: Failure) -> bool:
        """Return whether a case passed before, and the failing one passes once its batch axes are left out."""
        plan = failure.case.plan
        if not plan.batch or self.first is None or failure.then is not None:
            return False
        alike = draw(failure.case.layer, replace(plan, batch=()))
        return verdict(self.call, alike, self.framework, self.gradients) is None


def _framework(function: Any, name: str | None) -> Framework:
    chosen = framework_of(function) if name is None else name
    if chosen not in FRAMEWORKS:
        raise InputError(f"there are no arrays called {chosen!r}; choose one of {', '.join(FRAMEWORKS)}")
    return FRAMEWORKS[chosen]


def _number_types(dtypes: Sequence[str]) -> tuple[str, ...]:
    named = (dtypes,) if isinstance(dtypes, str) else tuple(dtypes)
    unknown = [dtype for dtype in named if dtype not in FLOATS]
    if unknown or not named:
        raise InputError(f"the number types are {' and '.join(FLOATS)}, not {unknown or 'none'}")
    return named


def _given(layer: Layer, given: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, float]]:
    """Return the keyword arguments as sizes and scalars of the layer."""
    scalars = {symbol.name for symbol in layer.scalars}
    known = [*(symbol.name for symbol in layer.sizes), *sorted(scalars)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(f"{layer.name} has no {unknown[0]}; its sizes and scalars are {', '.join(known)}")
    values = {name: value for name, value in given.items() if name in scalars}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise InputError(f"{layer.name}: the scalar {name} must be a positive number, not {value!r}")
    return {name: value for name, value in given.items() if name not in scalars}, values


def _lines(name: str, failure: Failure, framework: Framework) -> list[str]:
    """Return the report: the failure, the smallest case, the formula."""
    case, plan = failure.case, failure.case.plan
    sizes = ", ".join(f"{name} = {size}" for name, size in plan.sizes.items())
    batch = f"; batch axes {plan.batch}" if plan.batch else ""
    lines = [f"the function is not {name}: {failure.sentence}."]
    if failure.batch_alone:
        lines.append(BATCH)
    elif failure.kind in ("raised", "type") and framework.name == "numpy":
        lines.append('It was given NumPy arrays; for a function of other arrays say arrays="torch" or arrays="jax".')
    lines.append(f"Smallest failing case found ({sizes}; {plan.dtype}{batch}):")
    lines += _arguments(case)
    if failure.then is not None:
        lines += ["    and then, in the same arrays,", *_arguments(failure.then)]
    if plan.layout in LAYOUTS:
        lines.append(LAYOUTS[plan.layout])
    if plan.kind in ("hidden", "none visible"):
        lines.append(HIDDEN)
    lines.append(f"It is called as {_signature(case)}, and the layer is")
    lines += [row for row in case.layer.text().splitlines()[1:] if row.strip()]
    entries = list(_softmax_entries(case.layer))
    return lines + entries + [LARGE] * bool(entries and plan.kind in EXTREMES and failure.kind == "finite")


def _arguments(case: Case) -> list[str]:
    arrays = [f"    {path} = {_shown(each)}" for path, each in leaves(case.arguments).items()]
    numbers = [(name, value) for name, value in case.arguments.items() if isinstance(value, int | float)]
    return arrays + [f"    {name} = {value}" for name, value in numbers]


def _softmax_entries(layer: Layer) -> Iterator[str]:
    """Yield each softmax of a layer entry by entry, which shows its axis and its keys."""
    for equation in layer.equations:
        if isinstance(equation.value, RowSoftmax) and equation.over is None:
            places = (i, j)[: len(equation.variable.shape)]
            yield f"Entry by entry: {text(equation.variable[places])} = {text(equation.value.entry(*places))}."


def _signature(case: Case) -> str:
    return f"function({', '.join(case.arguments)})"


def _shown(array: Any) -> str:
    if array.size > SHOWN:
        return f"an array of shape {array.shape}, entries between {array.min():.3g} and {array.max():.3g}"
    return np.array2string(array, separator=", ", threshold=SHOWN + 1, max_line_width=10**6).replace("\n", "")
