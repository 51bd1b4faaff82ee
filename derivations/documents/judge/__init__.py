"""The checks: what is said of one statement of a document in what is known there, in the order in which they speak."""

from collections.abc import Iterable
from typing import Protocol

from derivations.documents.judge.arithmetic import check_arithmetic
from derivations.documents.judge.canonical import check_canonical
from derivations.documents.judge.chains import check_chains
from derivations.documents.judge.consistency import check_consistency
from derivations.documents.judge.counting import check_counting
from derivations.documents.judge.dependence import check_dependence
from derivations.documents.judge.entries import check_entries
from derivations.documents.judge.function_values import check_function_values
from derivations.documents.judge.gradients import check_gradients
from derivations.documents.judge.layer_calls import check_layer_calls
from derivations.documents.judge.layer_lines import check_layer_lines
from derivations.documents.judge.literal_matrices import check_literal_matrices
from derivations.documents.judge.matrix_identities import check_matrix_identities
from derivations.documents.judge.meanings import check_meanings
from derivations.documents.judge.mentions import check_mentions
from derivations.documents.judge.named_equations import check_named_equations
from derivations.documents.judge.named_numbers import check_named_numbers
from derivations.documents.judge.namings import check_namings
from derivations.documents.judge.products import check_products
from derivations.documents.judge.restated_names import check_restated_names
from derivations.documents.judge.sequence_probabilities import check_sequence_probabilities
from derivations.documents.judge.shapes import check_shapes
from derivations.documents.judge.size_maps import check_size_maps
from derivations.documents.judge.strayed_indices import check_strayed_indices
from derivations.documents.judge.worked_arrays import check_worked_arrays
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding

__all__ = ["CHECKS", "Check"]


class Check(Protocol):
    """A check: looks at one link of a statement (None: at a chain without links), in what is known there."""

    def __call__(self, statement: Statement, link: int | None, scope: Scope) -> Iterable[Finding]:
        """Yield what is found; nothing where the check does not apply."""


CHECKS: tuple[Check, ...] = (
    check_shapes,
    check_size_maps,
    check_consistency,
    check_strayed_indices,
    check_namings,
    check_layer_calls,
    check_layer_lines,
    check_meanings,
    check_arithmetic,
    check_mentions,
    check_named_numbers,
    check_worked_arrays,
    check_function_values,
    check_sequence_probabilities,
    check_chains,
    check_counting,
    check_canonical,
    check_entries,
    check_dependence,
    check_products,
    check_named_equations,
    check_gradients,
    check_matrix_identities,
    check_restated_names,
    check_literal_matrices,
)
