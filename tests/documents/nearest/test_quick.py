"""The quick numbers of a formula are those of its fingerprint, so that nothing known is passed over."""

from __future__ import annotations

import random

import pytest

from derivations.documents.canon.edits import edits_among
from derivations.documents.canon.scalar_sampling import NoNumber
from derivations.documents.elaborate import NotElaborated, elaborated
from derivations.documents.elaborate.typings import again
from derivations.documents.nearest.fingerprint import fingerprint, plain
from derivations.documents.nearest.handbook import entries
from derivations.documents.nearest.known import known_as, may_be_known
from derivations.documents.nearest.quick import QUICK, Quick
from tests.documents.elaborated import statements

FORMULAS = (
    r"O = \text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right) V",
    r"y = (\text{SiLU}(x W_1) \odot x W_2) W_3",
    r"L = -\sum_{j \neq i} p_j \log(p_j / q_i)",
    r"J = \text{diag}(p) - p p^T",
    r"m_t = \beta m_{t-1} + (1 - \beta) g_t",
    r"f_{t, 2i} = \sin(t / 10000^{2i / d})",
    r"y_i = \gamma_i \frac{x_i - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta_i",
)
DRAWN = 120  # formulas of the handbook


def numbers(text: str) -> list[tuple[object, object]]:
    """Return the first numbers of the right side of a formula, by expression and quickly, under each typing."""
    found = []
    for statement, scope in statements(f"$${text}$$"):
        right = statement.chain.sides[-1]
        for typing in elaborated((right,), scope, statement.chain.sides, uninterpreted=True):
            try:
                print_ = fingerprint(plain(typing.sides[0]))
            except NoNumber:
                continue
            quick = Quick(again((right,), typing, QUICK).sides[0])
            found.append((print_ and print_[1], quick.numbers))
    return found


@pytest.mark.parametrize("text", FORMULAS)
def test_numbers_are_those_of_the_fingerprint(text: str) -> None:
    found = numbers(text)
    assert found
    assert all(by_expression == quick for by_expression, quick in found)


@pytest.mark.slow
def test_numbers_of_the_handbook_are_those_of_its_fingerprints() -> None:
    """Of formulas drawn from the handbook; one that differed would never be found."""
    texts = [text for entry in entries() for text in entry["is"]]
    found = [pair for text in random.Random(5).sample(texts, DRAWN) for pair in numbers(text)]
    assert len(found) > DRAWN
    assert all(by_expression == quick for by_expression, quick in found)


def test_an_edit_that_is_known_is_let_through_and_hardly_another_one() -> None:
    """Of all edits of attention with a slip, what the filter keeps has what the look-up finds, and little else."""
    ((statement, scope),) = statements(r"$$O = \text{softmax}\left(\frac{Q K}{\sqrt{d_k}}\right) V$$")
    right = statement.chain.sides[1]
    quick = elaborated((right,), scope, statement.chain.sides, uninterpreted=True, algebra=QUICK)[0]
    kept, known, tried = set(), set(), 0
    for new, slip in edits_among(right, (right,)):
        try:
            side = Quick(again((new,), quick, QUICK).sides[0])
            expression = again((new,), quick).sides[0]
        except (NotElaborated, NoNumber):
            continue
        tried += 1
        if may_be_known(side):
            kept.add(str(slip))
        if known_as(expression):
            known.add(str(slip))
    assert "K must be transposed" in known
    assert known <= kept
    assert tried > 50 > 5 * len(kept - known)


def test_letters_and_names_do_not_matter_and_structure_does() -> None:
    one, other, third = (
        Quick(elaborated((statement.chain.sides[1],), scope, uninterpreted=True, algebra=QUICK)[0].sides[0])
        for text in (r"y = \sum_i a_i b_i", r"z = \sum_j u_j v_j", r"z = \sum_j u_j + v_j")
        for statement, scope in statements(f"$${text}$$")
    )
    assert one.nameless == other.nameless
    assert one.nameless != third.nameless
    assert one.letters == other.letters == 2
