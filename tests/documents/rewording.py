r"""A document written otherwise: letters renamed, lines moved, words replaced, notation changed, in another format.

Definition   a `Version` says what its document says; every line of it remembers the line that it was made from
Result       `versions(text, seed)` yields versions under names; all choices are seeded
Assumes      code between fences is left as it is, formulas between fences are not
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

from tests.documents.formats.latex import in_latex
from tests.documents.formats.lines import FENCE
from tests.documents.formats.restructured import in_restructured
from tests.documents.formats.wrapped import wrapped

__all__ = ["Version", "versions"]

WIDTH = 40  # of lines that an editor breaks, in characters of which many are as wide as two
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)


@dataclass(frozen=True)
class Version:
    """A document in a format of `check_text`; `lines[n]` is the line that line n + 1 was made from.

    `said` is how a formula of the document reads in it.
    """

    name: str
    text: str
    lines: tuple[int, ...]
    form: str = "markdown"
    said: Callable[[str], str] = str


def versions(text: str, seed: int) -> Iterator[Version]:
    """Yield a document in other letters, places, words, notations and formats."""
    chance = random.Random(seed)
    text = with_dollars(text)
    same = tuple(range(1, text.count("\n") + 2))
    for name, letters in (
        ("usual other letters", unused(USUAL, text)),
        ("sizes renamed", unused(SIZES, text)),
        ("any other letters", fresh_letters(text, chance)),
    ):
        renamed = renaming(letters)
        yield Version(name, in_words(in_formulas(text, renamed), in_prose(letters)), same, said=renamed)
    yield moved(text, chance)
    yield Version("reworded", in_words(text, lambda words: replaced(words, SYNONYMS)), same)
    simplified = str.maketrans(dict(zip(TRADITIONAL, SIMPLIFIED, strict=True)))
    yield Version("simplified", text.translate(simplified), same)
    traditional = str.maketrans(dict(zip(SIMPLIFIED, TRADITIONAL, strict=True)))
    yield Version("traditional", text.translate(traditional), same)
    for name, change in NOTATIONS.items():
        yield Version(name, in_formulas(text, change), same)
    yield Version("notebook", notebook(text), same, "notebook")
    for name, form, written in (
        ("wrapped", "markdown", wrapped(text, WIDTH)),
        ("LaTeX", "latex", in_latex(text)),
        ("reStructuredText", "restructuredtext", in_restructured(text)),
    ):
        lines, numbers = zip(*written, strict=True)
        yield Version(name, "\n".join(lines), numbers, form)


def with_dollars(text: str) -> str:
    """Return a text with all its formulas between dollar signs, line by line."""
    lines = []
    inside = ended = False
    for line in text.split("\n"):
        opens = re.fullmatch(r"\s*```math\s*", line) is not None
        fence = (inside or ended) and line.strip() == "```"
        closes = inside and not line.strip("` ")
        line, ended = ("", closes) if fence and ended else (line, (ended or closes) and not fence)
        inside = opens or (inside and not closes)
        line = "$$" if opens or closes else line.replace("$`", "$").replace("`$", "$")
        lines.append(re.sub(r"\\[()]", "$", re.sub(r"(?<!\\)\\[\[\]](?!\d)", "$$", line)))
    return "\n".join(lines)


def in_formulas(text: str, change: Callable[[str], str]) -> str:
    """Return a text whose formulas are changed, delimiters and all."""
    return FORMULA.sub(lambda match: change(match.group()), text)


def in_words(text: str, change: Callable[[str], str]) -> str:
    """Return a text whose prose is changed: what stands outside of formulas and of code."""
    lines = []
    inside = False
    for line in text.split("\n"):
        inside ^= bool(FENCE.match(line))
        lines.append(line if inside else change(line) if "$" not in line else _between(line, change))
    return "\n".join(lines)


def _between(line: str, change: Callable[[str], str]) -> str:
    cut = 0
    parts = []
    for match in FORMULA.finditer(line):
        parts += [change(line[cut : match.start()]), match.group()]
        cut = match.end()
    return "".join([*parts, change(line[cut:])])


# --- letters ---

TOKEN = re.compile(
    r"\\(?:text|mathrm|operatorname|mathbb|begin|end|textcolor|color)\*?\{[^{}]*\}|\\[A-Za-z]+|\\.|\^\{?T\}?"
    r"|d_\{?\\?(?:text|mathrm)?\{?(?:model|ff|k|v)\}{0,2}|[A-Za-z]{3,}|PE|[A-Za-z]"
)

CODE = re.compile(r"`[^`\n]+`")
ALONE = re.compile(r"(?<![\w'-])[B-HJ-Zb-z](?![\w'-])", re.ASCII)

#: Letters that papers use in place of the usual ones.
USUAL: Mapping[str, str] = {"i": "p", "j": "q", "k": "r", "q": "a", "n": "t", "x": "u", "z": "s"}
SIZES: Mapping[str, str] = {"d_k": "r", "d_v": "s", "d_model": "D", "d_ff": "F", "n": "T", "L": "S", "h": "m"}
KEPT = frozenset("edTR")  # Euler's number, differentials, the sign of a transpose, the real numbers


def renaming(letters: Mapping[str, str]) -> Callable[[str], str]:
    """Return the change of formulas that renames letters, and widths such as `d_model` as a whole."""

    def renamed(match: re.Match[str]) -> str:
        token = match.group()
        if token.startswith("d_"):
            key = "d_" + re.sub(r"\\text|\\mathrm|[{}]", "", token[2:])
            opened = token.count("{") - token.count("}")
            return letters.get(key, token) + "}" * -opened if key in letters else token
        return letters.get(token, token) if len(token) == 1 else token

    return lambda formula: TOKEN.sub(renamed, formula)


def in_prose(letters: Mapping[str, str]) -> Callable[[str], str]:
    """Return the change of prose that renames letters in code and letters that stand alone, articles left out."""
    renamed = renaming(letters)

    def change(words: str) -> str:
        coded = CODE.sub(lambda match: renamed(match.group()), words)
        return ALONE.sub(lambda match: letters.get(match.group(), match.group()), coded)

    return change


def unused(letters: Mapping[str, str], text: str) -> Mapping[str, str]:
    """Return the renamings whose new letter stands in no formula of a text."""
    used = letters_in(text)
    return {old: new for old, new in letters.items() if new not in used}


def letters_in(text: str) -> set[str]:
    """Return the single letters of the formulas of a text."""
    tokens = [token for formula in FORMULA.findall(text) for token in TOKEN.findall(formula)]
    return {token for token in tokens if len(token) == 1} | {token[2:] for token in tokens if token.startswith("d_")}


def fresh_letters(text: str, chance: random.Random) -> dict[str, str]:
    """Return for each single letter of the formulas one that stands in none of them, as far as there are some."""
    used = letters_in(text)
    renamed: dict[str, str] = {}
    for alphabet in (ascii_lowercase, ascii_uppercase):
        old = [letter for letter in alphabet if letter in used and letter not in KEPT]
        new = [letter for letter in alphabet if letter not in used and letter not in KEPT and letter not in "oOlI"]
        chance.shuffle(new)
        renamed.update(zip(old, new, strict=False))
    return renamed


# --- places ---

REMARKS = (
    "We come back to this later.",
    "這一點後面還會用到。",
    "この点は後で使う。",
    "This is best seen in an example.",
)


def moved(text: str, chance: random.Random) -> Version:
    """Return a document with remarks and blank lines between its paragraphs, and its sections numbered anew."""
    lines: list[str] = []
    origin: list[int] = []
    fenced = display = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= bool(FENCE.match(line))
        display ^= line.count("$$") % 2 == 1
        heading = re.match(r"(#+)\s+(?:\d+\.\s*)?(.*)", line)
        numbered = f"{heading[1]} {number % 7 + 1}. {heading[2]}" if heading and not fenced else line
        lines.append(numbered)
        origin.append(number)
        if not line.strip() and not fenced and not display and chance.random() < 0.4:
            lines += [chance.choice(REMARKS), "", ""]
            origin += [number] * 3
    return Version("moved", "\n".join(lines), tuple(origin))


# --- words ---

SYNONYMS: Mapping[str, str] = {
    "假設": "設", "假设": "令", "其中": "這裡", "維度": "維數", "维度": "维数", "矩陣": "陣列", "表示": "代表",
    "因此": "所以", "注意力": "關注", "向量": "矢量", "計算": "求出", "公式": "式子", "輸出": "結果", "稱為": "叫做",
    "where": "here", "dimension": "width", "Suppose": "Let", "denotes": "is", "compute": "calculate",
}  # fmt: skip
TRADITIONAL = (
    "維數陣設這裡輸詞個對權頭層線寬將與時為從當來們長間經後點積縮變異標準應網絡檔構單轉換開關於說應確實際學習樣機現"
)
SIMPLIFIED = (
    "维数阵设这里输词个对权头层线宽将与时为从当来们长间经后点积缩变异标准应网络档构单转换开关于说应确实际学习样机现"
)


def replaced(words: str, synonyms: Mapping[str, str]) -> str:
    """Return words with others of the same meaning in place of some."""
    for old, new in synonyms.items():
        words = words.replace(old, new)
    return words


# --- notation ---


def _bold(formula: str) -> str:
    def bold(match: re.Match[str]) -> str:
        token = match.group()
        return rf"\mathbf{{{token}}}" if len(token) == 1 and token.isupper() and token not in KEPT else token

    return TOKEN.sub(bold, formula)


def _brackets(formula: str) -> str:
    return rf"\[{formula[2:-2]}\]" if formula.startswith("$$") else rf"\({formula[1:-1]}\)"


NOTATIONS: Mapping[str, Callable[[str], str]] = {
    "top for T": lambda formula: re.sub(r"\^(?:T|\{T\})", r"^{\\top}", formula),
    "operator names": lambda formula: re.sub(r"\\text\{([A-Za-z]+)\}", r"\\operatorname{\1}", formula),
    "roman": lambda formula: re.sub(r"\\text\{([A-Za-z]+)\}", r"\\mathrm{\1}", formula),
    "bold": _bold,
    "bold symbols": lambda formula: _bold(formula).replace(r"\mathbf", r"\boldsymbol"),
    "brackets": _brackets,
    "spaced": lambda formula: formula.replace("=", r"\;=\;").replace(", ", r",\, "),
    "sized brackets": lambda formula: formula.replace(r"\left(", r"\bigl(").replace(r"\right)", r"\bigr)"),
}


# --- formats ---


def notebook(text: str) -> str:
    """Return a notebook with one cell of Markdown."""
    cell = {"cell_type": "markdown", "metadata": {}, "source": text, "id": "a"}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
