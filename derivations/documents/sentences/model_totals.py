r"""Numbers of parameters of named models in words: "BERT-base has 110M parameters", "GPT-3 175B 有 1750 亿参数".

Definition   a clause begins with the name of a model, and says how many parameters it has
Result       holds        what the equations of the model give, rounded as printed
             conditional  what its authors state, where the equations give another number; one model of a family
             wrong        a number far from all of these
             nothing      for a number near them: what is counted, and how it was rounded, is not said
Units        parameters
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from sympy import Integer

from derivations.architectures.models import named_model
from derivations.costs.published.subject import Subject
from derivations.costs.published.totals import total
from derivations.documents.formulas.numbers import printed_number
from derivations.documents.formulas.vocabulary import SCALES
from derivations.documents.sentences.joined import Sentence
from derivations.documents.sentences.named_models import models_named
from derivations.documents.syntax import Number
from derivations.documents.verdicts import Finding

__all__ = ["check_model_totals"]

CHECK = "counting"
FAR = Fraction(7, 5)  # times as many, or as few, as any count of the model
_SCALES = "|".join(sorted(SCALES, key=len, reverse=True))
_NUMBER = rf"(?P<digits>\d{{1,3}}(?:,\d{{3}})+|\d{{1,12}}(?:\.\d{{1,6}})?)[\s-]?(?P<scale>{_SCALES})?"
_ABOUT = r"(?:about|around|roughly|approximately|some|nearly|a\s+total\s+of|約|约|大約|大约|共)?"
_PARAMETERS = (
    r"(?:trainable\s+|learnable\s+|total\s+)?(?:parameters\b|params\b|[個个的]?(?:参数|參數)|個?の?パラメータ)"
)
_HAS = r"(?:model\s+|模型|モデル)?(?:has|have|contains|with|uses|共?有|包含|擁有|拥有|具有|は|には)"
_HAVING = re.compile(rf"\s*{_HAS}\s*{_ABOUT}\s*{_NUMBER}\s*{_PARAMETERS}", re.ASCII | re.IGNORECASE)
_NUMBERED = re.compile(
    rf"\s*(?:的|の)?(?:总|總)?(?:参数量|參數量|参数数量|參數數量|パラメータ数)\s*(?:是|為|为|は|約|约|：|:)\s*{_ABOUT}\s*{_NUMBER}",
    re.ASCII | re.IGNORECASE,
)
_BEGINS = re.compile(r"(?:\A|[,;:，；：、。(（])[\s*_-]*(?:the|in|例如|例えば|模型)?\s*\Z", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class _Counts:
    """What may be said of the parameters of a model: the number its authors state, and what the equations give."""

    stated: int
    as_stated: str
    source: str
    counted: tuple[int, ...]

    @property
    def every(self) -> tuple[int, ...]:
        """All of these numbers."""
        return (self.stated, *self.counted)


def check_model_totals(sentence: Sentence) -> Iterator[tuple[int, int, Finding]]:
    """Yield what a sentence says of the number of parameters of a model that has a name."""
    named = models_named(sentence.written)
    if named is None or not _BEGINS.search(sentence.written[: named.start][-40:]):
        return
    match = _HAVING.match(sentence.written, named.end) or _NUMBERED.match(sentence.written, named.end)
    if match is None:
        return
    written = match["scale"] or ""  # "Million", "175b"
    scale = next((each for each in (written, written.lower(), written.upper()) if each in SCALES), "")
    number = printed_number(match["digits"], match.start("digits"), match.end(), scale)
    finding = _judged(named.models, number)
    if finding is not None:
        yield named.start, match.end(), finding


def _judged(models: tuple[str, ...], number: Number) -> Finding | None:
    """Compare a number with the totals of models."""
    known = {model: counts for model in models if (counts := _counts(model)) is not None}
    if len(models) == 1 and known:
        return _of_one(models[0], known[models[0]], number)
    right = [model for model, counts in known.items() if any(_is(each, number) for each in counts.every)]
    if len(models) > 1 and right:
        assumed = (f"{' or '.join(right)} is meant",)
        return Finding("conditional", CHECK, f"parameters of {right[0]}: {number.text}", assumptions=assumed)
    return None


def _of_one(model: str, counts: _Counts, number: Number) -> Finding | None:
    if any(_is(each, number) for each in counts.counted):
        return Finding("holds", CHECK, f"parameters of {model}: {counts.counted[0]:,}")
    if _is(counts.stated, number):
        assumed = (f"as stated by {counts.source}; the equations give {counts.counted[0]:,}",)
        return Finding("conditional", CHECK, f"parameters of {model}: {counts.as_stated}", assumptions=assumed)
    if number.value * FAR < min(counts.every) or number.value > FAR * max(counts.every):
        reason = f"{model} has {counts.counted[0]:,} parameters, not {number.text}"
        return Finding("wrong", CHECK, reason, right=counts.as_stated)
    return None


def _is(count: int, number: Number) -> bool:
    """Say whether a count is a printed number: exactly where it is printed in full, else as it is rounded."""
    if number.exact:
        return count == number.value
    digits = number.text.split()[0]
    zeros = 0 if "." in digits else len(digits) - len(digits.rstrip("0"))
    return abs(count - number.value) <= number.half_unit * 10**zeros


@cache
def _counts(model: str) -> _Counts | None:
    """Return the counts of a model: as it is stated what is counted, and of all parameters."""
    found = total(model)
    if found is None:
        return None
    one = named_model(model)
    whole = Subject(one).parameters.xreplace({symbol: Integer(value) for symbol, value in one.values.items()})
    as_stated = f"{found.stated:,}" if found.as_stated.isdecimal() else found.as_stated
    return _Counts(found.stated, as_stated, found.source, (int(whole), found.counted))
