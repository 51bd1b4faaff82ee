"""The words on a mark."""

import pytest

from derivations.documents.rendering import Options


def test_words_on_a_mark_come_before_the_options_of_the_command():
    options = Options("columns", "fence", "eq", "en").with_words(
        ["steps", "set", "d_k=64", "n=2", "notation=vaswani", "lang=zh-Hant"]
    )
    assert (options.notation, options.math, options.label, options.lang) == ("vaswani", "fence", "eq", "zh-Hant")
    assert Options().with_words(["lang=zh"]).lang == "zh-Hans"
    assert options.steps and options.sizes == {"d_k": 64, "n": 2}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("step", "did you mean 'steps'"),
        ("d_k=64", "a size is written set d_k=64"),
        ("height=3.3in", "there are steps, "),
        ("macros", "`derivations export --macros`"),
        ("width=3.3", "is no length"),
        ("set", "after set there is no number"),
        ("set d_k=0", "an integer >= 1"),
        ("set d_k=" + "9" * 99, "an integer >= 1"),
        ("math=html", "choose one of dollars"),
        ("lang=fr", "choose one of en, zh-Hans, zh-Hant"),
        ("notation=/etc/passwd", "choose one of ours"),
        ("notation=mine.toml", "choose one of ours"),
    ],
)
def test_a_word_that_is_no_option_is_refused(words: str, message: str):
    with pytest.raises(ValueError, match=message):
        Options().with_words(words.split())
