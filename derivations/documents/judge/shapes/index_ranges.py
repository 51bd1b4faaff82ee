r"""The index of a sum goes through an axis of another size: `\sum_{j=1}^{d} X_{ij}` with X of d x n.

Definition   a sum over j = 1, ..., d of terms with X_ij runs through the axis of X at the place of j
Result       wrong where that axis has another size, which is surely not d, while the other axis of X has d
Assumes      a sum that goes less far is of a part of the axis; a letter that is declared twice is not told
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sympy import Expr

from derivations.documents.judge.wording import line_of, shape_text, size_text, source
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat
from derivations.documents.scope.sizes import size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name
from derivations.documents.verdicts import Finding

__all__ = ["check_index_ranges"]


def check_index_ranges(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the first sum of a link whose index goes through the other axis of a matrix."""
    sides = statement.chain.sides[link + (link > 0) : link + 2] if link is not None else statement.chain.sides[:1]
    sums = (part for side in sides for part in side.walk() if isinstance(part, Aggregate))
    for total in sums:
        bound = size_of(total.upper) if total.upper is not None and len(total.index) == 1 else None
        if bound is None or bound.is_number:
            continue
        for entry in total.body.walk():
            found = _on_the_other_axis(entry, total.index[0], bound, scope) if isinstance(entry, Name) else None
            if found is not None:
                whole, sizes, size = found
                line, index = line_of(whole, scope), total.index[0].key
                place = f" (line {line})" if line is not None else ""
                reason = (
                    f"{whole.key} is {shape_text(sizes)}{place}, so that {index} in {source((entry,), statement)} "
                    f"goes to {size_text(size)}, not to {size_text(bound)}"
                )
                yield Finding("wrong", "shapes.range", reason)
                return


def _on_the_other_axis(
    entry: Name, index: Name, bound: Expr, scope: Scope
) -> tuple[Name, tuple[Expr | None, ...], Expr] | None:
    """Return the matrix, its shape, and the size of the axis at an index that goes as far as the other axis."""
    places = flat(entry.subscripts)
    if len(places) != 2 or places.count(index) != 1:
        return None
    whole = replace(entry, subscripts=())
    declared = scope.shape_candidates(whole)
    if len(declared) != 1 or declared[0].far or len(declared[0].declaration.sizes or ()) != 2:
        return None
    sizes = declared[0].declaration.sizes or ()
    at = places.index(index)
    own, other = sizes[at], sizes[1 - at]
    if own is None or other != bound or scope.compare(own, bound).relation != "different":
        return None
    return whole, sizes, own
