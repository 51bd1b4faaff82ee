"""Functions over JAX arrays: traced to a jaxpr with symbolic dimensions, whose equations are then followed.

A primitive without a rule is refused by name, with the user's line that the jaxpr keeps. Functions inside functions
(`jit`, `custom_jvp`, `checkpoint`) are followed where they are called: JAX's own caches of traced functions are off, so
that every comparison of sizes is met in every trace.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import InconclusiveDimensionOperation, Literal, Var
from sympy import Expr, Symbol

from derivations.language.arrays.expression import Variable
from numeric.lifting import operations as op
from numeric.lifting.door import Door, called
from numeric.lifting.doors.jax_control import CONTROL
from numeric.lifting.doors.jax_places import STRUCTURAL
from numeric.lifting.doors.jax_rules import ENTRYWISE, literal
from numeric.lifting.doors.jax_sizes import Dimensions, replaced
from numeric.lifting.doors.jax_tables import Table, array_of, operand_of
from numeric.lifting.numbers import Scalar, Size
from numeric.lifting.refusals import (
    NotFollowed,
    asked_by_user,
    calls_function,
    is_users,
    line_of_error,
    line_text,
    refuse,
)
from numeric.lifting.tensor import Tensor
from numeric.lifting.trace import current

__all__ = ["JAX"]

_INSIDE = {  # primitives that call a function, with the parameter that holds it
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
}
_ORDER = "no equation says in which order the entries of an array stand: pass the order as an argument"
_CHOICE = "no equation says at which place the largest entry stands: pass the place as an argument"
_WITHOUT_FORMULA = {
    **dict.fromkeys(("sort", "top_k", "approx_top_k"), f"a sort: {_ORDER}"),
    **dict.fromkeys(("argmax", "argmin"), f"an argmax or argmin: {_CHOICE}"),
    **dict.fromkeys(("cummax", "cummin"), "a running maximum: it has a formula at each place, and none for all places"),
}
_WITHOUT_RESULT = ("debug_callback", "debug_print")
# Where JAX's own function has a name in the language, the formula that avoids overflow is not followed.
_WHOLE: dict[str, Callable[..., Any]] = {
    "logaddexp": lambda one, other: op.log_add_exp(operand_of(one), operand_of(other)),
    "logaddexp2": lambda one, other: op.log_add_exp_2(operand_of(one), operand_of(other)),
    "xlogy": lambda one, other: op.x_log_y(operand_of(one), array_of(other)),
    "xlog1py": lambda one, other: op.x_log_y(operand_of(one), op.add(array_of(other), 1)),
}
_KINDS = {"real": np.float64, "integer": np.int64, "boolean": np.bool_}


# --- calling with symbolic sizes ------------------------------------------------------------------------------------


def _traced(function: Any, given: Mapping[str, Any], held: Mapping[str, Any], known: Mapping[int, Expr]) -> Any:
    """Return what a function gives for symbolic arrays."""
    leaves: list[Any] = []

    def slot(value: Any) -> Any:
        if isinstance(value, Tensor) or (isinstance(value, Scalar) and not isinstance(value, Size)):
            leaves.append(value)
            return _Slot(len(leaves) - 1)
        if isinstance(value, Size):
            return dims.dimension(value.expression)
        if isinstance(value, Mapping):
            return {key: slot(each) for key, each in value.items()}
        return [slot(each) for each in value] if isinstance(value, list) else value

    dims = Dimensions(sorted(_symbols_in(given), key=lambda s: s.name))
    arguments = {name: slot(value) for name, value in given.items()}
    shapes = [_abstract(leaf, dims) for leaf in leaves]
    names: dict[Any, str] = {}
    before, current().locals = current().locals, lambda name, value: _note(names, name, value)
    with jax.enable_x64(True), jax.disable_jit(), dims.followed(), replaced(jax.core.Tracer, _without_values()):
        try:
            whole, tree = jax.make_jaxpr(
                lambda *arrays: called(function, _filled(arguments, arrays)), return_shape=True
            )(*shapes)
        except Exception as error:
            refusal = _refusal_of(error)
            if refusal is None:
                raise
            raise refusal from None
        finally:
            current().locals = before
    inputs = [Table(leaf.expression) if isinstance(leaf, Scalar) else leaf for leaf in leaves]
    constants = [_Constant(value) for value in whole.consts]
    found = [array_of(_opened(each)) for each in _Interpreter(dims, names).run(whole.jaxpr, constants, inputs)]
    return found[0] if len(found) == 1 and not isinstance(tree, tuple | list) else found


class _Slot(int):
    """The number of an array among the arguments that JAX traces."""


def _filled(value: Any, arrays: Sequence[Any]) -> Any:
    if isinstance(value, _Slot):
        return arrays[value]
    if isinstance(value, Mapping):
        return {key: _filled(each, arrays) for key, each in value.items()}
    return [_filled(each, arrays) for each in value] if isinstance(value, list) else value


def _abstract(leaf: Any, dims: Dimensions) -> Any:
    if isinstance(leaf, Scalar):
        return jax.ShapeDtypeStruct((), np.float64)  # type: ignore[no-untyped-call]
    shape = tuple(map(dims.dimension, leaf.sizes))
    return jax.ShapeDtypeStruct(shape, _KINDS[leaf.node.kind])  # type: ignore[no-untyped-call]


def _symbols_in(value: Any) -> set[Symbol]:
    """Return the size symbols of arguments."""
    if isinstance(value, Tensor):
        return set().union(*(size.free_symbols for size in value.sizes))
    if isinstance(value, Size):
        return set(value.expression.free_symbols)
    if isinstance(value, Mapping):
        return set().union(*map(_symbols_in, value.values()))
    return set().union(*map(_symbols_in, value)) if isinstance(value, list) else set()


def _note(names: dict[Any, str], name: str, value: Any) -> None:
    """Note the name of a local variable that holds an array of the trace; `val` is its variable in the jaxpr."""
    if isinstance(value, jax.core.Tracer):
        variable = getattr(value, "val", None)
        if isinstance(variable, Var):
            names.setdefault(variable, name)


_ASKED = {  # methods that need the entries of an array, or the length of an axis
    "__bool__": "a branch on the truth value",
    "__int__": "int()",
    "__float__": "float()",
    "__complex__": "complex()",
    "__index__": "an index",
    "__array__": "a conversion to numbers",
    "item": "item()",
    "tolist": "tolist()",
    "__len__": "len()",
    "__iter__": "a loop over the rows",
}
_LENGTHS = ("__len__", "__iter__")


def _without_values() -> dict[str, Any]:
    """Return methods for tracers that raise a refusal where JAX raises an error that the user's code could catch."""
    tracer = jax.core.Tracer
    return {name: _refusing(name, what, getattr(tracer, name, None)) for name, what in _ASKED.items()}


