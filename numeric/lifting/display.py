"""A lifted function in a notebook: its source on the left, its equations on the right."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from html import escape
from typing import Any

__all__ = ["beside_source"]


def beside_source(function: Callable[..., Any], latex: str, notes: list[str]) -> str | None:
    """Return HTML with the source of a function and its equations; None where the source is not known."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return None
    below = "".join(f"<br>{escape(note)}" for note in notes)
    return (
        '<table><tr><td style="text-align: left; vertical-align: top">'
        f"<pre>{escape(source)}</pre></td>"
        f'<td style="text-align: left; vertical-align: top">$${escape(latex)}$${below}</td></tr></table>'
    )
