"""Text from documents cannot steer a terminal, and can always be written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derivations.documents.reports.plain import encodable, one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("W_1 x + 中文 α", "W_1 x + 中文 α"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("a\u202eb\u2066c\u200bd", r"a\u202eb\u2066c\u200bd"),
        ("\ud800\x9b\r", r"\ud800\x9b\r"),
        ("one\n\ttwo", "one\n\ttwo"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_what_cannot_be_seen_is_written_as_an_escape(text: str, shown: str):
    assert visible(text) == shown


def test_a_formula_is_shown_on_one_line():
    assert one_line("  a\n\t= b \x1b ") == r"a = b \x1b"


@given(st.text(st.characters(), max_size=20))
def test_any_text_can_be_written(text: str):
    visible(text).encode("utf-8")
    assert all(character.isprintable() or character in "\n\t" or not character.isascii() for character in visible(text))
    assert json.loads(encodable(json.dumps([text], ensure_ascii=False))) == [text]
    encodable(json.dumps([text], ensure_ascii=False)).encode("utf-8")
