r"""Checks of numbers beside each other: a rough number in brackets, and weights that should sum to 1.

Definition   `e^{20} \approx 485,165,195 (4.8 億)`: what is in brackets is the number before them, said roughly;
             entries between 0 and 1 that are called weights of attention or probabilities sum to 1, as far as their
             digits can tell; `softmax([2, 1]) = [0.73, 0.27]` is decided entry by entry
Result       holds, conditional (a weight that is exactly 0 was rounded or masked; a rough number), wrong; nothing where
             it is not said that the numbers are weights
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from derivations.documents.judge.numbers.printed import Printed, decimal, printed, rounded
from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Annotated,
    Call,
    List,
    MatrixLiteral,
    Name,
    Node,
    Words,
)
from derivations.documents.verdicts import Finding, Repair

__all__ = ["check_mentions"]

CHECK = "arithmetic"
_NEAR = 80  # characters of prose before a formula that tell what it is
A_GOOD_PART = Fraction(5, 100)
_NEXT = 24  # characters after it
_ENOUGH = 12  # characters that say something
_OPEN = "(（[「 \n*_~"
WEIGHTS = (
    "attention weight", "attn weight", "probabilit", "probs", "after softmax", "softmax output", "softmax後",
    "softmax 後", "softmax后", "softmax 后", "ソフトマックス後", "注意力权重", "注意力權重", "概率", "機率", "总和为",
    "總和為", "確率", "注意の重み", "アテンション重み", "アテンションの重み",
)  # fmt: skip
_SUM = (  # said of numbers in front of them, or after
    r"(?:\b(?:sums?|adds? up) to|和[为為是]|相加[为為得]|加[总總][为為]|加起[来來]等[于於]|合計[はが]|和[はが])"
    r"\s?(?:1|one)(?!\.?\d)"
)
_TO_ONE = re.compile(_SUM)
_TO_ONE_BEHIND = re.compile(rf"\s?(?:[,，、]|で、)\s?(?:which\s|其|[总總総])?{_SUM}")
COLUMNS = "the weights of a column belong together"
PERHAPS = ("softmax", "distribution", "分布", "分佈", "权重", "權重", "重み", "weights")
NO_WEIGHTS = ("logit", "score", "input", "分数", "分數", "得分", "输入", "輸入", "スコア", "入力", "before", "unnormal")


def check_mentions(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about the numbers in one link of a chain, or in a formula without relations."""
    chain = statement.chain
    if link is None:
        yield from _in_brackets(statement, scope)
        sides: Sequence[Node] = chain.sides
    else:
        sides = chain.sides[link + 1 : link + 2] if link else chain.sides[:2]
        computed = chain.sides[link]
        if isinstance(computed, Call) and any(isinstance(part, List | MatrixLiteral) for part in computed.walk()):
            return  # the softmax of numbers is decided entry by entry
    for side in sides:
        yield from _sums_to_one(statement, side, chain.sides[0], scope)


# --- a number in brackets ---


