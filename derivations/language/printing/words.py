"""The few words around printed formulas, in each language."""

from collections.abc import Mapping

__all__ = ["LANGUAGES", "word"]

LANGUAGES = ("en", "zh-Hant", "zh-Hans")  # the columns of the table

_WORDS: Mapping[str, tuple[str, str, str]] = {
    "where": ("where", "其中", "其中"),
    "assuming": ("assuming", "假設", "假设"),
    "if": ("if", "若", "若"),
    "for": ("for", "對", "对"),
    "source": ("Source", "出處", "出处"),
    "input": ("input", "輸入", "输入"),
    "parameter": ("parameter", "參數", "参数"),
    "intermediate": ("intermediate", "中間結果", "中间结果"),
    "output": ("output", "輸出", "输出"),
}


def word(name: str, lang: str = "en") -> str:
    """Return the word in the language, one of `LANGUAGES`.

    Raises `ValueError` for another language.
    """
    if lang not in LANGUAGES:
        raise ValueError(f"there is no language {lang!r}; choose one of {', '.join(LANGUAGES)}")
    return _WORDS[name][LANGUAGES.index(lang)]
