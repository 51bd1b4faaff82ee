"""The picture of the idea: every line in it is what the package prints today."""

from xml.etree import ElementTree

from docs.views_picture import PICTURE, drawn, views


def test_the_picture_is_what_the_package_prints():
    """Run `python -m docs.views_picture` when this fails."""
    assert PICTURE.read_text(encoding="utf-8") == drawn(views())


def test_each_view_says_something_of_the_equations():
    shown = views()
    assert shown["one set of equations"] == ["S = Q K^T / sqrt(d_k)", "A = softmax(S)", "O = A V"]
    assert all(2 <= len(lines) <= 6 for lines in shown.values())
    assert shown["proved"][-1].startswith("proved")


def test_a_line_with_signs_of_markup_is_escaped():
    ElementTree.fromstring(drawn({"a": ["x < y & z"], "b": ["1"], "c": ["2"]}))
