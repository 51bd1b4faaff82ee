"""The whole site in Chromium: no error, nothing from outside, no sideways scroll, search, copies, calculator."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from derivations import get
from derivations.architectures.hugging_face import model_of
from derivations.architectures.models import named_model
from derivations.catalogue import LAYERS, names
from derivations.cli import cli
from derivations.costs.counts import Counts, count
from derivations.costs.fit.inference import Serving
from derivations.costs.fit.precision import stored_as
from derivations.site.calculator import QUANTITIES
from derivations.site.functions import SAMPLE, SAMPLE_LAYER, answered
from tests.once import once
from tests.site.links import broken
from tests.site.test_calculator import numbers

pytestmark = pytest.mark.browser

Node = Callable[..., Any]

LARGEST = 150_000  # bytes of the page of a result, without fonts
JUDGED = ("docs/check.md", "docs/documents.md", "tests/documents/corpus/attention_mistakes.md")
HOSTILE = [
    "<script>alert(1)</script><img src=x onerror=alert(1)> $\\href{javascript:alert(1)}{x} = <img onerror=alert(1)>$",
    "$" + "(" * 20_000 + "x" + ")" * 20_000 + " = x$",
    "$$" + r"\frac{1}{" * 500 + "x" + "}" * 500 + " = x$$",
    "> " * 3_000 + "$a = b$",
    "$(a + b)^{99} = (a - b)^{99}$, $((a + b + c + d)^{64})^{64} = 1$",
]
NORM = """
def norm(x, gamma, beta):
    x = x - x.mean(-1, keepdims=True)
    return gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) + beta
