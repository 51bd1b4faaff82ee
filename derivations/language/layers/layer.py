"""Layers: ordered lists of named equations, as a paper writes them.

A layer has inputs, parameters, equations and an output. Layers compose: a `Part` is a layer under a name, with separate
weights; applied to arrays it is an expression like any other. `part(name, layer, N)` repeats a layer N times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

from sympy import Basic, Expr, Indexed, Symbol, sympify
from sympy import Tuple as Sequence
from sympy.core.symbol import Str
from sympy.printing.str import StrPrinter

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.declarations import at_places
from derivations.language.arrays.expression import Array, Member, Shape, Variable, require
from derivations.language.arrays.refusals import refuse_function
from derivations.language.arrays.shapes import (
    Axis,
    ShapeError,
    Sized,
    axis,
    current_equation,
    flat,
    same_size,
    shape_text,
    total,
)
from derivations.language.arrays.shown import VIEWS, Displayed, Shown

__all__ = [
    "Apply",
    "Equation",
    "Equations",
    "Gradient",
    "Layer",
    "Part",
    "Repeat",
    "bind_sizes",
    "part",
    "require_layer",
]


class Equation(Displayed, Basic):
    """One equation `target = value`; with an index it is a family of equations, one for each value of the index."""

    def __new__(cls, target: Array, value: Array, *over: Basic) -> Equation:
        """Build the equation; `over` is empty, or an index and its number of values."""
        same = len(target.shape) == len(value.shape) and all(map(same_size, target.shape, value.shape))
        if not same:
            raise ShapeError(
                f"equation {target} = {value}: {target} has shape {shape_text(target.shape)}, "
                f"the right-hand side has shape {shape_text(value.shape)}"
            )
        if target.is_mask and not value.is_mask:
            raise ShapeError(f"equation {target} = {value}: {target} is boolean, the right-hand side is not")
        if not _defines(target, over):
            raise ShapeError(
                f"equation {target} = {value}: what is defined must be a variable, or in a family the member at the "
                "family's index, of as many members"
            )
        return super().__new__(cls, target, value, *over)

    @property
    def bound_symbols(self) -> list[Basic]:
        """The index of a family."""
        return [self.args[2]] if len(self.args) > 2 else []

    @property
    def target(self) -> Array:
        """The left-hand side: a variable, or the member of a family."""
        return self.args[0]

    @property
    def value(self) -> Array:
        """The right-hand side."""
        return self.args[1]

    @property
    def over(self) -> tuple[Symbol, Axis] | None:
        """The index of the family and its number of values, or None."""
        return (self.args[2], self.args[3]) if len(self.args) > 2 else None

    @property
    def variable(self) -> Variable:
        """The variable that the equation defines."""
        return self.target.args[0] if self.over else self.target

    def nodes(self, *kinds: type[Basic]) -> set[Any]:
        """Return the nodes of these kinds on the right-hand side, without those inside the layers applied there."""
        return {node for node in _preorder(self.value) if isinstance(node, kinds)}

    def value_at(self, *places: Any) -> Expr:
        """Return the value of one entry of the variable; the index of a family comes first."""
        if self.over is None:
            return self.value.entry(*places)
        return at_places(self.value, {self.over[0]: sympify(flat(places[0]))}).entry(*places[1:])

    def _sympystr(self, printer: StrPrinter) -> str:
        family = f"  for {self.over[0]} < {self.over[1]}" if self.over else ""
        return f"{self.target} = {self.value}{family}"


def _defines(target: Array, over: tuple[Basic, ...]) -> bool:
    """Return whether the target defines every entry of one variable exactly once."""
    if not over:
        return isinstance(target, Variable)
    whole, place = target.args if isinstance(target, Member) else (None, None)
    return isinstance(whole, Variable) and place == over[0] and same_size(whole.shape[0], over[1])


class Equations:
    """Collects the equations of a layer: `S = let("S")(Q @ K.T)` defines S; `let("Q", over=(i, h))` a family."""

    def __init__(self) -> None:
        self._equations: list[Equation] = []

    def __call__(self, name: str, over: tuple[Symbol, Sized] | None = None) -> Any:
        """Start the equation called `name` and return the function that takes its right-hand side.

        An error in the right-hand side can then name the equation.
        """
        require(isinstance(name, str) and bool(name), lambda: f"an equation defines a name such as 'S', not {name!r}")
        require(
            over is None or (isinstance(over, tuple) and len(over) == 2),
            lambda: (
                f"let({name!r})(...) takes the right-hand side in a second pair of brackets; "
                f"beside the name stands over=(i, h), an index and its number of values, not {over!r}"
            ),
        )
        # set here and cleared after the definition: Python evaluates the right-hand side between the two calls
        current_equation.set(name)

        def define(value: Array) -> Variable:
            refuse_function(value)
            require(isinstance(value, Array), lambda: f"its right-hand side must be an array, {_no_array(value)}")
            kind = value.kind
            if over is None:
                variable = target = Variable(name, value.shape, kind)
                equation = Equation(target, value)
            else:
                variable = Variable(name, (over[1], *value.shape), kind)
                require(isinstance(over[0], Symbol), lambda: f"the index of a family is a symbol, not {over[0]!r}")
                equation = Equation(Member(variable, over[0]), value, over[0], axis(over[1]))
            current_equation.set(None)
            self._equations.append(equation)
            return variable

        return define

    def __iter__(self) -> Iterator[Equation]:
        """Iterate over the equations in order."""
        return iter(self._equations)

    def __repr__(self) -> str:
        return f"Equations({', '.join(map(str, self._equations))})"


class Layer(Shown, Basic):
    """A layer: name, inputs, parameters, equations in order of evaluation, and the output, or several as a tuple.

    Raises `ShapeError` when an equation uses an array that is neither an input, a parameter nor defined before it.
    """

    def __new__(cls, name: str | Str, inputs: Any, parameters: Any, equations: Any, output: Any) -> Layer:
        """Build the layer and check that every array is defined before it is used."""
        require(isinstance(name, str | Str), lambda: f"the name of a layer is text, not {name!r}")
        name = name if isinstance(name, Str) else Str(name)
        inputs, parameters = _all_of(Variable, inputs, "inputs"), _all_of(Variable, parameters, "parameters")
        equations = _all_of(Equation, equations, "equations")
        output = output if isinstance(output, Variable) else Sequence(*_all_of(Variable, output, "outputs"))
        layer = super().__new__(cls, name, Sequence(*inputs), Sequence(*parameters), Sequence(*equations), output)
        known = {*layer.inputs, *layer.parameters}
        for equation in layer.equations:
            unknown = sorted(v.name for v in equation.nodes(Variable) - known)
            if unknown:
                raise ShapeError(
                    f"layer {layer.name}, equation {equation}: {unknown[0]} is unknown; "
                    "put it among the inputs or parameters, or define it before"
                )
            if equation.variable.name in {v.name for v in known}:
                raise ShapeError(
                    f"layer {layer.name}, equation {equation}: {equation.variable.name} is there already; "
                    "give what is defined a name of its own"
                )
            hidden = sorted(_names_in_formulas(equation.value) & {v.name for v in known})
            if hidden:
                raise ShapeError(
                    f"layer {layer.name}, equation {equation}: a formula reads entries of {hidden[0]}, which no "
                    f"substitution and no gradient would see; write the equation with whole arrays, such as "
                    f"Member({hidden[0]}, i) for what {hidden[0]} has at place i, and multiply them by Hadamard or @"
                )
            known.add(equation.variable)
        missing = [v for v in layer.outputs if v not in known]
        require(not missing, lambda: f"layer {layer.name}: no equation defines the output {missing[0]}")
        return layer

    @cached_property
    def free_symbols(self) -> frozenset[Basic]:
        """The symbols in the layer; cached, because a layer never changes."""
        return frozenset(super().free_symbols)

    closed = True  # a substitution from outside does not change the names inside

    def _xreplace(self, rule: dict[Basic, Basic]) -> tuple[Basic, bool]:
        """Replace sizes and positive scalars only: the variables and indices of a layer are local to it."""
        found = tuple((key, rule[key]) for key in rule if key in self.free_symbols and key.is_positive)
        return _replaced(self, found) if found else (self, False)

    @property
    def name(self) -> str:
        """The name, such as "feed_forward"."""
        return self.args[0].name

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """The arrays that a caller gives."""
        return tuple(self.args[1])

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """The learned arrays of the layer itself, without those of its parts."""
        return tuple(self.args[2])

    @property
    def equations(self) -> tuple[Equation, ...]:
        """The equations, in order of evaluation."""
        return tuple(self.args[3])

    @property
    def outputs(self) -> tuple[Variable, ...]:
        """The results: one for most layers; a gradient has one for each real input and parameter."""
        return (self.args[4],) if isinstance(self.args[4], Variable) else tuple(self.args[4])

    @property
    def output(self) -> Variable:
        """The result of a layer with one output."""
        require(len(self.outputs) == 1, lambda: f"layer {self.name} has {len(self.outputs)} outputs: use `outputs`")
        return self.outputs[0]

    @cached_property
    def parts(self) -> dict[str, Apply]:
        """The layers applied inside this one, by the names of their parts."""
        applied = (node for e in self.equations for node in _preorder(e.value) if isinstance(node, Apply))
        return {node.name: node for node in applied}

    @cached_property
    def sizes(self) -> tuple[Symbol, ...]:
        """The size symbols of the layer, by name."""
        return tuple(sorted((s for s in self.free_symbols if s.is_integer and s.is_positive), key=lambda s: s.name))

    @cached_property
    def scalars(self) -> tuple[Symbol, ...]:
        """The scalars of the layer that are not sizes, such as epsilon, by name."""
        inner = (s for e in self.equations for s in e.value.free_symbols if s.is_positive and not s.is_integer)
        return tuple(sorted(set(inner), key=lambda s: s.name))

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shape of every input, parameter and intermediate."""
        named = (*self.inputs, *self.parameters, *(e.variable for e in self.equations))
        return {variable.name: variable.shape for variable in named}

    def at(self, **sizes: int) -> Layer:
        """Return the layer with some sizes replaced by numbers, such as `at(d_k=3, n=2)`."""
        symbols = {s.name: s for s in self.free_symbols}
        unknown = sorted(set(sizes) - set(symbols))
        require(not unknown, lambda: f"layer {self.name} has no size {unknown[0]}; it has {', '.join(sorted(symbols))}")
        return self.xreplace({symbols[name]: axis(value) for name, value in sizes.items()})

    def equation(self, name: str) -> Equation:
        """Return the equation that defines `name`."""
        for equation in self.equations:
            if equation.variable.name == name:
                return equation
        raise KeyError(f"layer {self.name} has no equation for {name}")

    def until(self, name: str) -> Layer:
        """Return the layer whose output is the intermediate `name`, with only the equations that it needs."""
        needed, kept = {self.equation(name).variable}, []
        # from the last one back, so that what a needed equation reads is needed too
        for equation in reversed(self.equations):
            if equation.variable in needed:
                kept.append(equation)
                needed |= equation.nodes(Variable)
        return Layer(self.name, self.inputs, self.parameters, kept[::-1], self.equation(name).variable)

    def result(self, *inputs: Array, **parameters: Array) -> Array:
        """Return the output as one expression: inputs and parameters bound, intermediates and parts unfolded.

        The weights of a part are called `part.weight`. A repetition is unfolded only if its number of layers is an
        integer.
        """
        given = {name: _unfold_parts(value, "") for name, value in parameters.items()}
        return self._result(tuple(_unfold_parts(value, "") for value in inputs), given, "")

    def _result(self, inputs: tuple[Array, ...], parameters: dict[str, Array], path: str) -> Array:
        sizes = bind_sizes(self, inputs)
        # sizes first: the shapes of the weights follow from those of the arguments
        layer = self.xreplace(sizes)
        known: dict[Basic, Basic] = dict(zip(layer.inputs, inputs, strict=True))
        known |= {p: parameters.get(p.name, p) for p in layer.parameters}
        for equation in layer.equations:
            value = _unfold_parts(equation.value, path)
            if equation.over is None:
                known[equation.variable] = replace_free(value, known)
            else:
                known[equation.variable] = replace_free(_Family(value, *equation.over), known)
        return known[layer.output]

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.name}({', '.join(v.name for v in self.inputs)})"


