"""Catalogues of messages: nothing is missing or left over, and formulas and numbers are those of the English text."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from sympy import Piecewise
from sympy.abc import x

from derivations.catalogue import LAYERS, get, layer, names
from derivations.language.counting.costs import COUNTS
from derivations.language.counting.memory_counts import SAVED_RESIDUAL_COUNTS
from derivations.language.judge.proof import LEVELS
from derivations.language.judge.rules import RULES
from derivations.language.layers.layer import Layer
from derivations.language.printing.page import layer_title
from derivations.language.printing.views import latex, text
from derivations.language.printing.words import WORDS, Kind, language, languages, said, word
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.language.results.titles import title_parts
from derivations.topics import TOPICS

OTHERS = [lang for lang in languages() if lang != "en"]
NUMBERS = re.compile(r"[\w.'^{}]*[\d_^][\w.'^{}]*", re.ASCII)  # numbers and names with a script, such as d_model
CHINESE = re.compile("[\u4e00-\u9fff]")
ENCODINGS = {"zh-Hans": "gb2312", "zh-Hant": "big5"}  # which have no characters of one another's script


@pytest.fixture(scope="module")
def texts() -> dict[Kind, set[str]]:
    """The texts that the package prints, by kind."""
    results = [RESULTS[name]() for name in names()]  # built, and not judged
    given = [a.typed for r in results for a in (*r.assumptions, *(a for claim in r.claims for a in claim.given))]
    return {
        Kind.WORDS: set(WORDS),
        Kind.NAMES: {layer_title(name) for name in (*TOPICS, *LAYERS, *(r.topic for r in results))},
        Kind.RULES: set(RULES),
        Kind.EVIDENCE: set(LEVELS),
        Kind.COUNTS: {*COUNTS, *SAVED_RESIDUAL_COUNTS},
        Kind.ASSUMPTIONS: set(filter(None, given)),
        Kind.TITLES: {result.headline for result in results},
    }


def faults(messages: Mapping[Kind, Mapping[str, str]], texts: Mapping[Kind, set[str]]) -> Iterator[str]:
    """What is wrong with the messages of a language, one sentence for each."""
    for kind in Kind:
        table = messages.get(kind, {})
        yield from (f"{kind}: {text!r} has no message" for text in sorted(texts[kind] - set(table)))
        yield from (f"{kind}: nothing prints {text!r}" for text in sorted(set(table) - texts[kind]))
        for english, message in table.items():
            if _formulas(english) != _formulas(message):
                yield f"{kind}: the formulas of {message!r} are not those of {english!r}"


def _formulas(text: str) -> Counter[str]:
    """The formulas, the gaps to fill, and the numbers outside of formulas."""
    parts = title_parts(text)
    numbers = [token.rstrip(".") for part in parts[::2] for token in NUMBERS.findall(part)]
    return Counter([*parts[1::2], *["{}"] * text.count("{}"), *numbers])


@pytest.mark.parametrize("lang", OTHERS)
def test_a_catalogue_has_a_message_for_each_text_and_no_other(lang: str, texts: Mapping[Kind, set[str]]):
    assert list(faults(language(lang).messages, texts)) == []


def test_what_is_wrong_with_a_catalogue_is_found():
    """The check is checked: a message that is missing, one that nothing prints, another formula, another number."""
    texts = {kind: set[str]() for kind in Kind} | {
        Kind.TITLES: {"Bound for $n >= 2$", "Width 64"},
        Kind.RULES: {"algebra"},
    }
    planted = {
        Kind.TITLES: {"Bound for $n >= 2$": "$n > 2$ 时的界", "Width 64": "宽 46"},
        Kind.NAMES: {"Softmin": "softmin"},
    }
    assert list(faults(planted, texts)) == [
        "names: nothing prints 'Softmin'",
        "rules: 'algebra' has no message",
        "titles: the formulas of '$n > 2$ 时的界' are not those of 'Bound for $n >= 2$'",
        "titles: the formulas of '宽 46' are not those of 'Width 64'",
    ]


@pytest.mark.parametrize("lang", ENCODINGS)
def test_messages_are_in_the_script_of_the_language(lang: str):
    """No message is left in English, and each character is one of the simplified or of the traditional script."""
    for table in language(lang).messages.values():
        for english, message in table.items():
            words = "".join(title_parts(message)[::2])
            message.encode(ENCODINGS[lang])
            if not CHINESE.search(words):
                assert not re.search("[A-Za-z]{2}", words) or words in ("softmax", "dropout", "Transformer", english)
    same = [text for table in language(lang).messages.values() for text, found in table.items() if text == found]
    assert {text for text in same if not text.startswith("$")} == {"Transformer", "dot_product.variance"}


def test_each_word_is_used(repository: Path):
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (repository / "derivations").rglob("*.py"))
    for each in WORDS:
        assert sources.count(f'"{each}"') + sources.count(f"'{each}'") > 1, each
    with pytest.raises(LookupError, match="'whereas' is not listed"):
        word("whereas")


def test_languages_are_found_by_tags():
    assert languages()[0] == "en" and {"zh-Hans", "zh-Hant"} < set(languages())
    assert language("zh").tag == language("zh_hans").tag == "zh-Hans"
    for unknown in ("", "z", "zhx", "../zh-Hans"):
        with pytest.raises(ValueError, match=r"; choose one of en, zh-Hans, zh-Hant$"):
            language(unknown)


EXACT = {
    ("softmax.jacobian_diagonal", "zh"): [
        "softmax 的分量关于自身输入的导数 (softmax.jacobian_diagonal)",
        "    dy_i/dx_i = y_i (1 - y_i)    [商的求导法则]",
        "其中 y = softmax(x)，x in R^n，i = 1, ..., n。",
        "出处：Bridle (1990)。",
    ],
    ("attention.scores_rank", "zh-Hant"): ["得分矩陣的秩不超過 d_k (attention.scores_rank)"],
    ("activation.relu_derivative", "zh-Hant"): ["ReLU 的導數 (activation.relu_derivative)"],
    ("embedding.permutation_equivariance", "zh-Hant"): [
        "對置換後的詞元作嵌入，得到嵌入的橫列的同一置換 (embedding.permutation_equivariance)"
    ],
}


@pytest.mark.parametrize(("name", "lang"), EXACT)
def test_pages_are_printed_in_the_language(name: str, lang: str):
    expected = EXACT[name, lang]
    assert get(name).text(steps=True, lang=lang).splitlines()[: len(expected)] == expected


def test_conditions_cases_and_counts_are_in_the_language():
    assert " (词元从 0 起编号)，$" in get("softmax.counted_tokens_gradient").markdown(lang="zh")
    assert r"\text{参数量}(\mathrm{Encoder" in get("encoder.parameters").latex(lang="zh")
    assert r"\text{若}\ n \ge 2" in get("softmax.entries_between_0_and_1").latex(lang="zh")
    assert layer("feed_forward").text(lang="zh").startswith("前馈网络 (feed_forward)\n")
    cases = Piecewise((x, x > 0), (0, True))
    assert latex(cases, lang="zh") == r"\begin{cases} x & \text{若 } x > 0 \\ 0 & \text{其他} \end{cases}"
    assert text(cases, lang="zh") == "{x 若 x > 0; 0 其他}" and text(cases) == "{x if x > 0; 0 otherwise}"


def test_sources_are_cited_as_they_are():
    source = get("encoder.gradient").text(lang="zh").splitlines()[-1]
    assert source == "出处：法则 gradient.*; 方程：Vaswani et al. (2017), section 3.1。"


def test_a_text_of_a_user_stays_as_it_is():
    assert said(Kind.TITLES, "A result of mine", "zh") == "A result of mine"
    own = get("softmax.jacobian")
    assert isinstance(own, Derivation)
    assert "My slope" in Derivation("", "My slope", own.claims).text(lang="zh")
    ours = layer("softmax")
    assert isinstance(ours, Layer) and ours.text(lang="zh").startswith("softmax (softmax)")
