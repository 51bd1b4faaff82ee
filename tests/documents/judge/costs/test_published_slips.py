"""Formulas of cost that are ascribed to a paper: one slip is wrong, what a convention explains is left alone."""

import pytest

from derivations.costs.published.formulas import FORMULAS
from derivations.documents.checking import check_text
from derivations.documents.judge.costs.published_slips import slip_of

MEGATRON = "12 l h^2 (1 + \\frac{13}{12 h} + \\frac{V + s}{12 l h})"
KEPT = "s b h (34 + \\frac{5 a s}{h})"

CITED = "Equation 1 of Korthikanti et al. (2022), activation memory of a layer:"


def verdicts(text: str, syntax: str = "markdown") -> list[str]:
    return [claim.finding.verdict for claim in check_text(text, syntax).claims if "\\frac" in claim.text]


SLIPS = [  # the formula of the paper, one slip, what differs
    ("narayanan.parameters", "12 l h^2 \\left(1 + \\frac{13}{12 h} + \\frac{V + s}{12 h l}\\right)", None),
    ("narayanan.parameters", "12 l h \\left(1 + \\frac{13}{12 h} + \\frac{V + s}{12 h l}\\right)", "power"),
    ("narayanan.parameters", "12 l h^4 \\left(1 + \\frac{13}{12 h} + \\frac{V + s}{12 h l}\\right)", "power"),
    ("narayanan.parameters", "12 l h^2 \\left(1 + \\frac{13}{12 h} - \\frac{V + s}{12 h l}\\right)", "sign"),
    ("narayanan.parameters", "12 l h^2 \\left(1 + \\frac{12 h}{13} + \\frac{V + s}{12 h l}\\right)", "term"),
    ("korthikanti.model_flops", "72 L L s h^2 \\left(1 + \\frac{s}{6 h} + \\frac{v}{12 h L}\\right)", "power of L"),
    ("korthikanti.model_flops", "72 v L s h^2 \\left(1 + \\frac{s}{6 h} + \\frac{v}{12 h L}\\right)", "power"),
    ("korthikanti.model_flops", "72 B L s h^2 \\left(1 + \\frac{6 h}{s} + \\frac{v}{12 h L}\\right)", "term"),
    ("korthikanti.model_flops", "72 B L s h^2 \\left(1 + \\frac{s}{6 h} + \\frac{B}{12 h L}\\right)", "term"),
    ("korthikanti.sequence_parallel", "s b h \\left(\\frac{t}{34} + \\frac{5 a s}{h t}\\right)", "term"),
    ("kaplan.tables", "d_k \\frac{2 n_{vocab} + 2 n_{ctx}}{2}", "power of d_k"),
    ("kaplan.parameters", "2 d_{ff} n_{layer} \\frac{2 d_{attn} + d_{ff}}{1}", "power"),
]  # fmt: skip
PAPER = {"narayanan": "Narayanan et al. (2021)", "korthikanti": "Korthikanti et al. (2022)", "kaplan": "Kaplan et al."}


@pytest.mark.parametrize(("id", "count", "differs"), SLIPS)
def test_a_slip_that_no_convention_explains_is_wrong_where_the_paper_is_named(
    id: str, count: str, differs: str | None
) -> None:
    (formula,) = (each for each in FORMULAS if each.id == id)
    quantity = formula.units.replace("bytes", "bytes of activation memory")
    text = f"{PAPER[id.split('.')[0]]} count ${count}$ {quantity}.\n"
    (claim,) = (each for each in check_text(text, "markdown").claims if "frac" in each.text)
    assert claim.finding.verdict == ("conditional" if differs is None else "wrong")
    assert (differs or "") in claim.finding.reason


