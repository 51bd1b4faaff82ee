r"""Documents that want to stop or to mislead the reader: judging ends, and the rest is judged.

Every document ends with a formula that is wrong. Whatever stands before it, that one is found.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from derivations.documents.checking import FAILED, Report, check_file, check_text
from derivations.documents.readers.source import MAX_LINE
from tests.documents.time_limit import TooLong, within

CLOCK = True  # a formula has its seconds here
SECONDS = 20  # of processor time: a guard against what does not end, for tests do not time anything
MANY = 1_000
END = r"The end: $7 \times 8 = 54$."


def judged(text: str, form: str = "markdown", seconds: float = SECONDS) -> Report:
    with within(seconds):
        report = check_text(text, form)
    assert not [claim for claim in report.claims if claim.finding.check == FAILED]
    return report


def found_the_end(report: Report) -> bool:
    return any(claim.finding.verdict == "wrong" and "54" in claim.text for claim in report.claims)


def verdicts_before_the_end(report: Report) -> set[str]:
    return {claim.finding.verdict for claim in report.claims if "54" not in claim.text}


def display(formula: str) -> str:
    return f"$${formula}$$\n\n{END}\n"


def nested(opening: str, closing: str, count: int, inside: str = "x") -> str:
    return opening * count + inside + closing * count


# --- numbers that are too large to be computed ---

TOO_LARGE = {
    "a tower of powers": f"{nested('2^{', '}', 200, '2')} = 1",
    "a short tower": "10^{10^{10^{10}}} = 5",
    "a tower of nines": "9^{9^{9^9}} = 5",
    "a power": "x = 2^{1000000000}",
    "a broken power": r"3^{0.5^{0.3^{100000}}} \approx 1.5",
    "a tiny power": r"10^{-10^{10}} \approx 0.1",
    "a long sum": r"\sum_{i=1}^{10^{100}} i = 5",
    "a sum of squares": r"\sum_{i=1}^{100000000} i^2 = 5",
    "sums inside sums": r"\sum_{i=1}^{1000} \sum_{j=1}^{1000} \sum_{k=1}^{1000} i j k = 5",
    "sums of sines": r"\sum_{i=1}^{100} \sum_{j=1}^{100} \sum_{k=1}^{100} \sin(i j k) = 5",
    "a long product": r"\prod_{i=1}^{100000} i = 5",
    "a binomial": r"\binom{1000000}{500000} = 5",
    "a larger binomial": r"\binom{10^{100}}{10^{50}} = 5",
    "a factorial": "100000000! = 5",
    "factorials of factorials": "((((10!)!)!)!)! = 5",
    "marks of factorials": "10!!!!!! = 5",
    "an exponent of ten": "1e999999999 = 5",
    "exp": r"e^{10^{20}} \approx 5",
    "exp of exp": r"\exp(\exp(\exp(\exp(100)))) \approx 5",
    "the sine of a large number": r"\sin(10^{1000000}) \approx 0.5",
    "a root": r"\sqrt[10^{100}]{2} = 1",
    "a floor": r"\lfloor 10^{10^{10}} \rfloor = 1",
    "a shape": r"A \in \mathbb{R}^{10^{10^{10}} \times 10^{100}}",
    "digits": f"{'1' * MANY} = {'1' * MANY}2",
    "decimals": rf"0.{'1' * MANY} \times 3 \approx 0.{'4' * MANY}",
    "a square of digits": f"({'7' * MANY})^2 = 5",
    "a sum of letters to a power": "(a+b+c+d)^{50} = (d+c+b+a)^{51}",
    "a huge power of a sum": "(a+b)^{1000000} = 1",
    "a sum in each of three sums": r"\sum_{a=1}^{40} \sum_{b=1}^{40} \sum_{c=1}^{40} a b c = 5",
    "nine sums to n": "y + " + "".join(rf"\sum_{{i_{k}=1}}^{{n}}" for k in range(9)) + " x_{i_1} = y",
    "sines inside one another": nested(r"\sin(", ")", 18) + " = x",
    "sines and cosines inside one another": nested(r"\sin(\cos(", " + x) + x)", 10) + " = x",
    "exponentials inside one another": nested(r"\exp(", " + 1)", 10) + " = x",
    "powers of e inside one another": nested("e^{2 ", " + 1}", 8) + " = x",
    "fractions over one denominator": " + ".join(rf"\frac{{1}}{{x + {k}}}" for k in range(30)) + r" = \frac{1}{x}",
    "fractions of many letters": (
        " + ".join(rf"\frac{{a_{k}}}{{b_{k} + c_{k}}}" for k in range(8))
        + rf" = \frac{{{' + '.join(f'a_{k}' for k in range(8))}}}{{{' + '.join(f'b_{k}' for k in range(8))}}}"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("formula", TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_what_is_too_large_is_never_right(formula: str) -> None:
    """None of them is true; some are seen to be wrong without the large number."""
    report = judged(display(formula))
    assert found_the_end(report)
    assert verdicts_before_the_end(report) <= {"unknown", "wrong"}


UNDEFINED = (
    r"\frac{1}{0} = 1",
    r"\frac{0}{0} = 1",
    r"5 \bmod 0 = 1",
    r"\sqrt[0]{2} = 1",
    r"\sqrt{-1} = 1",
    r"\ln 0 = 1",
    r"\log(-5) = 1",
    "0^{-1} = 1",
    r"\infty - \infty = 0",
)


@pytest.mark.parametrize("formula", UNDEFINED)
def test_what_has_no_value_has_no_proof(formula: str) -> None:
    report = judged(display(formula))
    assert found_the_end(report)
    assert verdicts_before_the_end(report) <= {"unknown", "wrong"}


# --- formulas that are too deep or too long ---

OVERGROWN = {
    "braces": nested("{", "}", 100_000),
    "open braces": "{" * MANY,
    "brackets": f"{nested('(', ')', MANY)} = 1",
    "growing brackets": nested(r"\left(", r"\right)", MANY) + " = 1",
    "fractions": nested(r"\frac{1}{", "}", MANY) + " = 1",
    "roots": nested(r"\sqrt{", "}", MANY) + " = 1",
    "fonts": nested(r"\mathbf{", "}", MANY) + " = 1",
    "texts": nested(r"\text{", "}", MANY) + " = 1",
    "texts with formulas": nested(r"\text{$", "$}", MANY) + " = 1",
    "matrices": nested(r"\begin{matrix}", r"\end{matrix}", MANY) + " = 1",
    "environments without an end": r"\begin{aligned}" * MANY,
    "colours": nested(r"\color{red}{", "}", MANY) + " = 1",
    "subscripts": f"x{nested('_{a', '}', MANY, '')} = 1",
    "subscripts side by side": f"x{'_a' * MANY} = 1",
    "primes": f"x{chr(39) * MANY} = 1",
    "accents": "x" + "\u0301" * MANY + " = 1",
    "raised digits": f"x{'²' * MANY} = 1",
    "softmaxes": nested(r"\text{softmax}(", ")", MANY) + " = 1",
    "transposes": f"{nested('(', ')^T', MANY, 'X')} = X",
    "signs": f"{'-' * MANY}1 = 2",
    "letters": f"x{' y' * MANY} = z",
    "terms": "x" + "".join(f" + x_{{{number}}}" for number in range(MANY)) + " = z",
    "a list": f"x{', x' * MANY} = 1",
    "links": f"a{' = b' * MANY}",
    "links of letters and products": f"X W_1{' = X W_1' * MANY}",
    "statements": r", \quad ".join(["Q = X W_Q"] * MANY),
    "rows": r" \\ ".join(f"a_{{{number}}} = {number}" for number in range(MANY)),
    "a softmax of many": rf"\text{{softmax}}([{', '.join(['1'] * MANY)}]) = [{', '.join(['0.1'] * MANY)}]",
    "a large matrix": r"A = \begin{bmatrix}" + r" \\ ".join([" & ".join("1" * 90)] * 90) + r"\end{bmatrix}",
    "axes": r"A \in \mathbb{R}^{" + r" \times ".join("n" * MANY) + "}",
    "sums": r"\sum_{i=1}^n " * MANY + "x = 1",
    "derivatives": r"\frac{\partial}{\partial x} " * MANY + "y = 1",
    "cases": r"f = \begin{cases}" + r"1 & x \\ " * MANY + r"\end{cases}",
    "factors of sums": "".join(f"(a_{{{number}}} + b)" for number in range(30)) + " = 1",
    "bars": "|x" * MANY,
    "relations": "= " * MANY,
    "powers of nothing": "^" * MANY,
    "ends of rows": r"\\" * MANY,
    "cells": "&" * MANY,
    "unknown commands": r"\foo" * MANY,
    "null characters": "x\0 = \0 1",
    "half of a character": "x = \ud800",
    "a macro of itself": r"\def\a{\a\a}\a = 1",
}


@pytest.mark.slow
@pytest.mark.parametrize("formula", OVERGROWN.values(), ids=OVERGROWN.keys())
def test_an_overgrown_formula_ends_and_the_next_is_judged(formula: str) -> None:
    report = judged(display(formula))
    assert found_the_end(report)
    assert "proved" not in verdicts_before_the_end(report)


# --- marks that readers have to look for the other half of ---

MARKS = {
    "dollars": "$" * MANY,
    "pairs of dollars": "$$ " * MANY,
    "dollars and letters": "$a" * MANY,
    "backticks": "` " * MANY,
    "growing backticks": " ".join("`" * count for count in range(60)),
    "dollars and backticks": "$`a" * MANY,
    "bars": "| " * MANY,
    "a wide table": f"{'|a' * 300}|\n{'|-' * 300}|\n{'|$x$' * 300}|",
    "a lopsided table": f"|{'a|' * 100}\n|{'-|' * 100}\n{'|a|' * 100}",
    "stars": "**a *b _c " * MANY,
    "underscores": "_" * MANY,
    "backslashes": "\\" * MANY,
    "opened formulas": r"\[ a \( " * MANY,
    "spaces": f"a{' ' * MANY}b",
    "blank lines": "\n" * MANY,
    "square brackets": nested("[a", "]", MANY),
    "links": "[a](" * MANY,
    "pictures": "![" * MANY,
    "tags": "<a " * 300,
    "comments": "<!-- " * MANY,
    "quotations": f"{'> ' * MANY}$x = 1$",
    "lists": "\n".join(f"{'  ' * depth}- $x = 1$" for depth in range(300)),
    "lists on a line": f"{'- ' * MANY}a",
    "headings": "# a\n" * MANY,
    "fences": "```\nx = 1\n" * 200,
    "equals signs": "=" * MANY,
    "a chain in prose": "a = " * MANY,
    "factors in prose": "2 × " * MANY + "3",
    "numbers": "12 " * MANY,
    "numbers with commas": "1," * MANY,
    "opened brackets": "f(" * MANY,
    "words": "a_b" * MANY,
    "ideographs": "d 是維度，" * MANY,
    "null characters": "\0" * MANY,
    "marks of the byte order": "\ufeff" * MANY,
    "marks of direction": "\u202e" * MANY,
    "not a number": "nan = nan, inf = inf",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", MARKS.values(), ids=MARKS.keys())
def test_runs_of_marks_end(text: str) -> None:
    assert found_the_end(judged(f"Intro.\n\n{text}\n\n{END}\n"))


# --- declarations ---

DECLARED = {
    "one letter in many shapes": [rf"X \in \mathbb{{R}}^{{n \times {size}}}" for size in range(1, 200)],
    "one letter many times": ["d = 512"] * 200,
    "letters that double": ["a_{0} = 3", *(f"a_{{{step + 1}}} = 2 a_{{{step}}}" for step in range(200))],
    "letters that are squared": ["a_{0} = 3", *(f"a_{{{step + 1}}} = a_{{{step}}} a_{{{step}}}" for step in range(99))],
    "towers by name": ["a_{0} = 10", *(f"a_{{{step + 1}}} = a_{{{step}}}^{{a_{{{step}}}}}" for step in range(20))],
    "letters in a circle": ["a = b + 1", "b = a + 1", "c = c c", "a = 5"] * 20,
    "products by name": [f"A_{{{step + 1}}} = A_{{{step}}} B" for step in range(200)],
    "matrices that are squared": [
        r"A_0 = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
        *(f"A_{{{k + 1}}} = A_{{{k}}} A_{{{k}}}" for k in range(40)),
        r"A_{40} = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
    ],
    "lists that double": [
        "v_0 = [1, 2]",
        *(rf"v_{{{k + 1}}} = \text{{Concat}}(v_{{{k}}}, v_{{{k}}})" for k in range(40)),
        "v_{40} = [1]",
    ],
    "no heads": ["d_{model} = 10^{10^{10}}", "h = 0", "d_k = d_{model} / h = 5"],
}


@pytest.mark.slow
@pytest.mark.parametrize("formulas", DECLARED.values(), ids=DECLARED.keys())
def test_declarations_of_any_number_end(formulas: list[str]) -> None:
    text = "\n\n".join(f"${formula}$" for formula in formulas)
    assert found_the_end(judged(f"{text}\n\n{END}\n", seconds=2 * SECONDS))


# --- files ---


def test_a_very_long_line_is_left_out_and_said() -> None:
    report = judged(f"{'a = ' * 100_000}\n\n{END}\n")
    assert found_the_end(report)
    assert any(str(MAX_LINE) in problem.message for problem in report.problems)


BYTES = {
    "broken UTF-8": b"Bytes: \xff\xfe\x80 $x = \xc3$\n\n",
    "null bytes": b"\0\0\0 $\0$\n\n",
    "half of a surrogate pair": b"\xed\xa0\x80 \n\n",
}


@pytest.mark.parametrize("data", BYTES.values(), ids=BYTES.keys())
@pytest.mark.parametrize("suffix", [".md", ".txt"])
def test_bytes_that_are_no_text_are_said_and_nothing_is_read(data: bytes, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"document{suffix}"
    path.write_bytes(data + END.encode())
    with within(SECONDS):
        report = check_file(path)
    assert (report.claims, len(report.problems)) == ((), 1)


@pytest.mark.parametrize("suffix", [".md", ".txt"])
def test_escape_sequences_do_not_hide_the_rest(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"document{suffix}"
    path.write_bytes(b"\x1b[31m$x = 1$\x1b]0;title\x07\n\n" + END.encode())
    with within(SECONDS):
        assert found_the_end(check_file(path))


NOTEBOOKS: dict[str, Any] = {
    "no JSON": "{",
    "nothing": "",
    "a number": 5,
    "null": None,
    "a list": [],
    "no cells": {},
    "cells of a wrong type": {"cells": 5},
    "cells that are none": {"cells": [None, 5, "x", []], "nbformat": 4},
    "sources of a wrong type": {"cells": [{"cell_type": "markdown", "source": {"a": 1}}], "nbformat": 4},
    "lines of a wrong type": {"cells": [{"cell_type": "markdown", "source": [1, None]}], "nbformat": 4},
    "a version of words": {"cells": [], "nbformat": "four", "nbformat_minor": []},
    "a version to come": {"cells": [], "nbformat": 10**30},
    "deep": f"{'[' * 100_000}{']' * 100_000}",
    "a long number": f'{{"nbformat": {"9" * 10_000}}}',
}


@pytest.mark.parametrize("notebook", NOTEBOOKS.values(), ids=NOTEBOOKS.keys())
def test_a_broken_notebook_is_a_problem_and_not_an_error(notebook: Any) -> None:
    text = notebook if isinstance(notebook, str) else json.dumps(notebook)
    report = judged(text, "notebook")
    assert report.claims == ()


def test_a_notebook_with_one_wrong_cell_is_judged() -> None:
    good = {"cell_type": "markdown", "metadata": {}, "source": END}
    cells = [{"cell_type": "markdown", "metadata": {}, "source": f"$${nested('{', '}', MANY)}$$"}, good]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    assert found_the_end(judged(json.dumps(notebook), "notebook"))


OTHER_FORMS = {
    "directives inside one another": ("restructuredtext", "\n".join(f"{' ' * 3 * k}.. note::\n" for k in range(100))),
    "an included file": ("restructuredtext", ".. include:: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n"),
    "a table of another file": ("restructuredtext", ".. csv-table::\n   :file: /etc/passwd\n"),
    "substitutions of themselves": ("restructuredtext", ".. |a| replace:: |a| |a|\n\n|a|\n"),
    "a macro of itself": ("latex", r"\newcommand{\a}{\a\a}$\a = 1$"),
    "macros that double": (
        "latex",
        "".join(rf"\newcommand{{\a{chr(98 + k)}}}{{\a{chr(97 + k)}\a{chr(97 + k)}}}" for k in range(20)) + r"$\au = 1$",
    ),
    "macros with arguments that double": (
        "latex",
        r"\newcommand{\a}[1]{#1#1}"
        + "".join(rf"\newcommand{{\{chr(98 + k)}}}[1]{{\{chr(97 + k)}{{\{chr(97 + k)}{{#1}}}}}}" for k in range(10))
        + r"$\k{x} = 1$",
    ),
    "files of LaTeX": ("latex", r"\input{/etc/passwd}\include{/dev/zero}\openin1=/etc/passwd\write18{ls}"),
    "environments inside one another": ("latex", r"\begin{itemize}\item " * MANY),
    "characters of other categories": ("latex", r"\catcode`\$=12 \makeatletter \csname a\endcsname" * 100),
    "Python that is none": ("python", "def f(:\n" + "(" * MANY),
    "Python that is deep": ("python", f"x = {'(' * 500}1{')' * 500}\n"),
    "a null character in Python": ("python", "x = 1\0\n"),
}


@pytest.mark.parametrize(("form", "text"), OTHER_FORMS.values(), ids=OTHER_FORMS.keys())
def test_other_formats_run_and_read_nothing(form: str, text: str) -> None:
    report = judged(text, form, 2 * SECONDS)
    said = " ".join([claim.text + claim.finding.reason for claim in report.claims])
    assert "root:" not in said + " ".join(problem.message for problem in report.problems)


def test_the_clock_stops_what_does_not_end() -> None:
    """The guard of these tests is tested: a loop without an end is stopped, though exceptions are caught on the way."""
    with pytest.raises(TooLong), within(0.05):
        while True:
            with suppress(Exception):
                sum(range(1_000))


def test_a_sum_over_a_large_width_is_not_added_up() -> None:
    width = r"With $n = 50000$ and $d = 8192$:"
    formula = r"$\sigma^2 = \frac{1}{d} \sum_{i=1}^d (x_i - \mu)^2 = \frac{1}{d} \sum_{i=1}^d x_i^2 - \mu^2$"
    report = judged(f"{width}\n\n{formula}\n\n{END}\n")
    assert "too costly" not in [claim.finding.check for claim in report.claims]
    assert found_the_end(report)