def require_layer(value: Any) -> Layer:
    """Return the value if it is a layer; raise `TypeError` if not, for instance for a function that builds one."""
    if not isinstance(value, Layer):
        raise TypeError(f"a layer is needed, such as feed_forward() or layer('feed_forward'), not {value!r}")
    return value


def _all_of(kind: type[Basic], parts: Any, what: str) -> tuple[Any, ...]:
    """Return the given parts of a layer as a tuple; raise `ShapeError` unless all have the type `kind`."""
    found = tuple(parts) if isinstance(parts, Iterable) and not isinstance(parts, str) else (parts,)
    wrong = [part for part in found if not isinstance(part, kind)]
    by = ", which is what let('Y')(...) returns" if what == "outputs" else ""
    require(not wrong, lambda: f"the {what} of a layer are of type {kind.__name__}{by}, not {wrong[0]!r}")
    return found


class Gradient(Layer):
    """The gradient of a layer: it maps the gradient for the output to those for the inputs, then the parameters."""


class _Family(Array):
    """The members of a family as one array: `[i]` selects the member i."""

    @property
    def bound_symbols(self) -> list[Symbol]:
        """The index of the family."""
        return [self.args[1]]

    def _infer(self) -> Shape:
        body, _, size = self.args
        return (size, *body.shape)

    def _entry(self, *places: Any) -> Expr:
        body, over, _ = self.args
        return at_places(body, {over: flat(places[0])}).entry(*places[1:])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"({self.args[0]} for {self.args[1]} < {self.args[2]})"


