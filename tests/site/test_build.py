"""A small site, whose formulas are set by a stand-in: what the pages hold, and how they refer to one another."""

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner

from derivations import get
from derivations.catalogue import layer
from derivations.cli import cli
from derivations.language.printing.notation import NOTATIONS
from derivations.site.attempts import Attempt
from derivations.site.build import Contents, built
from derivations.site.formulas import Formula
from derivations.site.layers import beside, read_layers
from derivations.site.results import TITLES, read_result
from numeric.codegen.compile import source
from tests.site.links import broken

RESULTS = ("softmax.jacobian", "layer_norm.jacobian", "layer_norm.gradient")
TRIED = [Attempt("no delta", True, "tests/one.py"), Attempt("half", True, "tests/two.py")]
LAYERS = (
    "scaled_dot_product_attention",
    "multi_head_attention",
    "multi_head_attention_with_biases",
    "positional_encoding",
)


def named(formulas: Sequence[Formula]) -> list[str]:
    return [f"[{each.latex}]".replace("&", "&amp;").replace("<", "&lt;") for each in formulas]


def contents(docs: Path | None) -> Contents:
    results = [read_result(get(name), get(name).evidence.level) for name in RESULTS]
    return Contents(
        results,
        read_layers({name: layer(name) for name in LAYERS}, lambda each: source(each, "numpy")),
        ("gpt2",),
        docs,
        attempts={"softmax.jacobian": TRIED},
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | bytes]:
    docs = tmp_path_factory.mktemp("docs")
    text = "# Start\n\n<!-- derivation: softmax.jacobian -->\n\n`softmax.jacobian` has $`y`$.\n"
    (docs / "index.md").write_text(text, encoding="utf-8")
    return built(contents(docs), named)


def text(files: dict[str, str | bytes], path: str) -> str:
    found = files[path]
    assert isinstance(found, str)
    return found


def test_a_result_that_a_notation_writes_otherwise_has_a_switch(files: dict[str, str | bytes]):
    page = text(files, "results/softmax.jacobian.html")
    assert '<option value="close-reading">' in page and '<option value="columns">' not in page
    assert r"y = \text{Softmax}(x)" in page and r"i, k = 1, \ldots, L" in page


def test_the_switch_of_letters_says_whose_they_are(files: dict[str, str | bytes]):
    page = text(files, "results/softmax.jacobian.html")
    assert ">a close reading of Vaswani et al.</option>" in page and "chapter-7" not in page.partition("<select")[0]
    assert "notation.html" not in page  # of which these pages have none
    assert set(TITLES) >= set(NOTATIONS)


def test_titles_have_their_formulas_in_lists_and_in_the_search(files: dict[str, str | bytes]):
    heading = read_result(get("layer_norm.gradient"), "proved").heading
    assert len(heading) > 1
    shown = f'<span class="later" data-latex="{escape(heading[1])}">dX = '
    assert shown in text(files, "results/index.html") and shown in text(files, "results/layer_norm.jacobian.html")
    assert json.dumps(heading, ensure_ascii=False, separators=(",", ":")) in text(files, "search-index.js")


def test_a_page_that_is_not_there_leads_to_the_start(files: dict[str, str | bytes]):
    assert '<a href="index.html">' in text(files, "404.html") and "404" not in text(files, "search-index.js")


def test_the_page_of_a_result(files: dict[str, str | bytes]):
    page = text(files, "results/softmax.jacobian.html")
    assert "<h1>Jacobian of softmax</h1>" in page and ">proved</span>" in page
    assert r"[\frac{\partial y_{i}}{\partial x_{k}} = y_{i} (\delta_{ik} - y_{k})]" in page
    assert page.count('<details id="step-1-') == 3 and '<details id="step-1-2">' in page
    assert 'data-latex="(u/v)&#x27; = ' in page  # the law of a rule
    assert "Bridle (1990)" in page and r"[x \in \mathbb{R}^{n}]" in page
    assert '<a href="../index.html">Start</a>' in page  # the page that shows it


def test_a_layer_without_real_arrays_has_no_gradient_on_its_page(files: dict[str, str | bytes]):
    assert "<h2>Gradient</h2>" in text(files, "layers/scaled_dot_product_attention.html")
    page = text(files, "layers/positional_encoding.html")
    assert "def positional_encoding(" in page and "radient" not in page.partition("<main")[2].partition("</main>")[0]


