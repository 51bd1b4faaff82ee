"""What is decided of an elaborated statement, in the order in which it is said; each has a budget of its own."""

from collections.abc import Iterable
from typing import Protocol

from derivations.documents.decide.differentials import check_differentials
from derivations.documents.decide.gradients import check_stated_gradients
from derivations.documents.decide.identities import check_identities
from derivations.documents.decide.parallels import check_parallels
from derivations.documents.decide.remarks import remark_on
from derivations.documents.decide.shapes import check_shapes
from derivations.documents.nearest.checking import check_nearest
from derivations.documents.numbers.arithmetic import check_arithmetic
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding

__all__ = ["DECISIONS", "Check", "remark_on"]


class Check(Protocol):
    """Looks at one link of a statement (None: at a chain without links), in what is known there."""

    def __call__(self, statement: Statement, link: int | None, scope: Scope) -> Iterable[Finding]:
        """Yield what is found; nothing where it does not apply."""


DECISIONS: tuple[Check, ...] = (
    check_arithmetic,
    check_identities,
    check_stated_gradients,
    check_nearest,
    check_parallels,
    check_differentials,
    check_shapes,
)
