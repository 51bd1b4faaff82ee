"""Proofs about code: a function is lifted, its equations are compared with runs of it, and the judge decides.

Definition   `prove(function, target)` decides whether a function is a layer, a result's layer or another function
Result       a `Verdict`. Levels: proved (real arithmetic, all sizes >= 1), with the readings and conditions that it
             rests on; refuted, with a run of the function itself; unknown; not followed, with the user's line
Assumes      nothing about rounding: a proof speaks of real numbers

Only the judge makes `proved`: a verdict of that level holds its evidence.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sympy import Expr, Gt, Indexed, Ne, Rational, Symbol, cosh, exp, sinh

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.functions import named
from derivations.language.arrays.shapes import same_size, shape_text
from derivations.language.judge.proof import StepEvidence, prove_equal
from derivations.language.layers.layer import Equation, Layer
from derivations.language.results.derivation import Assumption
from numeric.lifting.claims import is_proved, under_conditions
from numeric.lifting.differential import (
    DOMAINS,
    Run,
    assignments,
    compiled_value,
    disagreement,
    draw,
    run_function,
    satisfies,
)
from numeric.lifting.door import Door
from numeric.lifting.doors.choice import called_with, door_of, doors_of
from numeric.lifting.lift import Lifted, lifted_number, ways
from numeric.lifting.locating import first_difference
from numeric.lifting.reading.arguments import refuse_unknown_names, with_given_sizes, without_reading
from numeric.lifting.reading.binding import Binding
from numeric.lifting.reading.readings import bindings
from numeric.lifting.refusals import NotFollowed, line_of_error
from numeric.lifting.refutation import decimals_of, differing_elsewhere, meant_scalars, refutation, untold_scalars
from numeric.lifting.stacks import of_members
from numeric.lifting.verdict import Verdict
from numeric.verification.conformance import conformance

__all__ = ["Verdict", "by_tests", "checked_lift", "prove", "prove_same"]

_NARROW = 0.02  # against the largest entry, for arrays of float32

_PROVED: dict[tuple[type, Layer], int] = {}  # which reading was proved: for the next of its kind it is tried first


def prove(
    function: Callable[..., Any],
    target: Layer | Lifted,
    /,
    names: Mapping[str, str] | None = None,
    **shapes: Any,
) -> Verdict:
    """Return the verdict about a function and a layer. The default shapes are those of the layer's arrays.

    A function that uses several libraries is called with the arrays of the next one where those of one do not pass. A
    list of modules is the layer if each of them is.

    Raises       ShapeError for shapes that contradict one another, with the two arguments; ValueError for names that
                 the function or the layer lacks
    """
    members = door_of(function).members(function)
    if members:
        return of_members(name_of(function), [prove(each, target, names, **shapes) for each in members])
    return _of_doors(function, lambda: _by_bindings(function, target, names, shapes))


def _of_doors(function: Callable[..., Any], decide: Callable[[], Verdict]) -> Verdict:
    """Return the verdict with arrays of the first library whose arrays the function accepts."""
    first: Verdict | None = None
    for door in doors_of(function):
        with called_with(door), _uncollected():
            verdict = decide()
        if verdict.level != "not followed":
            return (
                verdict if first is None else replace(verdict, readings=(*verdict.readings, f"arrays of {door.name}"))
            )
        first = first or verdict
    assert first is not None
    return first


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause Python's cyclic garbage collector. It would traverse all objects of the libraries that the function uses.

    With PyTorch and a library of models in memory, that takes a third of the time of a proof.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _by_bindings(
    function: Callable[..., Any], target: Layer | Lifted, names: Mapping[str, str] | None, shapes: Mapping[str, Any]
) -> Verdict:
    """Return a proof under the first reading of the arguments that has one, else a refutation, else an open verdict."""
    name = name_of(function)
    layer = target.layer if isinstance(target, Lifted) else target
    refuse_unknown_names(function, layer, names or {})
    layer = with_given_sizes(function, layer, shapes, names)
    open_: list[tuple[Verdict, Binding]] = []
    kind = (type(function), layer)
    for number, binding in sorted(
        enumerate(bindings(function, layer, shapes, names)), key=lambda each: each[0] != _PROVED.get(kind)
    ):
        verdict = _by_binding(function, name, binding)
        if verdict.level == "proved":
            _PROVED[kind] = number
            if verdict.lifted is None or not verdict.lifted.narrowed:
                return verdict
            scalars = next(iter(meant_scalars(verdict.lifted, binding.layer)), {})
            return _held_elsewhere(verdict, partial(binding.value, scalars=scalars))
        near = () if verdict.lifted is None else verdict.lifted.near
        if near:
            generous = _by_binding(function, name, binding, generous=True)
            if generous.level == "proved":
                return replace(generous, level="equal up to a literal", literals=near)
        open_.append((verdict, binding))
    if not open_:
        return Verdict("not followed", name, layer.name, reason=without_reading(function, layer, shapes))
    open_.sort(key=lambda each: each[0].lifted is None)  # a function that was lifted can be told where it differs
    tried = (_with_refutation(function, verdict, binding) for verdict, binding in open_)
    refuted = next((each for each in tried if each.level == "refuted"), None)
    return refuted or next((each for each, _ in open_ if each.level == "unknown"), open_[0][0])


def _with_refutation(function: Callable[..., Any], verdict: Verdict, binding: Binding) -> Verdict:
    """Return a refutation if a run of the function differs from the layer, else the open verdict unchanged.

    Runs take longer than the judge, so that they come last: all readings of a function compute the same numbers.
    """
    wrong = refutation(verdict.lifted or binding.unlifted(function), binding)
    if wrong is None:
        return verdict
    if verdict.lifted is None:
        # the run may need sizes that are equal by chance: a product that fits at these alone has two sizes in general
        where = "" if verdict.raised else f"with symbolic sizes, {verdict.reason}"
    else:
        scalars = next(iter(meant_scalars(verdict.lifted, binding.layer)), {})
        shapes = _other_shape(verdict.lifted, binding.layer)
        where = shapes or first_difference(verdict.lifted, binding, scalars)
    return replace(verdict, level="refuted", counterexample=wrong, where=where)


def _other_shape(lifted: Lifted, layer: Layer) -> str:
    """Return a text with both result shapes if they differ for symbolic sizes, else an empty text."""
    found, wanted = lifted.layer.output.shape, layer.output.shape
    one, other = shape_text(found[max(len(found) - len(wanted), 0) :]), shape_text(wanted)  # without batch axes
    return "" if one == other else f"with symbolic sizes, the result has the shape {one}, and not {other}"


def _held_elsewhere(verdict: Verdict, value: Callable[[Run], Any]) -> Verdict:
    """Return a conditional proof unchanged, unless a run outside its conditions differs and refutes it."""
    assert verdict.lifted is not None
    wrong = differing_elsewhere(verdict.lifted, value)
    return verdict if wrong is None else replace(verdict, level="refuted", counterexample=wrong)


def prove_same(one: Callable[..., Any], other: Callable[..., Any] | Expr, /, **shapes: Any) -> Verdict:
    """Return the verdict about a function and another function, or a formula, with the same arguments."""
    if isinstance(other, Expr):
        return _prove_formula(one, other, shapes)
    name, target = map(name_of, (one, other))
    shared = {door.name for door in doors_of(one)} & {door.name for door in doors_of(other)}
    verdict = _of_doors(one, lambda: _of_one_library(one, other, shapes, shared)) if shared else None
    if verdict is not None and verdict.level != "not followed":
        return verdict
    second = _lifted_by_some_door(other, shapes, doors_of(other))
    if isinstance(second, str):
        return Verdict("not followed", name, target, reason=f"{target}{second}")
    verdict = _of_doors(one, lambda: _as_second(one, name, second))
    if not shared or verdict.lifted is None or verdict.lifted.door == second.door:
        return verdict
    mixed = f"arrays of {verdict.lifted.door.name} for {name}, and of {second.door.name} for {target}"
    return replace(verdict, readings=(*verdict.readings, mixed))


def checked_lift(function: Callable[..., Any], /, **shapes: Any) -> Lifted:
    """Return a function lifted to a layer, after its equations agreed with runs of the function.

    `prove` does the same before it asks the judge.

    Raises       NotFollowed, with the user's line, where it cannot be followed, or raises an error of its own
    """
    found = _lifted_by_some_door(function, shapes, doors_of(function))
    if isinstance(found, str):
        raise NotFollowed(f"{name_of(function)}{found}")
    return found


def _of_one_library(
    one: Callable[..., Any], other: Callable[..., Any], shapes: Mapping[str, Any], shared: Collection[str]
) -> Verdict:
    """Return the verdict about two functions with the arrays of one library.

    Methods such as `x.std()` compute different numbers in different libraries.
    """
    name, target, door = name_of(one), name_of(other), door_of(one)
    second = _lifted_by_some_door(other, shapes, [door]) if door.name in shared else f" takes no arrays of {door.name}"
    if isinstance(second, str):
        return Verdict("not followed", name, target, reason=f"{target}{second}")
    return _as_second(one, name, second)


def _lifted_by_some_door(
    function: Callable[..., Any], shapes: Mapping[str, Any], doors: Iterable[Door]
) -> Lifted | str:
    """Return a function lifted with the arrays of the first library that it accepts, or the reason why none worked."""
    reasons: list[str] = []
    for door in doors:
        try:
            with called_with(door):
                return _checked(next(ways(function, (), shapes)))
        except NotFollowed as refusal:
            reasons.append(f": {refusal}")
        except Exception as error:  # whatever the function raises
            line = line_of_error(error)
            reasons.append(f" raises {type(error).__name__}: {error}{f' ({line})' if line else ''}")
    return reasons[0]


def _as_second(one: Callable[..., Any], name: str, second: Lifted) -> Verdict:
    """Return the verdict about a function and a second function that is already lifted."""
    binding = Binding(second.layer, dict(second.arguments))
    verdict = _by_binding(one, name, binding, also=second)
    if verdict.level == "proved":
        narrowed = second.narrowed or (verdict.lifted is not None and verdict.lifted.narrowed)
        return _held_elsewhere(verdict, lambda run: run_function(second, run)) if narrowed else verdict
    near = () if verdict.lifted is None else (*verdict.lifted.near, *second.near)
    if near:
        again = _checked(next(ways(second.function, (), second.arguments, generous=True)))
        generous = _by_binding(one, name, Binding(again.layer, dict(again.arguments)), also=again, generous=True)
        if generous.level == "proved":
            return replace(generous, level="equal up to a literal", literals=tuple(dict.fromkeys(near)))
    return _with_refutation(one, verdict, binding)


def _prove_formula(function: Callable[..., Any], formula: Expr, shapes: Mapping[str, Any]) -> Verdict:
    """Return the verdict about a function and a formula of its arguments, elementwise for arrays or for numbers."""
    formula = formula.replace(cosh, lambda a: (exp(a) + exp(-a)) / 2).replace(sinh, lambda a: (exp(a) - exp(-a)) / 2)
    symbols = sorted(formula.free_symbols, key=str)
    declared = {s: s if s.is_real else Symbol(s.name, real=True) for s in symbols if isinstance(s, Symbol)}
    formula = formula.xreplace(declared)
    given = next((shape for shape in shapes.values() if isinstance(shape, tuple)), None)
    shape = given or (Symbol("n", integer=True, positive=True),)
    inputs = [Variable(s.name, shape) for s in declared.values()]
    entrywise = named("formula", formula, *declared.values())(*inputs)
    output = Variable("result", shape)
    layer = Layer(str(formula), inputs, (), [Equation(output, entrywise)], output)
    verdict = prove(function, layer, None, **shapes)
    if verdict.level != "not followed":
        return verdict
    try:
        return _with_numbers(function, formula)
    except Exception:  # it takes no numbers
        return verdict


def _with_numbers(function: Callable[..., Any], formula: Expr) -> Verdict:
    """Return the verdict about a function of single numbers, such as one that uses `math`."""
    name, target = name_of(function), str(formula)
    by_name = {s.name: s for s in formula.free_symbols if isinstance(s, Symbol)}
    try:
        own, readings = lifted_number(function, by_name)
    except NotFollowed as refusal:
        return Verdict("not followed", name, target, reason=str(refusal))
    evidence = prove_equal(own, formula)
    if evidence.level == "proved":
        return Verdict("proved", name, target, (evidence,), readings)
    gap = evidence.counterexample
    reason = f"as {own}: {gap}" if gap is not None else evidence.reason
    return Verdict("refuted" if gap is not None else "unknown", name, target, (evidence,), readings, reason=reason)


def by_tests(function: Callable[..., Any], layer: Layer, verdict: Verdict) -> Verdict:
    """Return a verdict of the level "tested" from random tests, for a function without a proof."""
    found = conformance(function, layer, layer.name)
    if found.failure is not None:
        raise AssertionError(str(found))
    reason = f"not proved: {verdict.reason}; {found}"
    return Verdict("tested", verdict.function, verdict.target, reason=reason, lifted=verdict.lifted)


def name_of(function: Any) -> str:
    """Return the name of a function, or of the class of a module."""
    return str(getattr(function, "__name__", type(function).__name__))


def _by_binding(
    function: Callable[..., Any], name: str, binding: Binding, also: Lifted | None = None, generous: bool = False
) -> Verdict:
    """Return the verdict for one way to pass the layer's arrays to the function: proved, unknown or not followed."""
    verdicts: list[Verdict] = []
    layer = binding.layer
    try:
        reserved = {v.name for v in (*layer.inputs, *layer.parameters)}
        known, weights, fixed = binding.known, binding.weights, binding.fixed
        for lifted in ways(function, (), binding.arguments, known, weights, fixed, reserved, generous):
            lifted = _checked(lifted)
            verdicts.append(_decided(lifted, name, binding, also))
            if verdicts[0].level != "proved":
                break
    except NotFollowed as refusal:
        if not verdicts:
            return Verdict("not followed", name, layer.name, reason=str(refusal), readings=binding.readings)
    except Exception as error:  # whatever the function raises
        if not verdicts:
            line = line_of_error(error)
            reason = f"it raises {type(error).__name__}: {error}{f' ({line})' if line else ''}"
            return Verdict("not followed", name, layer.name, reason=reason, readings=binding.readings, raised=True)
    first = verdicts[0]
    complete = sum(Fraction(1, 2 ** len(v.assumed)) for v in verdicts) == 1  # the leaves of a whole tree of answers
    if first.level == "proved" and complete and all(v.level == "proved" for v in verdicts):
        return _with(first, verdicts)
    return first


