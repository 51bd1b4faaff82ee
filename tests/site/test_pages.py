from pathlib import Path

import pytest

from derivations.site.formulas import Formulas
from derivations.site.pages import Document, read_documents

PATHS = {"softmax.jacobian": "results/softmax.jacobian.html", "softmax": "layers/softmax.html"}


def read(folder: Path, text: str) -> Document:
    (folder / "one.md").write_text(text, encoding="utf-8")
    (document,) = [each for each in read_documents(folder, Formulas(), PATHS) if each.page.path == "one.html"]
    return document


def html(folder: Path, text: str) -> str:
    return read(folder, text).page.content.text


def test_formulas_become_marks(tmp_path: Path):
    found = html(tmp_path, "Where $`x_i < y`$.\n\n```math\na = b\n```\n")
    assert "$" not in found and "x_i" not in found and '<div class="display">' in found


def test_a_formula_in_a_table_keeps_its_bar(tmp_path: Path):
    (tmp_path / "one.md").write_text("| a | b |\n| --- | --- |\n| $`\\|x\\|`$ | 1 |\n", encoding="utf-8")
    formulas = Formulas()
    read_documents(tmp_path, formulas, PATHS)
    assert [each.latex for each in formulas.places] == ["|x|"]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("$x_i$ and $y$.", ["x_i", "y"]),
        (r"\$5 and $a\$b$", [r"a\$b"]),
        ("5 $ or 6 $", []),
        ("$5 or $6", []),
        ("`$x$`", []),
    ],
)
def test_dollar_signs(tmp_path: Path, text: str, latex: list[str]):
    (tmp_path / "one.md").write_text(text, encoding="utf-8")
    formulas = Formulas()
    read_documents(tmp_path, formulas, PATHS)
    assert [each.latex for each in formulas.places] == latex


def test_a_dollar_without_a_formula_stays(tmp_path: Path):
    assert "5 $" in html(tmp_path, "costs 5 $ and $`x\n")


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("two.md", 'href="two.html"'),
        ("two.md#a-b", 'href="two.html#a-b"'),
        ("#here", 'href="#here"'),
        ("picture.svg", 'href="picture.svg"'),
        ("https://example.org", 'href="https://example.org"'),
        ("../CONTRIBUTING.md", "<a>"),
    ],
)
def test_links(tmp_path: Path, target: str, written: str):
    (tmp_path / "two.md").write_text("# Two\n", encoding="utf-8")
    (tmp_path / "picture.svg").write_text("<svg/>", encoding="utf-8")
    document = read(tmp_path, f"[words]({target})\n")
    assert written in document.page.content.text
    assert document.files == (("picture.svg",) if target == "picture.svg" else ())


def test_headings_have_the_anchors_of_github(tmp_path: Path):
    found = html(tmp_path, "# What `proved` means, and more\n\n## Twice\n\n## Twice\n")
    assert 'id="what-proved-means-and-more"' in found
    assert 'id="twice"' in found and 'id="twice-1"' in found


def test_the_id_of_a_result_links_to_its_page(tmp_path: Path):
    found = html(tmp_path, "`softmax.jacobian` and `softmax`\n")
    assert '<a href="results/softmax.jacobian.html"><code>softmax.jacobian</code></a>' in found
    assert "layers/softmax.html" not in found  # a word of code, such as a function
    assert "layers/softmax.html" in html(tmp_path, "<!-- layer: softmax title -->\n\n**Softmax** (`softmax`)\n")


def test_marks_are_left_out_and_other_markup_is_text(tmp_path: Path):
    document = read(tmp_path, "<!-- derivation: softmax.jacobian title -->\n\n<script>alert(1)</script>\n\na <b>x\n")
    found = document.page.content.text
    assert document.shown == ("softmax.jacobian",)
    assert "<!--" not in found and "<script>" not in found and "<b>" not in found and "&lt;script&gt;" in found


def test_a_folder_without_pages_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="there is no page in"):
        read_documents(tmp_path, Formulas(), PATHS)


def test_items_of_lists_hold_paragraphs(tmp_path: Path):
    """A wide formula in one scrolls there, and the mark of the item stays in sight."""
    assert "<li>\n<p>one</p>\n</li>" in html(tmp_path, "- one\n- two\n")
