r"""Random documents: formulas of a grammar, pieces of formats, and raw text, in every format that is read.

Result       whatever stands in a document: no error, an end, places inside of the file, claims that do not overlap,
             the same report twice, valid JSON, and no check that failed
Command      `python -m tests.documents.test_fuzz [INPUTS] [PROCESSES]` judges many more, and tells how many a second
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from derivations.documents.checking import FAILED, Report, check_text
from derivations.documents.originals import Original
from derivations.documents.passages import Place
from derivations.documents.readers import FORMATS
from derivations.documents.reports.json_report import json_report
from tests.documents.time_limit import TooLong, within

pytestmark = pytest.mark.slow  # documents are drawn

CLOCK = True  # a formula has its seconds here
ROUND = 500  # documents between two lines of progress
SECONDS = 20  # of processor time for a document of several formulas

# --- formulas ---

NUMBERS = ("0", "1", "2", "3", "8", "64", "512", "0.5", "0.333", "1.41", "10^{-5}", r"10\%", "1,024", "2{,}048", "1e-5")
LETTERS = (
    *("x", "y", "z", "a", "b", "n", "d", "h", "i", "j", "k", "X", "W", "Q", "K", "V", "A", "B"),
    *("d_k", "d_v", r"d_{model}", r"d_{\text{ff}}", "x_i", "y_{ij}", "W^Q", "W_i^K", "W_1", "b_1", "b_2", "k^T"),
    *(r"\mu", r"\sigma", r"\sigma^2", r"\epsilon", r"\gamma", r"\beta", r"\hat{x}", r"\mathbf{q}", r"\text{head}_i"),
    *(r"\mathcal{L}", r"\alpha_{t,s}", "PE_{(pos,2i)}", "10000^{2i/d}", r"\delta_{ij}", "維", r"\ldots"),
)
FUNCTIONS = (
    *(r"\text{softmax}", r"\mathrm{LayerNorm}", r"\operatorname{ReLU}", r"\sin", r"\cos", r"\exp", r"\log", r"\tanh"),
    *(r"\max", r"\text{Attention}", r"\text{Concat}", r"\text{FFN}", "f", r"\sigma", r"\text{Var}", r"\mathbb{E}"),
)
OPERATORS = (" + ", " - ", " ", r" \cdot ", r" \times ", " / ", r" \odot ", r" \oplus ", ", ", r" \otimes ", "*")
RELATIONS = (
    " = ",
    r" \approx ",
    " < ",
    r" \leq ",
    r" \neq ",
    r" \in ",
    r" \to ",
    r" \sim ",
    " := ",
    r" \propto ",
    " &= ",
)
SHAPES = (r"\mathbb{R}^{n \times d}", r"\mathbb{R}^{d_{model} \times d_k}", r"\mathbb{R}^d", r"\mathbb{R}", r"\{1, 2\}")

leaves = st.sampled_from(NUMBERS + LETTERS)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return what is built of smaller expressions."""
    pairs = st.tuples(inner, inner)
    lists = st.lists(inner, min_size=1, max_size=4)
    return st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map("".join),
        pairs.map(lambda two: rf"\frac{{{two[0]}}}{{{two[1]}}}"),
        pairs.map(lambda two: f"{{{two[0]}}}^{{{two[1]}}}"),
        pairs.map(lambda two: rf"\frac{{\partial {two[0]}}}{{\partial {two[1]}}}"),
        inner.map(lambda one: rf"\sqrt{{{one}}}"),
        inner.map(lambda one: rf"\left({one}\right)"),
        inner.map(lambda one: f"({one})^T"),
        inner.map(lambda one: f"-{one}"),
        inner.map(lambda one: f"|{one}|"),
        inner.map(lambda one: rf"\underbrace{{{one}}}_{{n \times d}}"),
        inner.map(lambda one: rf"\color{{red}}{{{one}}}"),
        st.tuples(st.sampled_from(FUNCTIONS), lists).map(lambda call: rf"{call[0]}\left({', '.join(call[1])}\right)"),
        st.tuples(st.sampled_from(FUNCTIONS), inner).map(" ".join),
        lists.map(lambda items: f"[{', '.join(items)}]"),
        lists.map(
            lambda items: r"\begin{bmatrix}" + r" & ".join(items) + r" \\ " + r" & ".join(items) + r"\end{bmatrix}"
        ),
        lists.map(lambda items: r"\begin{cases}" + r" & x > 0 \\ ".join(items) + r"\end{cases}"),
        pairs.map(lambda two: rf"\sum_{{i=1}}^{{{two[0]}}} {two[1]}"),
        pairs.map(lambda two: rf"\prod_{{{two[0]}}} {two[1]}"),
    )


