"""reStructuredText: roles, directives, blocks by indentation, tables."""

import pytest

from derivations.documents.passages import Block
from derivations.documents.readers import read_text


def blocks(text: str) -> tuple[Block, ...]:
    return read_text(text, "restructuredtext").blocks


def formulas(text: str) -> list[str]:
    return [passage.text for block in blocks(text) for passage in block.formulas]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Let :math:`x_i` be ``d_k`` of :class:`a_b`.", ["x_i", "d_k"]),
        (".. math:: a = b", ["a = b"]),
        (".. math::\n   :label: l\n\n   a\n   = b\n\n   c\n\nd", ["a\n= b", "c"]),
        (".. note:: The :math:`a`\n\n   and :math:`b`.", ["a", "b"]),
        (".. unknown:: x\n   :option: y\n\n   :math:`b`", ["b"]),
        ("Code::\n\n   h = 8\n\nend", ["h = 8"]),
        (".. code-block:: python\n   :linenos:\n\n   h = 8", ["h = 8"]),
        (".. code-block:: bash\n\n   h=8", []),
        (".. include:: /etc/passwd\n.. raw:: html\n\n   :math:`x`\n\n.. a comment\n   :math:`y`", []),
        (".. [1] A footnote with :math:`a`", ["a"]),
        ("$x$ is no formula here", []),
        ("矩陣\\ :math:`W`\\ 的", ["W"]),
        ("The next one::\n\n   h = 8\n\n::\n\n   d = 2", ["h = 8", "d = 2"]),
        (".. image:: a.png\n\n..\n\n   quoted :math:`x`", ["x"]),
        ("..\n   :math:`x`", []),
    ],
)
def test_formulas_are_found(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


def test_headings_have_the_level_of_their_marks() -> None:
    text = "====\nDoc\n====\n\nOne\n----\n\nTwo\n~~~~\n\nThree\n-----\n\ntext\n\n----\n\nmore"
    assert [(block.kind, block.level) for block in blocks(text)] == [
        ("heading", 1), ("heading", 2), ("heading", 3), ("heading", 2), ("paragraph", 0), ("paragraph", 0),
    ]  # fmt: skip


def test_items_keep_their_lines() -> None:
    first, second = blocks("- one :math:`a`\n  and more\n- two")
    assert (first.kind, second.kind) == ("item", "item")
    assert first.passages[-1].text.endswith("and more\n")


@pytest.mark.parametrize(
    "table",
    [
        "+---+---------+\n| a | shape   |\n+===+=========+\n| Q | ``d_k`` |\n+---+---------+\n",
        "==  =======\na   shape\n==  =======\nQ   ``d_k``\n==  =======\n",
        ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - shape\n   * - Q\n     - ``d_k``\n",
        '.. csv-table:: Sizes\n   :header: "a", "shape"\n   :widths: 1, 2\n\n   "Q", ``d_k``\n',
        ".. csv-table::\n\n   a, shape\n   Q, ``d_k``\n",
    ],
)
def test_rows_of_tables(table: str) -> None:
    _, row = blocks(table)
    assert (row.kind, row.columns, row.headers) == ("row", (0, 1), ("a", "shape"))
    assert [passage.text for passage in row.passages] == ["Q", "d_k"]


def test_a_cell_of_a_listed_table_may_have_many_lines_or_none() -> None:
    _, row = blocks(
        ".. list-table::\n\n   * - a\n     - b\n     - c\n   * - one\n       :math:`x`\n     -\n     - - two\n\ntext"
    )[:2]
    assert (row.columns, row.formulas[0].text) == ((0, 0, 2), "x")


def test_cells_between_commas_may_be_quoted_and_thousands_are_none() -> None:
    """Signs other than commas are not read as commas, and an open quote ends with its line."""
    _, first, second, third, fourth = blocks(
        '.. csv-table::\n\n   a, b\n   "x, y", 3\n   3 × 1,000 = 3,000, b\n   "open, 3\n   ,``h = 8``\n'
    )
    rows = [[passage.text for passage in row.passages] for row in (first, second, third, fourth)]
    assert rows == [["x, y", "3"], ["3 × 1,000 = 3,000", "b"], ['"open', "3"], ["h = 8"]]
    assert fourth.columns == (1,)
    assert not blocks(".. csv-table::\n   :delim: ;\n\n   a; 2 + 2 = 5\n")


def test_a_term_and_its_definition_stand_together() -> None:
    terms = ":math:`d_k`\n   is the dimension\n   of the keys\n\n``n``\n   is the length"
    text = f"where\n\n{terms}\n\nArgs:\n   ``x``: the input"
    assert [(block.kind, len(block.passages)) for block in blocks(text)] == [
        ("paragraph", 1), ("item", 2), ("item", 2), ("paragraph", 1), ("paragraph", 2),
    ]  # fmt: skip


def test_an_escaped_space_is_nothing() -> None:
    (block,) = blocks("the\\ **big**\\ matrix")
    assert [passage.text for passage in block.passages] == ["thebigmatrix"]


def test_two_points_alone_announce_code_and_say_nothing() -> None:
    assert [block.kind for block in blocks("It is:\n\n::\n\n   h = 8")] == ["paragraph", "code"]
