"""What an author does with a formula, and what is said of one that asserts nothing."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim, Intent


def claims(text: str) -> list[Claim]:
    return list(check_text(text, "markdown").claims)


def intents(text: str) -> list[Intent | None]:
    return [claim.intent for claim in claims(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$Q = X W_Q$", [Intent.DEFINES]),
        ("Let $Q = X W_Q$.", [Intent.DEFINES]),
        (r"$\text{FFN}(x) = W_2 \sigma(W_1 x)$", [Intent.DEFINES]),
        (r"$w \leftarrow w - \eta g$", [Intent.DEFINES]),
        ("$a = f(z) = f(x W + b)$", [Intent.DEFINES, Intent.ASSERTS]),
        ("$Q = X W_Q$ and then $Q = X W_K$", [Intent.DEFINES, Intent.ASSERTS]),
        ("$a + b = b + c$", [Intent.ASSERTS]),
        (r"$\frac{\partial L}{\partial W} = X^T G$", [Intent.ASSERTS]),
        (r"$\log(x) = y + 1$", [Intent.ASSERTS]),
        (r"$f(2) = 5 a$", [Intent.ASSERTS]),
        (r"$X \in \mathbb{R}^{n \times d}$", [Intent.DECLARES]),
        (r"$z = X W$ with $z \in \mathbb{R}^{n \times d}$", [Intent.DEFINES, Intent.ASSERTS]),
        ("$d = 512$", [Intent.GIVES]),
        ("$x = [1, -2]$", [Intent.GIVES]),
        ("It vanishes if $d = 512$.", [Intent.SUPPOSES]),
        (r"for $k \neq i$", [Intent.SUPPOSES]),
        (r"$\epsilon > 0$", [Intent.SUPPOSES]),
        (r"$a + b > c$", [Intent.ASSERTS]),
        (r"$0.5 < 0.4$", [Intent.ASSERTS]),
        ("$d = 512$. If that is so, the rest follows.", [Intent.GIVES]),
        ("It is not true that $2 + 2 = 5$.", [Intent.DENIES]),
    ],
)
def test_what_an_author_does(text, expected):
    assert intents(text) == expected


def test_of_what_is_not_understood_nobody_knows():
    assert intents(r"$\unknowncommand{a} = b$")[-1] is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("$Q = X W_Q$", "a definition, and nothing contradicts it"),
        ("$d = 512$", "a number that is given, and nothing contradicts it"),
        (r"for $k \neq i$", "a condition, which is not said to hold"),
        ("$a + b = b + c$", "no check applies to this formula"),
    ],
)
def test_the_reason_says_why_nothing_is_decided(text, reason):
    assert [claim.finding.reason for claim in claims(text)] == [reason]


def test_a_definition_is_judged_all_the_same():
    assert [claim.finding.verdict for claim in claims("$a = 2 + 2 = 5$")] == ["unknown", "wrong"]
    found = claims(r"The attention is $\text{Attention}(Q, K, V) = \text{softmax}(\frac{Q V^T}{\sqrt{d_k}}) V$.")
    assert [(claim.intent, claim.finding.verdict) for claim in found] == [(Intent.DEFINES, "wrong")]
