r"""Sizes of named models in words: "in the base Transformer $d_k$ is 64", "GPT-3 has 96 layers".

Definition   a sentence names one model and one size: by its letter, with a copula and a number, or by its words, with
             the number right before or behind them; the built-in tables of sizes decide
Result       holds        the size of that model
             conditional  that of one model of a family, where the sentence does not say of which
             wrong        another size than that of the one model that is named
Assumes      layers may be those of encoder and decoder together, heads those of all layers together
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from sympy import Integer

from derivations.architectures.models import model_names, named_model
from derivations.documents.judge.costs.subjects import MEANINGS
from derivations.documents.scope import Scope
from derivations.documents.sentences.joined import FORMULAS, Sentence
from derivations.documents.syntax import Name
from derivations.documents.verdicts import Finding
from derivations.symbols import N, h

__all__ = ["NamedModels", "check_named_models", "models_named"]

CHECK = "naming"
_TRANSFORMER = (
    (
        r"\bbase\s+transformer|transformer[\s-]+\(?base\b\)?|基[礎础本](?:版|型|模型)?的?\s*transformer"
        r"|ベース(?:の|モデルの)?\s*transformer",
        ("transformer-base",),
    ),
    (r"\bbig\s+transformer|transformer[\s-]+\(?big\b\)?", ("transformer-big",)),
    (
        r"\b(?:original|vanilla|standard)\s+transformer|(?:原始|原版|標準|标准)的?\s*transformer|オリジナルの?\s*transformer",
        ("transformer-base", "transformer-big"),
    ),
)
_VERBS = (
    r"\s*(?:has|have|uses?|with|contains|consists\s+of|stacks?|is|['’]s|為|为|是|[對对][應应]的?是|的|の|共?有|使用|採用|采用"
    r"|包含|は|では|には)"
)
_NOUNS = {
    "number of layers": r"(?:(?:transformer|decoder|encoder|identical)\s+)?(?:layers?|blocks?)\b"
    r"|[個个]?(?:層|层|レイヤー)",
    "number of heads": r"(?:(?:self-)?attention\s+)?heads\b|[個个]?(?:注意力|アテンション)?(?:頭|头|ヘッド)",
    "model width": r"(?:hidden|embedding|model)\s+(?:size|dimension|width)|(?:隱藏|隐藏|模型)[維维]度"
    r"|(?:隠れ|モデル)次元",
}
_OTHERWISE = re.compile(
    r"\b(?:than|not|unlike|instead|half|times|first|last|more|fewer|each|per|like|similar|if|we|our|about|only|top"
    r"|remaining)\b|n['’]t\b|不|比|每|最後|最后|倍|如果|類似|类似|我們|我们|私たち|約|约|ではな",
    re.ASCII | re.IGNORECASE,
)
_COPULA = r"\s*(?:is|equals|=|:|：|set\s+to|是|為|为|等於|等于|取|は|が)\s*"
_NUMBER = re.compile(r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d{1,6})(?![\w-]|[.,]\d)", re.ASCII)


@dataclass(frozen=True)
class NamedModels:
    """The models that a sentence may mean, one or all of a family, and where it names them."""

    models: tuple[str, ...]
    start: int
    end: int


def check_named_models(sentence: Sentence, scope: Scope) -> Iterator[tuple[int, int, Finding]]:
    """Yield what a sentence says of a size of a model that has a name."""
    named = models_named(sentence.text) if re.search(r"\d", sentence.text) else None
    if named is None or _OTHERWISE.search(sentence.text):
        return
    found = _of_letter(sentence, named, scope) or _of_noun(sentence.text, named)
    if found is None:
        return
    start, end, meaning, number = found
    finding = _judged(named.models, meaning, number)
    if finding is not None:
        yield start, end, finding


def _judged(models: tuple[str, ...], meaning: str, number: int) -> Finding | None:
    """Compare a number with the sizes of models."""
    sizes = {model: _sizes(model, meaning) for model in models}
    right = [model for model, values in sizes.items() if number in values]
    if len(models) == 1 and sizes[models[0]]:
        model, values = models[0], sizes[models[0]]
        if right:
            return Finding("holds", CHECK, f"{meaning} of {model}: {number}")
        if not model.startswith("transformer") or not _is_of_another_base(meaning, number):
            return Finding("wrong", CHECK, f"{meaning} of {model} is {values[0]}, not {number}", right=str(values[0]))
        return None
    if right:
        assumed = (f"{' or '.join(right)} is meant",)
        return Finding("conditional", CHECK, f"{meaning} of {right[0]}: {number}", assumptions=assumed)
    return None


def _is_of_another_base(meaning: str, number: int) -> bool:
    """Say whether the base model of another family has this size: it may be called the base Transformer there."""
    return any(number in _sizes(each, meaning) for each in model_names() if each.endswith("-base"))


@cache
def _sizes(model: str, meaning: str) -> tuple[int, ...]:
    """Return the numbers that may be meant by a size of a model, its own first."""
    values = named_model(model).values
    own = [values[symbol] for symbol in MEANINGS.get(meaning, ())[:1] if symbol in values]
    architecture = named_model(model).architecture
    if meaning == "number of layers" and architecture.encoder is not None and architecture.decoder is not None:
        own += [2 * each for each in own]
    if meaning == "number of heads" and N in values and h in values:
        own += [values[h] * values[N]]
    return tuple(int(each) for each in own if isinstance(each, int | Integer))


# --- which model ---


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Return expressions for the names of models, and of families with all their models, the longest first."""
    families: dict[str, list[str]] = {}
    found: list[tuple[str, tuple[str, ...]]] = []
    for name in model_names():
        if name.startswith("transformer"):
            continue
        parts = re.findall(r"[a-z]+(?=\d|$)|\d[\w.]*|[a-z]+", name)
        family = parts[:2] if len(parts) > 1 and re.fullmatch(r"[\d.]+", parts[1]) else parts[:1]
        families.setdefault(_joined(family), []).append(name)
        found.append((_joined(parts), (name,)))
    found += [(family, tuple(names)) for family, names in families.items() if len(names) > 1]
    several = {text for text, names in found if len(names) > 1}
    found = [each for each in found if len(each[1]) > 1 or each[0] not in several]
    found.sort(key=lambda each: -len(each[0]))
    return tuple((re.compile(text, re.ASCII | re.IGNORECASE), names) for text, names in (*_TRANSFORMER, *found))


