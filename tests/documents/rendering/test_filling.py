"""Files with their blocks filled: what stands in them, newlines and encodings, notebooks, labels, what is refused."""

import json
import re
from pathlib import Path

import docutils.core
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derivations.catalogue import get, layer
from derivations.documents.originals import Original
from derivations.documents.rendering import MarkedBlock, Options, Rendered, emitted, rendered
from derivations.documents.rendering.filling import _replacement
from derivations.documents.replacing import repaired

MARK, END = "<!-- derivation: softmax.jacobian -->", "<!-- end -->"
PLAIN = Options()
JACOBIAN = r"\frac{\partial y_{i}}{\partial x_{k}} = y_{i} (\delta_{ik} - y_{k})"


def filled(path: Path, text: str, options: Options = PLAIN) -> str:
    """The text of a file, written and filled; filled again, it is as it should be."""
    path.write_bytes(text.encode())
    found = rendered(path, options)
    new = repaired(found.original.text, found.replacements)
    path.write_bytes(new.encode())
    again: Rendered = rendered(path, options)
    assert again.stale == () and again.blocks == found.blocks
    return new


def test_a_block_shows_what_the_view_prints(tmp_path: Path):
    text = filled(tmp_path / "a.md", f"before\n{MARK}\nold\n{END}\nafter\n")
    printed = get("softmax.jacobian").markdown().split("\n", 1)[1]
    printed = printed.replace("Bridle (1990)", "[Bridle (1990)](https://doi.org/10.1007/978-3-642-76153-9_28)")
    assert text == f"before\n{MARK}\n{printed}\n{END}\nafter\n"
    assert JACOBIAN in text


def test_a_layer_its_steps_sizes_and_notation(tmp_path: Path):
    text = filled(tmp_path / "a.md", f"<!-- layer: feed_forward formula set d_ff=7 notation=vaswani -->\n{END}\n")
    assert layer("feed_forward").at(d_ff=7).latex("vaswani") in text and "Where" not in text
    text = filled(tmp_path / "a.md", f"<!-- derivation: softmax.jacobian steps -->\n{END}\n")
    assert "quotient rule" in text
    text = filled(tmp_path / "a.md", f"<!-- layer: feed_forward gradient title -->\n{END}\n")
    assert "(`feed_forward`, gradient)" in text


def test_a_title_tells_the_id_and_the_evidence(tmp_path: Path):
    text = filled(tmp_path / "a.md", f"<!-- derivation: softmax.jacobian title -->\n{END}\n")
    assert "**Jacobian of softmax** (`softmax.jacobian`, proved)\n" in text


def test_a_formula_that_stands_alone_says_over_what_its_indices_run(tmp_path: Path):
    text = filled(tmp_path / "a.md", f"<!-- derivation: softmax.jacobian formula -->\n{END}\n")
    assert get("softmax.jacobian").latex() in text and r"i, k = 1, \ldots, n" in text and "Source" not in text


def test_latex_is_broken_into_lines_for_a_width(tmp_path: Path) -> None:
    """Without a width a formula is one line, and a page of Markdown stays as it is."""
    mark = "% derivation: flops.mixtral label=eq{}\n% end\n"
    assert r"\begin{alignat}" not in filled(tmp_path / "a.tex", mark.format(""))
    text = filled(tmp_path / "b.tex", mark.format(" steps width=3.3in"))
    assert text.count(r"\label{eq:flops-mixtral}") == 1
    assert r"{} + N \left( \begin{aligned}" in text
    assert r"{\raggedright Where $" in text
    alone = filled(tmp_path / "c.tex", mark.format(" formula width=3.3in"))
    assert "Where" not in alone
    markdown = "<!-- layer: feed_forward{} -->\n<!-- end -->\n"
    plain, wide = (
        filled(tmp_path / "a.md", markdown.format("")),
        filled(tmp_path / "b.md", markdown.format(" width=3in")),
    )
    assert wide.replace(" width=3in", "") == plain


