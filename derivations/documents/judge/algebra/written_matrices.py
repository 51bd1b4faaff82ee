r"""Equations between matrices written out in letters, decided entry by entry by the judge of equality.

Definition   `\begin{bmatrix} a & b \end{bmatrix} \begin{bmatrix} v_1 \\ v_2 \end{bmatrix} = a v_1 + b v_2`: both sides
             are taken apart as arrays of numbers are, and the entries at one place are scalars
Result       holds where the judge proves all entries equal; wrong where it refutes one, and proves all others, of
             which there are two or more
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.scalar_links import CHECK
from derivations.documents.judge.algebra.scalars import in_one_order, scalar
from derivations.documents.judge.numbers.written_arrays import entry_pairs
from derivations.documents.proving import weighed
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Node
from derivations.documents.verdicts import Finding

__all__ = ["check_written_matrices"]

OTHERS = 2  # entries that show which operation is meant


def check_written_matrices(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare the entries of arrays with letters in them."""
    if link is None or statement.chain.relations[link] not in ("=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    entries = entry_pairs(left, right, scope)
    if entries is None:
        return
    levels = {place: _level(*pair, scope) for place, pair in entries.pairs.items()}
    refuted = [place for place, level in levels.items() if level == "refuted"]
    if set(levels.values()) == {"proved"}:
        yield Finding("holds", CHECK, f"all {len(levels)} entries are equal by algebra")
    elif len(refuted) == 1 and "unknown" not in levels.values() and len(levels) > OTHERS:
        (place,) = refuted
        where, computed = ", ".join(map(str, place)), formula_text(entries.pairs[place][0], statement.notation)
        yield Finding("wrong", CHECK, f"entry {where} differs, and all others are equal by algebra", computed)


def _level(one: Node, other: Node, scope: Scope) -> str:
    """Return the judge's level for two entries. Unequal numbers, and entries that are not scalars, are "unknown"."""
    if not in_one_order(one, other, scope=scope):
        return "unknown"
    first, second = scalar(one, scope), scalar(other, scope)
    if first is None or second is None or not (first.free_symbols | second.free_symbols):
        return "proved" if first is not None and first == second else "unknown"
    level = weighed(first, second)[0]
    # h d_k and d_model may be one number
    return "unknown" if level == "refuted" and first.free_symbols != second.free_symbols else level