CONVENTIONS = [  # counts in the letters of a paper, that may be for one of many, or for other passes
    ("Chowdhery et al. (2022) count", "6 N T + \\frac{12 L H Q T^2}{1}", "FLOPs for each text"),
    ("Narayanan et al. (2021) count", "96 B l h^2 (1 + \\frac{s}{6 h} + \\frac{V}{16 l h})", "FLOPs for each token"),
    ("Narayanan et al. (2021) count", "96 s l h^2 (1 + \\frac{s}{6 h} + \\frac{V}{16 l h})", "FLOPs for each text"),
    ("Narayanan et al. (2021) count", "12 l h d (1 + \\frac{13}{12 h} + \\frac{V + s}{12 l h})", "parameters"),
    ("Narayanan et al. (2021) count", "12 l h^2 (1 + \\frac{13}{12 h} + \\frac{V}{12 l h})", "parameters"),
    ("Narayanan et al. (2021) count", "12 l h^2 (1 + \\frac{13}{12 h} + \\frac{2 V + s}{12 l h})", "parameters"),
    ("Korthikanti et al. (2022) count", "72 B L s h^2 (1 + \\frac{s}{12 h} + \\frac{v}{12 h L})", "FLOPs"),
    ("Korthikanti et al. (2022) count", "24 B L s h^2 (1 + \\frac{s}{6 h} + \\frac{v}{12 h L})", "FLOPs"),
    ("Korthikanti et al. (2022) count", "24 b s h^2 \\frac{1}{1}", "FLOPs"),
    ("Korthikanti et al. (2022) count", "b L h s (34 + \\frac{4 a s}{h})", "bytes of activation memory"),
    ("Kaplan et al. (2020) count", "\\frac{2 d_{emb} n_{layer}}{1} (2 d_{attn} + d_{ff})", "parameters"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "count", "after"), CONVENTIONS)
def test_a_convention_is_no_slip(before: str, count: str, after: str) -> None:
    assert "wrong" not in verdicts(f"{before} ${count}$ {after}.\n")


@pytest.mark.parametrize(
    ("ascribed", "count", "wrong"),
    [
        (CITED, KEPT, False),
        (CITED, KEPT.replace("34", "35"), True),
        (CITED, KEPT.replace("5 a", "6 a"), True),
        ("Korthikanti 等人 (2022) 的公式 (1) 给出每层的激活值内存:", KEPT.replace("34", "36"), True),
        ("由Korthikanti等人的式（1），每層的激活記憶體為:", KEPT.replace("5 a", "3 a"), True),
        ("Korthikanti ら (2022) の式 (1) による層ごとのアクティベーションメモリ:", KEPT.replace("34", "33"), True),
        (f"Without dropout: {CITED}", KEPT.replace("34", "32"), False),
        (f"If dropout keeps no masks: {CITED}", KEPT.replace("34", "32"), False),
        ("Korthikanti 等人 (2022) 的公式 (1) 修改后，激活值内存:", KEPT.replace("34", "36"), False),
        ("Equation 9 of Korthikanti et al. (2022), activation memory:", KEPT.replace("34", "36"), False),
        ("Korthikanti et al. (2022) on activation memory:", KEPT.replace("34", "36"), False),
        ("Eq. 2 of Narayanan et al. (2021), parameters:", MEGATRON.replace("13", "14"), True),
        ("Eq. 2 of Narayanan et al. (2021), parameters:", MEGATRON.replace("13", "15"), True),
        ("Eq. 2 of Narayanan et al. (2021), parameters:", MEGATRON.replace("V + s", "3 V + s"), True),
        ("Eq. 2 of Narayanan et al. (2021), parameters:", MEGATRON.replace("V + s", "2 V + s"), False),
        ("Eq. 2 of Narayanan et al. (2021), bytes of the parameters:", MEGATRON.replace("12 l h^2", "24 l h^2"), False),
        ("Eq. 7 of Korthikanti et al. (2022), FLOPs:", "24 B L s h^2 (1 + \\frac{s}{6 h} + \\frac{v}{12 h L})", False),
        ("Eq. 7 of Korthikanti et al. (2022), FLOPs:", "72 B L s h^2 (1 + \\frac{s}{12 h} + \\frac{v}{12 h L})", False),
        ("Eq. 7 of Korthikanti et al. (2022), FLOPs:", "72 B L s h^2 (1 + \\frac{s}{6 h} + \\frac{v}{6 h L})", True),
    ],
)  # fmt: skip
def test_a_coefficient_is_held_against_the_paper_where_its_place_is_cited(
    ascribed: str, count: str, *, wrong: bool
) -> None:
    assert verdicts(f"{ascribed}\n\n$$\n{count}\n$$\n") in (["wrong"], [], ["conditional"])
    assert (verdicts(f"{ascribed}\n\n$$\n{count}\n$$\n") == ["wrong"]) == wrong