class Apply(Array):
    """A layer applied to arrays; its weights are called `name.weight`, except those bound to arrays here."""

    holds_arguments = True

    def __new__(cls, name: Str, layer: Layer, arguments: Sequence, bound: Sequence = Sequence()) -> Apply:
        """Build the application; the sizes of the layer become those of the arguments."""
        sizes = bind_sizes(layer, tuple(arguments))
        return super().__new__(cls, name, layer.xreplace(sizes), arguments, bound)

    @property
    def name(self) -> str:
        """The name of the part, which starts the names of its weights."""
        return self.args[0].name

    @property
    def layer(self) -> Layer:
        """The layer, with the sizes of this application."""
        return self.args[1]

    @property
    def arguments(self) -> tuple[Array, ...]:
        """The arrays that are passed for the inputs."""
        return tuple(self.args[2])

    @property
    def bound(self) -> dict[str, Array]:
        """The parameters that are bound to arrays of the surrounding layer."""
        return {name.name: value for name, value in self.args[3]}

    @property
    def own_parameters(self) -> tuple[Variable, ...]:
        """The parameters that are not bound to arrays of the surrounding layer."""
        bound = self.bound
        return tuple(p for p in self.layer.parameters if p.name not in bound)

    def unfold(self, path: str = "") -> Array:
        """Return the value as one expression in the arguments and in weights whose names start with the path."""
        layer, inner = self.layer, f"{path}{self.name}."
        own: dict[str, Array] = {p.name: Variable(f"{inner}{p.name}", p.shape, p.kind) for p in layer.parameters}
        bound = {name: _unfold_parts(value, path) for name, value in self.bound.items()}
        return layer._result(tuple(_unfold_parts(a, path) for a in self.arguments), own | bound, inner)

    def _infer(self) -> Shape:
        for name, value in self.bound.items():
            declared = {p.name: p for p in self.layer.parameters}
            if name not in declared:
                raise ShapeError(f"layer {self.layer.name} has no parameter {name}")
            _check_shape(f"parameter {name} of {self.layer.name}", declared[name].shape, value.shape)
        return self.layer.output.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.layer.name}({', '.join(map(str, self.arguments))}; {self.name})"

    def _entry(self, *places: Any) -> Expr:
        return self.unfold().entry(*places)


