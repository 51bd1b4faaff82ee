"""Long texts: they are read piece by piece, the blocks are those of the whole, and no line is read again and again."""

import random

import pytest
from markdown_it.token import Token

from derivations.documents.readers import markdown_lines, read_text

LINES = (
    "- a", "  b", "", "> q", "```", "~~~", "$$", "x = 1", "# h", "| a | b |", "|---|---|", "| 1 | 2 |", "    code",
    "<!--", "-->", "<div>", "===", "1. x", r"\begin{align}", r"\end{align}", r"\[", r"\]", "***", "\t tab", "- - c",
    "$a", "b$", "---",
)  # fmt: skip


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a piece have few lines, and a displayed formula fewer."""
    monkeypatch.setattr(markdown_lines, "_MAX_DISPLAY", 3)
    monkeypatch.setattr(markdown_lines, "_PIECE", 7)


@pytest.mark.slow
@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("seed", range(60))
def test_the_blocks_are_those_of_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    text = "\n".join(draw.choice(LINES) for _ in range(draw.randint(1, 120)))
    in_pieces = read_text(text, "markdown").blocks
    monkeypatch.setattr(markdown_lines, "_PIECE", 1_000)
    assert in_pieces == read_text(text, "markdown").blocks


def test_places_count_from_the_start_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_lines, "_PIECE", 210)
    text = "---\ntitle: a\n---\n" + "a\n\n" * 500 + "$x$\n"
    assert read_text(text, "markdown").blocks[-1].formulas[0].place(0).line == 1004


@pytest.mark.slow
@pytest.mark.parametrize("line", ["a\n\n", "a\n", "- a\n", "> a\n", "\n", "    a\n", "```\na\n```\n"])
def test_every_line_is_read_a_few_times_at_most(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A paragraph, a list or an unclosed fence of all lines is read with twice as many lines each time."""
    read = 0
    tokens_of = markdown_lines.block_tokens

    def counted(text: str) -> list[Token]:
        nonlocal read
        read += text.count("\n")
        return tokens_of(text)

    monkeypatch.setattr(markdown_lines, "block_tokens", counted)
    monkeypatch.setattr(markdown_lines, "_PIECE", 1_000)
    text = line * (30_000 // line.count("\n")) + "\n```\n" + "a\n" * 3_000
    read_text(text, "markdown")
    assert read <= 4 * text.count("\n")
