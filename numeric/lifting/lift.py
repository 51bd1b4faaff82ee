"""Lifting: an ordinary function over arrays becomes a layer, whose equations are the function's own steps.

Definition   the function is called once with symbolic arrays; each operation that it does is an equation
Assumes      what `Lifted` lists: relations between sizes that the function compared, how numbers were read, and
             conditions such as "every row has an entry that is not minus infinity"
Raises       NotFollowed, with the user's line, where an operation has no equation
"""

from __future__ import annotations

import inspect
import keyword
import random
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sympy import Eq, Expr, Ge, Gt, Integer, Le, Mul, Ne, Sum, Symbol
from sympy.core.relational import Relational

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.contraction import Contraction
from derivations.language.arrays.expression import Array, Scaled, Variable
from derivations.language.arrays.functions import Elementwise
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation, Layer
from derivations.language.layers.names import fresh_name
from derivations.language.layers.names import variables_in as variables_of
from derivations.language.results.derivation import Assumption
from numeric.lifting.computed import Computed
from numeric.lifting.display import beside_source
from numeric.lifting.door import Door, called
from numeric.lifting.doors.choice import NUMPY, door_of
from numeric.lifting.doors.numpy_factories import FACTORIES
from numeric.lifting.doors.scipy_special import scipy_functions
from numeric.lifting.held_state import state_of
from numeric.lifting.numbers import Scalar, Size, as_number, is_number, patched_math
from numeric.lifting.operations import with_blocks
from numeric.lifting.refusals import NotFollowed, is_users, kept, refuse
from numeric.lifting.tensor import Tensor, made, taking_sizes
from numeric.lifting.trace import Trace, tracing

__all__ = ["Lifted", "lift", "lifted_number", "shows_an_entry", "solved", "variables_in", "ways"]

_WAYS = 8  # answers to comparisons of sizes that are tried


@dataclass(frozen=True)
class Lifted:
    """A function as a layer, with everything that was assumed on the way."""

    function: Callable[..., Any]
    layer: Layer
    arguments: Mapping[str, Any]  # what each parameter of the function was called with: variables, scalars, constants
    assumed: tuple[Relational, ...] = ()
    readings: tuple[str, ...] = ()
    conditions: tuple[Assumption, ...] = ()
    literals: tuple[Expr, ...] = ()
    door: Door = NUMPY
    weights: Mapping[str, Variable] = field(default_factory=dict)  # of a module, by their paths
    known: Mapping[int, Expr] = field(default_factory=dict)  # numbers of a module that stand for sizes
    fixed: Mapping[Symbol, int] = field(default_factory=dict)  # sizes that the module was made with
    visible: tuple[Variable, ...] = ()  # masks of which every row must show an entry
    guarded: tuple[tuple[Variable, bool], ...] = ()  # masks that must be set everywhere, or nowhere
    near: tuple[str, ...] = ()  # decimals that are close to a known constant
    recognised: tuple[str, ...] = ()  # arrays that are written as a named function, by proof
    rounded: bool = False  # whether the function casts to a number type of fewer digits
    narrowed: bool = False  # its equations hold only under conditions that the function itself does not need
    lines: Mapping[Array, str] = field(default_factory=dict, compare=False, repr=False)  # of the user, by array

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the layer, such as latex(), markdown() or equations."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.layer, name)

    @property
    def notes(self) -> list[str]:
        """What was assumed, in words: relations between sizes, readings, conditions."""
        return [
            *(f"if {relation}" for relation in self.assumed),
            *(f"reading {reading}" for reading in self.readings),
            *(f"writing {each}, which is proved" for each in self.recognised),
            *(f"where {condition.text}" for condition in self.conditions),
        ]

    def __str__(self) -> str:
        """Return the equations, and below them what was assumed."""
        return "\n".join([self.layer.text(), *self.notes])

    def _repr_markdown_(self) -> str:
        return self.layer._repr_markdown_()

    def _repr_html_(self) -> str | None:
        return beside_source(self.function, self.layer.latex(), self.notes)


