"""The performance page: a view of the figures that are kept, with every shape and every part."""

import json
from typing import Any

import pytest

from docs.performance_tables import FIGURES, MARK, PAGE, VIEWS, machine, refreshed, shown
from tests.benchmarks.__main__ import PARTS, keep
from tests.benchmarks.encoder_peers import SHAPES
from tests.benchmarks.memory import LENGTHS, score_bytes
from tests.benchmarks.overhead import DEPTHS, MODELS
from tests.benchmarks.timing import ROUNDS
from tests.benchmarks.verdicts import line_through

PAGE_TEXT = PAGE.read_text(encoding="utf-8")
KEPT: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
RACES = {
    "forward": tuple(map(str, SHAPES)),
    "training": tuple(map(str, SHAPES[:3])),
    "gpt2": ("n = 1024",),
    "decoding": ("64 after 512", "64 after 512, the steps alone"),
}


def race(**columns: list[float]) -> dict[str, Any]:
    roles = {"products_alone": "shown", "ours": "ours"}
    named = {name.replace("_", " "): column for name, column in columns.items()}
    return {
        "label": "2, 3, 5, 7, 11",
        "roles": {name.replace("_", " "): roles.get(name, "peer") for name in columns},
        "seconds": named,
        "differences": {"ours": 3e-7},
        "tokens": 13,
        "said": ["the same tokens"],
    }


RACE = race(products_alone=[0.1, 0.2, 0.1], textbook=[0.3, 0.6, 0.3], jitted=[0.2, 0.4, 0.2], ours=[0.1, 0.2, 0.1])


def test_the_page_is_the_view_of_the_figures() -> None:
    """Run `python -m docs.performance_tables` when this fails."""
    assert refreshed(PAGE_TEXT, KEPT) == PAGE_TEXT


def test_a_figure_typed_by_hand_is_noticed() -> None:
    page = refreshed("<!-- measured training -->\n<!-- end of measured -->\n", {"training": {"figures": [RACE]}})
    changed = page.replace("| 0.50 (", "| 0.05 (")
    assert refreshed(changed, {"training": {"figures": [RACE]}}) == page != changed


def test_every_part_is_on_the_page_and_can_be_measured() -> None:
    marks = [part for _, part, _, _ in MARK.findall(PAGE_TEXT)]
    assert sorted(marks) == sorted(["machine", *VIEWS])
    assert PARTS.keys() == VIEWS.keys()
    assert PAGE_TEXT.count("<!-- measured ") == len(marks) == PAGE_TEXT.count("<!-- end of measured -->")


def test_every_part_is_measured() -> None:
    """Run `python -m tests.benchmarks PART --page docs/performance.md` for the parts that are missing."""
    assert [part for part in VIEWS if part not in KEPT] == []


@pytest.mark.parametrize("part", [part for part in KEPT if part in RACES])
def test_every_race_took_enough_rounds(part: str) -> None:
    rounds = KEPT[part]["measured"]["rounds"]
    columns = [column for record in KEPT[part]["figures"] for column in record["seconds"].values()]
    assert {len(column) for column in columns} == {rounds}
    assert rounds >= ROUNDS


@pytest.mark.parametrize("part", [part for part in KEPT if part in RACES])
def test_a_table_of_races_has_every_label(part: str) -> None:
    labels = [record["label"] for record in KEPT[part]["figures"]]
    assert labels == list(RACES[part])
    assert all(f"| {label} |" in shown(part, KEPT) for label in labels)


def test_tables_have_every_length_and_depth() -> None:
    assert [point["n"] for point in KEPT["memory"]["figures"]] == list(LENGTHS)
    depths = [(point["model"], point["N"]) for point in KEPT["overhead"]["figures"]["compiling"]]
    assert depths == [(model, depth) for model in MODELS for depth in DEPTHS]


def test_a_race_is_shown_with_its_ratio_and_verdict() -> None:
    measured = {part: {"figures": [RACE]} for part in ("forward", "training", "decoding")}
    *_, row = shown("forward", measured).splitlines()
    assert row == (
        "| 2, 3, 5, 7, 11 | 1 = 100 ms | 3.00 (3.00 - 3.00) | 2.00 (2.00 - 2.00) | 1.00 (1.00 - 1.00) "
        "| 0.50 (0.50 - 0.50) | jitted | faster | 3e-07 |"
    )
    assert "| 200 (200 - 300) ms | 100 (100 - 150) ms | 0.50 (0.50 - 0.50) | jitted | faster |" in shown(
        "training", measured
    )
    assert "| 130.0 (97.5 - 130.0) | 0.50 (0.50 - 0.50) | jitted | faster | the same tokens |" in shown(
        "decoding", measured
    )


def test_a_slower_race_is_shown_as_slower() -> None:
    slower = race(peer=[0.1, 0.2, 0.1], ours=[0.2, 0.4, 0.2])
    assert "| 2.00 (2.00 - 2.00) | peer | slower |" in shown("training", {"training": {"figures": [slower]}})


def test_a_part_without_figures_says_so() -> None:
    assert "run `python -m tests.benchmarks memory --page" in shown("memory", {})
    with pytest.raises(KeyError, match="nothing"):
        refreshed("<!-- measured nothing -->\n<!-- end of measured -->\n", {})


def test_the_line_through_points() -> None:
    assert line_through([2, 3, 5], [7, 9, 13]) == pytest.approx((2, 3, 0))
    slope, _, off = line_through([2, 4, 8, 16], [4, 16, 64, 256])  # squares are no line
    assert slope > 0
    assert off > 0.5


def test_the_textbook_needs_eight_gibibytes_of_scores() -> None:
    assert score_bytes(16384) == 8 * 2**30


def test_parts_measured_elsewhere_say_so() -> None:
    here, there = {"rounds": 11, "cores": 2}, {"rounds": 11, "cores": 3}
    table = machine({"forward": {"measured": here}, "memory": {"measured": there}})
    assert "| rounds | 11 |" in table
    assert "| cores | 2 (forward); 3 (memory) |" in table


def test_figures_are_kept_beside_the_page(tmp_path: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- measured training -->\n<!-- end of measured -->\nz\n", encoding="utf-8")
    other = {"measured": {"rounds": 11}, "figures": [1.5, 2e-07]}
    page.with_suffix(".json").write_text(json.dumps({"accuracy": other}), encoding="utf-8")
    keep(page, {"training": {"measured": {"rounds": 11}, "figures": [RACE]}})
    kept = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert kept == {"training": {"measured": {"rounds": 11}, "figures": [RACE]}, "accuracy": other}
    assert "| jitted | faster |" in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").endswith("<!-- end of measured -->\nz\n")
