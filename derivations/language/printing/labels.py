r"""Labels of displayed formulas: one form, `eq:softmax-jacobian`, for LaTeX everywhere.

Definition   the prefix, a colon, and the id of the result with a hyphen for its dot
"""

import re

__all__ = ["label_of", "labelled"]

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def label_of(prefix: str, name: str, number: int = 1, between: str = ":") -> str:
    """Return the label of a formula. The second formula of an id has the number 2, and its label ends in -2.

    Raises `ValueError` for a prefix that no label may begin with.
    """
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"a label begins with a prefix of letters, digits and hyphens, such as eq, not {prefix!r}")
    # a second colon would look like a second prefix
    return f"{prefix}{between}{name.replace('.', '-').replace(':', '-')}" + (f"-{number}" if number > 1 else "")


def labelled(latex: str, label: str) -> str:
    """Return LaTeX whose first equation has a label."""
    return latex.replace("\\begin{equation}", f"\\begin{{equation}}\\label{{{label}}}", 1)
