r"""Whether a right side gives the entry that its left side names, and whether its sums run over all entries.

Definition   `\mu_m = \frac{1}{C} \sum_c x_{nc}` names entry m and gives entry n; `\sum_{j=1}^{i}` and `\sum_{j=2}^{n}`
             are sums over a part, as in causal attention, or in a loss that predicts no first token
Result       what is so is not proved to be a formula of all entries; a sum to another place may well be right
"""

from __future__ import annotations

from derivations.documents.judge.arrays.formula_letters import free_indices, names_in, subscript_letters
from derivations.documents.judge.arrays.left_sides import left_indices
from derivations.documents.syntax import Aggregate, Call, Name, Node, Number, Power, Product, Quotient, Sum

__all__ = ["is_of_another_entry", "may_be_a_part", "other_count"]

BEGINNINGS = (0, 1)


def is_of_another_entry(left: Node, right: Node) -> bool:
    """Return whether both sides have free indices, but none in common."""
    named = {*left_indices(left.base if isinstance(left, Power) else left)}
    if not named:
        return False
    bound = {key.key for part in right.walk() if isinstance(part, Aggregate) for key in part.index}
    standing = {letter for name in names_in(right) for letter in subscript_letters(name)} - bound
    return bool(standing) and not standing & named


def other_count(right: Node) -> tuple[Name, Name] | None:
    """Return the divisor of a mean and the upper bound of its sum, if they differ: n of 1/n or 1/(n - 1), and m."""
    for part in right.walk():
        match part:
            case Product(factors=(Quotient(denominator=below), Aggregate(kind="sum", upper=Name() as last))):
                pass
            case Quotient(numerator=Aggregate(kind="sum", upper=Name() as last), denominator=below):
                pass
            case _:
                continue
        count = below.terms[0] if isinstance(below, Sum) and isinstance(below.terms[-1], Number) else below
        if isinstance(count, Name) and count.key != last.key:
            return count, last
    return None


def may_be_a_part(right: Node, indices: tuple[str, ...]) -> bool:
    """Return whether a sum runs over part of the entries in a usual way: up to an index, or from the second entry on.

    Only a sum of logarithms begins with the second entry.
    """
    sums = [part for part in right.walk() if isinstance(part, Aggregate)]
    places = {*indices, *free_indices(right), *(key.key for part in sums for key in part.index)}
    for part in sums:
        if any(isinstance(bound, Name) and bound.key in places for bound in (part.lower, part.upper)):
            return True
        begins = part.lower.value if isinstance(part.lower, Number) else 1
        if begins not in BEGINNINGS and any(
            isinstance(each, Call) and each.function.base in ("log", "ln") for each in part.walk()
        ):
            return True
    return False
