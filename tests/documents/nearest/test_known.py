"""Known formulas are found in any letters and either way of writing, and nothing else is taken for them."""

import pytest

from derivations.documents.elaborate import elaborated
from derivations.documents.nearest.checking import check_nearest
from derivations.documents.nearest.known import known_as
from tests.documents.elaborated import said, statements


def titles(formula):
    ((statement, scope),) = statements(f"$${formula}$$")
    typing = elaborated(statement.chain.sides[1:], scope, statement.chain.sides)[0]
    return {known.title for known in known_as(typing.sides[0])}


@pytest.mark.parametrize(
    ("formula", "title"),
    [
        (r"p_c = \frac{e^{z_c}}{\sum_j e^{z_j}}", "softmax"),
        (r"a_{t,s} = \frac{\exp(u_{t,s})}{\sum_{j=1}^{T} \exp(u_{t,j})}", "softmax"),
        (r"O = \text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right) V", "scaled dot-product attention"),
        (r"v = \frac{1}{N} \sum_{i=1}^{N} (u_i - m)^2", "the variance"),
        (r"s_t = \sqrt{\frac{1}{D} \sum_{d=1}^{D} (x_{td} - \mu_t)^2}", "the standard deviation"),
        (r"y = g \frac{x - m}{\sqrt{s^2 + \epsilon}} + b", "layer normalisation"),
    ],
)
def test_a_known_formula_in_other_letters(formula, title):
    assert title in titles(formula)


@pytest.mark.parametrize(
    "formula",
    [
        r"p_c = \frac{e^{z_c}}{\sum_j e^{z_c}}",
        r"p_c = \frac{e^{z_c}}{\sum_j e^{-z_j}}",
        r"O = \text{softmax}\left(\frac{Q K^T}{d_k}\right) V",
        r"v = \frac{1}{N} \sum_{i=1}^{M} (u_i - m)^2",  # divided by another number
        r"y = g \frac{x - m}{s^2 + \epsilon} + b",
    ],
)
def test_what_is_one_edit_away_is_not_known(formula):
    assert titles(formula) == set()


@pytest.mark.parametrize(
    ("formula", "slip"),
    [
        (r"\text{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_i}}", "the sum must be over i"),
        (r"\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^T}{d_k}\right) V", "the root is missing"),
        (r"\text{LayerNorm}(x) = \gamma \frac{x - \mu}{\sigma^2 + \epsilon} + \beta", "the root is missing"),
        (r"\mu_t = \sum_{d=1}^{D} x_{td}", "the division by D is missing"),
        (r"\sigma_t = \frac{1}{D} \sum_{d=1}^{D} (x_{td} - \mu_t)^2", "the root is missing"),
        (r"L_{ce} = \sum_c t_c \log p_c", "the sign is wrong"),
    ],
)
def test_one_edit_away_from_what_is_named_is_wrong(formula, slip):
    (finding,) = said(check_nearest, f"$${formula}$$")
    assert finding.verdict == "wrong"
    assert slip in finding.reason


@pytest.mark.parametrize(
    "formula",
    [
        r"y = g \frac{x - m}{s^2 + \epsilon} + b",  # nothing names it
        r"S_t = \sum_{d=1}^{D} x_{td}",  # a sum, and no mean
        r"\text{Attention}(Q, K, V) = \text{softmax}\left(\tau Q K^T\right) V",
        r"\sigma(z) = \tanh(z)",  # sigma is any activation
        r"\theta_i = 10000^{-i/d}",  # i counts the even entries
        r"\text{norm} = (x - m) r",
        r"\operatorname{softmax}(z) = \operatorname{softmax}(z + c \mathbf{1})",  # a law, and no definition
    ],
)
def test_what_an_author_may_mean_is_not_wrong(formula):
    assert "wrong" not in {finding.verdict for finding in said(check_nearest, f"$${formula}$$")}


SCORE, SUM = r"e_{j,l} = \frac{q_j^T k_l}{%s}", r"o_j = \sum_{l=1}^{J} \alpha_{j,l} %s"


def verdicts(*formulas):
    return [finding.verdict for finding in said(check_nearest, "\n\n".join(f"$${each}$$" for each in formulas))]


@pytest.mark.parametrize(
    ("formula", "right", "slip"),
    [(SCORE, r"\sqrt{d_k}", "d_k"), (SUM, "v_l", "v_j")],
)
def test_another_formula_for_the_same_letter_tells_that_it_may_be_meant(formula, right, slip):
    here = r"\vec q_j, \vec k_l \in \mathbb{R}^{d_k}", r"\vec v_l \in \mathbb{R}^{d_v}"
    assert verdicts(*here, formula % right, formula % right) == []
    assert verdicts(*here, formula % slip, formula % right) == ["conditional"]
    assert "wrong" not in verdicts(*here, formula % slip)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"e_{j,l} = q_j^T k_l", SCORE % r"\sqrt{d_k}"),  # scores without a scale are known as well
        (SCORE % "d_k", r"s_{j,l} = \frac{q_j^T k_l}{\sqrt{d_k}}"),  # another letter
        (r"e_{j,l} = \frac{q_j^T k_l}{d_k}", r"e_{j,l} = \frac{q_j^T k_l}{d_k}"),
        (r"e_{j,l} = \frac{q_j^T W k_l}{d_k}", SCORE % r"\sqrt{d_k}"),  # more than an edit away
    ],
)
def test_what_is_another_formula_is_left_alone(one, other):
    assert "wrong" not in verdicts(r"\vec q_j, \vec k_l \in \mathbb{R}^{d_k}", one, other)
