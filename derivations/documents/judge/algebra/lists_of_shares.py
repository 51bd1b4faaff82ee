r"""Numbers of shares: where `p_i = e^{z_i} / \sum_j e^{z_j}`, the entries of `p = (0.1, 0.2, 0.7)` add up to 1.

Definition   a list of numbers between 0 and 1 behind a letter whose entries the section defines as shares of their sum
Result       wrong where they add up to something else by more than rounding explains; nothing otherwise
Assumes      a list with dots shows some of the shares
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.shares import is_share
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.judge.numbers.printed import decimal
from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import List, MatrixLiteral, Name, Node, Number
from derivations.documents.verdicts import Finding

__all__ = ["check_lists_of_shares"]

CHECK = "arithmetic"
INDICES = "ijkltmnv"
FEWEST = 2


def check_lists_of_shares(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that numbers which are shares do not add up to 1."""
    if link is None or statement.chain.relations[link] not in ("=", "≈", ":="):
        return
    letter, numbers = statement.chain.sides[link], _numbers(statement.chain.sides[link + 1])
    if not isinstance(letter, Name) or letter.subscripts or len(numbers) < FEWEST or is_condition(statement):
        return
    if not any(is_share(replace(letter, subscripts=(Name(index),)), scope) for index in INDICES):
        return
    total = sum((each.value for each in numbers), Fraction(0))
    half_units = sum((each.half_unit for each in numbers), Fraction(0))
    if all(0 <= each.value <= 1 for each in numbers) and abs(total - 1) > half_units:
        said = decimal(Enclosure(total, total))
        reason = f"the entries of {letter.key} are shares, which add up to 1, and these add up to {said}"
        yield Finding("wrong", CHECK, reason)


def _numbers(side: Node) -> tuple[Number, ...]:
    """Return the numbers of a list, a row or a column; nothing of what has other entries."""
    match bare(side):
        case List(items=items):
            entries = items
        case MatrixLiteral(rows=rows) if len(rows) == 1 or all(len(row) == 1 for row in rows):
            entries = tuple(entry for row in rows for entry in row)
        case _:
            return ()
    numbers = tuple(each for each in map(bare, entries) if isinstance(each, Number))
    return numbers if len(numbers) == len(entries) else ()
