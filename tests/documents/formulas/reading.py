"""What the tests of spellings share: formulas that are read to their end."""

from derivations.documents.formulas import read_formula


def read(text, syntax="latex"):
    """Return the statements of a formula."""
    reading = read_formula(text, syntax)
    assert reading.stopped is None, reading.stopped
    return reading.statements


def side(text, syntax="latex"):
    """Return the only side of the only statement of a formula."""
    (statement,) = read(text, syntax)
    (only,) = statement.sides
    return only
