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

__all__ = ["Version", "versions"]

FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
FENCE = re.compile(r"^\s*(?:```|~~~)")


@dataclass(frozen=True)
class Version:
    """A document in a format of `check_text`; `lines[n]` is the line that line n + 1 was made from."""

    name: str
    text: str
    lines: tuple[int, ...]
    form: str = "markdown"


def versions(text: str, seed: int) -> Iterator[Version]:
    """Yield a document in other letters, places, words, notations and formats."""
    chance = random.Random(seed)
    text = with_dollars(text)
    same = tuple(range(1, text.count("\n") + 2))
    yield Version("usual other letters", in_formulas(text, renaming(unused(USUAL, text))), same)
    yield Version("sizes renamed", in_formulas(text, renaming(unused(SIZES, text))), same)
    yield Version("any other letters", in_formulas(text, renaming(fresh_letters(text, chance))), same)
    yield moved(text, chance)
    yield Version("reworded", in_words(text, lambda words: replaced(words, SYNONYMS)), same)
    simplified = str.maketrans(dict(zip(TRADITIONAL, SIMPLIFIED, strict=True)))
    yield Version("simplified", text.translate(simplified), same)
    traditional = str.maketrans(dict(zip(SIMPLIFIED, TRADITIONAL, strict=True)))
    yield Version("traditional", text.translate(traditional), same)
    for name, change in NOTATIONS.items():
        yield Version(name, in_formulas(text, change), same)
    yield Version("notebook", notebook(text), same, "notebook")
    yield as_latex(text)
    yield as_restructured(text)


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


def as_latex(text: str) -> Version:
    """Return a LaTeX document, line by line: sections, items, tables; code between fences is verbatim."""
    lines: list[str] = []
    fenced = display = tabular = False
    for line in text.split("\n"):
        tabular, before = line.lstrip().startswith("|"), tabular
        if tabular != before and lines:
            lines[-1] += r"\begin{tabular}{llll}" if tabular else r"\end{tabular}"
        if FENCE.match(line):
            lines.append(r"\end{verbatim}" if fenced else r"\begin{verbatim}")
            fenced = not fenced
        elif fenced or display or line.strip().startswith("$$"):
            lines.append(line)
        else:
            lines.append(_latex_line(line))
        display ^= line.count("$$") % 2 == 1 and not fenced
    return Version("LaTeX", "\n".join(lines), tuple(range(1, len(lines) + 1)), "latex")


def _latex_line(line: str) -> str:
    escaped = _between(line, lambda words: re.sub(r"([%&#_])", r"\\\1", re.sub(r"\*\*|`", "", words)))
    heading = re.match(r"\s*((?:\\#)+)\s+(.*)", escaped)
    if heading:
        return rf"\{'sub' * (heading[1].count('#') - 1)}section{{{heading[2]}}}"
    if line.lstrip().startswith("|"):
        return "" if re.fullmatch(r"[\s|:-]+", line) else " & ".join(escaped.strip().strip("|").split("|")) + r" \\"
    return re.sub(r"^\s*(?:[-*]|\d+\.)\s+", r"\\item ", escaped)


def as_restructured(text: str) -> Version:
    """Return a reStructuredText document: roles and directives for formulas, literal blocks for code."""
    lines: list[str] = []
    origin: list[int] = []
    fenced = display = False
    for number, line in enumerate(text.split("\n"), 1):
        new = [line]
        if FENCE.match(line):
            new = [""] if fenced else ["::", ""]
            fenced = not fenced
        elif fenced:
            new = [f"    {line}"]
        elif display or line.strip().startswith("$$"):
            opens = not display
            display ^= line.count("$$") % 2 == 1
            inside = line.replace("$$", "").strip()
            new = [*(["", ".. math::", ""] if opens else []), *([f"    {inside}"] if inside else []),
                   *([] if display else [""])]  # fmt: skip
        else:
            new = _restructured_lines(line)
        lines += new
        origin += [number] * len(new)
    return Version("reStructuredText", "\n".join(lines), tuple(origin), "restructuredtext")


def _restructured_lines(line: str) -> list[str]:
    line = line.lstrip().replace("**", "")
    written = FORMULA.sub(lambda match: f" :math:`{match.group()[1:-1]}` ", line)
    heading = re.match(r"(#+)\s+(.*)", line)
    if heading:
        return [
            "",
            re.sub(r"\$", "", heading[2]),
            "=-~^\"'"[min(len(heading[1]), 6) - 1] * (2 * len(heading[2]) + 2),
            "",
        ]
    if line.lstrip().startswith("|"):
        return [] if re.fullmatch(r"[\s|:-]+", line) else [written.replace("|", " "), ""]
    return ["", written] if re.match(r"[-*>]|\d+\.", line) else [written]
