"""The checks of one statement of a document within its scope, in the order in which they run."""

from collections.abc import Iterable
from typing import Protocol

from derivations.documents.judge.algebra.chains import check_chains
from derivations.documents.judge.algebra.written_matrices import check_written_matrices
from derivations.documents.judge.canonical.canonical import check_canonical
from derivations.documents.judge.canonical.losses import check_losses
from derivations.documents.judge.costs.counting import check_counting
from derivations.documents.judge.numbers.arithmetic import check_arithmetic
from derivations.documents.judge.numbers.mentions import check_mentions
from derivations.documents.judge.numbers.named_numbers import check_named_numbers
from derivations.documents.judge.shapes.consistency import check_consistency
from derivations.documents.judge.shapes.shapes import check_shapes
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding

__all__ = ["CHECKS", "Check"]


class Check(Protocol):
    """A check of one link of a statement, or of a chain without links (None), within its scope."""

    def __call__(self, statement: Statement, link: int | None, scope: Scope) -> Iterable[Finding]:
        """Yield findings, or nothing where the check does not apply."""


CHECKS: tuple[Check, ...] = (
    check_shapes,
    check_consistency,
    check_arithmetic,
    check_mentions,
    check_named_numbers,
    check_chains,
    check_written_matrices,
    check_counting,
    check_canonical,
    check_losses,
)
