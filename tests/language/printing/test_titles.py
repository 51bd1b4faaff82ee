"""Titles: formulas between dollar signs print as mathematics, the rest as words, and no formula is left unmarked."""

import re
from collections.abc import Iterator

import pytest

from derivations.catalogue import get, names
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.macros import with_macros
from derivations.language.printing.notation import Notation
from derivations.language.printing.statement import statement
from derivations.language.printing.titles import marked, printed_title
from derivations.language.printing.views import text
from derivations.language.results.derivation import Derivation
from derivations.language.results.titles import plain_title, title_parts

PRINTED = {
    "$n >= 2$": r"\(n \ge 2\)",
    "$d_k mu_q mu_k$": r"\(d_{k} \mu_{q} \mu_{k}\)",
    "$sqrt(sigma^2 / (sigma^2 + epsilon) + epsilon)$": r"\(\sqrt{\sigma^{2} / (\sigma^{2} + \epsilon) + \epsilon}\)",
    "$W_i^Q^T$": r"\((W_{i}^{Q})^{\top}\)",
    "$W_Q R^{-T}$": r"\(W^{Q} R^{-\top}\)",
    "$A o (dA - rowsum(dA o A) 1^T)$": r"\(A \odot (\mathrm{d}A - \mathrm{rowsum}(\mathrm{d}A \odot A) "
    r"\mathbf{1}^{\top})\)",
    "$phi(q) . phi(k)$": r"\(\phi(q) \cdot \phi(k)\)",
    "$2^{T_ij} / sum_l 2^{T_il}$": r"\(2^{T_{ij}} / \sum_{l} 2^{T_{il}}\)",
    "$2 pi 10000^(1 - 2/d)$": r"\(2 \pi \cdot 10000^{1 - 2/d}\)",
    "an $n x m$ matrix, $x W + b$": r"an \(n \times m\) matrix, \(x W + b\)",
    "$span{1, x_hat}$": r"\(\mathrm{span}\{\mathbf{1}, \hat{x}\}\)",
    "$vocab d_in$ of $X_hat$": r"\(\mathrm{vocab} \, d_{\mathrm{in}}\) of \(\hat{X}\)",
    "$E[x^2]$, $f'(A)$, $1/4$": r"\(\mathbb{E}[x^{2}]\), \(f'(A)\), \(1/4\)",
}


def latex_of_title(typed: str, notation: str = "ours") -> str:
    return marked(printed_title(typed, LatexPrinter(notation)), r"\({}\)".format, str)


@pytest.mark.parametrize("typed", PRINTED)
def test_formulas_of_titles_print_as_mathematics(typed: str):
    assert latex_of_title(typed) == PRINTED[typed]


def test_letters_are_those_of_the_notation():
    assert latex_of_title("width $d_model$", "close-reading") == r"width \(d_{model}\)"


def test_plain_text_has_no_marks():
    result = Derivation("", "Ratio $2^{T_ij}$ of $dB_{t,ij}$ over $x^{a + b}$", ())
    assert result.title == "Ratio 2^T_ij of dB_t,ij over x^(a + b)"
    assert "$" in result.headline
    assert plain_title("no formula") == "no formula"


@pytest.mark.parametrize("typed", ["a $b", "$a)$", "$(a$", "$a ? b$"])
def test_a_title_that_cannot_be_read_is_refused(typed: str):
    with pytest.raises(ValueError, match=r"title"):
        latex_of_title(typed)


# --- no formula is left among the words -------------------------------------------------------------------------------

_SIGNS = re.compile(
    r"[_^=<>|+]|[a-z]\(|(?<![\w'])-?\b[b-zB-HJ-Z]\b(?!-)|\b(?:mu|sigma|epsilon|eps|gamma|beta|alpha|tau)\b"
)


def raw_mathematics(typed: str) -> Iterator[str]:
    """Yield what looks like a formula in the words of a title."""
    for words in title_parts(typed)[::2]:
        yield from _SIGNS.findall(words)


@pytest.mark.slow
def test_no_title_has_raw_mathematics():
    found = {name: raw for name in names() if (raw := [*raw_mathematics(get(name).headline)])}
    assert found == {}


@pytest.mark.parametrize(
    "typed", ["exactly when n >= 2", "of means mu_q", "row of X_hat", "row i of a layer", "act(x)"]
)
def test_raw_mathematics_is_found(typed: str):
    assert [*raw_mathematics(typed)]


def test_an_assumption_is_typeset_and_plain_elsewhere():
    result = get("multi_head.cost_equals_one_head")
    assert [each.text for each in result.assumptions if each.text] == ["h divides d_model"]
    printed, chinese = (statement(result, "ours", lang).assumptions for lang in ("en", "zh-Hans"))
    assert "$h$ divides $d_{\\mathrm{model}}$" in [words for _, words in printed]
    assert "$h$ 整除 $d_{\\mathrm{model}}$" in [words for _, words in chinese]


# --- letters with an index --------------------------------------------------------------------------------------------


def shown_with(name: str, using: Notation | str) -> str:
    """The title of a result, and the words of what it assumes."""
    parts = statement(get(name), using)
    return " ".join([*parts.title, *(words for _, words in parts.assumptions)])


@pytest.mark.parametrize(
    ("name", "printed"),
    {
        "softmax.log_sum_exp_bounds": r"$\dvx_{\dvt}$ is the largest input",
        "attention.score_jacobian": r"\dvA_{\dvi\dvj} (\dvVRow_{\dvj} - \dvORow_{\dvi})",
        "multi_head.gradient": r"\mathrm{d}\dvWQ_{\dvi}^{Q}",
        "linear.column_parallel": r"\dvW_{1}",
        "recurrence.law": r"\dvHRow_{\dvt-1}",
        "dot_product.mean_general": r"\dvmuq_{q}",  # one letter
        "feed_forward.gradient": r"\dvWTwo_{2}^{\top}",
    }.items(),
)
def test_a_letter_with_an_index_is_the_letter_of_the_formula(name: str, printed: str):
    """Its macro is the same, so that an author changes it in one place."""
    assert printed in shown_with(name, with_macros("ours")[0])


def test_a_letter_of_a_row_is_explained_where_the_title_alone_has_it():
    shown = get("attention.score_jacobian")
    assert "(v_{j} - o_{i})" in shown_with("attention.score_jacobian", "ours")
    assert [row for row in statement(shown, "ours").definitions if row.left == "v_{i}"]
    assert "v_i = V_{i,:}" in text(shown)


@pytest.mark.slow
@pytest.mark.parametrize("using", ["ours", "columns", "chapter-7"])
def test_titles_in_macros_are_the_titles(using: str):
    """With a letter of a row as that of its matrix: a macro has no second letter."""

    def alike(words: str) -> str:
        return re.sub(r"\\,|[ ,{}]", "", words).lower()

    for name in names():
        macros, used = with_macros(using)
        said = re.split(r"(\\dv[A-Za-z]+)", shown_with(name, macros))
        assert alike("".join(used.get(part, part) for part in said)) == alike(shown_with(name, using)), name
