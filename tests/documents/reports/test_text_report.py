"""The report for people: what is shown, what is only counted, and that a document cannot spoil it."""

import io

from rich.console import Console

from derivations.documents.passages import Place
from derivations.documents.reports.text_report import print_report
from derivations.documents.verdicts import Finding
from tests.documents.reports.written import claim, judged, wrong

HOLDS = Finding("holds", "shapes", "the shapes fit")
CONDITIONAL = Finding("conditional", "shapes", "fits", result="linear.definition", assumptions=("b is a row",))


def printed(*files: object, verbose: bool = False, width: int = 100) -> str:
    """What is printed where there is no terminal."""
    out = io.StringIO()
    print_report(
        [file.report for file in files], Console(file=out, width=width, markup=False, highlight=False), verbose
    )  # type: ignore[attr-defined]
    return out.getvalue()


def test_what_calls_for_attention_is_shown_in_full():
    text = printed(judged(claim(wrong()), claim(HOLDS), claim(CONDITIONAL, "y = b", Place(2, 5, 4))))
    head, _, _ = text.partition("claims")
    assert head.splitlines() == [
        "a.md:1:7  wrong  [arithmetic]",
        "    2 + 3 = 7",
        "    2 + 3 is 5, not 7",
        "    right: 2 + 3 = 5",
        "",
        "a.md:cell 4:2:5  conditional  [shapes]",
        "    y = b",
        "    fits",
        "    assumes: b is a row",
        "    see: derivations show linear.definition",
        "",
    ]


def test_verbose_shows_all():
    assert "holds  [shapes]" in printed(judged(claim(HOLDS)), verbose=True)
    assert "holds  [shapes]" not in printed(judged(claim(HOLDS)))


def cells(text: str, name: str) -> list[str]:
    """The cells of the row of a file."""
    (row,) = [line for line in text.splitlines() if name in line]
    return [cell.strip() for cell in row.strip("│").split("│")]


def test_the_table_has_a_row_for_each_file_and_one_for_all():
    text = printed(judged(claim(wrong()), claim(HOLDS)), judged(claim(Finding("unknown", "none", "")), file="b.md"))
    assert cells(text, "a.md ") == ["a.md", "2", "0", "1", "0", "1", "0", "2", "100%"]
    assert cells(text, "b.md ") == ["b.md", "1", "0", "0", "0", "0", "1", "1", "0%"]
    assert cells(text, "2 files") == ["2 files", "3", "0", "1", "0", "1", "1", "3", "67%"]
    assert cells(printed(judged()), "a.md")[-1] == "-"


def test_a_long_formula_is_cut_to_the_width_and_a_reason_is_broken():
    text = printed(judged(claim(wrong(reason="word " * 40), "x + " * 100)), width=50)
    head = text.partition("claims")[0].splitlines()
    assert all(len(line) <= 50 for line in head)
    assert head[1].endswith("…")
    assert " ".join(head).count("word") == 40


def test_a_document_cannot_spoil_the_report():
    text = printed(
        judged(claim(wrong(reason="[red]\x1b[2J\u202e"), "[/bold]\n\x1b]0;title\x07\ud800"), file="a\x1b.md")
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"[/bold] \x1b]0;title\x07\ud800" in text
    assert r"[red]\x1b[2J\u202e" in text


def test_a_table_that_does_not_fit_becomes_lines():
    text = printed(judged(claim(wrong())), width=60)
    assert "claims 1 (wrong 1), asserted 1, decided 100%" in text and "┃" not in text