def _with(first: Verdict, verdicts: Sequence[Verdict]) -> Verdict:
    """Return one verdict for all branches of a function, without the size comparisons that separate them."""
    return replace(
        first,
        evidence=tuple(e for v in verdicts for e in v.evidence),
        readings=tuple(dict.fromkeys(r for v in verdicts for r in v.readings)),
        conditions=tuple(dict.fromkeys(c for v in verdicts for c in v.conditions)),
        provided=tuple(dict.fromkeys(c for v in verdicts for c in v.provided)),
        assumed=(),
    )


def _checked(lifted: Lifted) -> Lifted:
    """Return a lifted function whose equations agree with runs of it. Raise `NotFollowed` where they differ.

    Where the function raises for some real numbers and for none of a narrower domain, that is a reading.
    """
    runs = valued = 0
    raised: Exception | None = None
    for domain in DOMAINS:  # a logarithm may want positive numbers
        failed: Exception | None = None
        for number, sizes in enumerate(assignments(lifted)):
            wide = 3.0 if number % 2 else 1.0  # wider ones show what is cut off
            run = draw(lifted, sizes, seed=number, scale=wide, domain=domain)
            if not satisfies(lifted, run):
                continue
            try:
                value = run_function(lifted, run)
            except Exception as error:  # the function may check what it is given
                failed = error
                continue
            found = disagreement(value, compiled_value(lifted.layer, run), run, lifted.rounded)
            if found is not None:
                raise NotFollowed(f"the equations are not what the function does: {found}")
            runs += 1
            last = run, value
            valued += bool(np.isfinite(value.astype(np.float64)).any()) or not value.size
        if valued and failed is None:
            break
        raised = failed or raised
    if failed is not None:
        raise failed
    if not runs:
        raise NotFollowed("no sizes were found that satisfy what was assumed, so the equations were not run")
    if not valued:
        raise NotFollowed("the function has no value for random numbers, so the equations were not compared")
    _check_narrow(lifted, *last)
    if raised is None:
        return lifted
    told = f"the arguments as {domain}: for some others the function raises {type(raised).__name__}"
    return replace(lifted, readings=(*lifted.readings, told))