class Repeat(Apply):
    """N copies of a layer in sequence: the output of each is the first input of the next; each has its own weights."""

    @property
    def count(self) -> Expr:
        """The number of layers."""
        return self.args[4]

    def __new__(cls, name: Str, layer: Layer, arguments: Sequence, bound: Sequence, count: Expr) -> Repeat:
        """Build the repetition of `count` layers."""
        sizes = bind_sizes(layer, tuple(arguments))
        return Array.__new__(cls, name, layer.xreplace(sizes), arguments, bound, axis(count))

    def _infer(self) -> Shape:
        shape = super()._infer()
        _check_shape(f"repetition of {self.layer.name}: its output", self.arguments[0].shape, shape)
        return shape

    def unfold(self, path: str = "") -> Array:
        """Return the value as one expression; the number of layers must be an integer."""
        require(self.count.is_Integer, lambda: f"{self}: give the number of layers as a number to unfold it")
        value, *rest = self.arguments
        for number in range(int(self.count)):
            name = Str(f"{self.name}.{number}")
            # each copy has weights of its own, named by its number
            value = Apply(name, self.layer, Sequence(value, *rest), self.args[3]).unfold(path)
        return value

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.count} x {super()._sympystr(printer)}"


class Part:
    """A layer used under a name inside another layer: call it on arrays; keywords bind parameters to arrays."""

    def __init__(self, name: str, layer: Layer, count: Sized | None = None) -> None:
        self.name, self.layer, self.count = Str(name), layer, count

    def __call__(self, *arguments: Array, **bound: Array) -> Apply:
        """Apply the layer to arrays."""
        pairs = Sequence(*(Sequence(Str(name), value) for name, value in bound.items()))
        if self.count is None:
            return Apply(self.name, self.layer, Sequence(*arguments), pairs)
        return Repeat(self.name, self.layer, Sequence(*arguments), pairs, axis(self.count))


