"""The checks that decide equations or compare formulas, in the order in which they run, each with its own budget."""

from derivations.documents.decide.calculus import check_calculus
from derivations.documents.decide.contractions import check_contractions
from derivations.documents.decide.differentials import check_differentials
from derivations.documents.decide.gradients import check_stated_gradients
from derivations.documents.decide.identities import check_identities
from derivations.documents.decide.parallels import check_parallels
from derivations.documents.decide.patterns import check_patterns
from derivations.documents.decide.unused_indices import check_unused_indices
from derivations.documents.judge import Check
from derivations.documents.nearest.checking import check_nearest

__all__ = ["DECISIONS"]

DECISIONS: tuple[Check, ...] = (
    check_identities,
    check_calculus,
    check_stated_gradients,
    check_nearest,
    check_parallels,
    check_patterns,
    check_contractions,
    check_differentials,
    check_unused_indices,
)