WEIGHTS = "2 d_{model} n_{layer} (2 d_{attn} + d_{ff}) \\frac{1}{1}"
STEP = "72 B L s h^2 (1 + \\frac{2 s}{9 h} + \\frac{v}{12 h L})"
KEPT_INPUT = "\\frac{2 s b h}{1}"
OF_WEIGHTS = "Kaplan et al. (2020), equation 2.1, number of parameters:"
OF_TABLE = "table 2 of Korthikanti et al. (2022), full recomputation"
OF_BYTES = f"Bytes of activation memory, {OF_TABLE}:"


@pytest.mark.parametrize(
    ("ascribed", "count", "wrong"),
    [
        (OF_WEIGHTS, WEIGHTS, False),
        (OF_WEIGHTS, WEIGHTS.replace("2 d_{attn}", "d_{attn}"), True),
        (OF_WEIGHTS, WEIGHTS.replace("2 d_{attn}", "4 d_{attn}"), True),
        (OF_WEIGHTS, WEIGHTS.replace("2 d_{model}", "8 d_{model}"), True),
        ("Kaplan et al. (2020), eq. 2.1, bytes of parameters:", WEIGHTS.replace("2 d_{model}", "8 d_{model}"), False),
        ("Kaplan et al. (2020), eq. 2.1, parameters with cross-attention:", WEIGHTS.replace("2 d_{attn}", "4 d_{attn}"),
         False),
        ("Kaplan et al. (2020), eq. 2.1, parameters of a stack with encoder-decoder attention:",
         WEIGHTS.replace("2 d_{attn}", "4 d_{attn}"), False),
        ("Equation 8 of Korthikanti et al. (2022), with what the text before it says, FLOPs:", STEP, False),
        ("Equation 8 of Korthikanti et al. (2022), 4 B s^2 h more, FLOPs:", STEP.replace("{2 s}", "{6 s}"), True),
        ("Equation 8 of Korthikanti et al. (2022), FLOPs:", STEP.replace("{2 s}", "{4 s}"), True),
        ("Equation 8 of Korthikanti et al. (2022), FLOPs of half the pairs:", STEP.replace("{2 s}", "{s}"), False),
        ("Equation 8 of Korthikanti et al. (2022), FLOPs, every pair:", STEP.replace("{2 s}", "{s}"), True),
        ("Equation 8 of Korthikanti et al. (2022), FLOPs, every pair that a mask shows:", STEP.replace("{2 s}", "{s}"),
         False),
        ("Kaplan et al. (2020), equation 2.2, FLOPs for each token, all pairs:",
         "8 d_{attn} d_{model} n_{layer} + 4 d_{attn} n_{ctx} n_{layer} + 4 d_{ff} d_{model} \\frac{n_{layer}}{1}",
         False),
        (OF_BYTES, KEPT_INPUT, False),
        (OF_BYTES, KEPT_INPUT.replace("2", "6"), True),
        (OF_BYTES, KEPT_INPUT.replace("2", "8"), False),
        (f"Bytes of activation memory in fp16, {OF_TABLE}:", KEPT_INPUT.replace("2", "8"), True),
        (f"Bytes of activation memory in fp16, {OF_TABLE}:", KEPT_INPUT.replace("2", "4"), False),
        (f"Bytes of activation memory, fp16 or fp64, {OF_TABLE}:", KEPT_INPUT.replace("2", "8"), False),
        ("Bytes of activation memory, not divided, table 2 of Korthikanti et al. (2022):",
         KEPT_INPUT.replace("2", "10"), False),
        ("Bytes of activation memory, table 2 of Korthikanti et al. (2022):", KEPT_INPUT.replace("2", "10"), False),
    ],
)  # fmt: skip
def test_what_a_convention_may_multiply(ascribed: str, count: str, *, wrong: bool) -> None:
    """Pairs by 2 where half are counted, tables of tokens, bytes; and a row of a table is none of another."""
    found = verdicts(f"{ascribed}\n\n$$\n{count}\n$$\n")
    assert (found == ["wrong"]) == wrong, found


