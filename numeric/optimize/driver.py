"""From a layer to a faster layer with the same values: passes run until it no longer changes.

Definition   optimize(layer) has the outputs of the layer, for the weights that its packing computes from the old ones
Result       every rewrite is proved for the layer at hand, and cites the theorem that permits it
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sympy import Tuple as Sequence
from sympy.core.symbol import Str

from derivations.former_names import current
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Variable
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Apply, Equation, Gradient, Layer, Repeat
from derivations.language.layers.names import subexpressions, variables_in
from derivations.language.layers.passing import with_arguments_bound
from numeric.optimize.bias_and_residual import bias_and_residual
from numeric.optimize.biases import key_bias, value_bias
from numeric.optimize.cleaning import common_subexpressions, dead_equations
from numeric.optimize.deferred_normalisation import base_two, deferred_normalisation
from numeric.optimize.draft import Draft
from numeric.optimize.folded_norm import folded_norm
from numeric.optimize.gradients import wide_gradients
from numeric.optimize.norm_gradients import norm_gradients
from numeric.optimize.opened_parts import opened_parts
from numeric.optimize.patterns import defined, is_weight, named_variable
from numeric.optimize.product_order import product_order
from numeric.optimize.pullbacks import pulled_layers, with_named_pullbacks
from numeric.optimize.rewrite import Rewrite
from numeric.optimize.scaled_queries import scaled_queries
from numeric.optimize.second_centring import second_centring
from numeric.optimize.summed_products import summed_products
from numeric.optimize.wide_projections import wide_projections

__all__ = ["PASSES", "Optimised", "optimize"]

PASSES: Mapping[str, Callable[[Draft], bool]] = {  # in the order in which they run
    "dead_equations": dead_equations,
    "common_subexpressions": common_subexpressions,
    "second_centring": second_centring,
    "folded_norm": folded_norm,
    "product_order": product_order,
    "bias_and_residual": bias_and_residual,
    "key_bias": key_bias,
    "value_bias": value_bias,
    "deferred_normalisation": deferred_normalisation,
    "base_two": base_two,
    "scaled_queries": scaled_queries,
    "opened_parts": opened_parts,
    "wide_projections": wide_projections,
    "summed_products": summed_products,
    "wide_gradients": wide_gradients,
    "norm_gradients": norm_gradients,
}
OF_GRADIENTS = (  # passes that keep every weight unchanged
    "dead_equations",
    "common_subexpressions",
    "second_centring",
    "summed_products",
    "wide_gradients",
    "norm_gradients",
)
_ROUNDS = 8


@dataclass(frozen=True)
class Optimised:
    """A faster layer: `layer` computes what `original` does, with weights that `packing` computes from the old ones.

    Definition   the parts of `original` are written out in `layer`; `packing` takes the old weights, by dotted name, as
                 parameters and returns the new ones as outputs; `parts` holds the optimised form of each layer that
                 stays a part (a repetition, a layer in a family), by the name of its weights; `gradients` holds that of
                 the gradient of each layer that a gradient pulls back through
    """

    original: Layer
    layer: Layer
    packing: Layer
    rewrites: tuple[Rewrite, ...]
    parts: Mapping[str, Optimised] = field(default_factory=dict)
    gradients: Mapping[Layer, Optimised] = field(default_factory=dict)

    @property
    def pulled(self) -> tuple[tuple[Layer, Layer], ...]:
        """The layers that gradients are pulled back through, also nested ones, each with its optimised gradient."""
        inner = (pair for each in self.gradients.values() for pair in each.pulled)
        return tuple(dict.fromkeys([*((layer, each.layer) for layer, each in self.gradients.items()), *inner]))

    def explain(self) -> str:
        """Return every rewrite as text: pass, theorem, evidence, equations before and after, new weights."""
        own = [f"layer {self.layer.name}", *(rewrite.text() for rewrite in self.rewrites)]
        inner = [f"part {name}: {part.explain()}" for name, part in self.parts.items()]
        return "\n\n".join([*own, *inner, *(each.explain() for each in self.gradients.values())])

    def every_rewrite(self) -> Iterator[Rewrite]:
        """Yield the rewrites of the layer and of its parts."""
        yield from self.rewrites
        for part in (*self.parts.values(), *self.gradients.values()):
            yield from part.every_rewrite()


def optimize(layer: Layer, *, without: Iterable[str] = ()) -> Optimised:
    """Return a faster layer with the same values; `without` names passes to skip.

    Raises       ValueError for an unknown pass
    """
    left_out = frozenset(map(current, [without] if isinstance(without, str) else without))
    unknown = sorted(left_out - set(PASSES))
    if unknown:
        raise ValueError(f"there is no pass called {unknown[0]!r}; the passes are {', '.join(PASSES)}")
    return _optimised(layer, left_out, (), frozenset())


@lru_cache(maxsize=128)
def _optimised(
    layer: Layer,
    without: frozenset[str],
    masks: tuple[tuple[Variable, Array], ...],
    fixed: frozenset[Variable],
) -> Optimised:
    flat = with_named_pullbacks(layer) if isinstance(layer, Gradient) else inlined(layer)
    draft = Draft(flat, dict(masks), fixed)
    passes = [PASSES[name] for name in PASSES if name not in without and (name in OF_GRADIENTS or draft.rearranges)]
    parts = _parts(draft, without) if draft.rearranges else dict(_kept(flat))
    slopes = {each: _optimised(gradient(each), without, (), frozenset()) for each in pulled_layers(flat)}
    # one pass can enable another, so all run again; the bound guarantees termination
    for _ in range(_ROUNDS):
        found = [change(draft) for change in passes]
        if not any(found):
            break
    rewritten, packing = draft.finished()
    return Optimised(layer, rewritten, packing, tuple(draft.rewrites), parts, slopes)


# --- layers that stay parts -----------------------------------------------------------------------------------------


def _parts(draft: Draft, without: frozenset[str]) -> dict[str, Optimised]:
    """Optimise the layers that remain parts, each once. Layers that share weights under one name stay unchanged."""
    applied = {
        e.variable: [n for n in subexpressions(e.value) if isinstance(n, Apply)] for e in draft.equations.values()
    }
    names = [node.name for nodes in applied.values() for node in nodes]
    parts: dict[str, Optimised] = {}
    for variable, nodes in applied.items():
        for node in nodes:
            # one name is one set of weights: packing it for one application would change the other
            if names.count(node.name) > 1:
                continue
            equation = draft.equations[variable]
            own = _with_weights_bound(draft, equation, node)
            part = _optimised(own.layer, without, _known_masks(draft, own), _fixed(draft, equation, own))
            parts[node.name], changed = _applied(draft, equation, own, part)
            draft.substitute(variable, replace_free(equation.value, {node: changed}))
    return parts


def _kept(layer: Layer) -> Iterator[tuple[str, Optimised]]:
    """Yield the repeated layers of a gradient, unchanged, because the gradient returns gradients of their weights.

    Their parts are already written out where the gradient is that of a layer whose parts are written out.
    """
    for equation in layer.equations:
        for node in subexpressions(equation.value):
            if isinstance(node, Repeat):
                own = node.layer.parameters
                yield node.name, Optimised(node.layer, node.layer, Layer("packing", (), own, (), own), ())


def _known_masks(draft: Draft, node: Apply) -> tuple[tuple[Variable, Array], ...]:
    # inside the part a mask is an input, and only the caller knows which keys it shows
    pairs = zip(node.layer.inputs, node.arguments, strict=True)
    found = ((v, draft.mask(value)) for v, value in pairs if v.kind == "boolean")
    return tuple((v, mask) for v, mask in found if mask is not None and not any(variables_in(mask)))


def _with_weights_bound(draft: Draft, equation: Equation, node: Apply) -> Apply:
    """Return an application whose arguments that are weights of the draft are bound to parameters instead.

    The part can then be optimised with weights in another form. A part with weights of its own is left as it is: its
    packing would need both.
    """
    if isinstance(node, Repeat) or node.own_parameters:
        return node
    pairs = zip(node.layer.inputs, node.arguments, strict=True)
    return with_arguments_bound(node, [v for v, value in pairs if is_weight(value, draft, equation)])


def _fixed(draft: Draft, equation: Equation, node: Apply) -> frozenset[Variable]:
    """Return the parameters that the part must not pack: those bound to other arrays, or of a part with own weights."""
    keep = isinstance(node, Repeat) or bool(node.own_parameters)
    bound = node.bound
    return frozenset(
        p for p in node.layer.parameters if p.name in bound and (keep or not is_weight(bound[p.name], draft, equation))
    )


def _applied(draft: Draft, equation: Equation, node: Apply, part: Optimised) -> tuple[Optimised, Apply]:
    """Return the optimised part and its application; the draft packs what the part needs of the draft's weights."""
    rest = (node.count,) if isinstance(node, Repeat) else ()
    bound = {p.name: node.bound[p.name] for p in part.layer.parameters if p.name in node.bound}
    if not node.own_parameters:
        given = [node.bound[p.name] for p in part.packing.parameters]
        path = "".join(named_variable(given[0]).name.rpartition(".")[:2]) if given else ""
        for weight in (w for w in part.packing.outputs if w.name not in bound):
            needed = part.packing.until(weight.name)
            packing = Layer("packing", needed.parameters, (), needed.equations, weight)
            value = Apply(node.args[0], packing, Sequence(*given))
            packed, bound[weight.name] = defined(draft.fresh(f"{path}{weight.name}"), value, equation)
            draft.packing.append(packed)
        part = replace(part, packing=Layer("packing", (), (), (), ()))
    pairs = (Sequence(Str(name), value) for name, value in bound.items())
    applied: Apply = node.func(node.args[0], part.layer, node.args[2], Sequence(*pairs), *rest)
    return part, applied