def _check_narrow(lifted: Lifted, run: Run, value: Any) -> None:
    """Run the function with float32 arrays. Raise `NotFollowed` where it computes different values for them."""
    arrays = {
        name: array.astype(np.float32) if array.dtype.kind == "f" else array for name, array in run.arrays.items()
    }
    try:
        narrow = run_function(lifted, replace(run, arrays=arrays)).astype(np.float64)
    except Exception:  # the function wants others
        return
    known = np.isfinite(narrow) & np.isfinite(value)
    if narrow.shape != value.shape or np.any(
        np.abs(narrow - value)[known] > _NARROW * max(1.0, np.abs(value[known]).max(initial=0))
    ):
        raise NotFollowed("with arrays of float32 the function gives other numbers")


def _decided(lifted: Lifted, name: str, binding: Binding, also: Lifted | None) -> Verdict:
    """Return the verdict about one lifted function."""
    layer = binding.layer
    base: dict[str, Any] = {
        "function": name,
        "target": layer.name,
        "readings": (*lifted.readings, *(also.readings if also else ()), *binding.readings),
        "conditions": tuple(dict.fromkeys((*lifted.conditions, *(also.conditions if also else ())))),
        "assumed": lifted.assumed,
        "lifted": lifted,
        "arrays": tuple(map(str, binding.equations)),
    }
    left, right = lifted.layer.output, layer.output
    inner = left.shape[len(binding.batch) :]
    if len(inner) != len(right.shape) or not all(map(same_size, inner, right.shape)):
        reason = f"its result has shape {shape_text(left.shape)}, that of {layer.name} {shape_text(right.shape)}"
        return Verdict("unknown", **base, reason=reason)
    evidence: tuple[StepEvidence, ...] | None = None
    stated = replace(lifted, conditions=tuple(dict.fromkeys((*lifted.conditions, *_of_arguments(also)))))
    for scalars, reading in _scalar_values(lifted, layer):
        tried, added = under_conditions(stated, binding, scalars, also is None)
        evidence = evidence or tried  # the first reading that a run does not contradict is the likeliest
        if is_proved(tried):
            base["readings"] = (*base["readings"], *reading)
            base["conditions"] = (*base["conditions"], *(each for each in added if not _is_of_sizes(each)))
            provided = tuple(each.statement for each in added if _is_of_sizes(each))
            return Verdict("proved", **base, evidence=tried, provided=provided)
    reason = next((e.reason for e in evidence or () if e.level != "proved"), "its equations give other numbers")
    return Verdict("unknown", **base, reason=reason)


