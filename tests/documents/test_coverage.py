"""Every formula of the five documents has an entry, every reference leads somewhere, and the page is up to date."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from derivations.documents import coverage
from derivations.documents.coverage import VERDICTS, Document, documents, page, unknown_references

FORMULAS = {  # the lines of each document that hold a formula, a shape or a number
    0: "11 15 18 24 32 36 40 44 50 60 64 76 88 100",
    1: "19 33 43 49 57 61 71 88 95 102",
    2: "3 8 18 21 25 27 44 47 48 64 102 103 106-108 111-113 125 126 132 145 162 166",
    3: "49 52 61 64 75 78 81",
    4: (
        "9-13 16 19 22 25 27-31 33 36 40 45 53-55 59 62 63 65 81 84 85 88 96 98-101 103 105 107 110 116 118 127-129 "
        "131 132 135-137 139-142 147 151 154 155 160 163 164 170 171 173 176 181 184 189 198-201 206 207 210 215 "
        "217-220 225 233 236 238 242 249 256 261 265 266 268-270 284 289 298 301 309 313 322 327-329 340 341 352 353"
    ),
}
MISTAKES = {  # the lines of each document that hold a mistake
    0: "46 94 96",
    1: "27 57 75",
    2: "44 59 194",
    3: "12 18 26 81",
    4: "164",
}


def lines(text: str) -> set[int]:
    """The numbers in a list of numbers and ranges."""
    ends = (part.partition("-") for part in text.split())
    return {line for low, _, high in ends for line in range(int(low), int(high or low) + 1)}


def without_entry(found: Iterable[Document]) -> list[tuple[int, int]]:
    """The lines with a formula that have no entry."""
    covered = {document.number: {entry.line for entry in document.entries} for document in found}
    return [(number, line) for number in FORMULAS for line in sorted(lines(FORMULAS[number]) - covered[number])]


def test_every_line_with_a_formula_has_an_entry() -> None:
    assert without_entry(documents()) == []


def test_a_missing_line_is_found() -> None:
    first, *others = documents()
    fewer = Document(first.number, first.file, first.topic, tuple(e for e in first.entries if e.line != 15))
    assert without_entry([fewer, *others]) == [(0, 15)]


def test_every_mistake_is_named_and_put_right() -> None:
    wrong = {d.number: {e.line for e in d.entries if e.verdict == "wrong"} for d in documents()}
    assert wrong == {number: lines(text) for number, text in MISTAKES.items()}
    assert all(e.holds and e.references for d in documents() for e in d.entries if e.verdict == "wrong")


def test_every_statement_with_mathematics_has_a_reference() -> None:
    assert all(bool(e.references) == (e.verdict != "none") for d in documents() for e in d.entries)


def test_every_reference_leads_to_a_result_or_an_array() -> None:
    assert list(unknown_references()) == []


def use(monkeypatch: pytest.MonkeyPatch, folder: Path, entry: str) -> None:
    """Put a document of one entry in the place of the data."""
    table = f'[[document]]\nnumber = 7\nfile = "x.txt"\ntopic = "A topic"\nentries = [\n{entry}\n]\n'
    (folder / "coverage.toml").write_text(table, encoding="utf-8")
    monkeypatch.setattr(coverage, "__file__", str(folder / "coverage.py"))


@pytest.mark.parametrize("reference", ["softmax.jakobian", "softmax:z", "no_layer:y", "softmax", ""])
def test_a_reference_to_nothing_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reference: str) -> None:
    use(monkeypatch, tmp_path, f'  {{ line = 3, says = "s", verdict = "holds", refs = ["softmax:y", "{reference}"] }}')
    assert list(unknown_references()) == [f"document 7, line 3: {reference}"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{ line = 3, says = "s", verdict = "right", refs = [] }', "document 7, line 3: 'right' is no verdict"),
        ('{ line = 3, says = "s", verdict = "wrong", refs = [] }', "document 7, line 3: say what holds"),
        (
            "".join(f'{{ line = {line}, says = "s", verdict = "holds", refs = [] }},\n' for line in (3, 2)),
            "document 7, line 3: the entry for line 2 comes after it",
        ),
    ],
)
def test_bad_data_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, entry: str, message: str) -> None:
    use(monkeypatch, tmp_path, entry)
    with pytest.raises(ValueError, match=message):
        documents()


def test_the_page_is_up_to_date(repository: Path) -> None:
    """Run `python -m derivations.documents.coverage docs/documents.md` when this fails."""
    assert (repository / "docs" / "documents.md").read_text(encoding="utf-8") == page()


def test_the_page_has_a_row_of_five_cells_for_every_entry() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert len(rows) == sum(len(document.entries) for document in documents())
    assert all(row.count(" | ") == 4 and row.count("|") == 6 for row in rows)
    assert all(row.count("$") % 2 == 0 for row in rows)
    assert all(f"**{verdict}**" in page() for verdict in VERDICTS)
