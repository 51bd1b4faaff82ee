"""The oracle and the kinds of mistakes: both are seen to say yes, no, and that they cannot tell."""

from __future__ import annotations

from fractions import Fraction

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.syntax import Chain, Name, Node
from tests.documents.mutants.harness import mutants
from tests.documents.mutants.kinds import KINDS, changes
from tests.documents.mutants.oracle import (
    declarations_differ,
    declared_in,
    inner_sizes_differ,
    shapes_differ,
    values_differ,
)
from tests.documents.mutants.places import edited, spots
from tests.documents.mutants.printed_numbers import numbers_differ
from tests.documents.mutants.random_letters import moments_agree, moments_in
from tests.documents.mutants.texts import Text, targets


def chain(formula: str) -> Chain:
    return read_formula(formula, "latex").statements[0]


def side(formula: str) -> Node:
    return chain(formula).sides[0]


@pytest.mark.parametrize(
    ("formula", "other", "answer"),
    [
        (r"\text{softmax}(Q K^T) V", r"\text{softmax}(K Q^T) V", "different"),
        (r"\text{softmax}(Q K^T) V", r"\text{softmax}(Q K) V", "different"),
        (r"\text{softmax}(Q K^T) V", r"(\text{softmax}(Q K^T)) V", "same"),
        (r"\frac{Q K^T}{\sqrt{d_k}}", r"\frac{1}{\sqrt{d_k}} Q K^T", "same"),
        (r"\frac{Q K^T}{\sqrt{d_k}}", r"\frac{Q K^T}{d_k}", "different"),
        (r"\max(0, x W_1 + b_1) W_2 + b_2", r"\max(0, x W_1 - b_1) W_2 + b_2", "different"),
        (r"\max(0, x W_1 + b_1) W_2 + b_2", r"b_2 + \max(0, b_1 + x W_1) W_2", "same"),
        (r"y_i (1 - y_i)", r"y_i (1 - y_j)", "different"),
        (r"y_i (1 - y_i)", r"y_i - y_i^2", "same"),
        (r"\frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}", r"\frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_i}}", "different"),
        (r"\frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}", r"\frac{e^{x_i}}{\sum_{l=1}^{n} e^{x_l}}", "same"),
        (r"\frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}", r"\frac{e^{x_i}}{\sum_{j=1}^{n-1} e^{x_j}}", "different"),
        (r"X_{ik} - \mu_i", r"X_{kk} - \mu_i", "different"),
        (r"\gamma_k X_{ik} + \beta_k", r"X_{ik} \gamma_k + \beta_k", "same"),
        (r"X_{ik} W_{kj}", r"W_{kj} X_{ik}", "same"),
        (r"\{x \mid x > 0\}", r"\{x \mid x < 0\}", "cannot tell"),
    ],
)
def test_values(formula: str, other: str, answer: str) -> None:
    assert values_differ(side(formula), side(other), {}) == answer


def test_shapes_need_not_fit_for_every_letter_that_is_not_declared() -> None:
    """W X may fit where nothing is said of W, and does not where X W is what the declarations allow."""
    before, after = chain("Y = X W + b").sides, chain("Y = W X + b").sides
    declared = declared_in([chain(r"X \in \mathbb{R}^{n \times d}"), chain(r"W \in \mathbb{R}^{d \times p}")])
    assert shapes_differ(before, after, {}) == "same"
    assert shapes_differ(before, after, declared) == "different"


def test_declarations_are_held_against_formulas() -> None:
    used = [chain("Y = X W").sides]
    right = declared_in([chain(r"X \in \mathbb{R}^{n \times d}"), chain(r"W \in \mathbb{R}^{d \times p}")])
    turned = {**right, **declared_in([chain(r"W \in \mathbb{R}^{p \times d}")])}
    assert declarations_differ(right, turned, used) == "different"
    assert declarations_differ(right, {**right, "V": ("p", "d")}, used) == "cannot tell"


