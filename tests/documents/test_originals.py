"""Places of a file and of the cells of a notebook, as offsets in what is written on the disk."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derivations.documents.originals import Original, read_original
from derivations.documents.passages import Place

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=7), max_size=5)


def notebook(*sources: object, **options: object) -> str:
    """The JSON of a notebook with cells."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": source} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_place_of_a_file_counts_lines_whatever_ends_them(end: str):
    text = f"first{end}second $x$ 中{end}"
    (start, stop) = Original(text).span(Place(2, 8), Place(2, 11)) or (0, 0)
    assert text[start:stop] == "$x$"
    assert Original(text).place(start) == Place(2, 8)


@pytest.mark.parametrize("place", [Place(3, 1), Place(0, 1), Place(1, 99), Place(1, 1, cell=1), Place(1, 0)])
def test_a_place_that_is_not_in_the_file_has_no_offset(place: Place):
    assert Original("one line\n").span(place, place) is None or place.line > 2


@given(TEXTS, st.booleans())
def test_every_character_of_a_cell_is_found_in_the_json(lines: list[str], ascii_only: bool):
    source = [f"{line.replace(chr(10), '')}\n" for line in lines]
    original = Original(notebook(["before"], source, ensure_ascii=ascii_only), notebook=True)
    for number, line in enumerate(source, 1):
        for column, character in enumerate(line, 1):
            span = original.span(Place(number, column, 2), Place(number, column + 1, 2))
            if character != "\n":  # behind which another text of the list starts
                assert span is not None
                assert json.loads(f'"{original.text[slice(*span)]}"', strict=False) == character


def test_what_lies_in_two_texts_of_the_json_is_no_stretch_of_it():
    original = Original(notebook(["first\n", "second"]), notebook=True)
    assert original.span(Place(1, 3, 1), Place(2, 3, 1)) is None
    assert original.characters(Place(1, 3, 1), Place(2, 3, 1)) == "rst\nse"


@pytest.mark.parametrize("source", ["one\ntwo $x$", ["one\n", "two $x$"]])
def test_the_source_of_a_cell_is_one_text_or_a_list(source: object):
    original = Original(notebook(source), notebook=True)
    span = original.span(Place(2, 5, 1), Place(2, 8, 1))
    assert span is not None
    assert original.text[slice(*span)] == "$x$"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '{"cells": 3}', '{"cells": [{"source": {"a": "b"}}]}', "[" * 10**5]
)
def test_what_is_no_notebook_has_no_cells(text: str):
    assert Original(text, notebook=True).parts == {}


def test_text_is_written_as_the_notebook_writes_it():
    assert Original("{}", notebook=True).written('"\\中') == r"\"\\\u4e2d"
    assert Original('"中"', notebook=True).written("中") == "中"
    assert Original("any").written("\\") == "\\"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [(b"a\r\n", "utf-8"), (b"\xef\xbb\xbfa", "utf-8-sig"), ("中\n".encode("utf-16"), "utf-16"), (b"a\xff", None)],
)
def test_the_encoding_is_known_if_it_gives_the_same_bytes_again(tmp_path: Path, data: bytes, encoding: str | None):
    path = tmp_path / "a.md"
    path.write_bytes(data)
    original = read_original(path)
    assert original.encoding == encoding
    assert encoding is None or original.text.encode(encoding) == data
    assert not original.text.startswith("\ufeff")
