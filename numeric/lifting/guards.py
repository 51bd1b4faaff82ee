"""Checks of entries that raise: `if (var < 0).any(): raise ValueError` states a condition on the arguments.

Definition   the question whether some, or all, entries of a mask are set is answered where one answer leads to nothing
             but an error, of the function itself or of a library: then the other one is a condition of the verdict
Result       the answer; the condition is noted in the trace
Raises       NotFollowed where both answers lead on: a branch on entries has no one equation
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor
from numeric.lifting.trace import current

__all__ = ["Question"]


class Question:
    """Whether some, or all, entries of a mask are set."""

    def __init__(self, mask: Tensor, of_all: bool) -> None:
        self.mask, self.of_all = mask, of_all

    def __bool__(self) -> bool:
        """Return the answer that does not raise an error in the calling statement, if there is one; else refuse."""
        answer = _answer_without_error(sys._getframe(1))
        if answer is not self.of_all:  # that some entry is set, or some is not, names no entry
            raise refuse("a branch on the truth value of an array needs its entries, and they are symbolic")
        current().guarded[current().define(self.mask.node), answer] = None
        return answer

    def __getattr__(self, name: str) -> Any:
        """Refuse whatever else is done with the answer."""
        raise refuse(f"{name} of whether entries are set")


def _answer_without_error(frame: FrameType) -> bool | None:
    """Return the answer for which the statement of a frame raises no error; None if the statement is no such check."""
    here = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    for node in ast.walk(_parsed(frame.f_code.co_filename)):
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            raising = _raising(node.test, True)
        elif isinstance(node, ast.Assert):
            raising = _raising(node.test, False)
        else:
            continue
        if len(raising) == 1 and (_span(node) == here or _inside(here, _span(node.test))):
            return not raising.pop()
    return None


_Span = tuple[int | None, int | None, int | None, int | None]  # first and last line, first and last column


def _span(node: ast.stmt | ast.expr) -> _Span:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _inside(inner: _Span, outer: _Span) -> bool:
    if None in inner or None in outer:
        return False
    return (inner[0], inner[2]) >= (outer[0], outer[2]) and (inner[1], inner[3]) <= (outer[1], outer[3])


def _raising(test: ast.expr, whole: bool) -> set[bool]:
    """Return the truth values that a part of a test must have to give the whole test its truth value by itself.

    Which part asks is not told by all versions of Python, so that only one value leads to an answer.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _raising(test.operand, not whole)
    if not isinstance(test, ast.BoolOp):
        return {whole}
    decides = isinstance(test.op, ast.Or) == whole
    return set().union(*(_raising(part, whole) for part in test.values)) if decides else {True, False}


@cache
def _parsed(file_name: str) -> ast.Module:
    try:
        return ast.parse(Path(file_name).read_bytes())
    except (OSError, SyntaxError):  # code without a file: nothing is known of its statements
        return ast.Module([], [])
