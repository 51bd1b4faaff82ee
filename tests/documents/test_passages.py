"""Blocks: where their passages stand among one another, and how much of the head of a table is kept."""

from derivations.documents.passages import MOST_CHARACTERS, MOST_COLUMNS, Block, Passage, Place, headers_of
from derivations.documents.readers import read_text

PLACE = ((0, Place(1, 1)),)


def test_a_passage_is_told_by_its_identity() -> None:
    first, second, other = (Passage("latex", "x", PLACE) for _ in range(3))
    block = Block("paragraph", (first, second))
    assert [block.number_of(each) for each in (first, second, other)] == [0, 1, None]


def test_the_head_of_a_table_is_cut() -> None:
    """Every formula of the table looks at it."""
    kept = headers_of("a" * (MOST_CHARACTERS + 1) for _ in range(MOST_COLUMNS + 1))
    assert kept == ("a" * MOST_CHARACTERS,) * MOST_COLUMNS
    head = f"| {'a' * 5_000} | b |\n|---|---|\n| $x$ | $y$ |\n"
    assert sum(map(len, read_text(head, "markdown").blocks[-1].headers)) == MOST_CHARACTERS + 1
