"""The sizes at which a function under test is called: distinct primes, ones and equal ones, several hundred.

Definition   ordinary   distinct primes, so that a swapped axis cannot pass
             combined   every size is 1, or one common number, or a prime of its own, in rows such that every
                        combination of these values of any three sizes occurs (a covering array of strength 3): the
                        effect of an axis of one entry, or of a square matrix, depends on few sizes at a time
             large      one size at a time of several hundred, larger than usual tiles; then all at once
Shapes       a size that must be even is twice the number above; the number of layers of a stack stays small
Source       Cohen, Dalal, Fredman and Patton (1997), "The AETG system", for the greedy choice of rows
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from sympy import Integer, Symbol

from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from numeric.runtime.checks import InputError
from numeric.runtime.structure import WeightTree, applications, applied_in, weight_tree

__all__ = ["COMMON", "combined_sizes", "draw_sizes", "large_sizes", "shape_of", "sizes_at_once"]

PRIMES = (
    3,
    5,
    7,
    11,
    13,
    17,
    19,
    23,
    29,
    31,
    37,
    41,
    43,
    47,
    53,
)  # two entries may nearly agree: a variance of two loses most digits
COUNTS = (2, 3)  # of layers in a stack
COMMON = 4  # for equal sizes: even, since some axes must be
LARGE = (521, 257, 131, 67, 37, 23, 11)  # just above 512, 256, 128 and 64
ENTRIES = 300_000  # most entries of an array where one size is large
ENTRIES_AT_ONCE = 70_000  # most where all are: products of matrices take much longer then
CANDIDATES = 24  # random rows from which the next one is chosen
ONE, EQUAL, OWN = range(3)  # the values of a size in a row


def draw_sizes(layer: Layer, pinned: Mapping[str, int], seed: int) -> dict[str, int]:
    """Return distinct primes for the sizes of a layer, the smallest for numbers of layers; pinned sizes stay.

    Raises       InputError for a pinned size that the layer does not have, or that leaves an axis that is not whole
    """
    names = {symbol.name: symbol for symbol in layer.sizes}
    for name, value in pinned.items():
        if name not in names or isinstance(value, bool) or not isinstance(value, int) or value < 1:
            sizes = ", ".join(names)
            raise InputError(f"{layer.name}: {name} = {value!r} is not a size of it; give integers >= 1 for {sizes}")
    counts = _counts(weight_tree(layer))
    free = sorted((name for name in names if name not in pinned), key=lambda name: (names[name] not in counts, name))
    first = sum(names[name] in counts for name in free)
    primes = [prime for prime in PRIMES if prime not in pinned.values()][: max(len(free) - first, 5)]
    shuffled = [*COUNTS[:first], *np.random.default_rng(seed).permutation(primes)]
    drawn = dict(pinned) | {name: int(prime) for name, prime in zip(free, shuffled, strict=False)}
    return _whole(layer, {name: drawn[name] for name in names}, frozenset(free))


def combined_sizes(
    layer: Layer, pinned: Mapping[str, int], seed: int, rows: int, batch: bool
) -> Iterator[tuple[dict[str, int], tuple[int, ...]]]:
    """Yield at most `rows` sizes and batch axes: all 1, all equal, then mixed; a batch axis is one more size."""
    own = draw_sizes(layer, pinned, seed)
    counts = {symbol.name for symbol in _counts(weight_tree(layer)) if isinstance(symbol, Symbol)}
    free = [name for name in own if name not in pinned]
    if not free:
        return
    plain = [[ONE] * len(free) + [OWN] * batch, [EQUAL] * len(free) + [OWN] * batch]
    for row in _covering(len(free) + batch, plain, rows, np.random.default_rng(seed)):
        choices = {name: (1, COUNTS[0] if name in counts else COMMON, own[name]) for name in free}
        values = {name: choices[name][value] for name, value in zip(free, row, strict=False)}
        axes = ((1,), (COMMON,), ())[row[-1]] if batch else ()
        yield _whole(layer, own | values, frozenset(free)), axes


def _covering(factors: int, first: list[list[int]], rows: int, rng: Any) -> Iterator[list[int]]:
    """Yield rows of the three values: the given rows, then each time the random one with the most new triples."""
    triples = np.array(list(combinations(range(factors), min(factors, 3))))
    weights = 3 ** np.arange(triples.shape[1])  # three values as the digits of a number in base 3
    met = np.zeros((len(triples), 3 ** triples.shape[1]), dtype=bool)
    for number in range(rows):
        some = rng.integers(3, size=(CANDIDATES, factors))
        candidates = np.array([first[number]]) if number < len(first) else some
        codes = candidates[:, triples] @ weights
        places = np.arange(len(triples))
        new = (~met[places, codes]).sum(axis=1)
        best = int(new.argmax())
        if new[best]:
            met[places, codes[best]] = True
            yield candidates[best].tolist()
        elif met.all():
            return


def large_sizes(layer: Layer, pinned: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield sizes with one large and the others small; the large one is smaller where an array would be too large."""
    small = draw_sizes(layer, pinned, 0)
    counts = _counts(weight_tree(layer))
    for symbol in layer.sizes:
        if symbol.name not in pinned and symbol not in counts:
            yield _fitted(layer, small, [symbol.name], ENTRIES)


