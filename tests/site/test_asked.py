"""What the pages ask of Python, asked here without a browser."""

import json

import pytest

from derivations.site.asked import answered


def asked(name: str, *given: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(answered(name, *given))
    return found


@pytest.mark.parametrize(
    ("left", "right", "shapes", "level", "reason"),
    [
        (r"(A B)^\top", r"B^\top A^\top", "A: n x d\nB: d x m", "proved", "for all sizes"),
        (r"(A B)^\top", r"A^\top B^\top", "A: n x n\nB: n x n", "refuted", "the left side is"),
        ("(a + b)^2", "a^2 + b^2", "", "refuted", "the left side is 30.25, the right side 16.25"),
        ("A + B", "B + A", "A: n x d\nB: d x m", "refuted", "d is not m"),
        ("(A + B) C", "A C + B C", "", "unknown", "give their shapes"),
        ("(x^2 - 4) / (x - 2)", "x + 2", "", "unknown", "x - 2 is nonzero"),
        ("A B", "B A", "A: n x n\nB: n x m", "refuted", "B is n × m, so B A needs m rows"),
    ],
)
def test_two_sides(left: str, right: str, shapes: str, level: str, reason: str):
    answer = asked("equation", left, right, shapes)["answer"]
    assert isinstance(answer, dict)
    assert answer["level"] == level and reason in answer["reason"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "this is no JSON"),
        ("[" * 100_000, "this is no JSON"),
        ("[]", "a config.json holds one object"),
        ('{"model_type": "llama"}', "config.json: hidden_size is missing"),
    ],
)
def test_a_configuration_that_is_not_understood_is_refused_in_one_sentence(text: str, sentence: str):
    assert str(asked("model", text)["refused"]).startswith(sentence)


def test_a_line_without_a_shape_is_refused():
    assert str(asked("equation", "A", "B", "A")["refused"]).startswith("'A' gives no shape")


@pytest.mark.parametrize(
    ("left", "right", "sentence"),
    [
        ("", "x", "the left side is empty"),
        ("x", " ", "the right side is empty"),
        ("$x$", "x", "the left side has a dollar sign"),
        (r"\frac{1}{2", "x", "the left side is not understood: the brace is not closed"),
        ("x", "a}", "the right side is not understood: a brace is closed that was not opened"),
        (r"\foo{x}", "x", r"the left side is not understood: the command \foo is not known"),
        ("a", "b = c", "the right side is an equation or inequality itself"),
        ("a; b", "c", "the left side is not one formula"),
    ],
)
def test_what_is_no_side_is_refused_with_what_is_wrong(left: str, right: str, sentence: str):
    assert str(asked("equation", left, right)["refused"]).startswith(sentence)
