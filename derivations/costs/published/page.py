"""Published formulas and the counts of the equations, printed as a page: formulas, differences, figures.

python -m derivations.costs.published.page docs/published.md
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from sympy import Expr, Integer, Rational, Symbol, floor

from derivations.architectures.models import named_model
from derivations.costs.counts import count
from derivations.costs.published.chinchilla import RATIOS, ratios
from derivations.costs.published.figures import fixed, math, percent, relative, short, table, times
from derivations.costs.published.formula import Difference, Published, difference
from derivations.costs.published.formulas import FORMULAS
from derivations.costs.published.memory_formulas import devices
from derivations.costs.published.results import published_chinchilla, published_kaplan, published_narayanan
from derivations.costs.published.subject import Subject
from derivations.costs.published.totals import stated, total
from derivations.costs.published.training_systems import KORTHIKANTI
from derivations.language.printing.latex import latex_of
from derivations.symbols import batch, n, vocab

__all__ = ["GPT", "LENGTHS", "OTHERS", "page", "subject"]

GPT = ("gpt2", "gpt2-xl", "opt-1.3b", "gpt3-175b")  # the kind of model that most formulas describe
OTHERS = ("gpt-j-6b", "pythia-1.4b", "llama-3-8b")
LENGTHS = {"gpt2": 1024, "gpt2-xl": 1024, "opt-1.3b": 2048, "gpt3-175b": 2048}  # the longest that they accept
LENGTHS |= {"gpt-j-6b": 2048, "pythia-1.4b": 2048, "llama-3-8b": 8192}
DEVICES = 8

_HEAD = """# Published formulas

Formulas of cost as their papers print them, and what the equations give. The difference is symbolic, and every term of
it is a cost that is read off the equations too; what they leave over would be printed as unexplained.

```python
>>> from derivations.architectures.models import named_model
>>> from derivations.costs.published.formula import difference
>>> from derivations.costs.published.formulas import published
>>> from derivations.costs.published.subject import Subject
>>> found = difference(published("palm.model_flops"), Subject(named_model("gpt2")))
>>> for term in found.terms:
...     print(term.departure.cost, term.value)
biases 6*N*d_ff + 18*N*d_k*h + 12*N*d_model
norms 24*N*d_model + 12*d_model
tables of rows 6*d_model*positions
>>> found.unexplained
0

```