def sizes_at_once(layer: Layer, pinned: Mapping[str, int]) -> dict[str, int]:
    """Return sizes that are all large, as far as memory and time allow."""
    counts = _counts(weight_tree(layer))
    names = [symbol.name for symbol in layer.sizes if symbol.name not in pinned and symbol not in counts]
    return _fitted(layer, draw_sizes(layer, pinned, 0), names, ENTRIES_AT_ONCE)


def _fitted(layer: Layer, small: dict[str, int], names: Sequence[str], entries: int) -> dict[str, int]:
    shapes = set(_shapes(layer))
    for length in LARGE:
        sizes = _whole(layer, small | dict.fromkeys(names, length), frozenset(names))
        if max((prod(shape_of(shape, sizes)) for shape in shapes), default=0) <= entries:
            return sizes
    return small


def _shapes(layer: Layer, families: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the shapes of all arrays of a layer and of the layers in it, with the axes of families in front."""
    yield from ((*families, *shape) for shape in layer.shapes.values())
    for equation in layer.equations:
        within = (*families, equation.over[1]) if equation.over else families
        for node in applied_in(equation.value):
            yield from _shapes(node.layer, within)


def shape_of(shape: Sequence[Any], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return a symbolic shape as numbers."""
    return tuple(_length(along, sizes) for along in shape)


def _length(along: Any, sizes: Mapping[str, int]) -> int:
    places = total(along)
    if isinstance(places, Symbol):  # by far the most frequent case, and fast
        return sizes[places.name]
    return int(places.xreplace(_numbers(places.free_symbols, sizes)))


def _counts(tree: WeightTree) -> set[Any]:
    return {tree.count, *(count for part in tree.parts.values() for count in _counts(part))}


def _whole(layer: Layer, sizes: dict[str, int], free: frozenset[str]) -> dict[str, int]:
    """Return the sizes, where drawn ones are multiplied so that every axis has a whole length."""
    for along in (along for shape in layer.shapes.values() for along in shape):
        if isinstance(along, Symbol):
            continue
        length = total(along).xreplace(_numbers(total(along).free_symbols, sizes))
        if not isinstance(length, Integer):
            names = sorted(symbol.name for symbol in along.free_symbols if symbol.name in free)
            if not names:
                raise InputError(f"{layer.name}: the axis of {total(along)} places must be whole, not {length}")
            sizes = sizes | {names[0]: sizes[names[0]] * int(length.q)}
    for node in applications(layer):
        sizes = _whole(node.layer, sizes, free)
    return sizes


def _numbers(symbols: Any, sizes: Mapping[str, int]) -> dict[Symbol, Integer]:
    return {symbol: Integer(sizes[symbol.name]) for symbol in symbols if symbol.name in sizes}