EXPLAINED = "where $n_{layer}$: layers, $d_{model}$: width, $d_{ff}$: hidden width, $d_{attn}$: width of all heads."
EMBEDDED = "where $d_{model}$: width of the model, $n_{vocab}$: tokens, $n_{ctx}$: positions."
SOURCE = "- parameters\n- Kaplan et al. (2020), table 1, equation 2.1"


@pytest.mark.parametrize(
    ("lead", "count", "behind", "lost"),
    [
        ("", "2 d_{model} n_{layer} d_{ff}", f"{EXPLAINED}\n\n{SOURCE}", "d_attn"),
        ("", "4 d_{model} n_{layer} d_{attn}", f"{EXPLAINED}\n\n{SOURCE}", "d_ff"),
        ("", "d_{model} n_{vocab}", f"{EMBEDDED}\n\n{SOURCE}", "n_ctx"),
        ("", "d_{model} (n_{vocab} + n_{ctx})", f"{EMBEDDED}\n\n{SOURCE}", None),
        ("", "2 d_{model} n_{layer} (d_{ff} + 2 d_{attn})", f"{EXPLAINED}\n\n{SOURCE}", None),
        ("", "2 d_{model} n_{layer} d_{ff}", SOURCE, None),
        ("", "2 d_{model} n_{layer} d_{ff}", EXPLAINED, None),
        ("", "2 d_{model} n_{layer} d_{ff}", f"{EXPLAINED}\n\n- in our model, Kaplan et al. (2020), eq. 2.1", None),
        ("The heads: $d_{attn} = h d_k$.\n\n", "2 d_{model} n_{layer} d_{ff}", f"{EXPLAINED}\n\n{SOURCE}", None),
        ("$$4 d_{model} n_{layer} d_{attn}$$\n\n", "2 d_{model} n_{layer} d_{ff}", f"{EXPLAINED}\n\n{SOURCE}", None),
        ("The feed-forward networks: ", "2 d_{model} n_{layer} d_{ff}", f"{EXPLAINED}\n\n{SOURCE}", None),
    ],
)
def test_a_term_whose_letter_is_explained_is_left_out(lead: str, count: str, behind: str, lost: str | None) -> None:
    claims = check_text(f"# Parameters\n\n{lead}${count}$\n\n{behind}\n", "markdown").claims
    wrong = [claim.finding for claim in claims if claim.finding.verdict == "wrong"]
    assert len(wrong) == (lost is not None)
    assert lost is None or lost in wrong[0].reason


def test_a_citation_reaches_neither_over_a_heading_nor_far() -> None:
    count = f"$$\n{KEPT.replace('34', '36')}\n$$"
    cited = "Korthikanti et al. (2022), equation 1"
    lead = "The activation memory of a layer in bytes:"
    assert verdicts(f"{lead}\n\n{count}\n\n- {cited}\n") == ["wrong"]
    assert verdicts(f"{lead}\n\n{count}\n\n# Others\n\n- {cited}\n") == []
    assert verdicts(f"{lead}\n\n{count}\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\n- {cited}\n") == []


def test_tables_are_read_in_markdown_and_in_latex() -> None:
    rows = [
        ("Narayanan et al. (2021)", MEGATRON, 0),
        ("Narayanan et al. (2021)", MEGATRON.replace("h^2", "h"), 1),
        ("Narayanan et al. (2021), equation 2", MEGATRON.replace("13", "15"), 1),
        ("Kaplan et al. (2020)", MEGATRON.replace("h^2", "h"), 0),
    ]
    for paper, count, wrong in rows:
        markdown = f"| source | number of parameters |\n| --- | --- |\n| {paper} | ${count}$ |\n"
        lines = ("\\begin{tabular}{ll}", "source & number of parameters \\\\", f"{paper} & ${count}$", "\\end{tabular}")
        assert verdicts(markdown).count("wrong") == wrong, (paper, count)
        assert verdicts("\n".join(lines), "latex").count("wrong") == wrong, (paper, count)


