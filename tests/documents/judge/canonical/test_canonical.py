"""Canonical formulas: what is recognised, under which assumption, and what is refused."""

from __future__ import annotations

import pytest
from sympy import Symbol

from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.judge.canonical.canonical import check_canonical
from derivations.documents.passages import Block, Passage, Place
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import FakeScope


def judged(text: str, scope: object | None = None, syntax: str = "latex") -> Finding | None:
    reading = read_formula(text, syntax)
    assert reading.stopped is None, reading.stopped
    passage = Passage(syntax, text, ((0, Place(1, 1)),))
    statement = Statement(reading.statements[0], passage, Block("paragraph", (passage,)))
    found = [each for link in statement.links for each in check_canonical(statement, link, scope or FakeScope())]
    return found[0] if found else None


ATTENTION = r"\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{%s}}\right) V"


def test_the_result_of_the_catalogue_is_named() -> None:
    finding = judged(ATTENTION % "d_k")
    assert finding is not None
    assert (finding.verdict, finding.result, finding.right) == ("holds", "attention.definition", None)


def test_a_slip_is_named_and_mended() -> None:
    """The check says no, says which slip it is, and what would be right."""
    finding = judged(r"\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK}{\sqrt{d_k}}\right) V")
    assert finding is not None
    assert finding.verdict == "wrong"
    assert "K must be transposed" in finding.reason
    assert finding.right is not None
    assert "K^{T}" in finding.right


def test_another_width_under_the_root_is_wrong_where_the_keys_have_their_own() -> None:
    """sqrt(d_model) is right for one head as wide as the model, and wrong where K is declared n x d_k."""
    text = ATTENTION % r"d_{\text{model}}"
    assert judged(text).verdict == "holds"
    declared = FakeScope(shapes={"K": (Symbol("n"), Symbol("d_k"))})
    assert judged(text, declared).verdict == "wrong"
    assert judged(ATTENTION % "d_k", declared).verdict == "holds"


def test_unscaled_attention_is_conditional() -> None:
    finding = judged(r"O = \text{softmax}(QK^T) V")
    assert finding is not None
    assert (finding.verdict, finding.assumptions) == ("conditional", ("the scores are not scaled",))


def test_columns_are_a_convention_and_named() -> None:
    """W x is right for column vectors; where the section has rows it is a slip."""
    text = r"\text{FFN}(x) = W_2 \max(0, W_1 x + b_1) + b_2"
    finding = judged(text)
    assert finding is not None
    assert finding.verdict == "holds"
    assert finding.assumptions == ("positions are columns",)
    assert (
        judged(text, FakeScope(convention="rows")) is None
        or judged(text, FakeScope(convention="rows")).verdict != "holds"
    )


def test_softmax_of_one_score_is_1() -> None:
    finding = judged(r"a_{ij} = \text{softmax}\left(\frac{q_i \cdot k_j}{\sqrt{d_k}}\right)")
    assert finding is not None
    assert (finding.verdict, finding.result) == ("conditional", "attention.scalar_softmax_is_one")
    plain = judged(r"a = \text{softmax}\left(\frac{q_i \cdot k_j}{\sqrt{d_k}}\right)")
    assert plain is not None
    assert (plain.verdict, plain.result) == ("wrong", "attention.scalar_softmax_is_one")
    over_keys = judged(r"a_{ij} = \text{softmax}_j\left(\frac{q_i \cdot k_j}{\sqrt{d_k}}\right)")
    assert over_keys is not None
    assert (over_keys.verdict, over_keys.result) == ("holds", "attention.weights")


def test_letters_that_the_prose_explains() -> None:
    """With other letters the roles come from what the prose says of them."""
    text = r"O = \text{softmax}\left(\frac{R P^T}{\sqrt{g}}\right) U"
    said = FakeScope(meanings={"P": "query", "R": "key", "U": "value", "g": "key width"})
    assert judged(text, said).verdict == "wrong"
    said = FakeScope(meanings={"R": "query", "P": "key", "U": "value", "g": "key width"})
    assert judged(text, said).verdict == "holds"


@pytest.mark.parametrize("axis, verdict", [("-1", "holds"), ("0", "wrong")])
def test_the_axis_of_softmax(axis: str, verdict: str) -> None:
    finding = judged(f"out = softmax(Q @ K.T / sqrt(d_k), dim={axis}) @ V", syntax="code")
    assert finding is not None
    assert finding.verdict == verdict


def test_a_formula_about_something_else_is_left_alone() -> None:
    assert judged(r"a^2 + b^2 = c^2") is None
    assert judged(r"y = \frac{e^x}{2}") is None


@pytest.mark.parametrize(
    "text",
    [
        r"y_i = \frac{e^{" + "x_i^{" * 40 + "2" + "}" * 40 + r"}}{\sum_j e^{x_j}}",
        r"\text{softmax}(x)_i = \frac{1}{0}",
        r"\text{FFN}(x) = \max(0, 0^{-1})",
        r"\text{GELU}(x) = 10^{10^{10^{10}}} x",
        r"\text{softmax}(x)_i = \sum_{j=1}^{10^{100}} e^{x_j} / e^{x_i}",
    ],
)
def test_strange_formulas_are_no_trouble(text: str) -> None:
    reading = read_formula(text, "latex")
    if reading.stopped is None:
        finding = judged(text)
        assert finding is None or finding.verdict in ("wrong", "unknown", "conditional")


UNSCALED = r"$$\text{Attention}(Q, K, V) = \text{softmax}(QK^T) V$$"


def test_a_width_that_is_explained_must_stand_in_the_formula() -> None:
    """Unscaled attention is right under its name; where the text explains d_k behind it, the scaling was lost."""
    (said, *_) = check_text(f"{UNSCALED}\n\nwhere $d_k$ is the dimension of the keys.", "markdown").claims
    assert (said.finding.verdict, said.finding.right is not None) == ("wrong", True)
    assert r"\sqrt{d_k}" in said.finding.right
    for behind in ("where $Q$ are the queries.", "We divide by $\\sqrt{d_k}$ later.", ""):
        (said, *_) = check_text(f"{UNSCALED}\n\n{behind}", "markdown").claims
        assert said.finding.verdict == "conditional"


@pytest.mark.slow
def test_attention_may_lack_one_of_its_inputs() -> None:
    """K K^T is a slip in a document whose queries are Q, and unknown where no letter tells."""
    formula = r"$\text{Output} = \text{softmax}(\frac{KK^T}{\sqrt{d_k}}) V$"
    *_, said = check_text(f"The queries are $Q = X W_Q$.\n\n{formula}", "markdown").claims
    assert said.finding.verdict == "wrong" and "Q" in said.finding.right
    *_, said = check_text(formula, "markdown").claims
    assert said.finding.verdict == "unknown"


@pytest.mark.parametrize(("formula", "verdict"), [(r"\frac{d_{model}}{h}", "holds"), (r"\frac{h}{d_{model}}", "wrong")])
def test_a_letter_that_is_called_the_width_is_none_beside_that_of_the_width(formula: str, verdict: str) -> None:
    """Elsewhere in the section h is the width of the model; beside d_model it counts the heads."""
    text = f"We count $8 h^2$, where $h$: width of the model.\n\n- given $d_v = {formula}$"
    *_, said = check_text(text, "markdown").claims
    assert said.finding.verdict == verdict