expressions = st.recursive(leaves, _larger, max_leaves=10)
RIGHT_OR_NEARLY = (
    r"\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V",
    r"y_i = \frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}",
    r"\text{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2",
    r"\text{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
    r"\sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (x_i - \mu)^2",
    r"PE_{(pos, 2i)} = \sin\left(\frac{pos}{10000^{2i/d_{model}}}\right)",
    r"\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_1, \ldots, \text{head}_h) W^O",
    r"\frac{\partial y_i}{\partial x_j} = y_i (\delta_{ij} - y_j)",
    r"d_k = d_{model} / h = 512 / 8 = 64",
    r"\text{softmax}([1, 2, 3]) \approx [0.09, 0.245, 0.665]",
    r"4 \times 512^2 + 2 \times 512 \times 2048 = 3{,}145{,}728",
    r"X \in \mathbb{R}^{n \times d_{model}}, \quad W_Q \in \mathbb{R}^{d_{model} \times d_k}",
)
MARKS = (
    *(
        "\\",
        "{",
        "}",
        "^",
        "_",
        "&",
        "$",
        "(",
        ")",
        "[",
        "]",
        "|",
        "=",
        "<",
        "+",
        "-",
        "*",
        "/",
        "~",
        "'",
        ",",
        ".",
        "!",
        "%",
        "#",
    ),
    *(r"\\", r"\left", r"\right", r"\frac", r"\sqrt", r"\text", r"\begin{matrix}", r"\end"),
)


@st.composite
def slips(draw: st.DrawFn) -> str:
    """Draw a known formula in which a stretch is left out, doubled, or replaced by something else."""
    text = draw(st.sampled_from(RIGHT_OR_NEARLY))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(start + 6, len(text))))
    instead = draw(st.sampled_from(["", 2 * text[start:end], *MARKS, *LETTERS, *NUMBERS]))
    return text[:start] + instead + text[end:]


@st.composite
def chains(draw: st.DrawFn) -> str:
    """Draw an expression, or some with relations between them."""
    sides = [draw(expressions) for _ in range(draw(st.integers(1, 4)))]
    return sides[0] + "".join(draw(st.sampled_from(RELATIONS)) + side for side in sides[1:])


declared = st.tuples(st.sampled_from(LETTERS), st.sampled_from(SHAPES)).map(r" \in ".join)
assigned = st.tuples(st.sampled_from(LETTERS), expressions).map(" = ".join)
scrambled = st.lists(st.sampled_from((*MARKS, *LETTERS, *NUMBERS, *FUNCTIONS)), max_size=25).map("".join)
formulas = st.one_of(chains(), slips(), declared, assigned, st.sampled_from(RIGHT_OR_NEARLY), scrambled)

# --- documents ---

PHRASES = (
    *(
        "where $d_k$ is the dimension of the keys",
        "Let $h = 8$.",
        "the entries are independent with variance 1",
        "不是 ",
    ),
    *(
        "其中 $n$ 是序列長度，",
        "假設 $d_{model} = 512$。",
        "次元 $d$ は ",
        "4.8 億個參數",
        "W1: [512, 2048]",
        "2 × n × d = 8",
    ),
    *(
        "softmax(x)_i = exp(x_i) / sum_j exp(x_j)",
        "512 -> 2048 -> 512",
        "FLOPs = 2 * n * d",
        "params: 12 L d²",
        "a == b",
    ),
)
raw = st.text(max_size=80)
prose = st.one_of(st.sampled_from(PHRASES), raw)


