r"""The layer of the next positions: decoding with a cache, as a rewriting of layers.

Definition   of a layer over n positions: the layer of the last n of t positions, the keys and values (whatever is read
             at all positions) of the t - n earlier ones being given, those of the new ones being put out
Result       the rows t - n, ..., t - 1 of the layer at t positions; what is put out is what the next step is given
Assumes      the layer looks back only, else `NotCausal` says which equation does not
Source       attention.causal_prefix: output i of causal attention is the attention of query i to the first i keys and
             values; Shazeer (2019), section 2.4

The parts of the layer are written out first. A repetition is a link of its own, whose copies have caches of their own:
`Decoding.links` in order of evaluation; `Decoding.layer` is all of them as one layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sympy import Expr, Integer, Symbol
from sympy import Tuple as Sequence

from derivations.language.binding import replace_free
from derivations.language.exponentials import RowExponentials
from derivations.language.expression import Array, Member, Variable
from derivations.language.functions import CausalMask, RowSoftmax
from derivations.language.inlining import inlined
from derivations.language.layer import Apply, Equation, Layer, Repeat
from derivations.language.positions import NotCausal, Positions, View, looks_back
from derivations.language.rows import RowRange, Stacked

__all__ = ["THEOREM", "Cache", "Change", "Decoding", "Link", "first_positions", "last_position", "next_positions"]

THEOREM = "attention.causal_prefix"  # what permits the rewriting


@dataclass(frozen=True)
class Cache:
    """An array at the earlier positions, the same at the new ones, and both together."""

    past: Variable
    new: Variable
    whole: Variable


@dataclass(frozen=True)
class Change:
    """An equation of the layer, what it is at the next positions, and the variables that are 0 right of the diagonal.

    `whole` is what each variable of the old equation is called at all positions.
    """

    old: Equation
    new: Equation
    whole: dict[Variable, Variable]
    back: frozenset[Variable]


@dataclass(frozen=True)
class Link:
    """Equations at the new positions; or the layer of a repetition at them, its weights filed under `path`.

    The layer takes what is called `reads` in the surrounding layer, then the earlier positions of the caches; it puts
    out what is called `writes` there, then the new positions of the caches.
    """

    layer: Layer
    reads: tuple[Variable, ...]
    writes: tuple[Variable, ...]
    caches: tuple[Cache, ...]
    changes: tuple[Change, ...]
    path: str = ""
    count: Expr | None = None


@dataclass(frozen=True)
class Decoding:
    """A layer at its next positions: links in order, the size of the new positions and that of all of them."""

    of: Layer
    links: tuple[Link, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    new: Symbol
    all: Symbol

    @property
    def layer(self) -> Layer:
        """All links as one layer: it takes the inputs, then the caches, and puts out the outputs, then their new rows.

        Assumes      a repetition has a number of copies; the weights of a copy are called `path.number.weight`
        """
        copies = [copy for link in self.links for copy in _copies(link)]
        past = [copy(cache.past) for copy in copies for cache in copy.link.caches]
        new = [copy(cache.new) for copy in copies for cache in copy.link.caches]
        parameters = dict.fromkeys(copy(p) for copy in copies for p in copy.link.layer.parameters)
        equations = [copy(equation) for copy in copies for equation in copy.link.layer.equations]
        outputs = (*self.outputs, *new)
        name = f"{self.of.name}_next"
        return Layer(name, (*self.inputs, *past), parameters, equations, outputs[0] if len(outputs) == 1 else outputs)


class _Copy:
    """One run of a link: what its names are called in the layer of all links."""

    def __init__(self, link: Link, path: str, names: dict[Array, Array]) -> None:
        own = (*link.layer.inputs, *link.layer.parameters, *(e.variable for e in link.layer.equations))
        self.link = link
        self.names = {v: Variable(f"{path}{v.name}", v.shape, v.kind) for v in own} | names

    def __call__(self, node: Any) -> Any:
        """Return a variable or an equation of the link as it is called outside."""
        return replace_free(node, self.names)


def _copies(link: Link) -> Iterator[_Copy]:
    if link.count is None:
        yield _Copy(link, "", {})
        return
    inputs, chained = dict(zip(link.layer.inputs, link.reads, strict=False)), link.layer.inputs[0]
    for number in range(int(link.count)):
        path = f"{link.path}.{number}."
        out, is_last = link.layer.outputs[0], number == int(link.count) - 1
        written = link.writes[0] if is_last else Variable(f"{path}{out.name}", out.shape, out.kind)
        yield _Copy(link, path, {**inputs, out: written})
        inputs[chained] = written


@lru_cache(maxsize=64)
def next_positions(layer: Layer, positions: Symbol = Symbol("n", integer=True, positive=True)) -> Decoding:
    """Return what a layer becomes at the next positions, those that `positions` counts in it.

    Raises       NotCausal where the layer looks ahead, or where no rule says what an equation reads
    """
    flat = _changed(inlined(layer), lambda node: node)  # masks given by a formula go where they are read
    names = {symbol.name for symbol in (*flat.sizes, *flat.scalars)}
    together = Symbol(_fresh("t", names), integer=True, positive=True)
    rewriting = _Rewriting(flat, positions, together, frozenset(), caching=len(flat.inputs))
    rewriting.run()
    links = tuple(_grouped(rewriting))
    outputs = tuple(rewriting.variable(v, rewriting.frame.rows(v)) for v in flat.outputs)
    inputs = tuple(rewriting.given(v) for v in flat.inputs)
    return Decoding(layer, links, inputs, outputs, positions, together)


def _fresh(wanted: str, taken: Iterable[str]) -> str:
    taken, name, number = set(taken), wanted, 1
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


# --- one layer --------------------------------------------------------------------------------------------------------


@dataclass
class _Rewriting:
    """Rewrites the equations of one layer from the last one back: what is asked of a variable is known at its turn.

    `caching` says of how many inputs, from the first, the earlier positions are kept; of the others, all are given.
    """

    of: Layer
    new: Symbol
    all: Symbol
    back: frozenset[Variable]  # inputs that are 0 right of the diagonal
    caching: int
    asked: dict[Variable, dict[View, None]] = field(default_factory=dict)
    items: list[Equation | Link] = field(default_factory=list)  # in order of evaluation, once run
    caches: list[Cache] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frame = Positions(self.new, self.all, self._ask, self._applied, self._is_back)
        self.looking_back = set(self.back)
        moving = {v for v in self.of.inputs if any(self.frame.whole(v))}
        for equation in self.of.equations:
            if looks_back(equation.value, self._is_back):
                self.looking_back.add(equation.variable)
            if not moving.isdisjoint(_in_order(equation.value)):
                moving.add(equation.variable)
        self.moving = moving  # what depends on the text: the rest can be had at all positions again
        self.known = {*self.of.inputs, *self.of.parameters, *(e.variable for e in self.of.equations)}
        self.names = {v.name for v in self.known}

    def run(self) -> None:
        """Rewrite all equations that the outputs need."""
        for output in self.of.outputs:
            self._ask(output, self.frame.rows(output))
        for equation in reversed(self.of.equations):
            try:
                self._equation(equation)
            except NotCausal as refused:
                raise NotCausal(f"layer {self.of.name}, equation {equation.variable}: {refused}") from None
        for number, variable in enumerate(self.of.inputs):
            if self._is_kept(variable, number):
                self._cached(variable, None)
        self.items.reverse()

    def given(self, variable: Variable) -> Variable:
        """Return an input as the rewritten layer takes it."""
        number = self.of.inputs.index(variable)
        views = self.asked.get(variable, {})
        only_whole = views and self.frame.rows(variable) not in views and not self._is_kept(variable, number)
        return self.variable(variable, self.frame.whole(variable) if only_whole else self.frame.rows(variable))

    def view_given(self, variable: Variable) -> View | None:
        """Return at which positions an input is given, or None where it is not read."""
        views = self.asked.get(variable)
        if not views:
            return None
        return (
            self.frame.whole(variable)
            if self.given(variable) != self.variable(variable, self.frame.rows(variable))
            else self.frame.rows(variable)
        )

    def variable(self, variable: Variable, view: View) -> Variable:
        """Return what stands for a variable at the positions asked for."""
        is_whole = view != self.frame.rows(variable)
        name = self._name(variable, "all") if is_whole else variable.name
        return Variable(name, self.frame.shape(variable, view), variable.kind)

    def _name(self, variable: Variable, what: str) -> str:
        return _fresh(f"{variable.name}_{what}", self.names)

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
            inner = _Rewriting(node.layer, self.new, self.all, known, caching=0)
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
            if view == whole != self.frame.rows(variable) and variable in self.moving:
                continue
            if isinstance(equation.value, Repeat):
                self.items.append(self._repeated(variable, equation.value))
                continue
            target = self.variable(variable, view)
            value = self.frame.cut(equation.value, view[1:] if over else view)
            self.items.append(Equation(Member(target, over[0]) if over else target, value, *(over or ())))
            self.changes.append(self._change(equation, self.items[-1]))

    def _change(self, old: Equation, new: Equation) -> Change:
        read = [v for v in dict.fromkeys((old.variable, *_in_order(old.value))) if any(self.frame.whole(v))]
        whole = {v: Variable(self._name(v, "all"), self.frame.shape(v, self.frame.whole(v)), v.kind) for v in read}
        return Change(old, new, whole, frozenset(v for v in read if v in self.looking_back))

    def _cached(self, variable: Variable, over: tuple[Symbol, Expr] | None) -> None:
        """Write an array at all positions: the earlier ones, which are given, above the new ones."""
        if variable.kind != "real" or len(self.frame.whole(variable)) not in (2, 3):
            raise NotCausal(f"{variable} is read at all positions, and only rows of real numbers are kept of them")
        whole, new = self.variable(variable, self.frame.whole(variable)), self._ask(variable, self.frame.rows(variable))
        earlier = tuple(self.all - self.new if along == self.new else along for along in new.shape)
        past = Variable(self._name(variable, "cache"), earlier, variable.kind)
        self.caches.append(Cache(past, new, whole))
        if len(whole.shape) == 2:
            self.items.append(Equation(whole, Stacked(past, new)))
            return
        place, count = over or (
            Symbol(_fresh("i", {s.name for s in variable.free_symbols}), integer=True),
            whole.shape[0],
        )
        parts = (Member(each, place) for each in (past, new))
        self.items.append(Equation(Member(whole, place), Stacked(*parts), place, count))

    def _applied(self, node: Apply, view: View) -> Array:
        """Rewrite a part that could not be written out: all positions that it reads are given to it."""
        if isinstance(node, Repeat):
            raise NotCausal(f"{node} is part of a larger expression; give it an equation of its own")
        inner = _Rewriting(node.layer, self.new, self.all, self._back_inside(node), caching=0)
        if view != inner.frame.rows(node.layer.output):
            raise NotCausal(f"{node} is read at all positions, in an expression; give it an equation of its own")
        inner.run()
        if inner.caches or any(isinstance(item, Link) for item in inner.items):
            raise NotCausal(f"{node} keeps earlier positions of its own, inside a family; write its parts out first")
        self.changes += inner.changes
        inputs, arguments = self._handed(inner, node)
        bound = Sequence(
            *(Sequence(name, self.frame.cut(value, (False,) * len(value.shape))) for name, value in node.args[3])
        )
        layer = Layer(
            node.layer.name, inputs, node.layer.parameters, inner.items, inner.variable(node.layer.output, view)
        )
        return Apply(node.args[0], layer, Sequence(*arguments), bound)

    def _handed(self, inner: _Rewriting, node: Apply) -> tuple[list[Variable], list[Array]]:
        """Return the inputs of a rewritten part, and what it is applied to."""
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
        """Rewrite the layer of a repetition: its first input is kept where all positions of it are read."""
        if node.bound:
            raise NotCausal(f"{node} binds weights of what surrounds it; give them as inputs")
        inner = _Rewriting(node.layer, self.new, self.all, self._back_inside(node), caching=1)
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
        return Link(layer, tuple(arguments), (result,), caches, tuple(inner.changes[::-1]), node.name, node.count)


# --- one position, and the first ones ---------------------------------------------------------------------------------


def last_position(layer: Layer, new: Symbol, every: Symbol) -> Layer:
    """Return equations at the next positions for one new position: the causal mask shows it every key, and goes."""
    mask = RowRange(CausalMask(every), every - 1, Integer(1))

    def unmasked(node: Array) -> Array:
        is_masked = isinstance(node, RowSoftmax | RowExponentials) and node.args[-1] == mask
        return node.func(*node.args[:-1]) if is_masked else node

    return _changed(layer.xreplace({new: Integer(1)}), unmasked)


def first_positions(layer: Layer, new: Symbol, every: Symbol) -> Layer:
    """Return equations at the next positions where there are no earlier ones: t = n, and all rows of a mask are it."""

    def whole(node: Array) -> Array:
        is_whole = isinstance(node, RowRange) and node.args[1:] == (0, node.args[0].shape[0], 1)
        return node.args[0] if is_whole else node

    return _changed(layer.xreplace({every: new}), whole)


def _changed(layer: Layer, rule: Callable[[Array], Array]) -> Layer:
    """Return a layer with a rule applied to all expressions, from the inside out, also in the layers that it applies."""

    def changed(node: Any) -> Any:
        if isinstance(node, Variable) or not isinstance(node, Array | Equation) or not node.args:
            return node
        if isinstance(node, Apply):
            return _changed_part(node, rule, changed)
        result = node.func(*map(changed, node.args))
        return rule(result) if isinstance(result, Array) else result

    return Layer(layer.name, layer.inputs, layer.parameters, map(changed, layer.equations), layer.args[4])


def _changed_part(node: Apply, rule: Callable[[Array], Array], changed: Callable[[Any], Any]) -> Apply:
    """Change an applied layer; masks that it is given by a formula are put into it."""
    given = [(variable, changed(value)) for variable, value in zip(node.layer.inputs, node.arguments, strict=True)]
    masks = {variable: value for variable, value in given if value.is_mask and not any(_in_order(value))}
    rest = [(variable, value) for variable, value in given if variable not in masks]
    equations = [replace_free(equation, masks) for equation in node.layer.equations]
    layer = Layer(node.layer.name, [v for v, _ in rest], node.layer.parameters, equations, node.layer.args[4])
    return node.func(node.args[0], _changed(layer, rule), Sequence(*(value for _, value in rest)), *node.args[3:])


# --- links ------------------------------------------------------------------------------------------------------------


def _grouped(rewriting: _Rewriting) -> Iterator[Link]:
    """Yield the links: repetitions, and between them the equations that follow one another."""
    groups: list[list[Equation] | Link] = []
    for item in rewriting.items:
        if isinstance(item, Link):
            groups.append(item)
        elif groups and isinstance(groups[-1], list):
            groups[-1].append(item)
        else:
            groups.append([item])
    outputs = {rewriting.variable(v, rewriting.frame.rows(v)) for v in rewriting.of.outputs}
    needed = [set(outputs)]  # behind each group
    for group in reversed(groups[1:]):
        reads = set(group.reads) if isinstance(group, Link) else {v for e in group for v in _in_order(e.value)}
        needed.append(needed[-1] | reads)
    for number, (group, later) in enumerate(zip(groups, reversed(needed), strict=True)):
        yield group if isinstance(group, Link) else _flat(rewriting, group, later, number)


def _flat(rewriting: _Rewriting, equations: list[Equation], later: set[Variable], number: int) -> Link:
    """Return a link of equations: it puts out what later links read."""
    defined = dict.fromkeys(e.variable for e in equations)
    caches = tuple(cache for cache in rewriting.caches if cache.whole in defined)
    past = {cache.past for cache in caches}
    read = dict.fromkeys(v for e in equations for v in _in_order(e.value) if v not in defined and v not in past)
    parameters = tuple(v for v in rewriting.of.parameters if v in read)
    inputs = tuple(v for v in read if v not in parameters)
    writes = tuple(v for v in defined if v in later)
    outputs = (*writes, *(cache.new for cache in caches))
    layer = Layer(
        f"{rewriting.of.name}_next_{number}",
        (*inputs, *(cache.past for cache in caches)),
        parameters,
        equations,
        outputs[0] if len(outputs) == 1 else outputs,
    )
    changes = tuple(change for change in reversed(rewriting.changes) if change.new.variable in defined)
    return Link(layer, inputs, writes, caches, changes)


def _in_order(node: Array) -> Iterator[Variable]:
    if isinstance(node, Variable):
        yield node
        return
    for child in node.args:
        if not isinstance(child, Layer) and hasattr(child, "args"):
            yield from _in_order(child)