def test_layers_are_listed_by_concept_with_what_they_are(files: dict[str, str | bytes]):
    page = text(files, "layers/index.html")
    assert '<h2 id="attention">Attention</h2>' in page and '<h2 id="positions">Positions</h2>' in page
    assert ">Multi-head attention with biases</a>" in page and page.count(">Multi-head attention</a>") == 1
    assert '<span class="law">attention with h heads, each with separate projections</span>' in page
    assert '<span class="law">scaled dot-product attention</span>' in page  # without the option that its line names
    assert "<h1>Multi-head attention with biases</h1>" in text(files, "layers/multi_head_attention_with_biases.html")


def test_what_tests_try_is_on_the_page(files: dict[str, str | bytes]):
    page = text(files, "results/softmax.jacobian.html")
    assert "2 wrong variants, each of which the judge must refuse, in <code>tests/one.py</code>" in page
    assert "<li>no delta</li><li>half</li>" in page and "other test" not in page
    assert "Tests that try" not in text(files, "results/layer_norm.jacobian.html")


def test_a_button_has_the_texts_of_other_letters(files: dict[str, str | bytes]):
    found = read_result(get("softmax.jacobian"), "proved").copies
    own, others = found["LaTeX"]
    assert own == get("softmax.jacobian").latex(steps=True)
    assert others["close-reading"] == get("softmax.jacobian").latex("close-reading", steps=True)
    assert found["Markdown"][1]["close-reading"] == get("softmax.jacobian").markdown("close-reading", steps=True)
    assert "columns" not in others  # which writes it as we do


def test_letters_of_rows_stand_in_the_order_of_the_printer():
    """The statement is printed by the printer of the steps, which must not meet its letters before."""
    found = get("attention.weighted_sum")
    assert read_result(found, "proved").copies["Markdown"][0] == found.markdown(steps=True)


def test_what_refers_to_a_result_is_listed(files: dict[str, str | bytes]):
    assert 'href="../results/layer_norm.gradient.html"' in text(files, "results/layer_norm.jacobian.html")
    assert "Used by" not in text(files, "results/layer_norm.gradient.html")


def test_each_equation_stands_beside_its_line():
    found = beside(layer("scaled_dot_product_attention"), source(layer("scaled_dot_product_attention"), "numpy"))
    assert [rows[0].left for rows, _ in found if rows] == ["S", "A", "O"]
    assert [lines[-1].partition(" =")[0] for _, lines in found] == ["S", "A", "O", "return O"]
    assert found[0][1][0] == "d_k = Q.shape[-1]"  # what comes before stands with the equation that follows


def test_the_files_refer_to_one_another(files: dict[str, str | bytes], tmp_path: Path):
    beside = ("calculator-data.js", "assets/katex/katex.min.css", "assets/katex/katex.min.js")  # written by the command
    for name in (*files, *beside):
        content = files.get(name, "")
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert list(broken(tmp_path)) == []


def test_all_pages_are_searched(files: dict[str, str | bytes]):
    index = text(files, "search-index.js")
    assert index.startswith("window.SEARCH_INDEX = [") and index.count("results/") == len(RESULTS) + 1
    assert "backpropagation" in index  # the words by which people seek the gradients


@pytest.mark.parametrize("with_docs", [True, False])
def test_the_start_page_says_first_what_this_is_and_what_to_do(files: dict[str, str | bytes], with_docs: bool):
    page = text(files if with_docs else built(contents(None), named), "index.html")
    first = page.partition("</h1>")[2]
    assert first.startswith('<p class="lead">The mathematics of the Transformer, held once as equations')
    for path in ("results/index.html", "layers/index.html", "calculator.html", "judge.html"):
        assert f'<a href="{path}" class="card">' in first
    assert "3 results, each proved" in first and "<code>pip install .</code>" in first


def test_no_page_holds_a_script(files: dict[str, str | bytes]):
    for name in files:
        if name.endswith(".html"):
            assert text(files, name).count("<script") == text(files, name).count("<script src=")


def test_without_docs_the_site_starts_with_the_results():
    files = built(contents(None), named)
    assert 'href="results/softmax.jacobian.html"' in text(files, "index.html")
    assert 'href="#softmax"' in text(files, "index.html")


def test_the_command_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    run = CliRunner().invoke(cli, ["site", str(tmp_path / "out"), "--katex", str(tmp_path)])
    assert run.exit_code != 0 and "install Node.js" in run.output
    assert not (tmp_path / "out").exists()


def test_the_workflow_for_pages_on_github_asks_for_what_exists(repository: Path) -> None:
    text = (repository / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    (line,) = re.findall(r"- run: derivations (.*)", text)
    name, folder, *options = line.split()
    known = {option for each in cli.get_command(Context(cli), name).params for option in each.opts}
    assert set(options[::2]) <= known and len(options) % 2 == 0
    assert all((repository / each).is_dir() for each in options[1::2])
    assert f"path: {folder}\n" in text
