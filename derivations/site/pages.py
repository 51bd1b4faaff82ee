"""The pages of docs/, which are Markdown as GitHub reads it, as pages of a site.

Definition   a formula stands in a fence `math`, between $` and `$, or between $ and $; a heading has GitHub's anchor; a
             link to another page leads to its page in the site, one to a file beside it to a copy of the file, and one
             out of the folder is left as words. The id of a result links to its page, as does the name of a layer at
             its mark
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from derivations.site.formulas import Formulas
from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page

__all__ = ["Document", "read_documents"]

_COMMENT = re.compile(r"\s*<!--.*?-->\s*", re.DOTALL)
_MARK = re.compile(r"<!-- (?:derivation|layer): ([\w.]+)")
_INLINE = re.compile(r"\$`(.+?)`\$|\$(?![\s`])((?:[^$\\]|\\.)+?)(?<!\s)\$(?!\d)", re.DOTALL)  # as GitHub reads them
_LINK = re.compile(r"(?![a-z]+:)([^#]*)(#.*)?")


@dataclass(frozen=True)
class Document:
    """A page of docs/: the page of the site, the results and layers that it shows, the files that it refers to."""

    page: Page
    shown: tuple[str, ...]
    files: tuple[str, ...]


def read_documents(folder: Path, formulas: Formulas, paths: Mapping[str, str]) -> list[Document]:
    """Return all pages of a folder; `paths` are the pages of results and layers by name."""
    sources = sorted(folder.glob("*.md"))
    if not sources:
        raise ValueError(f"there is no page in {folder}: name a folder of Markdown files by --docs")
    known = {path.name for path in folder.iterdir() if path.is_file()}
    return [_Reader(formulas, paths, known).read(path) for path in sources]


class _Reader:
    """Reads one page of Markdown, with the rules in the docstring of the module."""

    def __init__(self, formulas: Formulas, paths: Mapping[str, str], known: Collection[str]) -> None:
        self.formulas, self.paths, self.known = formulas, paths, known
        self.markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        self.markdown.inline.ruler.before("escape", "formula", _formula)
        self.files: list[str] = []
        self.shown: list[str] = []
        for name in ("fence", "html_block", "html_inline", "code_inline", "formula", "table_open", "table_close"):
            self.markdown.add_render_rule(name, _rule(getattr(self, f"_{name}")))

    def read(self, path: Path) -> Document:
        """Return the page of a file."""
        text = path.read_text(encoding="utf-8")
        self.shown = _MARK.findall(text)
        tokens = self.markdown.parse(text)
        title = _anchored(tokens) or path.stem
        self._linked(tokens)
        for token in tokens:
            token.hidden = False  # the paragraphs in items of lists, which scroll by themselves
        html = self.markdown.renderer.render(tokens, self.markdown.options, {})
        page = Page(f"{path.stem}.html", title, Html(html), "page", _headings(tokens))
        return Document(page, tuple(dict.fromkeys(self.shown)), tuple(dict.fromkeys(self.files)))

    def _linked(self, tokens: Sequence[Token]) -> None:
        """Let links lead to pages of the site, and pictures to copies; remove links that lead out of the folder."""
        for token in (child for block in tokens for child in block.children or ()):
            name = {"link_open": "href", "image": "src"}.get(token.type, "")
            found = _LINK.fullmatch(str(token.attrs.get(name, ""))) if name else None
            if found is None:
                continue
            target, anchor = found[1], found[2] or ""
            if target.endswith(".md") and target in self.known:
                token.attrs[name] = str(PurePosixPath(target).with_suffix(".html")) + anchor
            elif target in self.known:
                self.files.append(target)
            elif target:
                del token.attrs[name]  # an `a` without an address is no link

    # --- what differs from plain Markdown ---

    def _fence(self, token: Token) -> Html:
        if token.info.strip() == "math":
            return self.formulas.display(token.content.strip())
        return element("pre", element("code", token.content))

    def _formula(self, token: Token) -> Html:
        return self.formulas.inline(token.content)

    def _html_block(self, token: Token) -> Html:
        return joined([_COMMENT.sub("", token.content)])  # comments are the marks; other markup is shown as text

    _html_inline = _html_block

    def _code_inline(self, token: Token) -> Html:
        code, name = element("code", token.content), token.content
        linked = name in self.paths and ("." in name or name in self.shown)
        return element("a", code, href=self.paths[name]) if linked else code

    def _table_open(self, token: Token) -> Html:
        return Html('<div class="wide"><table>')

    def _table_close(self, token: Token) -> Html:
        return Html("</table></div>")


def _rule(write: Callable[[Token], Html]) -> Callable[..., str]:
    def render(renderer: Any, tokens: Sequence[Token], index: int, *rest: Any) -> str:
        return write(tokens[index]).text

    return render


def _formula(state: StateInline, silent: bool) -> bool:
    """Read a formula between dollar signs. An escaped dollar sign never reaches this function."""
    found = _INLINE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = found[1] or found[2]
    state.pos = found.end()
    return True


def _anchored(tokens: Sequence[Token]) -> str:
    """Give every heading its anchor, and return the words of the first."""
    titles, taken = [], dict[str, int]()
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            words = _words(inline)
            name = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
            count = taken[name] = taken.get(name, -1) + 1
            opening.attrs["id"] = f"{name}-{count}" if count else name
            titles.append(words)
    return titles[0] if titles else ""


def _headings(tokens: Sequence[Token]) -> str:
    return " ".join(_words(b) for a, b in pairwise(tokens) if a.type == "heading_open")


def _words(inline: Token) -> str:
    return "".join(_pieces(inline))


def _pieces(inline: Token) -> Iterator[str]:
    for child in inline.children or ():
        yield child.content
