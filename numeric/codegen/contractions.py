"""The NumPy text of a contraction: one `einsum` over views of its operands, with one letter for each axis.

Definition   an operand is read at places that are linear in the indices: a slice of an axis gives one index, an axis
             that is split gives several, a number removes the axis. What remains is a sum of products by letters. A
             Kronecker delta between an axis of the result and such a place puts the sum at that place, among zeros
Result       `np.einsum("...ikp,...jkp->...kij", Q, K)`; an array that is only moved is a view
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sympy import Expr, Integer, KroneckerDelta, Lambda, Mul, Symbol, expand
from sympy import Tuple as Places

from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import Array
from derivations.language.arrays.row_major import Range, placed, row_major
from derivations.language.arrays.shapes import total
from numeric.codegen.formula_printer import CompileError

__all__ = ["Writer", "contraction_text"]


class Writer(NamedTuple):
    """What a contraction needs of the layer's printer: functions that write its parts, and the name of `einsum`."""

    array: Callable[[Array], str]
    whole: Callable[[Expr], str]
    table: Callable[[Lambda, list[Expr]], str]
    scaled: Callable[[Expr, str], str]
    einsum: str


def contraction_text(node: Contraction, writer: Writer) -> str:
    """Return a contraction as text."""
    # afterwards every place is a range, which basic slicing reads without a copy
    node = _readable(node)
    counts = node.counts
    letters = dict(zip(counts, "ijklmnopqrstuvwxyzabcdefgh", strict=False))
    texts, axes = [], []
    for array, places in node.operands:
        text, symbols = _operand(node, array, places, writer)
        texts.append(text)
        axes.append("..." + "".join(letters[s] for s in symbols))
    read = {symbol for symbol in counts if any(letters[symbol] in spec for spec in axes)}
    own_axes, factor = placed(node)
    own = [s for s in counts if s in factor.free_symbols]
    # a factor that varies with an index is one more operand of the einsum
    number = factor if not own else Integer(1)
    if own:
        texts.append(writer.table(Lambda(tuple(own), factor), [counts[s] for s in own]))
        axes.append("".join(letters[s] for s in own))
        read |= set(own)
    groups = [own_axes[index].symbols if index in own_axes else _group(index) for index in node.indices]
    result = [s for group in groups for s in group]
    shown = [s for s in result if s in read]
    wanted = "..." + "".join(letters[s] for s in shown)
    # one operand in the order of the result needs no einsum: it stays a view
    single = len(texts) == 1 and axes[0] == wanted
    text = texts[0] if single else f"{writer.einsum}({', '.join([repr(','.join(axes) + '->' + wanted), *texts])})"
    for symbol, _ in node.sums:  # a sum of equal terms
        number = number * (1 if symbol in read else counts[symbol])
    if len(shown) < len(result):
        # the result repeats along an index that no operand reads
        kept = ", ".join(":" if s in shown else "None" for s in result)
        text = f"stretch({text}[..., {kept}], {', '.join(writer.whole(counts[s]) for s in result)})"
    text = _arranged(text, node, groups, own_axes, writer)
    return text if number == 1 else writer.scaled(number, text)


def _readable(node: Contraction) -> Contraction:
    """Return an equal contraction that reads operands at ranges only: A at i + p becomes sum_q [q = i + p] A at q."""
    factor, sums = node.factor, list(node.sums)
    reads: list[Places] = []
    for array, places in node.operands:
        read = list(places)
        for number, (place, along) in enumerate(zip(places, array.shape, strict=True)):
            if isinstance(place, Places) or row_major(node, place, array) is not None:
                continue
            read[number] = Symbol(f"q_{len(sums)}", integer=True)
            sums.append((read[number], total(along)))
            factor = factor * KroneckerDelta(read[number], place)
        reads.append(Places(*read))
    if len(sums) == len(node.sums):
        return node
    return Contraction(node.indices, node.shape, sums, factor, reads, *(array for array, _ in node.operands))


def _group(index: Any) -> list[Symbol]:
    return list(index) if isinstance(index, Places) else [index]


def _arranged(
    text: str, node: Contraction, groups: list[list[Symbol]], own_axes: Mapping[Symbol, Range], writer: Writer
) -> str:
    """Return the text of an array with one axis for each group of symbols, set among zeros where it fills a part."""
    for number in reversed(range(len(groups))):  # the axes after it are merged already
        behind, group = len(groups) - number - 1, groups[number]
        for merged in range(len(group) - 1):
            text = f"merge_axes({text}, {merged - behind - len(group)})"
        found = own_axes.get(node.indices[number])
        if found is None:
            continue
        if not group:
            # a single place without an index needs an axis of length 1 to be placed along
            text = f"{text}[..., None{', :' * behind}]"
        size = total(node.shape[number])
        if (found.start, found.step) != (0, 1) or expand(found.length(node.counts) - size) != 0:
            start, whole, step = map(writer.whole, (found.start, size, found.step))
            text = f"place_axis({text}, {-behind - 1}, {start}, {whole}, {step})"
    return text


def _operand(node: Contraction, array: Array, places: tuple[Any, ...], writer: Writer) -> tuple[str, list[Symbol]]:
    """Return the text of an operand with one axis for each index that reads it, and these indices."""
    text, counts = writer.array(array), node.counts
    cuts: list[str] = []
    symbols: list[Symbol] = []
    splits: list[tuple[int, Expr]] = []  # axes of the cut array, counted from its first, with the size of a part
    rank = 0
    for place, along in zip(places, array.shape, strict=True):
        place = expand(place[0] * along.size + place[1]) if isinstance(place, Places) else place
        read = row_major(node, place, array)
        if read is None:
            raise CompileError(f"{array} is read at {place}, which is neither a slice nor a row-major place")
        if not read.symbols:
            cuts.append(writer.whole(read.start))
            continue
        cuts.append(_cut(read.start, read.step, read.length(counts), total(along), writer))
        for number in range(1, len(read.symbols)):
            splits.append((rank + number - 1, Mul(*(counts[s] for s in read.symbols[number:]))))
        symbols += read.symbols
        rank += len(read.symbols)
    if any(cut != ":" for cut in cuts):
        text = f"{text}[..., {', '.join(cuts)}]"
    length = rank - len(splits)  # axes of the cut array, before any is split
    for number, part in splits:  # from the first: the axes after it are not split yet
        text = f"split_axis({text}, {number - length}, {writer.whole(part)})"
        length += 1
    return text, symbols


def _cut(start: Expr, step: Expr, count: Expr, size: Expr, writer: Writer) -> str:
    """Return the text of a slice with `count` entries of an axis: start, start + step, ..."""
    end = expand(start + step * (count - 1) + 1)
    first = "" if start == 0 else writer.whole(start)
    to_end = 0 in (expand(end - size), expand(start + step * count - size))  # or the next place is after the axis
    last = "" if to_end else writer.whole(end)
    by = "" if step == 1 else f":{writer.whole(step)}"
    return f"{first}:{last}{by}" if first or last or by else ":"
