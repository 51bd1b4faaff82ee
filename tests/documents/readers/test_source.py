"""Files: what is decoded, what is too long, and excerpts that keep their places."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derivations.documents.passages import Place
from derivations.documents.readers import SUFFIXES, read_document, read_text
from derivations.documents.readers.source import MAX_FILE, MAX_LINE, Source, decoded, joined, normalised


def test_broken_unicode_is_a_problem_and_nothing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"fine\nan \xff and $x$")
    document = read_document(path)
    assert [problem.place for problem in document.problems] == [Place(2, 4)]
    assert document.blocks == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marks_of_byte_order_are_no_characters(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("$寬$".encode(encoding))
    document = read_document(path)
    assert document.problems == ()
    assert document.blocks[0].formulas[0].place(0) == Place(1, 2)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x80"])
def test_broken_utf_8_that_begins_like_utf_16_is_said_to_be_no_utf_8(mark: bytes) -> None:
    """Taken as UTF-16 the whole of the text would be ideographs."""
    text, problems = decoded(mark + b" and $x$")
    assert text == ""
    assert ["not UTF-8" in problem.message for problem in problems] == [True]


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".unknown", ".MD"])
def test_every_suffix_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text("text", encoding="utf-8")
    assert read_document(path).file == str(path)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="no format of documents; choose one of markdown"):
        read_text("", "word")


def test_a_line_that_is_too_long_is_a_problem_and_the_others_are_read() -> None:
    document = read_text("$a$\n\n" + "x" * (MAX_LINE + 1) + "\n\n$b$", "markdown")
    assert [problem.place for problem in document.problems] == [Place(3, 1)]
    assert [block.formulas[0].place(0) for block in document.blocks] == [Place(1, 2), Place(5, 2)]


def test_a_file_that_is_too_large_is_a_problem() -> None:
    text, problems = decoded(b" " * (MAX_FILE + 1))
    assert text == ""
    assert "split it" in problems[0].message


@given(
    text=st.text(alphabet="ab\n", max_size=30),
    cuts=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=4),
    again=st.tuples(st.integers(0, 30), st.integers(0, 30)),
)
def test_parts_of_joined_parts_keep_their_places(
    text: str, cuts: list[tuple[int, int]], again: tuple[int, int]
) -> None:
    source = Source(text)
    spans = [(min(cut[0], len(text)), min(max(cut), len(text))) for cut in cuts]
    whole = joined(source, (source.whole.part(*span) for span in spans))
    assert whole.text == "".join(text[start:end] for start, end in spans)
    part = whole.part(min(again[0], len(whole.text)), min(max(again), len(whole.text)))
    assert "".join(line.text for line in part.lines) == part.text
    passage = part.passage("prose")
    lines = text.split("\n")
    for offset, character in enumerate(part.text):
        assert passage.place(offset) == part.at(offset)
        place = passage.place(offset)
        assert (lines[place.line - 1] + "\n")[place.column - 1] == character


def test_line_ends_are_alike() -> None:
    assert normalised("a\r\nb\rc\n\0")[0].text == "a\nb\nc\n\ufffd"


@given(st.lists(st.sampled_from(["", "a", "x" * (MAX_LINE - 1), "x" * MAX_LINE, "y" * (MAX_LINE + 1)]), max_size=6))
def test_of_lines_only_those_that_are_too_long_are_left_out(lines: list[str]) -> None:
    source, problems = normalised("\n".join(lines))
    assert source.text.split("\n") == ([line if len(line) <= MAX_LINE else "" for line in lines] or [""])
    assert [each.place.line for each in problems] == [n for n, line in enumerate(lines, 1) if len(line) > MAX_LINE]