def part(name: str, layer: Layer, count: Sized | None = None) -> Part:
    """Return `layer` as a part called `name`, repeated `count` times when a count is given."""
    require(isinstance(name, str) and bool(name), lambda: f"a part has a name such as 'norm', not {name!r}")
    return Part(name, require_layer(layer), count)


def bind_sizes(layer: Layer, arguments: tuple[Array, ...]) -> dict[Expr, Axis]:
    """Return the values that the sizes of a layer take when it is applied to the arguments."""
    require(
        len(arguments) == len(layer.inputs),
        lambda: (
            f"layer {layer.name} takes {len(layer.inputs)} inputs "
            f"({', '.join(v.name for v in layer.inputs)}), not {len(arguments)}"
        ),
    )
    sizes: dict[Expr, Axis] = {}
    for declared, given in zip(layer.inputs, arguments, strict=True):
        what = f"layer {layer.name}: input {declared.name} = {given}"
        if declared.kind != given.kind:
            raise ShapeError(f"layer {layer.name}: input {declared.name} is {declared.kind}, {given} is {given.kind}")
        if len(declared.shape) != len(given.shape):
            raise ShapeError(f"{what} has shape {shape_text(given.shape)}, {shape_text(declared.shape)} is needed")
        for wanted, actual in zip(declared.shape, given.shape, strict=True):
            # The first axis declared with a size symbol fixes its value; later axes must agree.
            known = sizes.setdefault(wanted, actual) if isinstance(wanted, Symbol) else actual
            if not same_size(known, actual):
                raise ShapeError(
                    f"{what} has shape {shape_text(given.shape)}, {shape_text(declared.shape)} is needed "
                    f"with {wanted} = {total(known)}, not {total(actual)}"
                )
        _check_shape(what, tuple(_substituted(a, sizes) for a in declared.shape), given.shape)
    return {size: total(value) for size, value in sizes.items() if size != total(value)}


def _substituted(along: Axis, sizes: dict[Expr, Axis]) -> Axis:
    return along.xreplace({size: total(value) for size, value in sizes.items()})


def _check_shape(what: str, wanted: Shape, given: Shape) -> None:
    require(
        len(wanted) == len(given) and all(map(same_size, wanted, given)),
        lambda: f"{what} has shape {shape_text(given)}, {shape_text(wanted)} is needed",
    )


@lru_cache(maxsize=1 << 12)  # one layer is a part of many, and a model has many parts of one layer
def _replaced(layer: Layer, rule: tuple[tuple[Basic, Basic], ...]) -> tuple[Basic, bool]:
    return super(Layer, layer)._xreplace(dict(rule))


def _preorder(node: Basic) -> Iterator[Basic]:
    """Yield a node and its subexpressions, but not those inside layers."""
    yield node
    for child in node.args:
        if not isinstance(child, Layer):
            yield from _preorder(child)


def _unfold_parts(node: Basic, path: str) -> Basic:
    if isinstance(node, Apply):
        return node.unfold(path)
    if not isinstance(node, Array) or not node.args:
        return node
    return node.func(*(_unfold_parts(part, path) for part in node.args))


def _names_in_formulas(node: Basic) -> set[str]:
    """Return the names of the arrays of which the formula of a scalar, table or function reads single entries."""
    if isinstance(node, Variable | Layer):
        return set()
    if isinstance(node, Array | Sequence):
        return {name for part in node.args for name in _names_in_formulas(part)}
    entries = {entry.base.label.name for entry in node.atoms(Indexed)}
    return entries | {s.name for s in node.free_symbols if isinstance(s, Symbol) and s.is_real and not s.is_integer}


def _no_array(value: object) -> str:
    """Describe a value that is not an array, and the remedy."""
    if not isinstance(value, Expr):
        return f"not {value!r}"
    return (
        f"not {VIEWS['text'](value)}: entries belong in claims; of all entries at once write exponential(x), "
        'row_softmax(x), or named("f", formula, t)(x)'
    )
