import pytest

from derivations.site.markup import Html, element, joined


def test_text_is_escaped_wherever_it_becomes_markup():
    assert joined(["a < b & c", Html("<b>d</b>"), None]).text == "a &lt; b &amp; c<b>d</b>"
    assert element("p", "<script>").text == "<p>&lt;script&gt;</p>"
    assert element("a", title='"><script>').text == '<a title="&quot;&gt;&lt;script&gt;"></a>'


@pytest.mark.parametrize(
    ("attributes", "written"),
    [({"class_": "x"}, ' class="x"'), ({"data_copy": "y"}, ' data-copy="y"'), ({"hidden": True}, " hidden")],
)
def test_names_of_attributes(attributes: dict[str, str | bool], written: str):
    assert element("p", **attributes).text == f"<p{written}></p>"


def test_an_attribute_that_is_false_and_the_end_of_a_void_element_are_left_out():
    assert element("input", disabled=False).text == "<input>"
