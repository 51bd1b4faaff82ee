"""Inlining: a layer with its parts written out as one list of equations, in order of evaluation.

Definition   each application of a layer is replaced by the layer's equations, its inputs by the arguments
Result       the same output: an application is defined by its equations (rule "definition")
Assumes      a part inside a family becomes equations over the family's index, unless the part contains a family. Such
             a part stays an application, as does the layer of a repetition; their inner parts are written out

The weights and equations of a part are named after it: `attention.W_Q`, `attention.S`.
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Symbol
from sympy import Tuple as Sequence
from sympy.core.symbol import Str

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.shapes import Axis
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import fresh_name, is_name

__all__ = ["inlined"]

Family = tuple[Symbol, Axis]


@lru_cache(maxsize=256)
def inlined(layer: Layer) -> Layer:
    """Return a layer with the same values whose parts are written out."""
    writer = _Writer({v.name for v in (*layer.inputs, *layer.parameters)} | {e.variable.name for e in layer.equations})
    for equation in layer.equations:
        writer.write(equation)
    parameters = dict.fromkeys((*layer.parameters, *writer.parameters))
    return Layer(layer.name, layer.inputs, tuple(parameters), writer.equations, layer.args[4])


class _Writer:
    """Collects the equations of a layer, each after the equations of the parts that it applies."""

    def __init__(self, taken: set[str]) -> None:
        self.equations: list[Equation] = []
        self.parameters: list[Variable] = []
        self.taken = taken
        self.masks: dict[Array, Array] = {}  # masks that a formula defines, by the variable that holds them

    def write(self, equation: Equation) -> None:
        """Write one equation; if it only applies a part, the last equation of the part takes its name."""
        over = equation.over
        if _is_mask(equation.value):
            self.masks[equation.variable] = equation.value
        if _can_be_written_out(equation.value, over):
            self._part(equation.value, over, equation.variable)
        else:
            self.equations.append(Equation(equation.target, self._written(equation.value, over), *(over or ())))

    def _written(self, node: Array, over: Family | None, *, inside: bool = False) -> Array:
        """Write the equations of the layers that an expression applies, and return it with their outputs in place."""
        if _can_be_written_out(node, over) and not inside:
            result = self._part(node, over)
            return Member(result, over[0]) if over else result
        if isinstance(node, Apply):
            return self._kept(node, over, inside)
        # Equations written before this one cannot depend on an index that is bound inside it.
        inside = inside or bool(getattr(node, "bound_symbols", ()))
        if not isinstance(node, Array) or isinstance(node, Variable) or not node.args:
            return node
        return node.func(*(self._written(a, over, inside=inside) if isinstance(a, Array) else a for a in node.args))

    def _kept(self, node: Apply, over: Family | None, inside: bool) -> Array:
        """Return an application that is not replaced, with its layer inlined and the formulas of masks put in."""
        layer = inlined(node.layer)
        pairs = list(zip(layer.inputs, node.arguments, strict=True))
        masks = {variable: self.masks.get(value, value) for variable, value in pairs}
        known = {variable: mask for variable, mask in masks.items() if _is_mask(mask)}
        if known:
            inputs = tuple(v for v in layer.inputs if v not in known)
            equations = [Equation(e.target, replace_free(e.value, known), *(e.over or ())) for e in layer.equations]
            layer = Layer(layer.name, inputs, layer.parameters, equations, layer.args[4])
        arguments = Sequence(*(self._written(a, over, inside=inside) for v, a in pairs if v not in known))
        return node.func(node.args[0], layer, arguments, *node.args[3:])

    def _part(self, node: Apply, over: Family | None, result: Variable | None = None) -> Variable:
        """Write the equations of a part and return its output, which takes the name of `result` if that is given."""
        known: dict[Array, Array] = {}
        for variable, argument in zip(node.layer.inputs, node.arguments, strict=True):
            value = self._written(argument, over)
            # a mask with a formula is passed as that formula, so that later passes see which keys it shows
            value = self.masks.get(value, value)
            known[variable] = (
                value if is_name(value) or _is_mask(value) else self._named(f"{node.name}.{variable.name}", value, over)
            )
        for parameter in inlined(node.layer).parameters:
            if parameter.name in node.bound:
                known[parameter] = self._written(node.bound[parameter.name], over)
            else:
                own = Variable(f"{node.name}.{parameter.name}", parameter.shape, parameter.kind)
                self.parameters.append(own)
                known[parameter] = own
        for equation in inlined(node.layer).equations:
            known[equation.variable] = self._equation(node, equation, known, over, result)
            if _is_mask(equation.value):
                self.masks[known[equation.variable]] = equation.value
        output = known[node.layer.output]
        written = output.args[0] if isinstance(output, Member) else output
        if result is not None and written != result:  # an output that is an input: the equation only renames it
            self.equations.append(Equation(Member(result, over[0]) if over else result, output, *(over or ())))
            return result
        return written

    def _equation(
        self, node: Apply, equation: Equation, known: dict[Array, Array], over: Family | None, result: Variable | None
    ) -> Array:
        """Write one equation of a part, inside the surrounding family, and return the array for its variable."""
        value = self._with_masks(_filed_under(replace_free(equation.value, known), node.name))
        named = result if equation.variable == node.layer.output else None
        # A value without the index is equal for all members, so one equation suffices; a named result keeps its family.
        over = over if over is not None and (over[0] in value.free_symbols or named is not None) else None
        around = over or equation.over
        kind, shape = equation.variable.kind, (*((over[1],) if over else ()), *equation.variable.shape)
        variable = named
        if variable is None:
            variable = Variable(fresh_name(f"{node.name}.{equation.variable.name}", self.taken), shape, kind)
        target = Member(variable, around[0]) if around else variable
        self.equations.append(Equation(target, value, *(around or ())))
        return Member(variable, over[0]) if over else variable

    def _with_masks(self, value: Array) -> Array:
        """Return a value with masks that have a formula put into the layer that it applies."""
        if not isinstance(value, Apply) or not any(a in self.masks for a in value.arguments):
            return value
        return self._kept(value, None, inside=False)

    def _named(self, name: str, value: Array, over: Family | None) -> Array:
        """Write an equation for an argument, so that it is evaluated once; return its variable."""
        over = over if over is not None and over[0] in value.free_symbols else None
        shape = (over[1], *value.shape) if over else value.shape
        variable = Variable(fresh_name(name, self.taken), shape, value.kind)
        target = Member(variable, over[0]) if over else variable
        self.equations.append(Equation(target, value, *(over or ())))
        return target


def _can_be_written_out(node: Array, over: Family | None) -> bool:
    """Return whether a node applies a part whose equations can replace the application."""
    if not isinstance(node, Apply) or isinstance(node, Repeat):
        return False
    return over is None or all(equation.over is None for equation in inlined(node.layer).equations)


def _is_mask(value: Array) -> bool:
    """Return whether an array is a mask defined by a formula, such as the causal mask."""
    return value.kind == "boolean" and not value.atoms(Variable)


def _filed_under(value: Array, path: str) -> Array:
    """Return an expression whose applied layers have the name of the surrounding part as a prefix."""
    if isinstance(value, Apply):
        arguments = Sequence(*(_filed_under(a, path) for a in value.arguments))
        return value.func(Str(f"{path}.{value.name}"), value.layer, arguments, *value.args[3:])
    if not isinstance(value, Array) or isinstance(value, Variable) or not value.args:
        return value
    return value.func(*(_filed_under(a, path) if isinstance(a, Array) else a for a in value.args))