def _in_brackets(statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Compare a rough number in brackets with the number of the formula right before it."""
    shown = printed(statement.chain.sides[0]) if len(statement.chain.sides) == 1 else None
    if shown is None or not shown.rough:
        return
    before = next(iter(scope.earlier(statement)), None)
    number = printed(before.chain.sides[-1]) if before is not None and before.chain.relations else None
    if before is None or number is None or not _directly_before(before, statement):
        return
    value = Enclosure(number.value, number.value)
    off = abs(shown.value - number.value)
    if off <= shown.half_unit:
        yield Finding("holds", CHECK, f"{number.number.text} rounds to {shown.number.text}")
        return
    right = rounded(value, shown)
    reason = f"{number.number.text} rounds to {right}, not to {shown.number.text}"
    if off < 2 * shown.half_unit or off * 50 <= abs(number.value):
        rough = (f"{shown.number.text} is meant roughly",)
        yield Finding("conditional", CHECK, reason, right, assumptions=rough)
    else:
        yield Finding("wrong", CHECK, reason, right, repair=_in_place(statement, shown, right))


def _directly_before(before: Statement, statement: Statement) -> bool:
    """Return whether only an opening bracket stands between two formulas of a block."""
    first, second = (statement.block.number_of(each.passage) for each in (before, statement))
    if first is None or second is None or first == second:
        return False
    between = "".join(passage.text for passage in statement.block.passages[first + 1 : second])
    opened = between or statement.passage.text[: statement.chain.start]
    return not opened.strip(_OPEN) and any(bracket in opened for bracket in "(（")


def _in_place(statement: Statement, shown: Printed, text: str | None) -> Repair | None:
    at = statement.passage.text.find(shown.number.text, shown.number.start)
    return Repair(at, at + len(shown.number.text), text) if text is not None and at >= 0 else None


# --- weights that sum to 1 ---


def _sums_to_one(statement: Statement, side: Node, first: Node, scope: Scope) -> Iterator[Finding]:
    calls = (part for part in side.walk() if isinstance(part, Call))
    given = {id(part) for call in calls for argument in call.arguments for part in argument.walk()}
    for part in side.walk():
        if id(part) in given:
            continue  # a softmax is taken of what needs to sum to nothing
        rows = part.rows if isinstance(part, MatrixLiteral) else (part.items,) if isinstance(part, List) else ()
        numbers = [[printed(entry) for entry in row] for row in rows]
        weights = [[each for each in row if each is not None and 0 <= each.value <= 1] for row in numbers]
        if not rows or any(
            len(row) < 2 or len(row) != len(written) for row, written in zip(weights, rows, strict=True)
        ):
            continue
        if any(all(each.exact for each in row) for row in weights):
            continue
        called = _called(statement, side, part, first, scope)
        if called is None:
            continue
        if len(weights) > 1 and _sum_to_one([*zip(*weights, strict=True)]) and not _sum_to_one(weights):
            yield Finding("conditional", CHECK, "the weights of every column sum to 1", assumptions=(COLUMNS,))
            continue
        yield from _judged(weights, certain=called, loose="≈" in statement.chain.relations)


def _sum_to_one(rows: Sequence[Sequence[Printed]]) -> bool:
    """Return whether the numbers of every row sum to 1, as far as their digits can tell."""
    slacks = [sum((each.half_unit for each in row if not each.exact), Fraction(0)) for row in rows]
    totals = [sum((each.value for each in row), Fraction(0)) for row in rows]
    return all(abs(total - 1) <= slack for total, slack in zip(totals, slacks, strict=True))


def _judged(rows: list[list[Printed]], *, certain: bool, loose: bool) -> Iterator[Finding]:
    """Decide whether rows of weights sum to 1. A small deviation that rounding explains is accepted."""
    totals = [sum((each.value for each in row), Fraction(0)) for row in rows]
    slacks = [sum((each.half_unit for each in row if not each.exact), Fraction(0)) for row in rows]
    even = [len({each.value for each in row}) == 1 for row in rows]
    for total, slack, same in zip(totals, slacks, even, strict=True):
        off = abs(total - 1)
        if off > slack or (off >= A_GOOD_PART and not (loose or same)):
            if certain:
                shown = decimal(Enclosure(total, total))
                yield Finding("wrong", CHECK, f"weights sum to 1, these to {shown}", right="entries that sum to 1")
            return
    zero = any(each.value == 0 for row in rows for each in row)
    assumptions = ("a weight of exactly 0 was rounded, or its key is masked",) if zero else ()
    if any(total != 1 for total in totals):
        assumptions = (*assumptions, "the weights were rounded")
    which = "the weights sum to 1" if len(rows) == 1 else "the weights of every row sum to 1"
    yield Finding("conditional" if assumptions else "holds", CHECK, which, assumptions=assumptions)


def _called(statement: Statement, side: Node, part: Node, first: Node, scope: Scope) -> bool | None:
    """Return whether the text calls numbers weights: True for certainly, False for perhaps, None for no."""
    around = (
        each for each in side.walk() if isinstance(each, Annotated) and any(one is part for one in each.of.walk())
    )
    notes = " ".join(_text(each.note) for each in around)
    left = first if first is not side else None
    near = f"{_before(statement, scope)} {notes} {_text(left) if left is not None else ''}".lower()
    if statement.passage.syntax == "code" and "softmax" not in near:
        return None  # the probabilities of separate events have a name of this kind as well
    weights, perhaps, others = (_last(near, words) for words in (WEIGHTS, PERHAPS, NO_WEIGHTS))
    front = _in_front(statement, near)
    summed = _TO_ONE.search(front)
    if weights > others or (summed is not None and _last(front[summed.start() :], NO_WEIGHTS) < 0):
        return True
    if isinstance(left, Call) and left.function.base.lower() == "softmax":
        return True
    if statement.chain.sides[-1] is side and _TO_ONE_BEHIND.match(_beside(statement, 1)[:_NEXT]):
        return True
    return False if perhaps > others else None


def _in_front(statement: Statement, near: str) -> str:
    """Return the words before a formula that are about it and not about an earlier formula."""
    before = _beside(statement, -1)[-_NEAR:]
    if not before or statement.block.number_of(statement.passage) == 1:
        return before or near
    _, ends, clause = before.rpartition("。" if "。" in before else ".")
    return clause if ends else ""


def _beside(statement: Statement, step: int) -> str:
    """Return the prose right before a formula (-1), or right after it (1); nothing where a formula stands there."""
    place = statement.block.number_of(statement.passage)
    beside = place + step if place is not None else -1
    passages = statement.block.passages
    return passages[beside].text.lower() if 0 <= beside < len(passages) and not passages[beside].is_formula else ""


def _last(text: str, words: Sequence[str]) -> int:
    """Return the last position in a text where one of the words begins, or -1."""
    return max(text.rfind(word) for word in words)


def _text(node: Node) -> str:
    """Return the words and letters of a node."""
    parts = (part for part in node.walk() if isinstance(part, Name | Words))
    return " ".join(part.text if isinstance(part, Words) else part.base for part in parts).replace("_", " ")


def _before(statement: Statement, scope: Scope) -> str:
    """Return the prose right before the formula, in its block or else in the block before it."""
    place = statement.block.number_of(statement.passage)
    end = len(statement.block.passages) if place is None else place
    near = statement.block.passages[max(end - _NEAR, 0) : end]
    text = "".join(f" {passage.text[-_NEAR:]}" for passage in near)[-_NEAR:]
    if len(text.strip()) >= _ENOUGH:
        return text
    around = scope.words(statement).splitlines()
    return " ".join((*(line[-_NEAR:] for line in around[1:2]), text))
