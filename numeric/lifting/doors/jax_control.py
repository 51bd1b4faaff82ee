"""JAX's branches and loops: followed if known while tracing, else turned into a choice of entries or refused.

cond     a branch whose number is known is followed alone; of two branches by a truth value of the entries both are
         followed, and the value chooses
while    the rounds are followed one after the other while the condition, computed from numbers, holds
scan     the rounds are followed for a number of rows, and their results are stacked
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import Integer, Ne, false, true

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.jax_masks import chosen
from numeric.lifting.doors.jax_tables import PLACES, Table, array_of
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["CONTROL", "stacked"]

_ROUNDS = 64
Inside = Callable[[Any, Sequence[Any]], list[Any]]  # follows a jaxpr with values for its arguments


def _branch(inside: Inside, equation: Any, given: Sequence[Any]) -> list[Any]:
    which, *operands = given
    branches = equation.params["branches"]
    if isinstance(which, Table) and which.formula.is_Integer:
        number = min(max(int(which.formula), 0), len(branches) - 1)
        return inside(branches[number], operands)
    if len(branches) != 2:
        raise refuse(f"a branch into {len(branches)} ways by the entries of an array: compute all, and choose by where")
    holds = op.compare(which, Integer(0), Ne) if isinstance(which, Tensor) else _is_set(which)
    other, one = (inside(branch, operands) for branch in branches)
    return [_either(equation, holds, no, yes) for no, yes in zip(other, one, strict=True)]


def _is_set(which: Table) -> Table:
    return Table(Ne(which.formula, 0), which.axes, "boolean")


def _either(equation: Any, holds: Any, no: Any, yes: Any) -> Any:
    """Return one of two values, selected by a truth value without axes."""
    if no is yes:
        return yes
    rank = len(yes.axes)
    if isinstance(holds, Tensor) and rank:
        holds = op.broadcast_to(op.inserted(holds, list(range(rank))), array_of(yes).axes)
    elif rank:
        holds = Table(holds.formula, yes.axes, "boolean")
    return chosen(equation, holds, no, yes)


def _while(inside: Inside, equation: Any, given: Sequence[Any]) -> list[Any]:
    first, second = equation.params["cond_nconsts"], equation.params["body_nconsts"]
    asked, used, state = given[:first], given[first : first + second], list(given[first + second :])
    for _ in range(_ROUNDS + 1):
        (holds,) = inside(equation.params["cond_jaxpr"], [*asked, *state])
        if not isinstance(holds, Table) or holds.formula not in (true, false):
            raise refuse("a loop whose number of rounds depends on entries or sizes: give a number of rounds")
        if holds.formula == false:
            return state
        state = inside(equation.params["body_jaxpr"], [*used, *state])
    raise refuse(f"a loop of more than {_ROUNDS} rounds")


def _scan(inside: Inside, equation: Any, given: Sequence[Any]) -> list[Any]:
    settings = equation.params
    fixed, carried, length = settings["num_consts"], settings["num_carry"], settings["length"]
    if not isinstance(length, int):
        raise refuse(f"a scan over {length} rows: give a number of rows, or use operations on whole arrays")
    if length > _ROUNDS:
        raise refuse(f"a scan of more than {_ROUNDS} rounds")
    used, state, rows = given[:fixed], list(given[fixed : fixed + carried]), given[fixed + carried :]
    made: list[list[Any]] = []
    numbers = range(length)
    for number in reversed(numbers) if settings["reverse"] else numbers:
        found = inside(settings["jaxpr"], [*used, *state, *(_row(each, number) for each in rows)])
        state = found[:carried]
        made.append(found[carried:])
    if settings["reverse"]:
        made.reverse()
    if not made:
        raise refuse("a scan of no rounds")
    return [*state, *(stacked(each, 0) for each in zip(*made, strict=True))]


def _row(array: Any, number: int) -> Any:
    if isinstance(array, Table):
        rest = len(array.axes) - 1
        return array.read_at([Integer(number), *PLACES[:rest]], array.axes[1:])
    return places.item(array, (number,))


def stacked(parts: Sequence[Any], axis: int) -> Any:
    """Return arrays of one shape stacked along a new axis."""
    return places.concatenate([op.inserted(array_of(part), [axis]) for part in parts], axis)


CONTROL: dict[str, Callable[..., list[Any]]] = {"cond": _branch, "while": _while, "scan": _scan}
