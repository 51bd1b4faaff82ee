"""Formulas that a document writes alike, and one among them with a slip."""

import pytest

from derivations.documents.checking import check_text

GATES = r"""
$$i_t = \sigma(W_i x_t + U_i h_{t-1} + b_i)$$
$$f_t = \sigma(W_f x_t %s U_f h_{t-1} + b_f)$$
$$o_t = \sigma(W_o x_t + U_o h_{t-1} + b_o)$$
"""


def _differing(text: str) -> list[tuple[str, str]]:
    findings = ((claim.text, claim.finding) for claim in check_text(text, "markdown").claims)
    return [(text, finding.check) for text, finding in findings if finding.check == "pattern"]


@pytest.mark.slow
def test_one_gate_with_another_sign_differs() -> None:
    (found,) = _differing(GATES % "-")
    assert found[0].startswith("f_t")
    assert found[1] == "pattern"
    assert _differing(GATES % "+") == []


def test_letters_and_lines_between_do_not_matter() -> None:
    text = r"""$A = \mathrm{Norm}(X + \mathrm{Drop}(Y))$ and $B = \mathrm{Norm}(A %s \mathrm{Drop}(Z))$.

# Later

$C = \mathrm{Norm}(B + \mathrm{Drop}(U))$"""
    assert [check for _, check in _differing(text % "-")] == ["pattern"]
    assert _differing(text % "+") == []


@pytest.mark.parametrize(
    "text",
    [
        GATES.replace("i_t =", "i_t <") % "-",  # one other formula tells nothing
        r"$p = a \cos t - b \sin t$, $q = b \cos t + a \sin t$, $r = c \cos t - d \sin t$, $s = d \cos t + c \sin t$",
        r"$m = \beta m + (1 - \beta) g$, $n = \gamma n + (1 - \gamma) h$, $v = \beta v + (1 - \beta) g^2$",
        r"$D = \frac{c S K}{\sqrt{d}}$, again $D = \frac{c S K}{\sqrt{d}}$, and $F = \frac{c S^T Q}{\sqrt{d}}$",
        r"$\cos(a + b) = \cos a \cos b - \sin a \sin b$, $\cos(a - b) = \cos a \cos b + \sin a \sin b$",
    ],
)
def test_what_is_written_twice_or_is_another_formula_is_let_be(text: str) -> None:
    assert _differing(text) == []