@pytest.mark.parametrize(
    ("link", "answer"),
    [
        (r"e^2 \approx 7.39", "same"), (r"e^2 \approx 7.38", "different"), (r"512 / 8 = 64", "same"),
        (r"512 / 8 = 65", "different"), (r"d_k / 8 = 8", "same"), (r"d_k / 8 = 9", "different"),
        (r"d_v / 8 = 9", "cannot tell"), (r"e^{10} \approx 22,000", "same"), (r"e^{10} \approx 23,000", "different"),
        (r"0.73 \times 0.27 \approx 0.197", "same"), (r"0.73 \times 0.27 \approx 1.97", "different"),
    ],
)  # fmt: skip
def test_numbers(link: str, answer: str) -> None:
    found = chain(link)
    assert numbers_differ(found.sides[0], str(found.relations[0]), found.sides[1], {"d_k": Fraction(64)}) == answer


MADE = {
    "scaling dropped": (r"\frac{Q K^T}{\sqrt{d_k}}", r"Q K^{T}"),
    "root of the scaling dropped": (r"\frac{a}{\sqrt{d_k}}", r"\frac{a}{d_{k}}"),
    "multiplied by the scaling": (r"\frac{a}{\sqrt{b}}", r"a \cdot \sqrt{b}"),
    "other width": ("d_v", "d_{k}"),
    "transpose on the left": ("Q K^T", "Q^{T} K"),
    "transpose dropped": ("Q K^T", "Q K"),
    "transposed factors exchanged": ("Q K^T", "K Q^{T}"),
    "order turned": ("X W", "W X"),
    "mask inside the scale": (r"\frac{S}{c} + M", r"\frac{S + M}{c}"),
    "letter exchanged": ("Q K", "K K"),
    "weights exchanged": ("W_1 W_2", "W_{2} W_2"),
    "softmax over the other axis": (r"\text{softmax}(S, dim=-1)", r"\text{softmax}\left( S, \dim = 0 \right)"),
    "softmax of one scalar": (r"\text{softmax}(x)_i", r"\text{softmax}\left( x_{i} \right)"),
    "index in the denominator": (r"x_i \sum_{j=1}^{n} x_j", r"x_i \sum_{j = 1}^{n} x_{i}"),
    "index changed": ("y_i (1 - y_i)", "y_j (1 - y_i)"),
    "exp dropped": ("e^{x}", "x"),
    "last term left out": (r"\sum_{j=1}^{n} x_j", r"\sum_{j = 1}^{n - 1} x_{j}"),
    "sign turned": ("a + b", "a - b"),
    "factor of two dropped": ("2 i", "i"),
    "base a thousand": ("10000^{a}", "1000^{a}"),
    "sine for cosine": (r"\sin(x)", r"\cos\left( x \right)"),
    "smallest for largest": (r"\max(0, x)", r"\min\left( 0, x \right)"),
    "exponent lost": ("x^3", "x"),
    "exponent doubled": (r"\sigma^2", r"\sigma^{4}"),
    "fraction turned": (r"\frac{a}{b}", r"\frac{b}{a}"),
    "sizes exchanged": (r"\mathbb{R}^{n \times d}", r"\mathbb{R}^{d \times n}"),
    "factor of the count": ("4 n d", "2 n d"),
    "term forgotten": ("4 d_k + n h", "n h"),
    "whole number off by one": ("12", "13"),
    "last digit": ("0.73", "0.72"),
    "unit slip": ("0.73", "7.3"),
    "inequality turned": (r"\sum_{j \le i} x_j", r"\sum_{j \geq i} x_j"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_its_mistake(kind: str) -> None:
    formula, mistake = MADE[kind]
    made = [
        edited(formula, spot, new, "latex").of(formula)
        for spot in spots(side(formula))
        for found, new in changes(spot)
        if found == kind
    ]
    assert mistake in made, made


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_applies_to_a_letter_that_stands_alone(kind: str) -> None:
    assert not [new for spot in spots(side("y")) for found, new in changes(spot) if found == kind]


@pytest.mark.parametrize(
    ("before", "answered"),
    [
        ("Let $d_k = d_{model} / h$ and $d_v = d_{model} / h$.", False),
        ("Let $d_k = d_v$.", False),
        ("Let $d_k = d_{model} / h$ and $d_v = 64$.", True),
    ],
)
def test_a_width_that_is_set_to_what_another_is_is_no_other_one(before: str, answered: bool) -> None:
    text = Text("own.md", f"{before}\n\nThen $h (n d_k + n d_k) = 2 h n d_k$ here.\n")
    (target,) = (each for each in targets(text) if each.claim.finding.check == "chain")
    found = [each for each in mutants(target) if each.kind == "other width" and each.edit.written.strip() == "d_{v}"]
    assert bool(found) == answered


SUM = r"\sum_{j=1}^{d_k} \operatorname{Var}(q_j k_j)"


@pytest.mark.parametrize(
    ("formula", "other", "said", "agree"),
    [
        (SUM, r"\sum_{j=1}^{d_k} \operatorname{Var}(q_l k_j)", "", True),  # q_l is as independent of k_j as q_j is
        (SUM, r"\sum_{j=1}^{d_k-1} \operatorname{Var}(q_j k_j)", "", False),
        (SUM, r"\sum_{j=1}^{d_k} \operatorname{Var}(q_j q_j)", "", False),
        (SUM, r"d_k", "", False),
        (SUM, r"d_k", r"E[q_i] = 0; E[k_i] = 0; E[q_i^2] = 1; \operatorname{Var}(k_i) = 1", True),
        (r"E[k_j] E[q_j]", r"E[k_j q_j]", "", True),
        (r"E[k_j] E[q_j]", r"E[k_j]", "", False),
        (r"E[k_j] E[q_j]", r"E[k_j]", "E[k_i] = 0", True),
        (r"E[k_j^2]", r"E[k_j^4]", r"E[k_i] = 0; E[k_i^2] = 1", False),
        (r"E[k_j^2] - E[k_j]^2", r"E[k_j^2] + E[k_j]^2", "", False),
        (r"E[x_l W_{lj}]", r"E[x_j W_{lj}]", r"E[W_{ij}] = 0", True),
        (r"E[R_{ik} X_{ik}]", r"E[R_{kk} X_{ik}]", "", True),  # entries have one distribution
        (r"E[R_{ik} X_{ik}]", r"E[X_{ik} X_{ik}]", "", False),
        (r"x_l W_{lj}", r"x_l W_{lj}", "", False),  # no expectation: for the other oracle
    ],
)
def test_moments_of_independent_letters(formula: str, other: str, said: str, *, agree: bool) -> None:
    """What is equal for independent letters with the moments that a text gives may be true in it."""
    moments = moments_in(chain(each) for each in said.split("; ") if each)
    assert moments_agree(side(formula), side(other), moments) == agree


@pytest.mark.parametrize(("said", "answer"), [("$E[q_i] = 0$", "cannot tell"), ("$E[q_i] = \\mu$", "different")])
def test_a_mistake_in_moments_counts_where_it_is_false_in_its_text(said: str, answer: str) -> None:
    formula = r"\mathbb{E}\left[\sum_{j=1}^{d_k} q_j k_j\right] = \sum_{j=1}^{d_k} \mathbb{E}[q_j k_j]"
    text = Text("own.md", f"Let {said}.\n\n$$\n{formula}\n$$\n")
    (target,) = (each for each in targets(text) if each.claim.finding.check == "chain")
    found = {each.answer for each in mutants(target) if each.kind == "last term left out"}
    assert found == {answer}


@pytest.mark.parametrize(("before", "answer"), [(r"W x\ \text{conformable} \iff ", "cannot tell"), ("", "different")])
def test_an_equation_under_an_equivalence_is_not_stated(before: str, answer: str) -> None:
    """The same line may say truly that W x conforms if and only if 2048 is 512."""
    text = Text("own.md", f"$$\n{before}512 = 512\n$$\n")
    (target,) = (each for each in targets(text) if each.claim.finding.check == "arithmetic")
    assert {each.answer for each in mutants(target)} == {answer}


def test_a_bracket_of_another_size_is_replaced_as_a_whole() -> None:
    formula = r"\mathbb{E}\left[\left(a + b\right)^2\right]"
    lost = [(spot, new) for spot in spots(side(formula)) for kind, new in changes(spot) if kind == "exponent lost"]
    made = [edited(formula, spot, new, "latex").of(formula) for spot, new in lost]
    assert made == [r"\mathbb{E}\left[\left( a + b \right)\right]"]


@pytest.mark.parametrize(
    ("kind", "formula", "mistake"),
    [
        ("exp dropped", r"\exp(\sum_{j=1}^{n} x_j) y", r"\left( \sum_{j = 1}^{n} x_{j} \right) y"),
        ("term forgotten", "h n (d_k + d_v)", r"h n d_{v}"),
        ("term forgotten", "h n (2 d_k + d_v)", r"h n (2 d_{k})"),
    ],
)
def test_brackets_stand_where_a_mistake_needs_them(kind: str, formula: str, mistake: str) -> None:
    """A sum without brackets takes in what follows it; a single name in brackets is applied to: `n (d_v)`."""
    made = [
        edited(formula, spot, new, "latex").of(formula)
        for spot in spots(side(formula))
        for found, new in changes(spot)
        if found == kind
    ]
    assert mistake in made, made


@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [
        (r"(n \times d) (d \times m)", r"(d \times n) (d \times m)", "different"),
        (r"(n \times d) (d \times m)", r"(n \times d) (d \times n)", "same"),
        (r"(n \times d) (p \times m)", r"(d \times n) (p \times m)", "cannot tell"),
        (r"n \times d", r"d \times n", "cannot tell"),
    ],
)
def test_sizes_that_meet_in_a_product_of_shapes(before: str, after: str, answer: str) -> None:
    assert inner_sizes_differ(side(before), side(after)) == answer


def test_the_sign_of_an_expectation_is_no_letter() -> None:
    formulas = {new for spot in spots(side(r"E[X + Y]")) for kind, new in changes(spot) if kind == "letter exchanged"}
    assert {each.base for each in formulas if isinstance(each, Name)} == {"X", "Y"}


def test_a_gradient_may_be_laid_out_otherwise_and_has_no_other_factor() -> None:
    shapes = r"Let $X \in \mathbb{R}^{n \times d}$, $W \in \mathbb{R}^{d \times m}$, $Y = X W$."
    text = Text("a.md", f"# A\n\n{shapes}\n\n$$dW = X^T dY$$\n")
    (target,) = (each for each in targets(text) if each.claim.finding.check == "gradient")
    answers = {mutant.kind: mutant.answer for mutant in mutants(target)}
    assert answers["order turned"] == answers["transpose dropped"] == answers["letter exchanged"] == "different"


def test_a_condition_claims_nothing() -> None:
    text = r"$$\begin{aligned} 2 \cdot 4 &= 8 && \text{if}\ 2 \cdot 3 = 6 \end{aligned}$$"
    changed = {mutant.formula for each in targets(Text("a.md", f"# A\n\n{text}\n")) for mutant in mutants(each)}
    assert changed
    assert all(r"2 \cdot 3 = 6" in formula for formula in changed)


@pytest.mark.parametrize(("before", "answer"), [("Assuming", "cannot tell"), ("So", "different")])
def test_what_is_assumed_is_not_stated(before: str, answer: str) -> None:
    text = f"# A\n\n{before} $2 (x + y) = 2 x + 2 y$ (always).\n"
    answers = {mutant.answer for each in targets(Text("a.md", text)) for mutant in mutants(each)}
    assert answer in answers
    assert before == "So" or answers == {"cannot tell"}