def lift(
    function: Callable[..., Any], /, *shapes: Any, sizes: Mapping[Symbol, int] | None = None, **named_shapes: Any
) -> Lifted:
    """Return a function as a layer: `lift(attention, Q=(n, d_k), K=(m, d_k), V=(m, d_v))`.

    `sizes` tells which numbers of a module stand for which sizes:
    `lift(nn.Linear(5, 7), x=(n, d), sizes={d: 5, m: 7})`.

    A shape is a tuple of sizes, symbols or integers; an argument may also be an array variable
    (`mask_array("M", n, m)`), a symbol for a scalar, or a constant, which is passed as it is. Where the function
    compares sizes, the answer for general sizes is taken, and the relation is listed in `assumed`.
    """
    known = {number: size for size, number in (sizes or {}).items()}
    return next(ways(function, shapes, named_shapes, known=known))


def lifted_number(function: Callable[..., Any], symbols: Mapping[str, Symbol]) -> tuple[Expr, tuple[str, ...]]:
    """Return what a function of numbers computes, as a formula in the symbols of its parameters' names."""
    trace = Trace()
    parameters = inspect.signature(function).parameters
    given = {name: symbols.get(name, Symbol(name, real=True)) for name, p in parameters.items() if p.default is p.empty}
    with tracing(trace), patched_math(*_spaces(function)):
        result = called(function, {name: symbolic(symbol) for name, symbol in given.items()})
        if not is_number(result):
            raise refuse(f"the function returns {type(result).__name__}, not a number")
        return as_number(result), tuple(trace.readings)


def ways(
    function: Callable[..., Any],
    shapes: Sequence[Any],
    named_shapes: Mapping[str, Any],
    known: Mapping[int, Expr] | None = None,
    weights: Mapping[str, Variable] | None = None,
    fixed: Mapping[Symbol, int] | None = None,
    reserved: Collection[str] = (),
    generous: bool = False,
) -> Iterator[Lifted]:
    """Yield the function as a layer for each outcome of its comparisons of sizes, the one for general sizes first.

    `reserved` are names that no equation gets: those of the layer that the function is compared with. With `generous`
    a decimal close to a known constant is read as the constant.
    """
    door, known = door_of(function), dict(known or {})
    arguments = _bound(door.called(function), shapes, named_shapes)
    if weights is None:
        weights = {name: Variable(name, _shape(shape, known)) for name, shape in door.weights(function).items()}
    waiting: list[tuple[bool, ...]] = [()]
    done = 0
    while waiting and done < _WAYS:
        answers = waiting.pop(0)
        drawn = _drawn()
        trace, second = (
            Trace(answers, known_sizes=known, reserved=frozenset(reserved), generous=generous) for _ in range(2)
        )
        output = _run(function, arguments, weights, trace)
        before = state_of(function)  # the first call may fill what the others read
        again = _run(function, arguments, weights, second)
        after = state_of(function)
        if _drawn() != drawn:
            raise NotFollowed("the function draws random numbers")
        if (again, second.equations, second.guarded, second.visible) != (
            *(output, trace.equations, trace.guarded, trace.visible),
        ):
            raise NotFollowed("the function computes something else when it is called again")
        if after != before:
            changed = next(name for name in {**before, **after} if before.get(name) != after.get(name))
            raise NotFollowed(f"the function changes {changed} at each call")
        lifted = _lifted(function, arguments, weights, trace, output)
        yield replace(lifted, fixed={**trace.made_with, **(solved(known) if fixed is None else fixed)})
        done += 1
        taken = [each.answer for each in trace.decisions]
        waiting += [(*taken[:place], not taken[place]) for place in range(len(answers), len(taken))]
    if waiting:
        raise NotFollowed(f"more than {_WAYS} outcomes of comparisons of sizes")


def _drawn() -> tuple[Any, ...]:
    """Return the states of the random number generators of Python and NumPy, which change when a number is drawn."""
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, np.asarray(keys).tobytes(), *rest


def solved(known: Mapping[int, Expr]) -> dict[Symbol, int]:
    """Return the values of the size symbols that the numbers of a module fix."""
    found = {size: number for number, size in known.items() if isinstance(size, Symbol)}
    for number, size in known.items():
        rest = size.xreplace({symbol: Integer(value) for symbol, value in found.items()})
        left = rest.free_symbols
        if len(left) == 1:
            (symbol,) = left
            found[symbol] = int(number / rest.coeff(symbol))
    return found


def _shape(shape: Sequence[int], known: Mapping[int, Expr]) -> tuple[Expr, ...]:
    """Return the shape of a weight, with the sizes that its numbers stand for."""
    return tuple(known.get(size, Integer(size)) for size in shape)