RENAMED = "12 L d^2 (1 + \\frac{13}{12 d} + \\frac{V + n}{12 L d})"
LETTERS = [
    "Let $L$ be the number of layers, $d$ the model width, $V$ the vocabulary size and $n$ the sequence length.",
    "其中 $L$ 为层数，$d$ 为模型维度，$V$ 为词表大小，$n$ 为序列长度。",
    "$L$ は層数、$d$ はモデルの次元、$V$ は語彙数、$n$ は系列長である。",
]


@pytest.mark.parametrize("letters", LETTERS)
@pytest.mark.parametrize(
    ("count", "verdict"),
    [
        (RENAMED, "conditional"),
        (RENAMED.replace("d^2", "d"), "wrong"),
        (RENAMED.replace("V + n", "V - n"), "wrong"),
        (RENAMED.replace("V + n", "2 V + n"), None),
    ],
)
def test_letters_that_the_text_calls_the_same_are_the_same(letters: str, count: str, verdict: str | None) -> None:
    lead = "Narayanan et al. (2021), equation 2, parameters, 参数量, パラメータ数:"
    assert verdicts(f"{letters}\n\n{lead}\n\n$$\n{count}\n$$\n") == ([verdict] if verdict else [])


def test_a_letter_that_is_another_thing_is_none_of_the_paper() -> None:
    letters = "Let $l$ be the number of layers, $d$ the model width and $h$ the number of heads."
    count = "$$\n12 l d h (1 + \\frac{13}{12 d} + \\frac{V + s}{12 l d})\n$$"
    assert verdicts(f"{letters}\n\nNarayanan et al. (2021), parameters:\n\n{count}\n") == []


def test_no_published_formula_is_a_slip_of_itself() -> None:
    for formula in FORMULAS:
        value = formula.expression.expand()
        assert slip_of(value, value, formula, cited=True) is None


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Parameters of multi-head attention: $4 d_{model}^3$.", True),
        ("Parameters of multi-head attention: $4 d_{model}^2$.", False),
        ("FLOPs of attention: $4 n^4 d$.", True),
        ("FLOPs of attention, all tokens one by one and nothing kept: $4 n^3 d$.", False),
        ("FLOPs of attention, $W_Q W_K^T$ once and for all: $2 d_{model}^2 d_k$.", False),
        ("FLOPs of a layer for each token: $24 d_{model}^2 + 4 n d_{model}$.", False),
        ("FLOPs of a layer for each token: $24 d_{model}^2 + 5 n d_{model}$.", True),
        ("FLOPs of a layer for each token: $24 d_{model}^3 + 4 n d_{model}$.", True),
        ("FLOPs of a layer for each token, causal: $24 d_{model}^2 + 2 n d_{model}$.", False),
        ("FLOPs of a layer for each token: $24 d_{model}^2 + 2 n d_{model}$.", False),
        ("FLOPs of a layer: $24 n d_{model}^2 + 2 n^2 d_{model}$.", False),
        ("FLOPs of a layer: $24 n d_{model}^2 + 3 n^2 d_{model}$.", True),
        ("FLOPs of a layer for each token: $12 d_{model}^2 + n d_{model}$.", False),
        ("FLOPs of a layer for each token: $20 d_{model}^2 + 4 n d_{model}$.", False),
    ],
)
def test_no_count_has_three_widths_and_a_length_or_four_lengths(text: str, *, wrong: bool) -> None:
    found = [claim for claim in check_text(f"{text}\n", "markdown").claims if claim.finding.verdict == "wrong"]
    assert len(found) == wrong


@pytest.mark.parametrize(
    ("count", "behind", "wrong"),
    [
        ("7 N D", "where $N$ counts parameters and $D$ tokens.\n\n- FLOPs of training", True),
        ("6 N D", "where $N$ counts parameters and $D$ tokens.\n\n- FLOPs of training", False),
        ("8 N D", "where $N$ counts parameters and $D$ tokens.\n\n- FLOPs of training", False),  # forward twice
        ("7 N D", "where $N$ counts parameters and $D$ tokens.", False),
        ("7 N D", "FLOPs of training", False),
    ],
)
def test_the_compute_of_training_may_be_explained_behind_it(count: str, behind: str, *, wrong: bool) -> None:
    claims = check_text(f"# Training\n\n$C = {count}$\n\n{behind}\n", "markdown").claims
    assert sum(claim.finding.verdict == "wrong" for claim in claims) == wrong
