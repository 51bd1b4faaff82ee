r"""Shapes that entries tell: with `\sum_{j=1}^{d} X_{ij}` for i = 1, ..., n the matrix X is n x d.

Definition   the ranges of the two last indices of an entry are the sizes of the matrix, in one block and in the
             "where ..." behind it, or of indices that go as far in the whole section; a gradient dX has the shape of X
Result       wrong: a formula needs the two sizes of one matrix to be the same, as X + X A with A X in the place of X A,
             or X + A A, where a square is added to what is none
Assumes      as for shapes that are declared, two letters that count the rows and columns of one matrix are two sizes;
             small letters are no matrices, since x_{ij} may be entry j of a vector x_i; a range that begins at 1 and
             ends in another index is a part of an axis; of random variables, X_{ij} may be copies of X
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from sympy import Dummy, Expr, Symbol

from derivations.documents.judge.shapes.fitting import Fit, is_equation, read_sides
from derivations.documents.judge.shapes.shape_findings import reason_of
from derivations.documents.judge.wording import shape_text, size_text
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import OF_ROWS, folded
from derivations.documents.scope.letters import flat
from derivations.documents.scope.shape import Clash, Shape
from derivations.documents.scope.sizes import size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Chain, Dots, List, Name, Node, Number, Product
from derivations.documents.verdicts import Finding

__all__ = ["check_entry_shapes"]

CHECK = "shapes.entries"
MOST_STATEMENTS, MOST_OF_A_SECTION, MOST_NODES = 32, 120, 120

_COPIES = re.compile(r"random variable|i\.i\.d|\biid\b|\bcopies\b|確率変数|随机变量|隨機變數", re.IGNORECASE)

Ranges = Mapping[str, Expr | None]
Sizes = tuple[Expr, Expr]


def check_entry_shapes(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a formula would need two sizes of a matrix to be the same, which its entries tell apart."""
    if link is None or not is_equation(statement.chain.relations[link]) or statement.passage.syntax == "code":
        return
    sides = statement.chain.sides[link : link + 2]
    parts = [part for side in sides for part in islice(side.walk(), MOST_NODES + 1)]
    names = [part for part in parts if isinstance(part, Name) and part.base.isupper() and not _is_declared(part, scope)]
    if len(parts) > MOST_NODES or not names or not any(map(_is_product, parts)):
        return
    told = _told(scope)
    known = {name.key: told[name.key] for name in names if name.key in told}
    if not known or _COPIES.search(scope.words(statement)):
        return
    choice = {key: Shape(sizes) for key, sizes in known.items()}
    choice |= {name.key: Shape((Dummy(), Dummy())) for name in names if _is_matrix_elsewhere(name, known, scope)}
    found = read_sides(sides, scope, choice, False, "vectors")
    clash = next((each for each in found.clashes if _is_of_entries(each, known, scope)), None)
    if clash is not None:
        yield Finding("wrong", CHECK, reason_of(clash, statement, scope))
        return
    groups = _groups(found)
    for key, sizes in known.items():
        if sizes[0] != sizes[1] and any(group >= {*sizes} for group in groups):
            first, second = map(size_text, sizes)
            reason = f"{key} is {shape_text(sizes)} by its entries, and this would need {second} to be {first}"
            yield Finding("wrong", CHECK, reason)
            return


def _is_declared(name: Name, scope: Scope) -> bool:
    return any(not each.far for each in scope.shape_candidates(name))


def _is_product(node: Node) -> bool:
    """Say whether matrices may be multiplied here, or numbers of rows be taken."""
    if isinstance(node, Call):
        return folded(node.function) in OF_ROWS
    return isinstance(node, Product) and sum(not isinstance(each, Number) for each in node.factors) > 1


def _is_matrix_elsewhere(name: Name, known: Mapping[str, Sizes], scope: Scope) -> bool:
    """Say whether a letter is declared to be a matrix in another section, so that its sizes here are not told."""
    declared = scope.shape_candidates(name)
    return name.key not in known and bool(declared) and len(declared[0].declaration.sizes or ()) == 2


def _is_of_entries(clash: Clash, known: Mapping[str, Sizes], scope: Scope) -> bool:
    """Say whether a product does not fit by the entries of a letter and what is told of the other, in one way alone.

    Assumes      of two numbers of positions, or two widths, a letter may have the other one here
    """
    sizes = (clash.left_size, clash.right_size)
    widths = [str(size).partition("_")[0] == "d" or scope.document.distinctions.is_width(size) for size in sizes]
    if clash.kind != "product" or widths[0] is widths[1] or not all(type(size) is Symbol for size in sizes):
        return False
    names = [part for part in (clash.left, clash.right) if isinstance(part, Name)]
    told = [name for name in names if name.key in known or len(scope.shape_candidates(name)) == 1]
    return len(told) == 2 and any(name.key in known for name in names)