A formula stands in the letters of its paper, a difference in those of this package: that of a decoder of GPT-2's kind,
with norms before the sub-layers, biases, learned positions and a head tied to the table of tokens. Figures are those of
one text of n positions, and of 8 devices where there are several; what is about any decoder has figures for other
decoders too.
"""


@lru_cache(maxsize=32)
def subject(name: str) -> Subject:
    """Return the costs of a built-in model."""
    return Subject(named_model(name))


def lengths(name: str) -> dict[Symbol, int]:
    """Return the numbers of positions, texts and devices for the figures of a model."""
    return {n: LENGTHS[name], batch: 1, devices: DEVICES}


def page() -> str:
    """Return the page as Markdown."""
    sections = (
        _HEAD,
        *_overview(),
        *_proved(),
        *_lookups(),
        *_recomputation(),
        *_ratios(),
        *_rest(),
        *_formulas(),
        *_totals(),
    )
    return "\n".join(sections)


# --- parts of the page ----------------------------------------------------------------------------------------------


def _overview() -> Iterator[str]:
    yield "## All of them\n"
    rows = []
    for formula in FORMULAS:
        found = difference(formula, subject(GPT[0]))
        terms = ", ".join(f"{times(term.departure.factor)} {term.departure.cost}" for term in found.terms)
        left = "" if found.unexplained == 0 else f"unexplained: {math(found.unexplained)}"
        what = "exact" if found.exact else ", ".join(filter(None, (terms, left)))
        figures = (relative(*found_at(formula, name)) for name in (GPT[0], GPT[-1]))
        rows.append((f"`{formula.id}`", formula.source.partition(",")[0], what, *figures))
    yield table(("formula", "paper", "more (+) or less (-) than the equations", GPT[0], GPT[-1]), rows)


def _proved() -> Iterator[str]:
    yield "## As results\n"
    yield "These results state the published formulas exactly: terms that a formula leaves out are added, terms that it"
    yield "counts too much are subtracted.\n"
    for build in (published_narayanan, published_kaplan, published_chinchilla):
        of = build()
        yield f"- **{of.title}** (`{of.id}`)"
    yield ""


def _lookups() -> Iterator[str]:
    yield "## The look-up as a product\n"
    yield (
        "What counting the look-up of tokens as a product adds to the products of a forward pass (Hoffmann et al. "
        "2022), every pair of positions counted. Shorter texts have fewer of these pairs, and the share is larger.\n"
    )
    rows = []
    for name in (*GPT, *OTHERS):
        of = subject(name)
        share = _number(of.look_ups / of.forward, name)
        rows.append((name, str(LENGTHS[name]), percent(share)))
    yield table(("model", "n", "more"), rows)


def _recomputation() -> Iterator[str]:
    model, printed, of_text = (difference(each, subject(GPT[-1])) for each in KORTHIKANTI)
    yield "## Equation 8 of Korthikanti et al. (2022)\n"
    yield (
        "Selective recomputation repeats the context term of one forward pass, 4 B s^2 h for each layer, as the text "
        "of the appendix says and the equations count. In the bracket after 72 B L s h^2 that is s/(18 h) more, which "
        "makes the s/(6 h) of equation 7 2 s/(9 h). Equation 8 prints s/(3 h): s/(6 h) more, three times as much. What "
        "recomputation adds to the model FLOPs:\n"
    )
    rows = []
    for name in GPT:
        base, *more = (_number(found.published, name) for found in (model, printed, of_text))
        counted = _number(of_text.derived, name)
        rows.append((name, str(LENGTHS[name]), *(percent(each / base - 1) for each in (*more, counted))))
    yield table(("model", "n", "as printed", "as the text says", "as counted"), rows)


def _ratios() -> Iterator[str]:
    yield "## The comparison with 6 N D of Hoffmann et al. (2022)\n"
    yield (
        "The appendix prints the ratio of its count to 6 N D for six models. It comes out, to the last digit or one "
        "off, where neither embeddings nor scores of tokens are counted, and not with them.\n"
    )
    rows = [
        (f"{row[0]}M", row[-1], fixed(inner, 2), fixed(whole, 2)) for row in RATIOS for whole, inner in [ratios(row)]
    ]
    yield table(("parameters", "printed", "without embeddings and scores", "as the formulas have it"), rows)


def _rest() -> Iterator[str]:
    yield "## Operations other than products\n"
    yield "The share of all other operations in a forward pass, relative to its products."
    yield "The formulas count softmax at most.\n"
    rows = []
    for name in (*GPT, *OTHERS):
        flops = count(named_model(name), seq=LENGTHS[name]).flops
        kinds = [kind for kind in flops.by_kind if kind not in ("matmul", "reduction")]
        shares = (fixed(100 * _number(flops.by_kind[kind] / flops.matmul, name), 3) + "%" for kind in kinds)
        rows.append((name, str(LENGTHS[name]), *shares))
    yield table(("model", "n", "bias", "softmax", "norm", "activation", "elementwise"), rows)


def _formulas() -> Iterator[str]:
    yield "## One by one\n"
    for formula in FORMULAS:
        found = difference(formula, subject(GPT[0]))
        letters = [each for each in formula.letters if each.symbol in formula.expression.free_symbols]
        yield f"### {formula.title} (`{formula.id}`)\n"
        yield math(formula.expression) + "\n"
        yield "where " + ", ".join(f"{math(each.symbol)}: {each.meaning}" for each in letters) + ".\n"
        yield f"- {formula.units}; {formula.convention}\n- {formula.source}\n- compared with {formula.against}"
        if formula.relations:
            given = ", ".join(f"$`{latex_of(size)} = {latex_of(value)}`$" for size, value in formula.relations)
            yield f"- given {given}"
        yield ""
        yield from _explanation(found)
        if not found.exact:
            yield _figures(formula)


def _explanation(found: Difference) -> Iterator[str]:
    if found.exact:
        yield "**Exact.**\n"
        return
    yield f"Difference: {math(found.value)}\n"
    rows = [(times(t.departure.factor), t.departure.cost, math(t.value), t.departure.why) for t in found.terms]
    if found.unexplained != 0:
        rows.append(("", "**unexplained**", math(found.unexplained), "nothing in the equations"))
    yield table(("times", "cost", "comes to", "why"), rows)


def _figures(formula: Published) -> str:
    rows = []
    for name in (*GPT, *OTHERS) if formula.any_decoder else GPT:
        published, derived = found_at(formula, name)
        rows.append((name, str(LENGTHS[name]), short(published), short(derived), relative(published, derived)))
    return table(("model", "n", "published", "derived", "relative"), rows)


def _totals() -> Iterator[str]:
    found = stated()
    verdicts = Counter(each.verdict for each in found)
    yield "## Published totals\n"
    yield (
        f"{len(found)} models whose authors state a number of parameters: "
        + ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
        + ". Rounded is the count rounded to the digits that are stated, cut off the count without its other digits.\n"
    )
    rows = [
        (
            each.name,
            each.as_stated,
            f"{each.counted:,}",
            each.verdict,
            each.why or (f"{each.difference:+,}" if each.difference else ""),
        )
        for each in found
    ]
    yield table(("model", "stated", "counted", "verdict", "the stated number has more"), rows)
    yield _vocabularies()


def _vocabularies() -> str:
    """Return the vocabulary sizes that the stated totals of the original Transformer would require."""
    ranges = []
    for name in ("transformer-base", "transformer-big"):
        each = total(name)
        assert each is not None
        model = named_model(name)
        values = {symbol: Integer(value) for symbol, value in model.values.items() if symbol != vocab}
        count_of = Subject(model).parameters.xreplace(values)
        slope, rest = count_of.coeff(vocab), count_of.coeff(vocab, 0)
        low, high = ((each.stated + half - rest) / slope for half in (-500_000, 500_000))
        ranges.append((name, int(-floor(-low)), int(floor(high))))
    (_, low, high), (_, low_of_big, high_of_big) = ranges
    both = "no vocabulary gives both" if high_of_big < low or high < low_of_big else "some vocabulary gives both"
    return (
        f"The totals of the original Transformer need a vocabulary of {low:,} to {high:,} for the base model and of "
        f"{low_of_big:,} to {high_of_big:,} for the big one, where the paper says about 37,000: {both}.\n"
    )


# --- figures of a model ----------------------------------------------------------------------------------------------


def found_at(formula: Published, name: str) -> tuple[Rational, Rational]:
    """Return the values of a formula and of the equations for a model."""
    return difference(formula, subject(name)).at(lengths(name))


def _number(expression: Expr, name: str) -> Rational:
    values = {symbol: Integer(value) for symbol, value in {**named_model(name).values, **lengths(name)}.items()}
    widths = expression.xreplace(values)
    assert isinstance(widths, Rational), f"{name}: {widths} is not a number"
    return widths


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