@cache
def _families() -> re.Pattern[str]:
    """Return an expression for the first words of all names: without one of them, no pattern is tried."""
    words = {found.group() for name in model_names() if (found := re.match("[a-z]+", name))}
    return re.compile(rf"\b(?:{'|'.join(sorted(words))})(?![a-z])", re.ASCII | re.IGNORECASE)


def _joined(parts: list[str]) -> str:
    return r"(?<![\w-])" + r"[\s_-]?\(?".join(map(re.escape, parts)) + r"(?![A-Za-z0-9]|-[A-Za-z0-9]|\.\d)"


def models_named(text: str) -> NamedModels | None:
    """Return the one model or family that a sentence names."""
    found: list[NamedModels] = []
    if not _families().search(text):
        return None
    for pattern, models in _patterns():
        for match in pattern.finditer(text):
            if not any(each.start <= match.start() < each.end for each in found):
                found.append(NamedModels(models, match.start(), match.end()))
    return found[0] if len(found) == 1 else None


# --- which size ---


def _of_letter(sentence: Sentence, named: NamedModels, scope: Scope) -> tuple[int, int, str, int] | None:
    """Return the size of the one letter of a sentence, with the one number that it gives it."""
    text = sentence.text
    formulas = [match.span() for match in re.finditer(FORMULAS, text)]
    names = [(span, node) for span in formulas if isinstance(node := sentence.nodes.get(span[0]), Name)]
    outside = f"{text[: named.start]}{' ' * (named.end - named.start)}{text[named.end :]}"
    numbers = list(_NUMBER.finditer(outside))
    if len(names) != 1 or len(formulas) != 1 or len(numbers) != 1:
        return None
    (span, name), (number,) = names[0], numbers
    meanings = scope.meaning(name) & MEANINGS.keys()
    if len(meanings) != 1 or number.start() < span[1]:
        return None
    before, behind = text[: number.start()], text[number.end() :]
    linked = re.search(_COPULA + "$", before, re.ASCII | re.IGNORECASE) or re.fullmatch(
        r"\s*(?:in|for)\s+(?:the\s+)?", text[number.end() : max(named.start, number.end())], re.ASCII | re.IGNORECASE
    )
    if not linked or re.match(r"\s*[%％×*/^+倍]", behind):
        return None
    return span[0], number.end(), next(iter(meanings)), _whole(number.group())


def _of_noun(text: str, named: NamedModels) -> tuple[int, int, str, int] | None:
    """Return the size of "BERT-base has 12 layers": a verb, a number and a word for a size right behind the name."""
    verb = re.compile(_VERBS, re.ASCII | re.IGNORECASE).match(text, named.end)
    if verb is None:
        return None
    for meaning, nouns in _NOUNS.items():
        first, second = (
            rf"\s*(?:an?\s+|the\s+|的)?{each}"
            for each in (rf"(\d[\d,]*)\s*(?:{nouns})", rf"(?:{nouns})\s*(?:of\s+|是|為|为|は)?\s*(\d[\d,]*)(?![.\d])")
        )
        match = re.compile(f"{first}|{second}", re.ASCII | re.IGNORECASE).match(text, verb.end())
        if match:
            return named.start, match.end(), meaning, _whole(match[1] or match[2])
    return None


def _whole(text: str) -> int:
    return int(text.replace(",", "")[:9] or "0")
