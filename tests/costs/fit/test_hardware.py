"""Devices and engines: every entry of the file is whole, a user's file adds more, nonsense is refused."""

from datetime import date
from pathlib import Path

import pytest
from sympy import Rational

from derivations.costs.fit.hardware import device_named, device_names, engine_named, engine_names, own_device, rate

OWN = """
[devices.Mine]
title = "a device of mine"
memory = 7e9
bandwidth = 1.25e12
flops = { float16 = 3e12 }
"""


@pytest.mark.parametrize("name", device_names())
def test_every_device_has_what_a_bound_needs_and_a_source(name: str):
    device = device_named(name)
    assert device.memory > 10**9 and device.bandwidth and device.flops and device.source
    assert date(2015, 1, 1) < date.fromisoformat(device.date) < date(2027, 1, 1)
    # an array that is larger than the chip's caches by far: what is kept cannot be the memory
    assert device.on_chip < device.memory / 50


@pytest.mark.parametrize("name", engine_names())
def test_every_engine_takes_a_part_of_the_memory(name: str):
    engine = engine_named(name)
    assert 0 < engine.fraction <= 1 and engine.page >= 1 and engine.chunk >= 1 and engine.source


def test_names_are_read_as_people_write_them():
    assert device_named("NVIDIA H100") == device_named("h100") == device_named("H100_SXM")
    assert device_named("3090").bandwidth == 936 * 10**9
    assert device_named("h100").bandwidth == Rational("3.35e12")  # the decimal as written, not its float


@pytest.mark.parametrize(("name", "hint"), [("h10O", "did you mean h100"), ("abacus", "there are h100")])
def test_a_device_that_is_not_known_is_refused_with_others(name: str, hint: str):
    with pytest.raises(LookupError, match=hint):
        device_named(name)
    with pytest.raises(LookupError, match="there are plain, vllm"):
        engine_named(name)


def test_a_file_of_the_user_adds_devices(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(OWN, encoding="utf-8")
    device = device_named("mine", file)
    assert (device.memory, device.bandwidth, rate(device, "float16")) == (7 * 10**9, Rational("1.25e12"), 3 * 10**12)
    assert device_named("h100", file) == device_named("h100")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[devices.a", "is not TOML"),
        ("x = 1", "no table"),
        ("[devices.a]\nbandwidth = 1", "has no memory"),
        ("[devices.a]\nmemory = -1", "give a number from 0"),
        ("[devices.a]\nmemory = 0", "above 0"),
        ("[devices.a]\nmemory = nan", "give a number from 0"),
        ("[devices.a]\nmemory = 1e9\nspeed = 1", "has a field 'speed'"),
        ("[devices.a]\nmemory = 1e9\nflops = { bf16 = 1 }", "by type of number"),
    ],
)
def test_a_file_that_says_something_else_is_refused(text: str, sentence: str, tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        device_named("a", file)


def test_a_type_without_products_falls_back_to_a_wider_one():
    t4 = device_named("t4")
    assert rate(t4, "float8") == rate(t4, "float16") and rate(t4, "bfloat16") == t4.flops["float32"]
    assert rate(device_named("tpu-v4"), "float32") is None


def test_numbers_of_the_user_replace_those_of_a_device():
    base = device_named("a100")
    device = own_device(Rational(5 * 10**9), flops=Rational(10**12), base=base)
    assert (device.memory, device.bandwidth, rate(device, "int8")) == (5 * 10**9, base.bandwidth, 10**12)
