"""The gradient of a layer, as a layer: reverse mode differentiation, equation by equation from the last one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from sympy import Integer, Lambda, Symbol

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, PlacedBlock, SumOver, Tabulated
from derivations.language.arrays.contraction import in_axes
from derivations.language.arrays.expression import Array, Member, Plus, Shape, Variable
from derivations.language.arrays.shapes import Axis, Blocks, join, total
from derivations.language.differentiation.adjoints import GradientError, adjoints, in_columns, require_constant
from derivations.language.differentiation.cancelling import cancelling
from derivations.language.differentiation.preparation import has_weights, prepared, read_by
from derivations.language.differentiation.pullback import Pullback
from derivations.language.layers.layer import Apply, Equation, Gradient, Layer, require_layer
from derivations.language.layers.names import fresh_name

__all__ = [
    "Contribution",
    "Passes",
    "contributions",
    "cotangent_prefix",
    "depending",
    "gradient",
    "passes",
    "required_gradient",
]

Family = tuple[Symbol, Axis]


@dataclass(frozen=True)
class Contribution:
    """The term that one use of a variable adds to its gradient. `member` is the family if the use reads one member."""

    of: Variable
    value: Array
    member: Family | None = None


@dataclass(frozen=True)
class Passes:
    """The two passes of a gradient: the forward equations that the backward pass needs, and the backward equations."""

    given: tuple[Variable, ...]
    forward: tuple[Equation, ...]
    backward: tuple[Equation, ...]
    outputs: tuple[Variable, ...]


@lru_cache(maxsize=256)
def gradient(layer: Layer) -> Gradient:
    """Return the layer that takes the inputs of a layer and the gradient dY of its output Y, and returns all gradients.

    Definition   dx = sum over all indices p of dY_p dY_p/dx, for every real input and every parameter x
    Result       the gradients for inputs, then for parameters; the gradients for the weights of parts belong to the
                 parts, as the weights do
    Shapes       dx has the shape of x
    Assumes      every equation is differentiable where it is evaluated; at a kink `derivative_of` fixes the slope
    Raises       GradientError for a node without a rule, TypeError for an object that is not a layer
    """
    both = passes(require_layer(layer))
    inputs = (*layer.inputs, *both.given)
    return Gradient(f"{layer.name}_gradient", inputs, layer.parameters, (*both.forward, *both.backward), both.outputs)


def required_gradient(layer: Layer) -> Gradient:
    """Return the gradient of a layer that has a real input or a parameter.

    Raises       ValueError for a layer without real arrays; the errors of `gradient`
    """
    found = gradient(layer)
    if not found.equations:
        raise ValueError(f"layer {layer.name} has no real input and no parameter, so it has no gradient")
    return found


@lru_cache(maxsize=256)
def passes(layer: Layer) -> Passes:
    """Return the forward and the backward pass of the gradient of a layer.

    Raises       GradientError for a node without a rule
    """
    # `read_by` does not see arrays inside a formula: their gradient would silently be 0
    for table in {table for equation in layer.equations for table in equation.nodes(Tabulated)}:
        require_constant(table)
    forward = prepared(layer)
    wanted = tuple(v for v in (*layer.inputs, *layer.parameters) if v.kind == "real")
    backward = _Backward(forward, wanted, cotangent_prefix(forward))
    equations = backward.run()
    outputs = tuple(backward.named(variable) for variable in wanted)
    return Passes(backward.given, tuple(_needed(forward.equations, equations)), tuple(equations), outputs)


def cotangent_prefix(layer: Layer) -> str:
    """Return the prefix of the names of gradients: "d", or "d2", "d3", ... if the layer already has such names."""
    names = set(layer.shapes)
    # the gradient of a gradient layer has dY among its inputs already
    tried = ("d" if number == 1 else f"d{number}" for number in range(1, len(names) + 2))
    return next(prefix for prefix in tried if not any(prefix + name in names for name in names))


def _needed(forward: Iterable[Equation], backward: Iterable[Equation]) -> list[Equation]:
    """Return the forward equations that the backward pass needs, for their values or for the pullback of a layer."""
    read: set[Variable] = set()
    run: set[Apply] = set()
    for equation in backward:
        read |= _read(equation.value)
        run |= {node.applied for node in equation.nodes(Pullback)}
    kept = []
    # from the last equation back, so that what a kept equation reads is kept too
    for equation in reversed(list(forward)):
        if equation.variable in read or equation.value in run:
            kept.append(equation)
            read |= read_by(equation.value)
    return kept[::-1]


def _read(node: Array) -> set[Variable]:
    """Return the variables that a backward expression reads; a pullback reads the arguments of its layer."""
    if isinstance(node, Pullback):
        return read_by(node.applied) | _read(node.cotangent)
    if isinstance(node, Variable):
        return {node}
    return {variable for part in node.args if isinstance(part, Array) for variable in _read(part)}


# --- one equation ---------------------------------------------------------------------------------------------------


def contributions(
    equation: Equation, g: Array, active: set[Variable], value: Array | None = None
) -> Iterator[Contribution]:
    """Yield the terms that one equation adds to the gradients of active variables. g is the gradient of its target.

    `value` is the array with the value of the right-hand side, for rules that need it: the target, unless given.

    Raises       GradientError for a node without a rule
    """
    yield from _pushed(equation.value, g, value or equation.target, equation.over, active)


def _pushed(
    node: Array, g: Array, value: Array, family: Family | None, active: set[Variable]
) -> Iterator[Contribution]:
    # nothing below needs a gradient, and its nodes need no rule
    if not read_by(node) & active:
        return
    if isinstance(node, Variable):
        yield Contribution(node, _gathered(g, family))
        return
    if isinstance(node, Member):
        yield _of_member(node, g, family)
        return
    if isinstance(node, Apply):
        for operand, pulled in _pullbacks(node, g):
            yield from _pushed(operand, pulled, operand, family, active)
        return
    if isinstance(node, ColumnBlock):
        yield from _of_block(node, g, family, active)
        return
    inner = family
    if isinstance(node, Concatenate | SumOver):
        if family is not None:
            raise GradientError(f"the gradient of {node}: a family in a family; name its members in an equation")
        inner = (node.args[1], node.args[2])
    for operand, part in adjoints(node, g, value):
        yield from _pushed(operand, part, operand, inner, active)


def _gathered(g: Array, family: Family | None) -> Array:
    """Return the term of an array that all members of a family use: the sum over the members."""
    # If g does not depend on the index, the sum has equal terms: size * g.
    if family is None or family[0] not in g.free_symbols:
        return g if family is None else total(family[1]) * g
    return SumOver(g, *family)


def _of_member(node: Member, g: Array, family: Family | None) -> Contribution:
    array, place = node.args
    if not isinstance(array, Variable) or family is None or place != family[0]:
        raise GradientError(f"the gradient of {node}: only the members of a family, over its index, have a rule")
    return Contribution(array, g, family)


def _of_block(node: ColumnBlock, g: Array, family: Family | None, active: set[Variable]) -> Iterator[Contribution]:
    """Yield the terms of a column block: concatenated gradients over a family, else one block padded with zeros."""
    wide, block = node.args
    if family is not None and block == family[0]:
        # Over the whole family every block has its gradient, so the matrix is no longer a member of it.
        # blocks of blocks are columns of the block
        inner = in_columns(g, Integer(0), total(g.shape[-1])) if isinstance(g.shape[-1], Blocks) else g
        yield from _pushed(wide, Concatenate(inner, *family), wide, None, active)
    elif family is not None and family[0] in block.free_symbols:
        raise GradientError(f"the gradient of {node}: block {block} of a family over {family[0]} has no rule")
    else:
        yield from _pushed(wide, PlacedBlock(g, block, wide.shape[-1].count), wide, family, active)


def _pullbacks(node: Apply, g: Array) -> Iterator[tuple[Array, Array]]:
    layer = node.layer
    for variable, argument in zip(layer.inputs, node.arguments, strict=True):
        if variable.kind == "real":
            yield argument, Pullback(node, g, variable.name)
    for name, value in node.bound.items():
        yield value, Pullback(node, g, name)


def depending(layer: Layer, on: set[Variable]) -> set[Variable]:
    """Return the given variables and those of a prepared layer that depend on them or on weights of parts.

    Largest entries of rows that cancel are left out: the gradient with respect to them is 0.
    """
    active, constant = set(on), cancelling(layer).keys()
    for equation in layer.equations:
        weighted = isinstance(equation.value, Apply) and has_weights(equation.value)
        if equation.variable in constant:
            continue
        if equation.variable.kind == "real" and (weighted or read_by(equation.value) & active):
            active.add(equation.variable)
    return active


# --- all equations --------------------------------------------------------------------------------------------------


@dataclass
class _Backward:
    """Collects the terms of all gradients and writes the backward equations of a prepared layer."""

    layer: Layer
    wanted: tuple[Variable, ...]
    prefix: str
    collected: dict[Variable, list[Contribution]] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)

    def named(self, variable: Variable) -> Variable:
        """Return the variable whose value is the gradient with respect to a variable."""
        return Variable(self.prefix + variable.name, variable.shape)

    @property
    def given(self) -> tuple[Variable, ...]:
        """The gradients with respect to the outputs, which are inputs of the gradient layer."""
        return tuple(self.named(output) for output in self.layer.outputs)

    def run(self) -> list[Equation]:
        """Return the equations of the backward pass."""
        active = depending(self.layer, set(self.wanted))
        for output in self.layer.outputs:
            # the seeds of reverse mode: dY, given from outside
            self.collected.setdefault(output, []).append(Contribution(output, self.named(output)))
        for equation in reversed(self.layer.equations):  # all readers of a variable come before its own equation
            if equation.variable in active and equation.variable in self.collected:
                for contribution in contributions(equation, self._total(equation), active):
                    self.collected.setdefault(contribution.of, []).append(contribution)
        for variable in self.wanted:
            self.equations.append(self._output(variable))
        return self.equations

    def _total(self, equation: Equation) -> Array:
        """Return the gradient for the target of an equation; write an equation for it unless it already has a name."""
        parts = self.collected[equation.variable]
        if equation.over and all(part.member is None for part in parts):
            # computed once for the whole family, not member by member
            whole = self._named_total(equation.variable, equation.variable.shape)
            self.equations.append(Equation(whole, in_axes(_sum(parts, None), whole.shape)))
            return Member(whole, equation.over[0])
        over = equation.over or _one_family(parts)  # uses may read only members of it
        value = _sum(parts, over)
        if over and not equation.over:
            whole = self._named_total(equation.variable, equation.variable.shape)
            self.equations.append(Equation(Member(whole, over[0]), value, *over))
            return whole
        if isinstance(value, Variable) or (isinstance(value, Member) and isinstance(value.args[0], Variable)):
            return value
        family = (equation.over[1],) if equation.over else ()
        value = in_axes(value, equation.value.shape)
        variable = self._named_total(equation.variable, (*family, *map(join, equation.value.shape, value.shape)))
        target = Member(variable, equation.over[0]) if equation.over else variable
        self.equations.append(Equation(target, value, *(equation.over or ())))
        return target

    def _named_total(self, variable: Variable, shape: Shape) -> Variable:
        """Return the variable for a total gradient; for an output it has a new name, because dY is an input already."""
        name = self.prefix + variable.name
        if variable in self.layer.outputs:
            taken = {*self.layer.shapes, *(self.prefix + other for other in self.layer.shapes)}
            name = fresh_name(f"{name}_all", taken)
        return Variable(name, shape)

    def _output(self, variable: Variable) -> Equation:
        """Return the equation of a requested gradient; it is 0 if the output does not depend on the variable."""
        parts = self.collected.get(variable, [])
        target = self.named(variable)
        # the gradient layer has one output for each input, whether the output depends on it or not
        if not parts:
            places = tuple(Symbol(letter, integer=True) for letter, _ in zip("ijkl", variable.shape, strict=False))
            return Equation(target, Tabulated(Lambda(places, Integer(0)), *variable.shape))
        over = _one_family(parts)
        return Equation(Member(target, over[0]) if over else target, _sum(parts, over), *(over or ()))


def _one_family(parts: list[Contribution]) -> Family | None:
    """Return the family if all uses read members of the same family, else None."""
    families = {part.member for part in parts}
    return families.pop() if len(families) == 1 else None


def _sum(parts: list[Contribution], over: Family | None) -> Array:
    """Return the sum of the terms of several uses, for one member of the family `over` or for the whole array."""
    values = [_aligned(part, over) for part in parts]
    result = values[0]
    for value in values[1:]:
        result = Plus(result, in_axes(value, result.shape))
    return result


def _aligned(part: Contribution, over: Family | None) -> Array:
    if over is None:
        if part.member is not None:
            raise GradientError(f"{part.of} is used as a whole and member by member: name its members in an equation")
        return part.value
    if part.member is None:
        return Member(part.value, over[0])
    index, size = part.member
    if size != over[1]:
        raise GradientError(f"{part.of} is used as a family of {size} and of {over[1]} members")
    # sum over i and sum over j of one family are added under one index
    return part.value if index == over[0] else part.value.xreplace({index: over[0]})