def test_latex_has_an_environment_that_can_be_referred_to(tmp_path: Path):
    text = filled(tmp_path / "a.tex", "A\n  % derivation: softmax.jacobian label=eq\n  % end\n")
    assert f"  \\begin{{equation}}\\label{{eq:softmax-jacobian}}\n  {JACOBIAN}\n  \\end{{equation}}\n" in text
    assert "% derivation: softmax.jacobian label=eq\n  \\begin" in text, "no blank line, which would end the paragraph"


@pytest.mark.parametrize("lang", ["en", "zh-Hant"])
def test_restructured_text_is_read_by_docutils_without_a_word(tmp_path: Path, lang: str):
    marks = ".. derivation: softmax.jacobian steps title label=eq\n.. end\n\n.. layer: feed_forward\n.. end\n"
    text = filled(tmp_path / "a.rst", marks, Options(lang=lang))
    settings = {"report_level": 1, "halt_level": 1}
    tree = docutils.core.publish_doctree(text.replace("   :label:", "   :name:"), settings_overrides=settings)
    (first, second) = tree.findall(lambda node: node.tagname == "math_block")
    assert first["names"] == ["eq-softmax-jacobian"]
    assert second.astext() == layer("feed_forward").latex()
    assert {r"y = \mathrm{softmax}(x)"} <= {node.astext() for node in tree.findall(lambda n: n.tagname == "math")}


@pytest.mark.parametrize(("name", "mark"), [("a.md", "(eq-softmax-jacobian)"), ("a.qmd", "{#eq-softmax-jacobian}")])
def test_the_second_block_of_an_id_has_a_label_of_its_own(tmp_path: Path, name: str, mark: str):
    text = filled(tmp_path / name, f"{MARK}\n{END}\n" * 2, Options(label="eq"))
    assert f"$$ {mark}\n" in text and f"$$ {mark[:-1]}-2{mark[-1]}\n" in text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_newlines_and_encoding_stay(tmp_path: Path, newline: str, encoding: str):
    path = tmp_path / "a.md"
    path.write_bytes(f"中{newline}{MARK}{newline}{END}{newline}".encode(encoding))
    found = rendered(path, Options())
    assert found.original.encoding == encoding
    text = repaired(found.original.text, found.replacements)
    assert text.count(newline) == text.count("\n") > 5


def test_only_lines_that_differ_are_replaced(tmp_path: Path):
    path = tmp_path / "a.md"
    stale = filled(path, f"{MARK}\n{END}\n").replace("- y_{k}", "+ y_{k}")
    path.write_text(stale, encoding="utf-8", newline="\n")
    (change,) = rendered(path, Options()).replacements
    assert change.text == f"{JACOBIAN}\n" and stale[change.start : change.end] == change.text.replace("- y", "+ y")


# --- notebooks ---


def notebook(*sources: object, kind: str = "markdown", **options: object) -> str:
    cells = [
        {"cell_type": kind, "id": f"c{number}", "metadata": {}, "source": each} for number, each in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [f"a\n{MARK}\n{END}\nb", ["a\n", f"{MARK}\n", 'old \\top "x"\n', f"{END}\n", "b"]])
@pytest.mark.parametrize("indent", [None, 1, 4])
def test_a_notebook_changes_nowhere_else(tmp_path: Path, source: object, indent: int | None):
    before = notebook("first", source, [MARK.replace("derivation", "note")], indent=indent)
    after = filled(tmp_path / "a.ipynb", before)
    cell = nbformat.reads(after, as_version=4).cells[1].source
    assert cell.startswith(f"a\n{MARK}\n\n$$\n{JACOBIAN}\n$$\n") and cell.endswith(f"\n\n{END}\nb")
    new = json.loads(after)["cells"][1]["source"]
    assert isinstance(new, type(source))
    if isinstance(new, list):
        assert new == "".join(new).splitlines(keepends=True)
        assert after == notebook("first", new, [MARK.replace("derivation", "note")], indent=indent), (
            "formatted as before"
        )


