"""The checks: what is said of one statement of a document in what is known there, in the order in which they speak."""

from collections.abc import Iterable
from typing import Protocol

from derivations.documents.judge.algebra.chains import check_chains
from derivations.documents.judge.algebra.doubled_indices import check_doubled_indices
from derivations.documents.judge.algebra.entry_derivatives import check_entry_derivatives
from derivations.documents.judge.algebra.function_values import check_function_values
from derivations.documents.judge.algebra.lists_of_shares import check_lists_of_shares
from derivations.documents.judge.algebra.lone_indices import check_lone_indices
from derivations.documents.judge.algebra.measures import check_measures
from derivations.documents.judge.algebra.shares import check_sums_of_shares
from derivations.documents.judge.algebra.strayed_indices import check_strayed_indices
from derivations.documents.judge.canonical.canonical import check_canonical
from derivations.documents.judge.canonical.causal_masks import check_causal_masks
from derivations.documents.judge.canonical.idle_sums import check_idle_sums
from derivations.documents.judge.canonical.layer_lines import check_layer_lines
from derivations.documents.judge.canonical.losses import check_losses
from derivations.documents.judge.canonical.named_equations import check_named_equations
from derivations.documents.judge.canonical.own_deviations import check_own_deviations
from derivations.documents.judge.canonical.products import check_products
from derivations.documents.judge.canonical.restated_entries import check_restated_entries
from derivations.documents.judge.canonical.restated_orders import check_restated_orders
from derivations.documents.judge.canonical.sequence_losses import check_sequence_losses
from derivations.documents.judge.canonical.sequence_probabilities import check_sequence_probabilities
from derivations.documents.judge.costs.counting import check_counting
from derivations.documents.judge.matrices.gradient_degrees import check_gradient_degrees
from derivations.documents.judge.matrices.gradients import check_gradients
from derivations.documents.judge.matrices.literal_matrices import check_literal_matrices
from derivations.documents.judge.matrices.matrix_derivatives import check_matrix_derivatives
from derivations.documents.judge.matrices.matrix_identities import check_matrix_identities
from derivations.documents.judge.matrices.restated_names import check_restated_names
from derivations.documents.judge.numbers.arithmetic import check_arithmetic
from derivations.documents.judge.numbers.mentions import check_mentions
from derivations.documents.judge.numbers.named_numbers import check_named_numbers
from derivations.documents.judge.numbers.worked_arrays import check_worked_arrays
from derivations.documents.judge.rows.dependence import check_dependence
from derivations.documents.judge.rows.entries import check_entries
from derivations.documents.judge.shapes.consistency import check_consistency
from derivations.documents.judge.shapes.entry_shapes import check_entry_shapes
from derivations.documents.judge.shapes.index_ranges import check_index_ranges
from derivations.documents.judge.shapes.joined_heads import check_joined_heads
from derivations.documents.judge.shapes.layer_calls import check_layer_calls
from derivations.documents.judge.shapes.meanings import check_meanings
from derivations.documents.judge.shapes.namings import check_namings
from derivations.documents.judge.shapes.self_products import check_self_products
from derivations.documents.judge.shapes.shapes import check_shapes
from derivations.documents.judge.shapes.size_maps import check_size_maps
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
    check_joined_heads,
    check_size_maps,
    check_index_ranges,
    check_entry_shapes,
    check_self_products,
    check_consistency,
    check_strayed_indices,
    check_lone_indices,
    check_doubled_indices,
    check_namings,
    check_layer_calls,
    check_layer_lines,
    check_meanings,
    check_arithmetic,
    check_mentions,
    check_named_numbers,
    check_worked_arrays,
    check_function_values,
    check_entry_derivatives,
    check_measures,
    check_sequence_probabilities,
    check_sequence_losses,
    check_sums_of_shares,
    check_lists_of_shares,
    check_chains,
    check_counting,
    check_canonical,
    check_own_deviations,
    check_idle_sums,
    check_restated_entries,
    check_restated_orders,
    check_causal_masks,
    check_losses,
    check_entries,
    check_dependence,
    check_products,
    check_named_equations,
    check_gradients,
    check_gradient_degrees,
    check_matrix_derivatives,
    check_matrix_identities,
    check_restated_names,
    check_literal_matrices,
)
