"""The whole site in Chromium: no error, nothing from outside, no sideways scroll, search, copies, calculator."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from derivations import get
from derivations.architectures.models import named_model
from derivations.catalogue import LAYERS, names
from derivations.costs.counts import count
from tests.site.links import broken
from tests.site.test_calculator import numbers

pytestmark = pytest.mark.browser

LARGEST = 150_000  # bytes of the page of a result, without fonts
LOOKED_AT = [
    "index.html", "softmax.html", "command_line.html", "calculator.html", "results/index.html",
    "results/softmax.jacobian.html", "results/multi_head.gradient.html", "layers/index.html",
    "layers/multi_head_attention.html",
]  # fmt: skip


@pytest.fixture(scope="session")
def seen(site: Path, packages: Path, chromium: Path, node: Callable[..., Any]) -> dict[str, Any]:
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    request = {
        "folder": str(site),
        "pages": pages,
        "looked_at": LOOKED_AT,
        "pictures": os.environ.get("SITE_PICTURES"),
    }
    found: dict[str, Any] = node("check_site.js", request, packages, chromium)
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


def test_a_button_copies_what_the_printer_prints(seen: dict[str, Any]):
    assert seen["copied"] == get("softmax.jacobian").latex(steps=True)


def test_the_address_of_the_calculator_sets_its_numbers(seen: dict[str, Any]):
    counts = count(named_model("gemma-2-9b"), phase="decode", batch=2, seq=8192, dtype="float32").json()
    wanted = dict(numbers({name: counts[name] for name in ("parameters", "flops", "memory")}))
    shown = {path: value for path, value in wanted.items() if value != "0" and path not in ("flops.batch", "flops.seq")}
    assert seen["counts"] == shown
