"""What the commands offer is what the printers know."""

import pytest

from derivations.documents.choices import LANGUAGES, size_of
from derivations.language.printing import words


def test_the_languages_offered_are_those_that_the_pages_are_written_in():
    assert LANGUAGES == words.LANGUAGES
    assert len({words.word("where", lang) for lang in LANGUAGES}) > 1


@pytest.mark.parametrize("setting", ["d_k", "d_k=", "=64", "d_k=0", "d_k=-1", "d_k=6.4", "d_k=" + "9" * 19])
def test_a_size_that_is_none_is_refused(setting: str):
    with pytest.raises(ValueError, match="write a size and an integer >= 1"):
        size_of(setting)
