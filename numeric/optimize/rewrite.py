"""One rewrite of a layer: the equations before and after, the theorem that permits it, and the judge's verdict.

A pass writes a `Proposal`. It holds the new right-hand sides of variables that stay, the equations of new variables and
of new weights, and the variables whose old equations the proof may unfold; every other variable is uninterpreted. The
proposal is stated as a derivation about these equations alone, and the judge decides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sympy import Add, Basic, Eq, Expr, Gt, Mod, Sum, Symbol, expand, fraction, log, preorder_traversal, together

from derivations.language.arrays.binding import free_symbols, fresh_index, replace_free
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, Claim, Derivation, claim, derivation, step

__all__ = ["TWO_EXCEEDS_ONE", "Proposal", "Rewrite", "sees_a_key", "stated"]

TWO_EXCEEDS_ONE = Assumption(Gt(log(2), 0, evaluate=False), {}, "2 > 1")


@dataclass(frozen=True)
class Proposal:
    """A change of some equations that a pass proposes.

    Definition   `replaced`: variables that stay, with their new right-hand sides (in a family at the old index);
                 `fresh`: equations of new variables; `packed`: equations of new weights over the old ones;
                 `opened`: variables whose old equations the proof unfolds; `known`: further definitions it may use;
                 `equal`: where one name replaces another in `replaced`, each old variable with its replacement; the
                 proof then shows that these two are equal
    """

    theorem: str
    replaced: Mapping[Variable, Array]
    fresh: tuple[Equation, ...] = ()
    packed: tuple[Equation, ...] = ()
    opened: tuple[Variable, ...] = ()
    known: tuple[Equation, ...] = ()
    assuming: tuple[Assumption, ...] = ()
    rule: str = "algebra"
    equal: Mapping[Variable, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Rewrite:
    """A rewrite of one layer: the pass, the theorem that permits it, the equations before and after, the proof."""

    name: str
    theorem: str
    before: tuple[Equation, ...]
    after: tuple[Equation, ...]
    packed: tuple[Equation, ...] = ()
    derivation: Derivation | None = field(default=None, compare=False)
    evidence: str = "definition"
    reason: str = ""

    @property
    def done(self) -> bool:
        """Return whether the rewrite was proved, and so applied."""
        return self.evidence in ("proved", "definition")

    def text(self) -> str:
        """Return the rewrite as lines of text: pass, theorem, evidence, equations before and after."""
        head = f"{self.name}, by {self.theorem}: {self.evidence}"
        lines = [f"{head} ({self.reason}), not done" if self.reason else head]
        lines += [f"    {equation}" for equation in self.before]
        lines += [f" -> {equation}" for equation in self.after]
        lines += [f"  w {equation}" for equation in self.packed]
        return "\n".join(lines)


def stated(name: str, proposal: Proposal, equations: Mapping[Variable, Equation]) -> Derivation:
    """Return the derivation that states, for every variable that stays, that its new value equals the old one.

    It is stated for the sizes at which every axis is an integer >= 1, as in the layer.
    """
    # a variable that is to be shown equal to another must not be known by definition
    opened = (equations[v] for v in proposal.opened if v not in proposal.equal)
    definitions = (*opened, *proposal.known, *proposal.fresh, *proposal.packed)
    shown = proposal.equal or proposal.replaced
    kept = [(equations[variable], new) for variable, new in shown.items()]
    names = " and ".join(variable.name for variable in shown)
    axes = list(_axes(*definitions, *(part for pair in kept for part in pair)))
    sizes = _sizes_of_differences(axes)
    if sizes:
        definitions = tuple(replace_free(equation, sizes) for equation in definitions)
        kept = [(replace_free(equation, sizes), replace_free(new, sizes)) for equation, new in kept]
    ranges: dict[Symbol, Expr] = {}
    claims: list[Claim] = []
    avoid = {s for equation, new in kept for s in (*free_symbols(equation), *free_symbols(new))}
    for equation, new in kept:
        old, over = equation.value, equation.over
        if over is not None:
            index, size = over[0], total(over[1])
            # two families with one letter but different sizes: one of them gets another letter
            if ranges.get(index, size) != size:
                index = fresh_index({*avoid, *ranges})
                old, new = (replace_free(value, {over[0]: index}) for value in (old, new))
            ranges[index] = size
        claims.append(claim(old, step(proposal.rule, new)))
    return _first(
        derivation(
            f"{name}: {names}, by {proposal.theorem}",
            *claims,
            about=definitions,
            ranges=ranges,
            assuming=(*proposal.assuming, *_whole(along.xreplace(sizes) for along in axes)),
        )
    )


@lru_cache(maxsize=1 << 10)
def _first(found: Derivation) -> Derivation:
    """Return the first derivation that was equal to this one, so that the judge's decision is reused."""
    return found


def _axes(*parts: Basic) -> Iterator[Expr]:
    """Yield the sizes of all axes of the arrays in some expressions, each once."""
    seen = dict.fromkeys(
        along for part in parts for node in preorder_traversal(part) if isinstance(node, Array) for along in node.shape
    )
    for along in seen:
        yield from (along.count, along.size) if isinstance(along, Blocks) else (along,)


def _sizes_of_differences(axes: Iterable[Expr]) -> dict[Symbol, Expr]:
    """Return sizes as sums: for an axis of length a - b, the size a is b + s with a new positive size s."""
    sizes: dict[Symbol, Expr] = {}
    for along in dict.fromkeys(axes):
        terms = Add.make_args(expand(along.xreplace(sizes)))
        longer = [term for term in terms if term.is_Symbol and term not in sizes]
        if len(longer) == 1 and any(term.could_extract_minus_sign() for term in terms):
            # a positive name for the difference: the judge then knows that the axis is not empty
            rest = Symbol(f"{longer[0].name}_rest", integer=True, positive=True)
            sizes[longer[0]] = rest + longer[0] - Add(*terms)
    return sizes


def _whole(axes: Iterable[Expr]) -> Iterator[Assumption]:
    """Yield the assumption that sizes are multiples of their divisors, such as 2 where columns are cut in half."""
    divided = dict.fromkeys(fraction(together(along)) for along in axes)
    for number, divisor in divided:
        if divisor != 1 and divisor.is_Integer:
            yield Assumption(Eq(Mod(number, divisor, evaluate=False), 0, evaluate=False))


def sees_a_key(masks: Iterable[Array]) -> tuple[Assumption, ...]:
    """Return the assumption that every query sees a key; a row that sees none is a row of zeros by convention.

    That convention is the same before and after a rewrite: `RowSoftmax` and `Normalised` both state it.
    """
    found = []
    for mask in masks:
        row, key = Symbol("row", integer=True), Symbol("key", integer=True)
        rows, keys = map(total, mask.shape)
        seen = Gt(Sum(mask[row, key], (key, 0, keys - 1)), 0)
        found.append(Assumption(seen, {row: rows}, "every query sees a key; other rows are zeros, before and after"))
    return tuple(found)
