r"""The verbatim lines of a document, in which marks are only examples.

Definition   in Markdown the lines of fences and of indented code; in LaTeX those of verbatim, listings and comments;
             in reStructuredText those of literal blocks and of directives that hold code
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from markdown_it import MarkdownIt

__all__ = ["shown_lines"]

_ENVIRONMENTS = r"verbatim\*?|Verbatim\*?|lstlisting|minted|comment|alltt"
_BEGIN = re.compile(rf"(?<!\\)\\begin\{{({_ENVIRONMENTS})\}}")
_COMMENTED = re.compile(r"(?<!\\)%")
_DIRECTIVE = re.compile(r"[ \t]*\.\. (?:code|code-block|sourcecode|parsed-literal|raw|highlight|prompt|literal)::")


def shown_lines(lines: Sequence[str], form: str) -> set[int]:
    """Return the numbers, from 0, of the verbatim lines."""
    return set(_FORMS[form](lines))


@cache
def _markdown_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _markdown(lines: Sequence[str]) -> Iterator[int]:
    for token in _markdown_parser().parse("\n".join(lines)):
        if token.type in ("fence", "code_block") and token.map:
            yield from range(*token.map)


def _latex(lines: Sequence[str]) -> Iterator[int]:
    end = ""
    for number, line in enumerate(lines):
        if end:
            yield number
            end = "" if end in line else end
        elif (begun := _BEGIN.search(line)) and not _COMMENTED.search(line, 0, begun.start()):
            end = f"\\end{{{begun[1]}}}"
            end = "" if end in line else end


def _restructured(lines: Sequence[str]) -> Iterator[int]:
    depth: int | None = None  # of the line that introduces what is shown
    for number, line in enumerate(lines):
        own = len(line) - len(line.lstrip())
        if depth is not None and line.strip() and own <= depth:
            depth = None
        if depth is not None:
            yield number
        elif _DIRECTIVE.match(line) or (line.rstrip().endswith("::") and not line.lstrip().startswith(".. ")):
            depth = own


_FORMS: Mapping[str, Callable[[Sequence[str]], Iterator[int]]] = {
    "markdown": _markdown,
    "latex": _latex,
    "restructuredtext": _restructured,
}