def _refusing(name: str, what: str, plain: Any) -> Callable[..., Any]:
    def asked(own: Any, *given: Any, **options: Any) -> Any:
        known = name in _LENGTHS and (not own.shape or isinstance(own.shape[0], int))
        if not known and asked_by_user():
            raise refuse(f"{what} of an array needs its entries or sizes, and they are symbolic")
        return plain(own, *given, **options) if plain is not None else own.__getattr__(name)(*given, **options)

    return asked


_NO_VALUE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.UnexpectedTracerError,
    jax.errors.NonConcreteBooleanIndexError,
)

_OF_SIZES = ("_DimExpr", "Symbolic dimension", "symbolic size")  # in the texts of errors about sizes without values


def _refusal_of(error: Exception) -> NotFollowed | None:
    """Return the refusal that an error of JAX means: a number was needed where sizes and entries are symbolic."""
    text = str(error).partition("\n")[0]
    line = line_of_error(error)
    if isinstance(error, _NO_VALUE):
        return NotFollowed(f"the number of an entry is needed: {text}", line)
    if isinstance(error, InconclusiveDimensionOperation) or any(words in text for words in _OF_SIZES):
        return NotFollowed(f"the number of a size is needed: {text}", line)
    loops = [f.name for f in traceback.extract_tb(error.__traceback__) if "control_flow" in Path(f.filename).parts]
    return NotFollowed(f"a loop or branch of JAX, {loops[0]}", line) if loops else None