def _of_arguments(also: Lifted | None) -> tuple[Assumption, ...]:
    """Return the conditions of the other function that involve only arguments, which both functions name alike."""
    if also is None:
        return ()
    names = {variable.name for variable in also.layer.inputs}
    return tuple(
        each for each in also.conditions if {entry.base.label.name for entry in each.statement.atoms(Indexed)} <= names
    )


def _is_of_sizes(added: Assumption) -> bool:
    positive = isinstance(added.statement, Gt) and not added.text
    return not added.ranges and (positive or isinstance(added.statement, Ne))


def _scalar_values(lifted: Lifted, layer: Layer) -> Iterator[tuple[dict[Symbol, Expr], tuple[str, ...]]]:
    """Yield values for the scalars of a layer that are no arguments of the function, such as numbers in its code."""
    free = untold_scalars(lifted, layer)
    if not free:
        yield {}, ()
        return
    if len(free) == 1:
        for value in dict.fromkeys((*lifted.literals, *decimals_of(lifted.function))):
            if value.is_positive or not free[0].is_positive:
                yield {free[0]: value}, (f"{free[0]} = {float(value):g}",)
    yield {}, ()
    if len(free) == 1 and not free[0].is_nonzero:
        yield {free[0]: Rational(0)}, (f"{free[0]} = 0",)
