"""Numbers with units: converted within a kind, and certain only where no reading fits."""

from fractions import Fraction

import pytest

from derivations.documents.checking import check_text
from derivations.documents.numbers.units import UNITS, conversions, is_scaled, of_the_kind

RIGHT = (
    r"7 \times 10^9 \times 2 = 14 \text{ GB}",
    r"7 \times 10^{9} \times 2 \text{ bytes} = 14 \text{ GB}",
    r"80 \times 10^9 \text{ B} = 80 \text{ GB}",
    r"14{,}000 \text{ MB} = 14 \text{ GB}",
    r"1 \text{ GB} = 1024 \text{ MB}",
    r"30 \text{ GB} \approx 27.9 \text{ GiB}",
    r"4096 \times 320\,\text{KiB} = 1.25\,\text{GiB}",
    r"16 \text{ bits} = 2 \text{ bytes}",
    r"7 \times 10^9 \times 4 \text{ bits} = 3.5 \text{ GB}",
    r"3600 \times 24 \approx 1 \text{ days}",
    r"7200 / 2 = 1.0 \text{ hours}",
    r"2.52 \times 10^6 \text{ s} \approx 29 \text{ days}",
    r"2.5 \times 10^6 \text{ s} \approx 29.2 \text{ days}",
    r"2.52 \times 10^6\ \text{秒} \approx 29\ \text{日}",
    r"10^9 \text{ FLOPs} = 1 \text{ GFLOPs}",
    r"6 \times 175 \times 10^9 \times 300 \times 10^9 = 3.15 \times 10^{23} \text{ FLOPs}",
)
WRONG = (
    r"14{,}000 \text{ MB} = 1.4 \text{ GB}",
    r"30 \text{ KB} = 30 \text{ MB}",
    r"30 \text{ s} = 30 \text{ days}",
    r"8 \text{ bits} = 8 \text{ bytes}",
    r"48 \text{ hours} = 3 \text{ days}",
    r"4096 \times 320\,\text{KiB} = 1.35\,\text{GiB}",
    r"2.52 \times 10^6 \text{ s} \approx 39 \text{ days}",
    r"2.52 \times 10^6\ \text{秒} \approx 39\ \text{日}",
    r"6 \times 175 \times 10^9 \times 300 \times 10^9 = 3.15 \times 10^{22} \text{ FLOPs}",
)
OPEN = (
    r"80 \text{ GB} - 500 \text{ MB} = 79.5 \text{ GB}",  # two units
    r"2 \times 15 \text{ GB} \approx 30 \text{ days}",  # of two kinds
    r"7 \times 10^9 \times 4 \text{ bits} / 8 = 3.5 \text{ GB}",  # the 8 has changed the unit
    r"2 \times 15 \text{ layers} = 30 \text{ heads}",
)


def verdict(text: str) -> str:
    return check_text(f"${text}$", "markdown").claims[-1].finding.verdict


@pytest.mark.parametrize("text", RIGHT)
def test_a_number_in_another_unit_is_right(text: str) -> None:
    assert verdict(text) in ("holds", "conditional")


@pytest.mark.parametrize("text", WRONG)
def test_a_slip_of_units_is_wrong(text: str) -> None:
    assert verdict(text) == "wrong"


@pytest.mark.parametrize("text", OPEN)
def test_what_may_be_meant_otherwise_is_left_open(text: str) -> None:
    assert verdict(text) == "unknown"


def test_the_exponent_of_a_power_has_no_unit() -> None:
    """`10^9 \\text{ B}` is a billion bytes, not ten to nine billion."""
    assert verdict(r"2 \times 10^9 \text{ B} = 2 \text{ GB}") == "holds"


@pytest.mark.parametrize(
    "text",
    [
        "总共 $64.4+2.62=67.02$ 亿。",
        "總共約 $302.3+51.5+1.05\\approx 354.9$ 百萬。",
        "In all $12 \\times 7 = 84$ M parameters.",
        r"$124 + 2 = 126 \text{ million}$",
    ],
)
def test_the_scale_of_a_result_may_be_that_of_both_sides(text: str) -> None:
    finding = check_text(text, "markdown").claims[0].finding
    assert finding.verdict == "conditional"
    assert any("both sides" in each for each in finding.assumptions)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("总共 $64.4+2.62=66.02$ 亿。", "67.02"),
        ("In all $124 + 2 = 127$ million parameters.", "126"),
        ("In all $124{,}000{,}000 + 2{,}000{,}000 = 136$ million parameters.", "126 million"),
        (r"$512 \times 512 = 262144\text{K}$", "262 K"),
        ("In all $7 \\times 10^9 \\times 2 = 14$ million.", "14000 million"),
    ],
)
def test_a_result_that_is_wrong_under_both_scales_is_wrong(text: str, right: str) -> None:
    finding = check_text(text, "markdown").claims[0].finding
    assert (finding.verdict, finding.right) == ("wrong", right)


def test_conversions_are_those_of_one_kind() -> None:
    assert next(conversions("MB", "GB")) == (Fraction(1000), "")
    assert [ratio for ratio, _ in conversions("GB", "GiB")] == [Fraction(1024**3, 1000**3), Fraction(1)]
    assert not list(conversions("GB", "days"))
    assert not list(conversions("tokens", "heads"))
    assert "KiB" in of_the_kind("bits")
    assert of_the_kind("tokens") == frozenset()
    assert [unit for unit in ("GB", "days", "bytes", "s", "tokens") if is_scaled(unit)] == ["GB", "days", "s"]
    assert all(size > 0 for unit in UNITS.values() for size in unit.sizes)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("It takes 7.44e18 / 150e12 = 49,600 s in all.", "holds"),
        ("It takes 7.44e18 / 150e12 = 4,960 s in all.", "wrong"),
        ("It takes 2.36e21 / 8.96e15 = 263,393 s = 73.2 h.", "holds"),
        ("It takes 2.36e21 / 8.96e15 = 263,393 s = 7.32 h.", "wrong"),
        ("It takes 300 / 3600 = 5 minutes.", "conditional"),
        ("where $s = 3$ and x / 2 = 8 s", "unknown"),  # a letter
    ],
)
def test_a_time_that_numbers_alone_give_is_measured(text: str, verdict: str) -> None:
    assert check_text(text, "markdown").claims[-1].finding.verdict == verdict