# --- following the equations of a jaxpr -----------------------------------------------------------------------------


class _Constant:
    """An array of numbers that the function holds; read where an equation needs it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _opened(value: Any) -> Any:
    return literal(value.value) if isinstance(value, _Constant) else value


class _Interpreter:
    """Follows the equations of a jaxpr, and of those that they call."""

    def __init__(self, dims: Dimensions, names: Mapping[Any, str]) -> None:
        self.dims, self.names = dims, names

    def run(self, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Return the values of the results."""
        values: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *inputs], strict=True))

        def read(atom: Any) -> Any:
            return literal(atom.val) if isinstance(atom, Literal) else values[atom]

        for equation in jaxpr.eqns:
            try:
                results = self._applied(equation, [read(atom) for atom in equation.invars])
            except NotFollowed as refusal:
                raise NotFollowed(refusal.what, _line_of(equation)) from None
            for variable, value in zip(equation.outvars, results, strict=True):
                values[variable] = value
                self._name(variable, value)
        return [read(atom) for atom in jaxpr.outvars]

    def _applied(self, equation: Any, given: Sequence[Any]) -> list[Any]:
        name = equation.primitive.name
        if name in _INSIDE:
            return self._called(equation, given)
        if name in _WITHOUT_RESULT:
            return []
        given = [_opened(each) for each in given]
        if name in CONTROL:
            return CONTROL[name](self._inside, equation, given)
        if name in ENTRYWISE:
            result = ENTRYWISE[name](equation, *given)
        elif name in STRUCTURAL:
            result = STRUCTURAL[name](equation, self.dims, *given)
        else:
            raise refuse(_WITHOUT_FORMULA.get(name) or f"JAX's primitive {name} has no rule")
        return result if isinstance(result, list) else [result]

    def _inside(self, closed: Any, given: Sequence[Any]) -> list[Any]:
        """Return the results of a function that a branch or a loop holds."""
        constants = [_Constant(value) for value in closed.consts]
        return list(map(_opened, self.run(closed.jaxpr, constants, given)))

    def _called(self, equation: Any, given: Sequence[Any]) -> list[Any]:
        inside = equation.params[_INSIDE[equation.primitive.name]]
        constants = [_Constant(value) for value in getattr(inside, "consts", ())]
        inside = getattr(inside, "jaxpr", inside)
        whole = _WHOLE.get(equation.params.get("name") or inside.debug_info.func_name)
        if whole is not None and all(_line_of(each) in ("", _line_of(equation)) for each in inside.eqns):
            return [whole(*map(_opened, given))]  # no line of the user's is inside: the function is JAX's own
        return self.run(inside, constants, given)

    def _name(self, variable: Any, value: Any) -> None:
        name = self.names.get(variable)
        if name is not None and isinstance(value, Tensor) and isinstance(value.node, Variable):
            current().names.setdefault(value.node, name)


def _frames(equation: Any) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and function of the frames in which an equation was made, the innermost first."""
    made = equation.source_info.traceback
    for frame in made.frames if made is not None else ():
        if calls_function(frame.file_name, frame.function_name):
            return
        yield frame.file_name, frame.line_num, frame.function_name


def _line_of(equation: Any) -> str:
    return next((line_text(*frame) for frame in _frames(equation) if is_users(frame[0])), "")


# --- calling with numbers -------------------------------------------------------------------------------------------


def _run(function: Any, arguments: Mapping[str, Any], weights: Mapping[str, Any]) -> Any:
    """Call a function with arrays of numbers, in double precision for this call only."""

    def own(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return jnp.asarray(value)
        if isinstance(value, Mapping):
            return {key: own(each) for key, each in value.items()}
        return [own(each) for each in value] if isinstance(value, list) else value

    with jax.enable_x64(True):
        result = called(function, {name: own(value) for name, value in arguments.items()})
        return jax.tree.map(np.asarray, result)


def _same(value: Any) -> Any:
    return value


JAX = Door("jax", lambda: Tensor, _same, _same, _traced, _run)