def _groups(found: Fit) -> list[set[Expr]]:
    """Return the sizes that must be the same for a formula to fit, those together that are."""
    inference = found.inference
    pairs = [*inference.conditions, *((each.left_size, each.right_size) for each in found.clashes)]
    groups: list[set[Expr]] = []
    for pair in pairs:
        group = {inference.found(each) or each for each in pair}
        joined = [each for each in groups if each & group]
        groups = [each for each in groups if each not in joined] + [group.union(*joined)]
    return groups


# --- what entries tell ---


def _told(scope: Scope) -> dict[str, Sizes]:
    """Return the matrices of which this block, and what explains it, tell both sizes, and tell them in one way."""
    statements = list(islice(_together(scope), MOST_STATEMENTS))
    common = {**_of_section(scope), **_ranges([each.chain for each in statements])}
    found: dict[str, set[Sizes]] = {}
    for each in statements:
        own = {**common, **_ranges(_conditions(each.chain.condition))}
        for side in each.chain.sides:
            for name, sizes in _entries(side, own):
                found.setdefault(name.key, set()).add(sizes)
                if name.accent == "d":
                    found.setdefault(replace(name, accent="").key, set()).add(sizes)
    return {key: sizes.pop() for key, sizes in found.items() if len(sizes) == 1}


def _of_section(scope: Scope) -> dict[str, Expr | None]:
    """Return how far the indices go that go as far wherever the section says it."""
    document = scope.document
    blocks = [block for block, section in enumerate(document.sections.of_block) if section == scope.section]
    found: dict[str, set[Expr | None]] = {}
    for each in islice((each for block in blocks for each in document.in_block.get(block, ())), MOST_OF_A_SECTION):
        chain = each.chain
        sums = (part for side in chain.sides for part in side.walk() if isinstance(part, Aggregate))
        said = (_ranges([chain]), _ranges(_conditions(chain.condition)), *map(_of_sum, sums))
        for key, size in (item for ranges in said for item in ranges.items()):
            found.setdefault(key, set()).add(size)
    return {key: sizes.pop() for key, sizes in found.items() if len(sizes) == 1}


def _of_sum(total: Aggregate) -> dict[str, Expr | None]:
    """Return how far the index of a sum goes; None where it does not begin at 1."""
    whole = total.over is None and isinstance(total.lower, Number) and total.lower.value == 1
    upper = size_of(total.upper) if whole and total.upper is not None else None
    return {index.key: upper for index in total.index}


def _together(scope: Scope) -> Iterator[Statement]:
    """Yield the statements of a block, with those of the "where ..." behind it, or of what it explains."""
    block, explaining = scope.block, scope.document.explaining
    blocks = (block - 1, block) if block in explaining else (block, block + 1) if block + 1 in explaining else (block,)
    for each in blocks:
        yield from scope.document.in_block.get(each, ())


def _conditions(node: Node | None) -> tuple[Node, ...]:
    """Return what stands behind a formula, letters and ranges."""
    return node.items if isinstance(node, List) else () if node is None else (node,)


def _ranges(parts: Sequence[Node]) -> dict[str, Expr | None]:
    """Return how far indices go: `i, p = 1, ..., n, k, l = 1, ..., d`; None where it is said in two ways."""
    found: dict[str, Expr | None] = {}
    waiting: tuple[Node, ...] = ()
    for part in parts:
        match part.sides if isinstance(part, Chain) else part:
            case Name():
                waiting = (*waiting, part)
            case (subject, List(items=(Number(value=first), Dots(), last, *others))) if first == 1:
                indices = (*waiting, *(subject.items if isinstance(subject, List) else (subject,)))
                waiting = tuple(others)  # letters in front of the next range
                for index in indices:
                    size = size_of(last)
                    if isinstance(index, Name):
                        found[index.key] = size if found.get(index.key, size) == size else None
            case _:
                waiting = ()
    return found


def _entries(node: Node, ranges: Ranges) -> Iterator[tuple[Name, Sizes]]:
    """Yield the matrices of the entries of a formula with their sizes."""
    if isinstance(node, Aggregate):
        ranges = {**ranges, **_of_sum(node)}
    if isinstance(node, Name) and node.base.isupper():
        places = flat(node.subscripts)
        sizes = [ranges.get(each.key) for each in places[-2:] if isinstance(each, Name)]
        known = tuple(size for size in sizes if size is not None and not {str(size)} & ranges.keys())
        if len(places) > 1 and len(known) == 2 and places[-1] != places[-2]:
            yield replace(node, subscripts=places[:-2]), (known[0], known[1])
    for child in node.children:
        yield from _entries(child, ranges)
