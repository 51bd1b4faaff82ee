"""The book as text: what its index of letters says. How its pages look is tested in `tests/latex`."""

import pytest

from derivations.catalogue import get, layers
from derivations.language.printing.export import pages_of, write_pages


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("book")
    results = {name: get(name) for name in ("recurrence.law_of_heads", "softmax.cold_limit")}
    write_pages(folder, pages_of(results, {"gated_delta_net": layers()["gated_delta_net"]}))
    return (folder / "derivations.tex").read_text(encoding="utf-8")


def entries(book: str) -> dict[str, str]:
    """The entries of the index by their letters."""
    lines = book.partition("Index of letters")[2].splitlines()
    return {line.split("$")[1]: line.partition("$}")[2] for line in lines if line.startswith(r"{\raggedright\hang")}


def test_the_index_says_what_sizes_are(book: str):
    assert entries(book)["g_{D}"].startswith(r"heads of keys of a delta rule: \ref{res:recurrence-law_of_heads}, ")
    assert entries(book)["n"].startswith("positions, queries: ")
    assert entries(book)["U"].startswith(r"\ref")  # an array is defined where it stands


def test_the_index_has_letters_alone(book: str):
    """The side of a limit is a sign in its expression, and no letter."""
    assert r"\lim" in book
    assert "-" not in entries(book)
    assert "+" not in entries(book)
