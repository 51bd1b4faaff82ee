"""What is not so is not done: rewritings with a wrong sign, scale, order of blocks or a forgotten bias."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import sqrt

from derivations.costs.memory import pre_norm_layer
from derivations.language import gradient
from derivations.language.arrays.arrangements import ColumnBlock, Concatenate
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.expression import Array
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Equation
from derivations.symbols import d_k, d_v, h
from derivations.transformer.encoder import encoder_layer
from numeric.optimize import PASSES, optimize
from numeric.optimize.draft import Draft
from numeric.optimize.rewrite import Proposal
from tests.numeric.optimize.layers import chain

PRE_NORM, POST_NORM = inlined(pre_norm_layer(dropping=False)), inlined(encoder_layer(biases=True))
CHAIN = chain(d_k)
SUBJECTS = {
    "second_centring": POST_NORM,
    "folded_norm": PRE_NORM,
    "product_order": CHAIN,
    "bias_and_residual": POST_NORM,
    "key_bias": POST_NORM,
    "value_bias": POST_NORM,
    "deferred_normalisation": POST_NORM,
    "base_two": optimize(POST_NORM, without=[name for name in PASSES if name != "deferred_normalisation"]).layer,
    "scaled_queries": POST_NORM,
    "wide_projections": POST_NORM,
    "summed_products": gradient(POST_NORM),
}
Change = Callable[[Proposal], Proposal]


class Spy(Draft):
    """A draft that keeps the first proposal of a pass, changes it, and goes on."""

    def propose(self, name: str, proposal: Proposal) -> bool:
        """Make the changed proposal if the judge proves it."""
        changed = self.change(proposal)  # type: ignore[attr-defined]
        assert changed != proposal
        return super().propose(name, changed)


def outcome(name: str, change: Change) -> list[str]:
    """The evidence of the rewritings that a pass makes when each of its proposals is changed."""
    draft = Spy(SUBJECTS[name])
    draft.change = change  # type: ignore[attr-defined]
    PASSES[name](draft)
    assert draft.rewrites
    assert draft.equations == {e.variable: e for e in SUBJECTS[name].equations}  # nothing was done
    return [rewrite.evidence for rewrite in draft.rewrites]


def each(change: Callable[[Equation], Equation], part: str) -> Change:
    """Change every equation among those of new variables, or of new weights."""
    return lambda p: replace(p, **{part: tuple(map(change, getattr(p, part)))})


def scaled(factor: object) -> Callable[[Equation], Equation]:
    """Multiply a right-hand side."""
    return lambda e: Equation(e.target, factor * e.value, *(e.over or ()))  # type: ignore[operator]


def last(change: Callable[[Equation], Equation]) -> Change:
    """Change the last equation of a new variable."""
    return lambda p: replace(p, fresh=(*p.fresh[:-1], change(p.fresh[-1])))


def of_results(change: Callable[[Array], Array]) -> Change:
    """Change the new right-hand side of every variable that stays."""
    return lambda p: replace(p, replaced={v: change(value) for v, value in p.replaced.items()})


def swapped(proposal: Proposal) -> Proposal:
    """Queries from the columns of the keys, and the other way round."""
    first, second, *rest = proposal.replaced
    assert first.shape == second.shape
    crossed = {first: proposal.replaced[second], second: proposal.replaced[first]}
    return replace(proposal, replaced={**crossed, **{v: proposal.replaced[v] for v in rest}})


def moved(proposal: Proposal) -> Proposal:
    """All columns one further to the left or right."""

    def shift(value: Array) -> Array:
        cut, number = value.args
        matrix, start, along = cut.args
        return ColumnBlock(ColumnRange(matrix, start + (1 if start == 0 else -1), along), number)

    return of_results(shift)(proposal)


def turned(proposal: Proposal) -> Proposal:
    """The blocks of the heads in the opposite order."""
    return of_results(lambda value: ColumnBlock(value.args[0], h - 1 - value.args[1]))(proposal)


def without_bias(proposal: Proposal) -> Proposal:
    """The wide product without its bias."""
    (product,) = proposal.fresh
    return replace(proposal, fresh=(Equation(product.target, product.value.args[0]),), packed=proposal.packed[:1])


def unshifted(proposal: Proposal) -> Proposal:
    """The bias of the product as it was, though its rows lack the shift of the norm."""
    of_product, of_sum = proposal.packed
    return replace(proposal, packed=(Equation(of_product.target, of_product.value.args[1]), of_sum))


def _reversed(equation: Equation) -> Equation:
    """The heads of the gradients in the opposite order, those of the weights as they were."""
    body, index, size = equation.value.args
    return Equation(equation.target, Concatenate(replace_free(body, {index: h - 1 - index}), index, size))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("second_centring", of_results(lambda value: -1 * value)),
        ("second_centring", each(scaled(2), "fresh")),
        ("second_centring", lambda p: replace(p, opened=())),  # any mu is no mean
        ("folded_norm", each(scaled(-1), "packed")),
        ("folded_norm", of_results(lambda value: value.args[0])),  # the bias is forgotten
        ("product_order", each(scaled(-1), "packed")),
        ("product_order", of_results(lambda value: value.args[0])),  # the bias is forgotten
        ("bias_and_residual", each(scaled(-1), "packed")),
        ("bias_and_residual", each(scaled(-1), "fresh")),
        ("bias_and_residual", lambda p: replace(p, packed=(p.packed[0], scaled(2)(p.packed[1])))),  # added twice
        ("bias_and_residual", of_results(lambda value: value.args[0])),  # the rows are forgotten
        ("bias_and_residual", unshifted),
        ("key_bias", last(scaled(-1))),
        ("key_bias", last(scaled(2))),
        ("value_bias", each(scaled(-1), "packed")),
        ("value_bias", each(scaled(1 / sqrt(d_v)), "packed")),
        ("deferred_normalisation", last(scaled(2))),
        ("deferred_normalisation", of_results(lambda value: -1 * value)),
        ("deferred_normalisation", of_results(lambda value: value.args[0])),  # it is not divided at all
        ("base_two", each(scaled(2), "fresh")),
        ("base_two", each(lambda e: Equation(e.target, e.value.args[1], *e.over), "fresh")),
        ("scaled_queries", each(scaled(-1), "packed")),
        ("scaled_queries", each(scaled(1 / sqrt(d_k)), "packed")),  # twice the factor
        ("scaled_queries", lambda p: replace(p, packed=(p.packed[0], scaled(sqrt(d_k))(p.packed[1])))),
        ("summed_products", of_results(lambda value: -1 * value)),
        ("summed_products", of_results(lambda value: value.args[0])),  # the last product is forgotten
        ("summed_products", each(_reversed, "fresh")),
        ("wide_projections", each(scaled(-1), "fresh")),
        ("wide_projections", swapped),
        ("wide_projections", moved),
        ("wide_projections", turned),
        ("wide_projections", without_bias),
    ],
)
def test_wrong_rewritings_are_not_made(name: str, change: Change) -> None:
    assert set(outcome(name, change)) <= {"refuted", "unknown"}


def test_what_is_refused_is_recorded_with_the_reason_and_not_tried_again() -> None:
    draft = Spy(POST_NORM)
    draft.change = last(scaled(-1))  # type: ignore[attr-defined]
    for _ in range(3):
        assert not PASSES["deferred_normalisation"](draft)
    (record,) = draft.rewrites
    assert not record.done
    assert record.reason
    assert "not done" in record.text()


@pytest.mark.slow
def test_a_bias_of_values_is_not_moved_behind_weights_that_may_be_0() -> None:
    """The proof itself refuses what the pass does not try: without a mask that is known, a row may see no key."""
    masked = inlined(encoder_layer(biases=True, masked=True))
    mask = next(v for v in masked.inputs if v.kind == "boolean")
    proposals: list[Proposal] = []

    class Keeping(Draft):
        def propose(self, name: str, proposal: Proposal) -> bool:
            proposals.append(proposal)
            return False

    PASSES["value_bias"](Keeping(POST_NORM))
    (proposal,) = proposals
    weights = masked.equation("attention.attention.A")
    assert mask in weights.value.args
    opened = [v for v in proposal.opened if v != weights.variable]
    draft = Draft(masked)
    draft.propose("value_bias", replace(proposal, opened=(weights.variable, *opened)))
    assert [r.evidence for r in draft.rewrites] == ["unknown"]


def test_new_names_are_new() -> None:
    draft = Draft(POST_NORM)
    assert [draft.fresh(name) for name in ("attention.Q", "Q", "Q")] == ["attention.Q_2", "Q", "Q_2"]
