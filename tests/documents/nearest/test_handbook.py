"""The handbook: its formulas are recognised, slips of them are found, and what is right as well is left alone."""

from __future__ import annotations

import random

import pytest

from derivations.documents.budget import budget_of
from derivations.documents.canon.edits import edits_among
from derivations.documents.canon.equations import Equation
from derivations.documents.checking import check_text
from derivations.documents.formulas import formula_text, read_formula
from derivations.documents.nearest.handbook import entries, handbook, spellings
from derivations.documents.nearest.known import known_as
from tests.documents.said import ALARMS, in_a_word

BY_A_LETTER = (  # c and h are the names of many things
    r"The LSTM has the cell $c_t = f_t \odot c_{t-1} - i_t \odot \tilde{c}_t$.",
    r"The output of the LSTM is $h_t = o_t \odot \sigma(c_t)$.",
    r"A GRU: $h_t = (1 + z_t) \odot h_{t-1} + z_t \odot \tilde{h}_t$.",
    r"In diffusion $x_t = \sqrt{\bar\alpha_t} x_0 + \sqrt{1 + \bar\alpha_t} \epsilon$.",
    r"The scaling law is $L(N, D) = E + \frac{A}{N^\alpha} - \frac{B}{D^\beta}$.",
    r"The error of GAE: $\delta_t = r_t - \gamma V(s_{t+1}) - V(s_t)$.",
    r"The binary loss is $L = -y \log p - (1 + y) \log(1 - p)$.",
    r"The contrastive loss is $R = \log \frac{\exp(s_i / \tau)}{\sum_{j=1}^{n} \exp(s_j / \tau)}$.",  # told so
)
WRONG = (
    r"$\tanh(x) = \frac{e^x + e^{-x}}{e^x + e^{-x}}$",
    r"In diffusion, $\bar\alpha_t = \sum_{s=1}^{t} \alpha_s$.",
    r"The precision is $\mathrm{Precision} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}$.",
)
RIGHT = (
    r"BLEU is $BLEU = BP \cdot exp\left(\sum_{n=1}^{N} w_n \cdot log(p_n)\right)$.",
    r"The LSTM has the cell $C_t = f_t \odot C_{t-1} + i_t \odot \tilde{C}_t$.",
    r"A GRU: $h_t = z_t \odot h_{t-1} + (1 - z_t) \odot \tilde{h}_t$.",
    r"An LSTM gate: $f_t = \sigma(W_f h_{t-1} + U_f x_t + b_f)$.",
    r"$\tanh(x) = \frac{1 - e^{-2x}}{1 + e^{-2x}}$",
    r"In diffusion $x_t = \sqrt{\bar\alpha_t} x_0 + \sqrt{1 - \bar\alpha_t} \epsilon$.",
    r"Diffusion has the shares $\bar\alpha_t = \prod_{s=1}^{t} \alpha_s$.",
    r"Mutual information: $I(X, Y) = H(X, Y) - H(Y \mid X) - H(X \mid Y)$.",
    r"The loss is $L = -\log \sigma(z)$ where the label of the binary problem is 1.",
    r"A GRU has $\tilde{h}_t = \tanh(W (r_t \odot h_{t-1}) + U x_t + b)$.",
    r"A GRU has $\tilde{h}_t = \tanh(W (z_t \odot h_{t-1}) + U x_t + b)$.",  # one gate may do for both
    r"The sum, whose logsumexp is kept: $L_i = \sum_{j=1}^{n} \exp(s_{ij})$.",
    r"The recall is $\mathrm{Recall} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}$.",
    r"The state of the pump is $h_t = (1 + z_t) h_{t-1} + z_t k_t$.",  # no word names a formula of the handbook
)


def forms(equation: Equation) -> list[str]:
    return [str(form.value) for form in equation.forms]


def test_every_formula_has_a_name_a_left_side_and_a_source() -> None:
    assert len(handbook()) > 80
    for equation in handbook():
        assert equation.title and equation.left and equation.words


def test_titles_are_different() -> None:
    titles = [equation.title for equation in handbook()]
    assert sorted(set(titles)) == sorted(titles)


@pytest.mark.slow  # all of the handbook is typed; the fast tests look at the formulas below
@pytest.mark.parametrize("equation", handbook(), ids=lambda equation: equation.title)
def test_a_formula_is_recognised_as_itself(equation: Equation) -> None:
    with budget_of(10**9, 60):
        assert any(known_as(form.value, (equation,)) for form in equation.forms), forms(equation)


def edited() -> list[tuple[str, str]]:
    """A drawn edit of the usual form of every fourth formula, with a word that tells it."""
    rng, found = random.Random(4), []
    for entry in [*entries()][::4]:
        left, _, right = entry["is"][0].partition(" = ")
        node = read_formula(right, "latex").statements[0].sides[0]
        edits = [new for new, _ in edits_among(node, (node,)) if "1^" not in formula_text(new, "latex")]  # which is 1
        if entry.get("usual", 1) and edits:
            word = entry.get("words", "").partition("|")[0]
            found.append((word, f"{left} = {formula_text(rng.choice(edits), 'latex')}"))
    return found


@pytest.mark.slow  # eighty documents; a mistake that is said to hold is the worst that can be said
@pytest.mark.parametrize(("word", "formula"), edited())
def test_an_edited_formula_does_not_hold(word: str, formula: str) -> None:
    finding = check_text(f"We look at {word}.\n\n$${formula}$$", "markdown").claims[-1].finding
    assert finding.check != "nearest" or finding.verdict != "holds"


def test_what_stands_for_a_part_keeps_its_role() -> None:
    """H of another argument is another letter, and no new name of the one that is known."""
    layer = r"A highway layer: $y = H(%s, W_H) \cdot T(x, W_T) + x \cdot (1 - T(x, W_T))$"
    assert [check_text(layer % x, "markdown").claims[-1].finding.verdict for x in ("x", "x^2")] == ["holds", "unknown"]


@pytest.mark.parametrize("text", BY_A_LETTER)
def test_a_slip_in_what_a_letter_names_makes_it_another_formula(text: str) -> None:
    assert [claim.finding.verdict for claim in check_text(text, "markdown").claims] == ["conditional"]


@pytest.mark.parametrize("text", WRONG)
def test_a_slip_is_found(text: str) -> None:
    said = [in_a_word(claim.finding) for claim in check_text(text, "markdown").claims]
    assert "wrong" in said


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_is_left_alone(text: str) -> None:
    said = {in_a_word(claim.finding) for claim in check_text(text, "markdown").claims}
    assert not said & set(ALARMS)


def test_a_left_side_is_spelled_without_its_arguments_too() -> None:
    left = read_formula(r"\mathrm{BLEU}(p, r) = 1", "latex").statements[0].sides[0]
    assert "bleu" in spellings(left)
    assert "" not in spellings(left)
