"""One layer rewritten for its next positions; variables that are read at all positions are cached.

Definition   equations are rewritten from the last one back, so that all readers of a variable are known when its own
             equation is rewritten: they read it at the new positions, or at all. A variable that depends on the text
             is, at all positions, its cached rows above its new rows
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sympy import Expr, Symbol
from sympy import Tuple as Sequence

from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.rows import Stacked
from derivations.language.decoding.caches import Cache, Change, Link
from derivations.language.decoding.positions import NotCausal, Positions, View, looks_back
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import fresh_name, variables_in

__all__ = ["Rewriting"]


@dataclass
class Rewriting:
    """Rewrites the equations of one layer from last to first, so that each variable comes after its readers.

    `caching` is the number of leading inputs whose earlier positions are cached; the other inputs are given at all
    positions.
    """

    of: Layer
    new: Symbol
    all: Symbol
    back: frozenset[Variable]  # inputs that are 0 right of the diagonal
    caching: int
    asked: dict[Variable, dict[View, None]] = field(default_factory=dict)
    items: list[Equation | Link] = field(default_factory=list)  # in order of evaluation, once run
    caches: list[Cache] = field(default_factory=list)
    changes: dict[Variable, tuple[Change, ...]] = field(default_factory=dict)  # by the new variable, those of parts too
    of_parts: list[Change] = field(default_factory=list)  # inside the equation that is being rewritten

    def __post_init__(self) -> None:
        self.frame = Positions(self.new, self.all, self._ask, self._applied, self._is_back)
        self.looking_back = set(self.back)
        moving = {v for v in self.of.inputs if any(self.frame.whole(v))}
        for equation in self.of.equations:
            if looks_back(equation.value, self._is_back):
                self.looking_back.add(equation.variable)
            if not moving.isdisjoint(variables_in(equation.value)):
                moving.add(equation.variable)
        self.moving = moving  # variables that depend on the text; the others are recomputed at all positions
        self.known = {*self.of.inputs, *self.of.parameters, *(e.variable for e in self.of.equations)}
        self.names = {v.name for v in self.known}

    def run(self) -> None:
        """Rewrite all equations that the outputs need."""
        for output in self.of.outputs:
            with self._told_of(output):
                self._ask(output, self.frame.rows(output))
        for equation in reversed(self.of.equations):
            with self._told_of(equation.variable):
                self._equation(equation)
        for number, variable in enumerate(self.of.inputs):
            if self._is_kept(variable, number):
                self._cached(variable, None)
        self.items.reverse()  # they were collected from the last equation back

    @contextmanager
    def _told_of(self, variable: Variable) -> Iterator[None]:
        """Add the layer and the equation to the message of `NotCausal`, unless an inner layer has added its own."""
        try:
            yield
        except NotCausal as refused:
            where = "" if str(refused).startswith("layer ") else f"layer {self.of.name}, equation {variable}: "
            raise NotCausal(f"{where}{refused}") from None

    def every_change(self) -> Iterator[Change]:
        """Yield the changes of the equations, in order of evaluation."""
        for changes in reversed(self.changes.values()):
            yield from changes

    def given(self, variable: Variable) -> Variable:
        """Return the variable of an input in the rewritten layer."""
        number = self.of.inputs.index(variable)
        views = self.asked.get(variable, {})
        only_whole = views and self.frame.rows(variable) not in views and not self._is_kept(variable, number)
        return self.variable(variable, self.frame.whole(variable) if only_whole else self.frame.rows(variable))

    def view_given(self, variable: Variable) -> View | None:
        """Return the positions at which an input is given, or None if it is not read."""
        views = self.asked.get(variable)
        if not views:
            return None
        return (
            self.frame.whole(variable)
            if self.given(variable) != self.variable(variable, self.frame.rows(variable))
            else self.frame.rows(variable)
        )

    def variable(self, variable: Variable, view: View) -> Variable:
        """Return the new variable that holds a variable of the layer at the requested positions."""
        is_whole = view != self.frame.rows(variable)
        name = self._name(variable, "all") if is_whole else variable.name
        return Variable(name, self.frame.shape(variable, view), variable.kind)

    def _name(self, variable: Variable, what: str) -> str:
        return fresh_name(f"{variable.name}_{what}", {*self.names})

    def _ask(self, variable: Variable, view: View) -> Variable:
        rows, whole = self.frame.rows(variable), self.frame.whole(variable)
        if view not in (rows, whole):
            raise NotCausal(f"{variable} is read at the new positions alone of those that it is about")
        if variable in self.of.parameters and any(whole):
            raise NotCausal(f"the parameter {variable} has a row for each position; write it as rows of a table")
        self.asked.setdefault(variable, {})[view] = None
        return self.variable(variable, view)

    def _is_back(self, node: Array) -> bool:
        if isinstance(node, Variable):
            return node in self.looking_back
        if isinstance(node, Apply) and not isinstance(node, Repeat):
            known = self._back_inside(node)
            inner = Rewriting(node.layer, self.new, self.all, known, caching=0)
            return node.layer.output in inner.looking_back
        return False

    def _back_inside(self, node: Apply) -> frozenset[Variable]:
        given = zip(node.layer.inputs, node.arguments, strict=True)
        return frozenset(v for v, value in given if looks_back(value, self._is_back))

    def _is_kept(self, variable: Variable, number: int) -> bool:
        whole = self.frame.whole(variable)
        return number < self.caching and whole != self.frame.rows(variable) and whole in self.asked.get(variable, {})

    # --- one equation ---

    def _equation(self, equation: Equation) -> None:
        variable, over = equation.variable, equation.over
        views = self.asked.get(variable)
        if not views:
            return
        if over is not None and self.frame.are_along(over[1]):
            raise NotCausal(f"{equation.target} is a family over the positions")
        whole = self.frame.whole(variable)
        if whole != self.frame.rows(variable) and whole in views and variable in self.moving:
            self._cached(variable, over)
        for view in list(views):
            # `_cached` has written this view: the cached rows above the new ones
            if view == whole != self.frame.rows(variable) and variable in self.moving:
                continue
            if isinstance(equation.value, Repeat):
                self.items.append(self._repeated(variable, equation.value))
                continue
            target = self.variable(variable, view)
            value = self.frame.cut(equation.value, view[1:] if over else view)
            rewritten = Equation(Member(target, over[0]) if over else target, value, *(over or ()))
            self.items.append(rewritten)
            self.changes[target] = (*self.of_parts, self._change(equation, rewritten))
            self.of_parts.clear()

    def _change(self, old: Equation, new: Equation) -> Change:
        read = [v for v in dict.fromkeys((old.variable, *variables_in(old.value))) if any(self.frame.whole(v))]
        whole = ((v, Variable(self._name(v, "all"), self.frame.shape(v, self.frame.whole(v)), v.kind)) for v in read)
        return Change(old, new, tuple(whole), frozenset(v for v in read if v in self.looking_back))

    def _cached(self, variable: Variable, over: tuple[Symbol, Expr] | None) -> None:
        """Cache an array, and add the equation that stacks its cached rows above its new rows."""
        if variable.kind != "real" or len(self.frame.whole(variable)) not in (2, 3):
            raise NotCausal(f"{variable} is read at all positions, and only rows of real numbers are kept of them")
        whole, new = self.variable(variable, self.frame.whole(variable)), self._ask(variable, self.frame.rows(variable))
        earlier = tuple(self.all - self.new if along == self.new else along for along in new.shape)
        past = Variable(self._name(variable, "cache"), earlier, variable.kind)
        self.caches.append(Cache(past, new, whole))
        if len(whole.shape) == 2:
            self.items.append(Equation(whole, Stacked(past, new)))
            return
        # An array of rank 3 is a family of matrices, which are stacked one by one.
        place, count = over or (
            Symbol(fresh_name("i", {s.name for s in variable.free_symbols}), integer=True),
            whole.shape[0],
        )
        parts = (Member(each, place) for each in (past, new))
        self.items.append(Equation(Member(whole, place), Stacked(*parts), place, count))

    def _applied(self, node: Apply, view: View) -> Array:
        """Rewrite a part that could not be written out; it receives all positions that it reads as arguments."""
        if isinstance(node, Repeat):
            raise NotCausal(f"{node} is part of a larger expression; give it an equation of its own")
        inner = Rewriting(node.layer, self.new, self.all, self._back_inside(node), caching=0)
        if view != inner.frame.rows(node.layer.output):
            raise NotCausal(f"{node} is read at all positions, in an expression; give it an equation of its own")
        inner.run()
        # a cache inside a family would need one cache for each member
        if inner.caches or any(isinstance(item, Link) for item in inner.items):
            raise NotCausal(f"{node} keeps earlier positions of its own, inside a family; write its parts out first")
        self.of_parts += inner.every_change()
        inputs, arguments = self._handed(inner, node)
        bound = Sequence(
            *(Sequence(name, self.frame.cut(value, (False,) * len(value.shape))) for name, value in node.args[3])
        )
        layer = Layer(
            node.layer.name, inputs, node.layer.parameters, inner.items, inner.variable(node.layer.output, view)
        )
        return Apply(node.args[0], layer, Sequence(*arguments), bound)

    def _handed(self, inner: Rewriting, node: Apply) -> tuple[list[Variable], list[Array]]:
        """Return the inputs of a rewritten part and the arguments for them."""
        inputs, arguments = [], []
        for variable, argument in zip(node.layer.inputs, node.arguments, strict=True):
            view = inner.view_given(variable)
            if view is None:
                view = inner.frame.rows(variable)
            views = inner.asked.get(variable, {})
            if len(views) > 1 and not inner._is_kept(variable, inner.of.inputs.index(variable)):
                raise NotCausal(f"{node} reads {variable} at the new positions and at all of them")
            inputs.append(inner.variable(variable, view))
            arguments.append(self.frame.cut(argument, view))
        return inputs, arguments

    def _repeated(self, variable: Variable, node: Repeat) -> Link:
        """Rewrite the layer of a repetition; its first input is cached if it is read at all positions."""
        if node.bound:
            raise NotCausal(f"{node} binds weights of what surrounds it; give them as inputs")
        inner = Rewriting(node.layer, self.new, self.all, self._back_inside(node), caching=1)
        inner.run()
        if any(isinstance(item, Link) for item in inner.items):
            raise NotCausal(f"{node} repeats a repetition; write the inner one out")
        inputs, arguments = self._handed(inner, node)
        unnamed = next((a for a in arguments if not isinstance(a, Variable)), None)
        if unnamed is not None:
            raise NotCausal(f"{node} is applied to {unnamed}; give it an equation of its own")
        output = inner.variable(node.layer.output, inner.frame.rows(node.layer.output))
        caches = tuple(inner.caches)
        outputs = (output, *(cache.new for cache in caches))
        layer = Layer(
            f"{node.layer.name}_next",
            (*inputs, *(cache.past for cache in caches)),
            node.layer.parameters,
            inner.items,
            outputs if caches else output,
        )
        result = self.variable(variable, self.frame.rows(variable))
        return Link(layer, tuple(arguments), (result,), caches, tuple(inner.every_change()), node.name, node.count)