"""
FUNCTIONS = [
    (SAMPLE, "", SAMPLE_LAYER),
    (SAMPLE.replace("/ np.sqrt(Q.shape[-1])", ""), "", SAMPLE_LAYER),
    (SAMPLE, "Q: n x d\nK: m x d\nV: m x 2*p", ""),
    ("def f(x):\n    raise KeyError('no')", "x: n x d", ""),
    (NORM, "", "layer_norm"),
]
LOOKED_AT = [
    "index.html", "judge.html", "softmax.html", "command_line.html", "calculator.html", "results/index.html",
    "results/softmax.jacobian.html", "results/multi_head.gradient.html", "layers/index.html",
    "layers/multi_head_attention.html",
]  # fmt: skip


def configuration(repository: Path) -> dict[str, Any]:
    path = repository / "tests" / "architectures" / "configurations.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["qwen2.5-0.5b"]["config"]
    return found


@pytest.fixture(scope="session")
def documents(repository: Path) -> list[Path]:
    return [repository / path for path in JUDGED]


@pytest.fixture(scope="session")
def seen(
    site: Path, packages: Path, chromium: Path, node: Node, documents: list[Path], repository: Path, run_folder: Path
) -> dict[str, Any]:
    """What one visit to all of the site found; one worker goes for all."""
    has_numpy = (site / "assets" / "pyodide" / "numpy.whl").is_file()
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    request = {
        "folder": str(site),
        "pages": pages,
        "looked_at": LOOKED_AT,
        "pictures": os.environ.get("SITE_PICTURES"),
        "judged": [path.read_text(encoding="utf-8") for path in documents],
        "configuration": json.dumps(configuration(repository)),
        "hostile": HOSTILE,
        "functions": FUNCTIONS if has_numpy else None,
        "endless": "$a + b = b + a$ and words.\n" * 37_000,  # about 1 MB: more formulas than one waits for
    }

    def visit(answer: Path) -> None:
        answer.write_text(json.dumps(node("check_site.js", request, packages, chromium)), encoding="utf-8")

    found: dict[str, Any] = json.loads(once(run_folder, "seen.json", visit).read_text(encoding="utf-8"))
    assert found["opened"] == len(pages)
    return found


def test_there_is_a_page_for_each_result_and_layer(site: Path):
    assert {path.stem for path in (site / "results").iterdir()} == {*names(), "index"}
    assert {path.stem for path in (site / "layers").iterdir()} == {*LAYERS, "index"}


def test_links_and_anchors_resolve_and_formulas_are_set(site: Path):
    assert list(broken(site)) == []


def test_a_broken_page_is_noticed(tmp_path: Path):
    (tmp_path / "one.html").write_text(
        '<a href="two.html">a</a><a href="#b">b</a><p>$`x`$ <code>$</code><span class="katex-error">', encoding="utf-8"
    )
    assert [fault.partition(": ")[2] for fault in broken(tmp_path)] == [
        "an error of KaTeX",
        "a raw formula: $`x`$",
        "two.html leads nowhere",
        "#b has no such anchor",
    ]


def test_the_page_of_a_result_is_small(site: Path):
    sizes = {path.name: path.stat().st_size for path in (site / "results").iterdir()}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def test_every_page_opens_without_a_fault(seen: dict[str, Any]):
    assert seen["faults"] == []


def test_search_finds_and_opens_a_result(seen: dict[str, Any]):
    assert seen["opened_result"] == "results/softmax.jacobian.html"
    assert seen["found"][0].startswith("Jacobian of softmax")


def test_a_search_without_a_match_names_the_nearest_words(seen: dict[str, Any]):
    assert seen["near"] == "Nothing found. Did you mean “softmax jacobian”?"


def test_a_button_copies_what_the_printer_prints(seen: dict[str, Any]):
    assert seen["copied"] == get("softmax.jacobian").latex(steps=True)


def shown(counts: Counts) -> dict[str, str]:
    """What the calculator shows of some counts."""
    found = counts.json()
    wanted = dict(numbers({name: found[name] for name in ("parameters", "flops", "memory")}))
    hidden = [path for path, (_, phases) in QUANTITIES.items() if counts.phase not in phases]
    hidden += ["flops.batch", "flops.seq"]
    return {path: value for path, value in wanted.items() if value != "0" and path not in hidden}


def of_counts(found: dict[str, str]) -> dict[str, str]:
    return {path: value for path, value in found.items() if not path.startswith("fit.")}


def test_the_address_of_the_calculator_sets_its_numbers(seen: dict[str, Any]):
    counts = count(named_model("gemma-2-9b"), phase="decode", batch=2, seq=8192, dtype="float32")
    assert of_counts(seen["counts"]) == shown(counts)


def test_a_pasted_configuration_is_counted_and_one_that_is_not_understood_refused(
    seen: dict[str, Any], repository: Path
):
    found, model = seen["configured"], model_of(configuration(repository), "config.json")
    assert found["said"] == "Read: it is the model config.json above."
    assert of_counts(found["counts"]) == shown(count(model, phase="decode", batch=2, seq=16, dtype="float32"))
    needed = Serving(stored_as(model, "float32"), 16, 2).budget.bytes
    assert found["fits"].startswith("fits on NVIDIA H100") and f"({needed:,} bytes) of " in found["fits"]
    command = found["fits"].partition("derivations ")[2].split()
    assert command == ["fit", "config.json", "--gpu", "h100", "--seq", "16", "--batch", "2", "--weights", "float32"]
    assert seen["misconfigured"]["said"].startswith("Not read: config.json: hidden_size is missing")


def test_an_address_carries_a_pasted_configuration(seen: dict[str, Any]):
    assert seen["linked"]["shared"] == {"said": seen["configured"]["said"], "counts": seen["configured"]["counts"]}


@pytest.mark.parametrize("address", ["damaged", "endless"])
def test_an_address_that_carries_none_is_refused_and_shows_a_named_model(seen: dict[str, Any], address: str):
    found = seen["linked"][address]
    assert found["said"].startswith("Not read: the address holds no config.json")
    assert of_counts(found["counts"]) == shown(count(named_model("gpt2"), seq=1024))


def test_the_switch_of_letters_turns_rows_into_columns(seen: dict[str, Any]):
    assert r"\partial X_{il}" in get("layer_norm.jacobian").latex()
    assert r"\partial X_{li}" in seen["written"]


def test_a_button_copies_the_letters_that_the_page_shows(seen: dict[str, Any]):
    assert seen["in_columns"] == get("layer_norm.jacobian").markdown("columns", steps=True)


def test_the_judge_in_the_browser_says_what_the_command_says(
    seen: dict[str, Any], documents: list[Path], tmp_path: Path
):
    """Settings are those of nobody: the page knows nothing of this repository's."""
    settings = tmp_path / "settings.toml"
    settings.write_text("[tool.derivations.check]\n", encoding="utf-8")
    verdicts = set()
    for path, answer in zip(documents, seen["judgements"]["answers"], strict=True):
        run = CliRunner().invoke(
            cli, ["check", "-", "--json", "--config", str(settings)], input=path.read_text(encoding="utf-8")
        )
        wanted = json.loads(run.stdout)
        assert answer["files"][0]["claims"] == wanted["files"][0]["claims"], path.name
        assert answer["summary"] == wanted["summary"]
        verdicts |= {name for name, count in wanted["summary"].items() if count}
    assert verdicts >= {"proved", "holds", "wrong", "unknown"}