def _bound(function: Callable[..., Any], shapes: Sequence[Any], named_shapes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each parameter of a function is called with, by name."""
    named_shapes = dict(named_shapes)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return {f"x{number}": _argument(f"x{number}", each) for number, each in enumerate(shapes)} | {
            name: _argument(name, each) for name, each in named_shapes.items()
        }
    for parameter in signature.parameters.values():  # what takes no name is given in order
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY and parameter.name in named_shapes:
            shapes = (*shapes, named_shapes.pop(parameter.name))
    try:
        bound = signature.bind(*shapes, **named_shapes)
    except TypeError as error:
        shapes_by_name = ", ".join(f"{name}=(n, d)" for name in signature.parameters)
        raise TypeError(f"{error}; its arguments are given as shapes, by name: {shapes_by_name}") from None
    found: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            found |= {f"{name}_{number}": _argument(f"{name}_{number}", each) for number, each in enumerate(value)}
        elif kind is inspect.Parameter.VAR_KEYWORD:
            found |= {key: _argument(key, each) for key, each in value.items()}
        else:
            found[name] = _argument(name, value)
    return found


def _argument(name: str, given: Any) -> Any:
    """Return an argument: a shape becomes a variable, lists and dicts of shapes are kept in their form."""
    if isinstance(given, tuple) and all(isinstance(each, int | Expr) and not isinstance(each, bool) for each in given):
        return Variable(name, given)
    if isinstance(given, Mapping):
        return {key: _argument(f"{name}.{key}", each) for key, each in given.items()}
    if isinstance(given, list):
        return [_argument(f"{name}.{number}", each) for number, each in enumerate(given)]
    return given


def variables_in(given: Any) -> Iterator[Variable]:
    """Yield the variables in nested arguments."""
    if isinstance(given, Variable):
        yield given
    elif isinstance(given, Computed):
        yield from given.variables
    elif isinstance(given, Mapping):
        for each in given.values():
            yield from variables_in(each)
    elif isinstance(given, list):
        for each in given:
            yield from variables_in(each)


def symbolic(given: Any) -> Any:
    """Return what the function is called with: symbolic arrays, sizes and scalars."""
    if isinstance(given, Variable):
        array = made(given)
        array.is_argument = True
        return array
    if isinstance(given, Computed):
        return given.symbolic()
    if isinstance(given, Expr):
        return Size(given) if given.is_integer and given.is_positive else Scalar(given)
    if isinstance(given, Mapping):
        return {key: symbolic(each) for key, each in given.items()}
    if isinstance(given, list):
        return [symbolic(each) for each in given]
    return given


def _run(
    function: Callable[..., Any], arguments: Mapping[str, Any], weights: Mapping[str, Variable], trace: Trace
) -> Array:
    """Call a function with symbolic arrays while the trace collects its equations; return the array that it returns."""
    door = door_of(function)
    trace.arrays = door.arrays()
    trace.taken = frozenset(v.name for value in (*arguments.values(), *weights.values()) for v in variables_in(value))
    with ExitStack() as stack:
        stack.enter_context(tracing(trace))
        stack.callback(kept.reset, kept.set([]))
        stack.enter_context(patched_math(*_spaces(function), own=dict(scipy_functions())))
        stack.enter_context(_patched_factories())
        given = {name: symbolic(value) for name, value in arguments.items()}
        held = {name: symbolic(variable) for name, variable in weights.items()}
        stack.enter_context(_naming(trace))
        result = door.trace(function, given, held, trace.known_sizes)
        if kept.get():  # the function caught a refusal
            raise kept.get()[0]
        return _returned(result, trace)


def _returned(result: Any, trace: Trace) -> Array:
    """Return the first array among the results of a function."""
    if isinstance(result, tuple | list):
        arrays = [each for each in result if isinstance(each, Tensor)]
        if len(result) > 1:
            trace.read(f"the first of {len(result)} results")
        result = arrays[0] if arrays else None
    if not isinstance(result, Tensor):
        raise NotFollowed(f"the function returns {type(result).__name__}, not a symbolic array")
    output = with_blocks(result)
    if output not in trace.equations:  # an argument is returned as it is
        output = trace.define(Scaled(Integer(1), output))
    if result.alive is not None:
        raise NotFollowed("minus infinity may stand in the result")
    if trace.rounded:
        trace.read("casts between types of real numbers as no change")
    return output


def _lifted(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    weights: Mapping[str, Variable],
    trace: Trace,
    output: Array,
) -> Lifted:
    """Return what was lifted: the equations of a trace as a layer, with what was assumed on the way."""
    inputs = tuple(dict.fromkeys(v for value in arguments.values() for v in variables_in(value)))
    used = {v for value in trace.equations.values() for v in value.atoms(Variable)}
    parameters = tuple(variable for variable in weights.values() if variable in used)
    name = getattr(function, "__name__", type(function).__name__)
    layer, renamed = _layer(name, inputs, parameters, trace, output, trace.names)
    return Lifted(
        function,
        layer,
        dict(arguments),
        trace.assumed,
        tuple(trace.readings),
        (
            *(shows_an_entry(renamed.get(mask, mask)) for mask in trace.visible),
            *(
                condition
                for numbers, size in trace.chosen
                for condition in _in_range(renamed.get(numbers, numbers), size)
            ),
            *(_as_guarded(renamed.get(mask, mask), layer, answer) for mask, answer in trace.guarded),
        ),
        tuple(dict.fromkeys(trace.literals)),
        door_of(function),
        dict(weights),
        dict(trace.known_sizes),
        visible=tuple(v for v in (renamed.get(mask, mask) for mask in trace.visible) if isinstance(v, Variable)),
        guarded=tuple((renamed[mask], answer) for mask, answer in trace.guarded),
        near=tuple(trace.near),
        rounded=trace.rounded,
        narrowed=trace.narrowed,
        lines={renamed[variable]: line for variable, line in trace.lines.items() if variable in renamed},
    )


def shows_an_entry(mask: Array) -> Assumption:
    """Return the assumption that every row of a mask shows an entry."""
    indices = tuple(Symbol(f"row_{number}", integer=True) for number in range(len(mask.shape) - 1))
    last = Symbol("seen", integer=True)
    shown = Sum(mask[(*indices, last)], (last, 0, total(mask.shape[-1]) - 1))
    ranges = dict(zip(indices, map(total, mask.shape), strict=False))
    return Assumption(Gt(shown, 0), ranges, f"every row of {mask} shows an entry")


def _in_range(numbers: Array, size: Expr) -> Iterator[Assumption]:
    """Yield the assumptions that the entries of an array of indices lie between 0 and size - 1."""
    indices = tuple(Symbol(f"row_{number}", integer=True) for number in range(len(numbers.shape)))
    for gap in (numbers[indices], size - 1 - numbers[indices]):
        text = f"{numbers} counts the rows of a table from 0 to {size - 1}"
        yield Assumption(Ge(gap, 0), dict(zip(indices, map(total, numbers.shape), strict=True)), text)


def _as_guarded(mask: Array, layer: Layer, answer: bool) -> Assumption:
    """Return the assumption that a mask is set everywhere, or nowhere: its defining relation or the opposite."""
    indices = tuple(Symbol(f"row_{number}", integer=True) for number in range(len(mask.shape)))
    ranges = dict(zip(indices, map(total, mask.shape), strict=True))
    value = next((equation.value for equation in layer.equations if equation.variable == mask), mask)
    relation: Any = Ne(mask[indices], 0) if answer else Eq(mask[indices], 0)
    held = _held_by(value.args[0].formula.expr) if isinstance(value, Elementwise) else None
    if held is not None:
        held = held if answer else held.negated
        put = dict(zip(value.args[0].formula.variables, (each[indices] for each in value.args[1:]), strict=True))
        relation = held.func(*(side.xreplace(put) for side in held.args), evaluate=False)
    return Assumption(relation, ranges, str(relation))


def _held_by(formula: Expr) -> Relational | None:
    """Return the relation for which a formula is 1, and else 0; None if there is none.

    Equality is recognised as the product of >= and <=.
    """
    relations = [each.args[0] for each in Mul.make_args(formula) if isinstance(each, Iverson)]
    if len(relations) == 1 and isinstance(formula, Iverson):
        return relations[0] if isinstance(relations[0], Relational) else None
    if len(relations) == len(formula.args) == 2 and {r.func for r in relations} == {Ge, Le}:
        return Eq(*relations[0].args, evaluate=False)
    opposite = _held_by(1 - formula) if isinstance(1 - formula, Mul) and not isinstance(formula, Mul) else None
    return None if opposite is None else opposite.negated


def _spaces(function: Callable[..., Any]) -> list[dict[str, Any]]:
    """Return the namespace in which a function finds its globals."""
    inside = inspect.unwrap(function) if callable(function) else function
    space = getattr(inside, "__globals__", None) or vars(sys.modules.get(type(inside).__module__, sys))
    return [space] if space is not vars(sys) else []


@contextmanager
def _patched_factories() -> Iterator[None]:
    """Let NumPy's functions that create arrays take symbolic sizes, because NumPy does not dispatch them on sizes."""
    before = {name: getattr(np, name) for name in FACTORIES}

    try:
        for name in FACTORIES:
            setattr(np, name, taking_sizes(before[name], FACTORIES[name]))
        yield
    finally:
        for name, value in before.items():
            setattr(np, name, value)


@contextmanager
def _naming(trace: Trace) -> Iterator[None]:
    """Note the local variables that hold symbolic arrays: their names are the names of the equations."""

    def note(frame: Any) -> None:
        for name, value in frame.f_locals.items():
            if not name.isidentifier():
                continue
            if not isinstance(value, Tensor):
                trace.locals(name, value)
            elif not (value.is_empty or value.is_unwritten) and isinstance(value.node, Variable):
                trace.names.setdefault(value.node, name)

    def inside(frame: Any, event: str, argument: Any) -> Any:
        if event in ("line", "return"):
            note(frame)
        return inside

    def entered(frame: Any, event: str, argument: Any) -> Any:
        return inside if is_users(frame.f_code.co_filename) else None

    before = sys.gettrace()
    if before is not None:  # a debugger or a coverage measurement is at work: equations keep plain names
        yield
        return
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(before)


# --- the layer ------------------------------------------------------------------------------------------------------


def _layer(
    name: str,
    inputs: Sequence[Variable],
    parameters: Sequence[Variable],
    trace: Trace,
    output: Array,
    names: Mapping[Variable, str],
) -> tuple[Layer, dict[Variable, Array]]:
    """Return the layer of a trace, with the new names of its arrays.

    Equations that nothing reads are dropped; a step without a name that is read once is put in where it is read.
    """
    equations = dict(trace.equations)
    needed, order = (
        set(),
        [v for v in (output, *trace.named_in_conditions) if isinstance(v, Variable)],
    )
    while order:
        variable = order.pop()
        if variable in needed or variable not in equations:
            continue
        needed.add(variable)
        order += _read_by(equations[variable])
    kept = {v: value for v, value in equations.items() if v in needed}
    uses: dict[Variable, int] = {}
    for value in kept.values():
        for variable in variables_of(value):
            uses[variable] = uses.get(variable, 0) + 1
    operands = {v for value in kept.values() if value.has(Contraction) for v in value.atoms(Variable)}  # stay names
    written: dict[Variable, Array] = {}
    renamed: dict[Variable, Array] = {}
    arrays = (*inputs, *parameters)
    taken = (
        {v.name for v in arrays}
        | trace.reserved
        | {s.name for v in arrays for s in v.free_symbols if isinstance(s, Symbol)}
    )
    for variable, value in kept.items():
        value = replace_free(value, {v: renamed[v] for v in value.atoms(Variable) & renamed.keys()})
        if (
            variable not in (output, *trace.named_in_conditions)
            and variable not in names
            and uses.get(variable) == 1
            and variable not in operands
        ):
            renamed[variable] = value
            continue
        new = Variable(
            fresh_name(names.get(variable, variable.name if variable != output else "y"), taken),
            value.shape,
            value.kind,
        )
        renamed[variable] = new
        written[new] = value
    final = renamed[output]
    whole = Layer(_identifier(name), inputs, parameters, [Equation(v, value) for v, value in written.items()], final)
    return whole, renamed


def _read_by(value: Array) -> list[Variable]:
    return sorted(value.atoms(Variable), key=lambda v: v.name)


def _identifier(name: str) -> str:
    cleaned = "".join(c if c.isalnum() or c == "_" else "_" for c in name).strip("_") or "function"
    return f"{cleaned}_" if keyword.iskeyword(cleaned) else cleaned
