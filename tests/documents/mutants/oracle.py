"""The oracle: whether a formula says something else than another, by random arrays, exact numbers and declared shapes.

Definition   "different" where every reading of the letters under which the first is possible (which are vectors, which
             are numbers) gives other numbers for the second, or shapes that do not fit; "same" where every reading
             gives the same; "cannot tell" otherwise
Result       `values_differ` for identities, `shapes_differ` for what only has to fit, `declarations_differ` for sizes
             that are declared and used, `inner_sizes_differ` for products of shapes; links between numbers are in
             `printed_numbers`
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice, pairwise, product
from typing import Literal

import mpmath
import numpy as np

from derivations.documents.formulas import formula_text
from derivations.documents.syntax import Aggregate, Call, Chain, Fence, Name, Node, Product, Space
from tests.documents.mutants.arrays import INDICES, Assignment, Unread, sized, split
from tests.documents.mutants.functions import DIGITS, Differ, Value

__all__ = [
    "Answer",
    "Declared",
    "declarations_differ",
    "declared_in",
    "inner_sizes_differ",
    "letters",
    "shapes_differ",
    "value_of",
    "values_differ",
]

Answer = Literal["different", "same", "cannot tell"]
Declared = Mapping[str, tuple[str, ...]]
MOST_READINGS = 64
DRAWS = ({"i": 1, "j": 2, "l": 3, "t": 2}, {"i": 3, "j": 1, "l": 2, "t": 1}, {"i": 2, "j": 2, "l": 1, "t": 3})
FAILURES = (Unread, ArithmeticError, ValueError, TypeError, OverflowError)


# --- readings ---


def letters(node: Node) -> Iterator[Name]:
    """Yield the names that stand for something: no words of functions, no indices."""
    if isinstance(node, Name):
        yield node
    elif isinstance(node, Call):
        for each in node.arguments:
            yield from letters(each)
    else:
        for each in node.children:
            yield from letters(each)


def _bound(node: Node) -> dict[str, int]:
    return {each.key: 0 for part in node.walk() if isinstance(part, Aggregate) for each in part.index}


def _readings(node: Node, declared: Declared) -> Iterator[dict[str, int]]:
    """Yield ranks for the letters of a formula."""
    bound, options = _bound(node), dict[str, tuple[int, ...]]()
    for name in letters(node):
        if name.key in bound or name.key in INDICES:
            continue
        head, places = split(name, bound)
        if name.key in declared:
            options[name.key] = (len(declared[name.key]),)
        elif sized(name) or len(places) > 1:
            options[head.key] = (0,)
        elif len(name.base) == 1 and name.base.isupper():
            options[head.key] = (2, 1) if places else (2,)
        else:
            options[head.key] = (0, 1, 2) if len(name.base) > 2 else (0, 1)
    for ranks in islice(product(*options.values()), MOST_READINGS):
        yield dict(zip(options, ranks, strict=True))


def _assignments(node: Node, declared: Declared) -> Iterator[Assignment]:
    """Yield an assignment for each reading under which a formula has a value, with equal sizes where needed."""
    tops = {
        each.key for part in node.walk() if isinstance(part, Aggregate) and part.upper for each in letters(part.upper)
    }
    for ranks in _readings(node, declared):
        for seed, draw in enumerate(DRAWS):
            shapes = dict(declared)
            bounds = {key: (3, 5, 7, 9)[at % 4] for at, key in enumerate(sorted(tops))}
            assignment = Assignment(np.random.default_rng(seed), ranks, shapes, {}, {}, dict(draw), bounds)
            if not _fitted(assignment, node, declared):
                break
            yield assignment


def _fitted(assignment: Assignment, node: Node, declared: Declared) -> bool:
    """Make sizes equal until a formula has a value; false where it has none."""
    fixed = {axis for axes in declared.values() for axis in axes}
    for _ in range(20):
        kept = dict(assignment.bound)
        try:
            assignment.value(node)
        except Differ as differ:
            if len(differ.args) != 2 or not _merged(assignment, *differ.args, fixed=fixed):
                return False
        except FAILURES:
            return False
        else:
            return True
        finally:
            assignment.bound = kept
    return False


def _merged(assignment: Assignment, first: tuple[int, ...], second: tuple[int, ...], *, fixed: Collection[str]) -> bool:
    """Make the lengths equal in which two shapes differ; false where both are declared, or belong to no letter."""
    for a, b in zip(reversed(first), reversed(second), strict=False):
        if a == b:
            continue
        of_a, of_b = ([name for name, size in assignment.sizes.items() if size == each] for each in (a, b))
        if not of_a or not of_b or (any(each in fixed for each in of_a) and any(each in fixed for each in of_b)):
            return False
        keep = a if any(each in fixed for each in of_a) else b
        for name in (*of_a, *of_b):
            assignment.sizes[name] = keep
        return True
    return False


# --- identities and shapes ---


@mpmath.workdps(DIGITS)
def values_differ(original: Node, mutated: Node, declared: Declared) -> Answer:
    """Say whether two formulas have other values."""
    return _told(_compared(assignment, original, mutated) for assignment in _assignments(original, declared))


@mpmath.workdps(DIGITS)
def shapes_differ(before: tuple[Node, ...], after: tuple[Node, ...], declared: Declared) -> Answer:
    """Say whether sides that are said to be equal no longer fit, whatever the shapes of what is not declared."""
    if not _fits(before, declared):
        return "cannot tell"
    return "same" if _fits(after, declared) else "different"


def inner_sizes_differ(before: Node, after: Node) -> Answer:
    """Say whether sizes that met in a product of shapes, `(n × d) (d × m)`, no longer do."""
    meet, still = (all(first[-1] == second[0] for first, second in pairwise(_sizes(each))) for each in (before, after))
    return "cannot tell" if len(_sizes(before)) < 2 or not meet else "same" if still else "different"


def _sizes(product_of_shapes: Node) -> list[tuple[str, ...]]:
    """Return the sizes of each factor, as they are written; nothing where a factor is no shape."""
    found: list[tuple[str, ...]] = []
    for factor in product_of_shapes.children if isinstance(product_of_shapes, Product) else ():
        if not isinstance(factor, Fence) or not isinstance(factor.inside, Product):
            return []
        if set(factor.inside.operators) != {"times"}:
            return []
        found.append(tuple(map(formula_text, factor.inside.factors)))
    return found


def _told(answers: Iterable[str]) -> Answer:
    said = list(answers)
    by_reading = {said[at] if "different" not in said[at : at + 3] else "different" for at in range(0, len(said), 3)}
    if by_reading == {"different"}:
        return "different"
    return "same" if by_reading == {"same"} else "cannot tell"


def value_of(assignment: Assignment, node: Node) -> Value:
    """Return the value of a formula, `Differ` where shapes do not fit, None where it is not read."""
    kept = dict(assignment.bound)
    try:
        return assignment.value(node)
    except Differ:
        return Differ
    except FAILURES:
        return None
    finally:
        assignment.bound = kept


def _compared(assignment: Assignment, original: Node, mutated: Node) -> str:
    before, after = value_of(assignment, original), value_of(assignment, mutated)
    if after is Differ:
        return "different"
    if after is None or before is None or before is Differ:
        return "cannot tell"
    if np.shape(before) != np.shape(after):
        return "different"
    if isinstance(before, np.ndarray):
        return "same" if np.allclose(before, after, rtol=1e-7, atol=1e-9) else "different"
    return "same" if abs(before - after) <= mpmath.mpf("1e-20") * max(abs(before), abs(after)) else "different"


# --- declarations ---


def declared_in(chains: Iterable[Chain]) -> dict[str, tuple[str, ...]]:
    """Return the shapes that are declared as `x \\in \\mathbb{R}^{n \\times d}`."""
    found: dict[str, tuple[str, ...]] = {}
    for chain in chains:
        if len(chain.sides) == 2 and chain.relations == ("∈",) and isinstance(chain.sides[1], Space):
            names = getattr(chain.sides[0], "items", chain.sides[:1])
            for name in names:
                if isinstance(name, Name):
                    found[name.key] = tuple(formula_text(each) for each in chain.sides[1].sizes)
    return found


@mpmath.workdps(DIGITS)
def declarations_differ(before: Declared, after: Declared, sides: Iterable[tuple[Node, ...]]) -> Answer:
    """Say whether a formula that fits the declarations before does not fit those after.

    A formula is given with all that is said to be equal to it.
    """
    changed = {key for key in before if before[key] != after.get(key)}
    for group in sides:
        used = {name.key for side in group for name in letters(side)}
        if used & changed and _fits(group, before) and not _fits(group, after):
            return "different"
    return "cannot tell"


def _fits(group: tuple[Node, ...], declared: Declared) -> bool:
    shapes = set()
    for side in group:
        assignment = next(_assignments(side, declared), None)
        if assignment is None:
            return False
        value = value_of(assignment, side)
        if all(name.key in declared for name in letters(side) if not sized(name)):
            names = {size: axis for axis, size in assignment.sizes.items()}
            shapes.add(tuple(names.get(size) for size in np.shape(value)))
    return len(shapes) < 2