def test_verdicts_stand_where_the_formulas_do(seen: dict[str, Any]):
    assert seen["judgements"]["marks"] == ["unknown", "unknown", "proved", "wrong", "holds"]


def test_what_says_what_a_letter_is_has_no_verdict(seen: dict[str, Any]):
    assert seen["judgements"]["badges"] == ["declaration", "declaration", "proved", "wrong", "holds"]


def test_a_line_of_an_answer_is_shown_in_the_text(seen: dict[str, Any]):
    assert seen["judgements"]["line"] == r"$$(A B)^\top = B^\top A^\top$$"


def test_an_answer_is_in_sight_beside_the_button(seen: dict[str, Any]):
    assert seen["judgements"]["hidden"] == []


def test_two_sides_are_refuted_by_numbers_and_bad_shapes_by_a_sentence(seen: dict[str, Any]):
    found = seen["judgements"]
    assert found["wrong"]["level"] == "refuted" and "the left side is" in found["wrong"]["reason"]
    assert found["refused"] == "'A' gives no shape: write a letter and its sizes, such as A: n x d"


@pytest.fixture
def followed(seen: dict[str, Any]) -> dict[str, Any]:
    """What the form of functions showed; its NumPy comes with no npm package."""
    if seen["followed"] is None:
        pytest.skip("the wheel of NumPy of Pyodide's full distribution is not in $KATEX_DIR or at the root")
    found: dict[str, Any] = seen["followed"]
    return found


def test_a_function_is_proved_and_differentiated_in_the_browser(followed: dict[str, Any]):
    assert followed["facts"] == [
        "proved attention is scaled_dot_product_attention: proved (real arithmetic, all sizes >= 1)",
        "The gradient of your function, as it is written: proved, each equation is differentiated by the chain rule, "
        "for all sizes",
    ]
    first, second = (json.loads(answered(name, *FUNCTIONS[0]))["answer"] for name in ("function", "gradient"))
    assert followed["copied"] == [first["latex"], second["latex"]]


def test_answers_about_functions_in_the_browser_are_those_of_the_package(followed: dict[str, Any]):
    levels = []
    for given, (found, slope) in zip(FUNCTIONS, followed["answers"], strict=True):
        for name, answer in (("function", found), ("gradient", slope)):
            wanted = json.loads(answered(name, *given))["answer"]
            assert _but_numbers(answer) == _but_numbers(wanted), given
        levels.append(found["level"])
    assert levels == ["proved", "refuted", "lifted", "not followed", "proved"]


def _but_numbers(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without the last digits of its counterexample, which depend on the processor; `said` has ten."""
    failing = answer.get("verdict", {}).get("counterexample")
    return {**answer, "verdict": failing and {**failing, "found": None, "expected": None}}


def test_what_a_function_raises_is_text(followed: dict[str, Any]):
    assert "it raises ValueError: <img src=x onerror=alert(1)> (line 2 of <pasted>, in f)" in followed["raised"]