def _around(*pairs: tuple[str, str]) -> st.SearchStrategy[str]:
    """Return formulas with what a format writes before and behind them."""
    return st.tuples(st.sampled_from(pairs), formulas).map(lambda drawn: drawn[0][0] + drawn[1] + drawn[0][1])


MARKDOWN = _around(
    *(("$", "$"), ("$$", "$$"), ("$$\n", "\n$$"), (r"\(", r"\)"), (r"\[", r"\]"), ("$`", "`$"), ("```math\n", "\n```")),
    *(
        ("```\n", "\n```"),
        ("- $", "$"),
        ("> $", "$"),
        ("# $", "$"),
        ("| a | $", "$ |\n|---|---|\n| 1 | 2 |"),
        ("`", "`"),
    ),
    *(("$", ""), ("$$\n", ""), ("", "$"), ("<!-- ", " -->"), ("\\begin{align}\n", "\n\\end{align}")),
)
LATEX = _around(
    *(("$", "$"), (r"\[", r"\]"), (r"\begin{equation}", r"\end{equation}"), (r"\begin{align}", r" \\ \end{align}")),
    *((r"\section{", "}"), (r"\item $", "$"), ("% $", "$"), (r"\newcommand{\a}{", r"} $\a = \a$"), ("$", ""), ("", "")),
)
RESTRUCTURED = _around((":math:`", "`"), (".. math::\n\n   ", "\n"), ("* :math:`", "`"), ("::\n\n   ", "\n"), ("", ""))


def _joined(pieces: st.SearchStrategy[str], between: str) -> st.SearchStrategy[str]:
    return st.lists(st.one_of(pieces, pieces, prose), max_size=6).map(between.join)


