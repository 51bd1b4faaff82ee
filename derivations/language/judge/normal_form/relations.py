"""Relations as statements about one number: `a <= b` says that b - a is nonnegative."""

from collections.abc import Mapping
from typing import Any

from sympy import Eq, Ge, Gt, Le, Lt, Ne

from derivations.language.judge.normal_form.terms import Poly, subtract

__all__ = ["RELATIONS", "gap"]

RELATIONS: Mapping[Any, tuple[str, int]] = {  # what sign * (left - right) is, compared with 0
    Ge: (">=", 1),
    Gt: (">", 1),
    Le: (">=", -1),
    Lt: (">", -1),
    Eq: ("=", 1),
    Ne: ("!=", 1),
}


def gap(relation: Any, left: Poly, right: Poly) -> Poly:
    """Return left - right or right - left, whichever a relation of this type compares with 0."""
    _, sign = RELATIONS[relation]
    return subtract(left, right) if sign > 0 else subtract(right, left)
