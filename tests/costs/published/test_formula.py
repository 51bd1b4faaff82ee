"""A difference adds up or says what is left over; a formula that is wrong in one coefficient is never explained."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sympy import Add, Expr, Integer, Symbol, expand

from derivations.architectures.models import named_model
from derivations.costs.published.formula import Departure, Published, difference, letter
from derivations.costs.published.formulas import FORMULAS, published
from derivations.costs.published.page import GPT, OTHERS
from derivations.costs.published.subject import Subject
from derivations.symbols import batch, d_model, n

SMALL = Subject(named_model("gpt2"))
ALL = [pytest.param(formula, id=formula.id) for formula in FORMULAS]
LEFT_OVER = {"kaplan.embedding": 3 * d_model}  # what no cost of the equations accounts for


def wrong_in_one_coefficient(formula: Published) -> Iterator[Published]:
    """The formula with one of its monomials counted 3 times, each in turn."""
    for monomial in Add.make_args(expand(formula.expression)):
        yield replace(formula, expression=formula.expression + 2 * monomial)


@pytest.mark.parametrize("formula", ALL)
def test_every_difference_is_explained(formula: Published) -> None:
    found = difference(formula, SMALL)
    assert found.unexplained == LEFT_OVER.get(formula.id, 0)
    assert expand(found.value - found.published + found.derived) == 0
    if formula.id not in LEFT_OVER:
        assert found.checked() is found


@pytest.mark.parametrize("formula", ALL)
def test_a_wrong_coefficient_is_left_over(formula: Published) -> None:
    for wrong in wrong_in_one_coefficient(formula):
        found = difference(wrong, SMALL)
        assert found.unexplained not in (0, LEFT_OVER.get(formula.id)), wrong.expression
        with pytest.raises(ValueError, match=f"{formula.id}: .* is unexplained; name where it comes from"):
            found.checked()


@pytest.mark.parametrize("formula", ALL)
def test_no_departure_is_idle(formula: Published) -> None:
    """Each of them is needed, and so is its factor."""
    subject = Subject(named_model("llama-3-8b")) if formula.id == "pope.cache_of_all_heads" else SMALL
    for number, departure in enumerate(formula.departures):
        others = (*formula.departures[:number], *formula.departures[number + 1 :])
        assert difference(replace(formula, departures=others), subject).unexplained != 0
        more = replace(departure, factor=departure.factor + 1)
        assert difference(replace(formula, departures=(*others, more)), subject).unexplained != 0


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_about_any_decoder_is_explained_for_others(name: str) -> None:
    subject = Subject(named_model(name))
    for formula in FORMULAS:
        if formula.any_decoder:
            assert difference(formula, subject).unexplained == 0, formula.id


def test_what_is_about_one_kind_is_not_explained_for_another() -> None:
    """Three matrices in the network, fewer keys than queries: Narayanan's parameters are not those of Llama."""
    assert difference(published("narayanan.parameters"), Subject(named_model("llama-3-8b"))).unexplained != 0


@pytest.mark.parametrize("name", GPT)
@pytest.mark.parametrize("formula", ALL)
def test_the_terms_are_the_difference_in_numbers(formula: Published, name: str) -> None:
    found = difference(formula, Subject(named_model(name)))
    lengths = {n: 13, batch: 3, Symbol("t", integer=True, positive=True): 7}
    stated, derived = found.at(lengths)
    numbers: dict[Expr, Expr] = {s: Integer(v) for s, v in {**found.subject.model.values, **lengths}.items()}
    terms = sum((term.value.xreplace(numbers) for term in found.terms), found.unexplained.xreplace(numbers))
    assert stated - derived == terms


# --- what is refused ------------------------------------------------------------------------------------------------


def test_a_letter_that_means_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"palm.model_flops: the formula has the letter q, which is bound to nothing"):
        replace(published("palm.model_flops"), expression=Symbol("q"))


def test_sizes_that_are_not_related_as_the_formula_takes_for_given_are_refused() -> None:
    model = named_model("gpt2")
    wide = Subject(replace(model, values={**model.values, d_model: 769}))
    with pytest.raises(ValueError, match=r"narayanan.parameters: gpt2 has d_k = 64, where the formula takes d_model/h"):
        difference(published("narayanan.parameters"), wide).at({n: 5})


def test_a_missing_length_is_named() -> None:
    with pytest.raises(ValueError, match=r"palm.model_flops: no number is given for n; add it to the lengths"):
        difference(published("palm.model_flops"), SMALL).at({})


def test_an_encoder_has_no_decoder_to_compare_with() -> None:
    with pytest.raises(ValueError, match=r"bert-base: published formulas are about decoders"):
        difference(published("palm.model_flops"), Subject(named_model("bert-base")))


def test_an_unknown_name_is_refused_with_near_ones() -> None:
    with pytest.raises(LookupError, match=r"no published formula 'palm.model_flop'; did you mean palm.model_flops"):
        published("palm.model_flop")


def test_names_are_those_of_one_formula() -> None:
    names = [formula.id for formula in FORMULAS]
    assert len(set(names)) == len(names)


def test_a_departure_that_is_nothing_is_not_shown() -> None:
    """A model without biases leaves none out."""
    found = difference(published("palm.model_flops"), Subject(named_model("llama-3-8b")))
    assert [term.departure.cost for term in found.terms] == ["norms", "tables of rows"]


def test_a_formula_of_ones_own() -> None:
    """What a user writes: one letter, one departure, a remainder."""
    width = letter("D", "width", d_model)
    own = replace(
        published("kaplan.logits"),
        id="own",
        expression=5 * width.symbol,
        letters=(width,),
        derived=lambda subject: 2 * d_model,
        departures=(Departure(Integer(1), "a row", lambda subject: d_model, "for the test"),),
    )
    found = difference(own, SMALL)
    assert (found.value, found.terms[0].value, found.unexplained) == (3 * d_model, d_model, 2 * d_model)