markdown = st.sampled_from(("\n\n", "\n", " ")).flatmap(lambda between: _joined(MARKDOWN, between))
cells: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(("markdown", "code", "raw")), "source": st.one_of(markdown, st.lists(markdown))},
    optional={"metadata": st.just({}), "outputs": st.just([]), "execution_count": st.none()},
)
notebooks = st.lists(cells, max_size=3).map(
    lambda drawn: json.dumps({"cells": drawn, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
)
docstrings = st.tuples(
    st.sampled_from(('"""{}"""\n', 'def f(x):\n    r"""{}"""\n    return x\n', "# {}\nx = 1\n", "{}")), markdown
).map(lambda drawn: drawn[0].replace("{}", drawn[1]))
DOCUMENTS: dict[str, st.SearchStrategy[str]] = {
    "markdown": markdown,
    "latex": _joined(LATEX, "\n\n"),
    "restructuredtext": _joined(RESTRUCTURED, "\n\n"),
    "notebook": notebooks,
    "python": docstrings,
}
documents = st.one_of(
    *(st.tuples(st.just(form), strategy) for form, strategy in DOCUMENTS.items()),
    st.tuples(st.sampled_from(tuple(FORMATS)), raw),
)

# --- what is true of every report ---


def examined(form: str, text: str) -> Report:
    """Judge a document and look at the report."""
    with within(SECONDS):
        report = check_text(text, form, "document")
    _no_check_failed(report)
    _places_lie_inside(report, form, text)
    _claims_do_not_overlap(report)
    _json_is_valid(report)
    if any(claim.finding.verdict in ("wrong", "proved") for claim in report.claims):
        assert check_text(text, form, "document") == report
    return report


def _no_check_failed(report: Report) -> None:
    failed = [(claim.text, claim.finding.reason) for claim in report.claims if claim.finding.check == FAILED]
    assert not failed, failed


def _places_lie_inside(report: Report, form: str, text: str) -> None:
    parts = Original(text.removeprefix("\ufeff"), notebook=form == "notebook").parts
    for claim in report.claims:
        part = parts[claim.start.cell]
        first, last = part.offset(claim.start), part.offset(claim.end)
        assert claim.end.cell == claim.start.cell, claim
        assert first is not None and last is not None and first <= last, claim


def _claims_do_not_overlap(report: Report) -> None:
    spans = sorted((_order(claim.start), _order(claim.end), claim.text) for claim in report.claims)
    for before, after in pairwise(spans):
        assert before[1] <= after[0], (before, after)


def _order(place: Place) -> tuple[int, int, int]:
    return place.cell or 0, place.line, place.column


def _json_is_valid(report: Report) -> None:
    read = json.loads(json_report([report]))
    json_report([report]).encode()
    assert len(read["files"][0]["claims"]) == len(report.claims)
    assert read["summary"]["claims"] == len(report.claims)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@seed(20)
@given(documents)
def test_random_documents_are_judged(document: tuple[str, str]) -> None:
    examined(*document)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@seed(20)
@given(formulas)
def test_a_formula_stands_alone_as_in_a_document(formula: str) -> None:
    """A wrong line behind a display is found, whatever the display holds, unless it ends the formula itself."""
    if "$" not in formula and "\n" not in formula:
        report = examined("markdown", f"$$\n{formula}\n$$\n\nThe end: $7 \\times 8 = 54$.\n")
        assert any(claim.finding.verdict == "wrong" and "54" in claim.text for claim in report.claims)


def test_the_examination_says_no() -> None:
    """Claims that overlap, places outside of the text, and a check that failed are each found."""
    text = "$1 = 1$ and $2 = 2$"
    report = examined("markdown", text)
    first = report.claims[0]
    with pytest.raises(AssertionError):
        _claims_do_not_overlap(replace(report, claims=(first, first)))
    with pytest.raises(AssertionError):
        _places_lie_inside(replace(report, claims=(replace(first, end=Place(9, 1)),)), "markdown", text)
    with pytest.raises(AssertionError):
        _no_check_failed(replace(report, claims=(replace(first, finding=replace(first.finding, check=FAILED)),)))


# --- the long run ---


def run(number: int, inputs: int) -> tuple[Counter[str], list[str]]:
    """Judge random documents; return how often each verdict was given, and what failed."""
    verdicts: Counter[str] = Counter()
    failures: list[str] = []

    @seed(number)
    @settings(max_examples=inputs, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(documents)
    def judge(document: tuple[str, str]) -> None:
        try:
            report = examined(*document)
        except (Exception, TooLong) as error:
            failures.append(f"{document!r}\n    {type(error).__name__}: {str(error)[:400]}")
            return
        verdicts["documents"] += 1
        verdicts.update(claim.finding.verdict for claim in report.claims)

    judge()
    return verdicts, failures


def _share(number: int, inputs: int) -> tuple[Counter[str], list[str]]:
    """Judge one process's share, in rounds, each with a seed of its own."""
    begun = time.perf_counter()
    verdicts: Counter[str] = Counter()
    failures: list[str] = []
    for start in range(0, inputs, ROUND):
        more, failed = run(number * 1_000_003 + start, min(ROUND, inputs - start))
        verdicts.update(more)
        failures += failed
        done = min(start + ROUND, inputs)
        rate = done / (time.perf_counter() - begun)
        print(
            f"[{number}] {done} of {inputs}, {rate:.0f} a second, failed: {len(failures)}", file=sys.stderr, flush=True
        )
    return verdicts, failures


def main() -> None:
    """Judge many random documents in several processes, and print what failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.documents.test_fuzz", description=__doc__)
    parser.add_argument("inputs", nargs="?", type=int, default=100_000)
    parser.add_argument("processes", nargs="?", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    begun = time.perf_counter()
    shares = [len(range(number, asked.inputs, asked.processes)) for number in range(asked.processes)]
    verdicts: Counter[str] = Counter()
    failures: list[str] = []
    with ProcessPoolExecutor(asked.processes) as pool:
        for more, failed in pool.map(_share, range(asked.seed, asked.seed + asked.processes), shares):
            verdicts.update(more)
            failures += failed
    seconds = time.perf_counter() - begun
    print("\n".join(dict.fromkeys(failures)))
    print(f"{asked.inputs} documents in {seconds:.0f} s, {asked.inputs / seconds:.0f} a second: {dict(verdicts)}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
