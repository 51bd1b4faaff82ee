"""Marks and their blocks: where they begin and end, and the marks that are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derivations.documents.rendering import MarkError, blocks_of

MARKS = {
    "markdown": ("<!-- derivation: softmax.jacobian steps -->", "<!-- end -->"),
    "latex": ("% derivation: softmax.jacobian steps", "% end"),
    "restructuredtext": (".. derivation: softmax.jacobian steps", ".. end"),
}
FORMS = list(MARKS)
SHOWN = {  # texts that show a mark as it is written
    "markdown": ("```\n{}\n```\n", "~~~ text\n{}\n~~~\n", "Text\n\n    {}\n", "> ```\n> {}\n> ```\n"),
    "latex": ("\\begin{{verbatim}}\n{}\n\\end{{verbatim}}\n", "\\begin{{lstlisting}}[x=1]\n{}\n\\end{{lstlisting}}\n"),
    "restructuredtext": ("For example::\n\n   {}\n\nText\n", ".. code-block:: rst\n\n   {}\n\nText\n"),
}
EXAMPLES = [(form, shown) for form in FORMS for shown in SHOWN[form]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_block_holds_the_lines_between_a_mark_and_its_end(form: str, newline: str):
    mark, end = MARKS[form]
    text = newline.join(["before", "", mark, "old", "", end, "after", ""])
    (block,) = blocks_of(text, form)
    assert (block.kind, block.words, block.line) == ("derivation", ("softmax.jacobian", "steps"), 3)
    assert text[block.start : block.end] == f"old{newline}{newline}"
    assert block.lines("a\n\nb") == f"a{newline}{newline}b{newline}"


@pytest.mark.parametrize("form", FORMS)
def test_a_mark_without_an_end_is_refused_with_its_line(form: str):
    with pytest.raises(MarkError, match=r"steps has no end: write") as refused:
        blocks_of(f"\n\n{MARKS[form][0]}\n", form)
    assert refused.value.line == 3


@pytest.mark.parametrize("form", FORMS)
def test_marks_inside_one_another_are_refused(form: str):
    mark, end = MARKS[form]
    with pytest.raises(MarkError, match="no end before the mark in line 2") as refused:
        blocks_of(f"{mark}\n{mark}\n{end}\n{end}\n", form)
    assert refused.value.line == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_second_end_is_refused(form: str):
    mark, end = MARKS[form]
    with pytest.raises(MarkError, match="has no mark in front of it"):
        blocks_of(f"{mark}\n{end}\n{end}\n", form)


def test_a_forgotten_end_does_not_swallow_the_text_up_to_the_end_of_another_tool():
    text = "<!-- derivation: softmax.jacobian -->\nmy text\n<!-- contents -->\n1\n<!-- end -->\n"
    with pytest.raises(MarkError, match="no end before the comment in line 3"):
        blocks_of(text, "markdown")


def test_comments_of_others_and_their_ends_may_stand_between_blocks():
    mark, end = MARKS["markdown"]
    text = f"<!-- contents -->\n<!-- end -->\n{mark}\n{end}\n<!-- contents -->\n<!-- end -->\n"
    assert [block.line for block in blocks_of(text, "markdown")] == [3]


@pytest.mark.parametrize(("form", "shown"), EXAMPLES)
def test_a_mark_in_code_is_an_example(form: str, shown: str):
    mark, end = MARKS[form]
    assert blocks_of(shown.format(mark), form) == []
    assert len(blocks_of(f"{shown.format(mark)}\n{mark}\n{end}\n", form)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "text <!-- derivation: softmax.jacobian -->",
        "<!-- derivation: x --> y <!-- end -->",
        "<!-- derivation: x",
        "a <!--layer: x",
    ],
)
def test_a_mark_with_text_beside_it_is_refused(line: str):
    with pytest.raises(MarkError, match="must stand alone on its line"):
        blocks_of(f"{line}\n<!-- end -->\n", "markdown")


def test_a_mark_in_code_inside_a_sentence_is_an_example():
    assert blocks_of("Write `<!-- derivation: softmax.jacobian -->` above it.\n", "markdown") == []


@pytest.mark.parametrize(("before", "prefix"), [("> ", "> "), ("  ", "  "), ("- ", "  "), ("12. ", "    ")])
def test_lists_and_quotations_keep_their_signs(before: str, prefix: str):
    mark, end = MARKS["markdown"]
    (block,) = blocks_of(f"{before}{mark}\n{prefix}{end}\n", "markdown")
    assert block.lines("a\n\nb\n") == f"{prefix}a\n{prefix.rstrip()}\n{prefix}b\n"


def test_a_directive_called_layer_is_no_mark():
    assert blocks_of(".. layer:: derivation: x\n\n.. _layer: x\n", "restructuredtext") == []


def test_an_environment_in_a_comment_shows_nothing():
    mark, end = MARKS["latex"]
    text = f"50\\% % \\begin{{verbatim}}\n{mark}\n{end}\n"
    assert len(blocks_of(text, "latex")) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("line", ["{}" + " " * 100_000 + "x", "<!--" * 30_000, "{}{}" * 3_000, " " * 100_000 + "::x"])
def test_long_lines_are_read_in_linear_time(form: str, line: str):
    mark, end = MARKS[form]
    beside = line.replace("{}", mark[:-6])
    try:
        assert len(blocks_of(f"{mark}\n{end}\n\n{beside}\n", form)) == 1
    except MarkError:
        assert mark[:-6] in beside


def test_the_words_of_marks_can_be_chosen():
    assert blocks_of("<!-- results: softmax -->\n<!-- end -->\n", "markdown", ("results",))[0].words == ("softmax",)
    assert blocks_of("<!-- results: softmax -->\n<!-- end -->\n", "markdown") == []


@given(
    st.lists(st.sampled_from(["<!-- derivation: a -->", "<!-- end -->", "```", "", "- ", "    x", "<!-- b -->", "\r"]))
)
def test_whatever_the_lines_blocks_are_in_order_or_one_sentence_says_why_not(lines: list[str]):
    text = "\n".join(lines)
    try:
        blocks = blocks_of(text, "markdown")
    except MarkError as error:
        assert 1 <= error.line <= len(text.splitlines()) and "\n" not in str(error)
        return
    edges = [edge for block in blocks for edge in (block.start, block.end)]
    assert edges == sorted(edges)