def test_cells_of_code_are_left_alone(tmp_path: Path):
    text = notebook(f"{MARK}\n{END}\n", kind="code")
    assert filled(tmp_path / "a.ipynb", text) == text


TEXTS = st.lists(st.text(st.sampled_from('ab"\\\n中'), max_size=6), min_size=1, max_size=6)


@given(TEXTS, st.integers(0, 40), st.integers(0, 40), st.text(st.sampled_from('x\n"\\中'), max_size=8))
def test_any_stretch_of_a_cell_is_replaced(texts: list[str], start: int, length: int, new: str):
    whole = "".join(texts)
    start, end = min(start, len(whole)), min(start + length, len(whole))
    original = Original(notebook(texts, ensure_ascii=False), notebook=True)
    change = _replacement(original, original.parts[1], start, end, new)
    cell = json.loads(repaired(original.text, [change]))["cells"][0]["source"]
    assert "".join(cell) == whole[:start] + new + whole[end:]


# --- what is refused ---


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.md", f"\n<!-- derivation: softmax.jacobain -->\n{END}\n", r"a.md:2:1: .*nearest are softmax.jacobian"),
        ("a.md", f"<!-- derivation: feed_forward -->\n{END}\n", "is a layer: write layer: feed_forward"),
        ("a.md", f"<!-- layer: feed_forwrd -->\n{END}\n", "nearest are feed_forward"),
        ("a.md", f"<!-- derivation: -->\n{END}\n", "names nothing"),
        ("a.md", f"{MARK}\n", r"a.md:1:1: .* has no end"),
        ("a.md", f"<!-- derivation: softmax.jacobian gradient -->\n{END}\n", "only a layer has a gradient"),
        ("a.md", f"<!-- derivation: softmax.jacobian set zz=3 -->\n{END}\n", "has no zz"),
        ("a.md", f"<!-- derivation: softmax.jacobian label=eq math=fence -->\n{END}\n", "takes no label"),
        ("a.md", f"<!-- derivation: softmax.jacobian label={{x -->\n{END}\n", "letters, digits and hyphens"),
        ("a.rst", ".. derivation: softmax.jacobian math=dollars\n.. end\n", "leave math out"),
        ("a.tex", "% derivation: softmax.jacobian math=fence\n% end\n", "LaTeX has no fences"),
        ("a.py", f"{MARK}\n{END}\n", "blocks stand in files that end in .md"),
        ("a.ipynb", '{"cells": 3}', "is no notebook"),
        ("a.ipynb", notebook("a", f"\n{MARK}\n"), r"a.ipynb:cell 2:2:1: "),
    ],
)
def test_what_cannot_be_filled_is_said_in_one_sentence(tmp_path: Path, name: str, text: str, message: str):
    (tmp_path / name).write_bytes(text.encode())
    with pytest.raises(ValueError, match=message) as refused:
        rendered(tmp_path / name, Options())
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_sound_is_refused(tmp_path: Path):
    (tmp_path / "a.md").write_bytes(f"\xff{MARK}\n{END}\n".encode("latin-1"))
    with pytest.raises(ValueError, match="save it as UTF-8"):
        rendered(tmp_path / "a.md", Options())


@pytest.mark.parametrize("name", ["softmax.jacobian", "dot_product.variance", "attention.scores"])
@pytest.mark.parametrize("form", ["markdown", "latex", "restructuredtext"])
def test_no_emitted_line_looks_like_a_mark_or_a_comment(name: str, form: str):
    text = emitted(MarkedBlock("derivation", (name,), 1, 0, 0), Options(steps=True, title=True), form)
    assert not re.search(r"<!--|^\s*%|^\s*\.\. (?!math::)", text, re.M)
