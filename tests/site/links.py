"""What the pages of a site refer to, and the text that a reader sees, read from the files alone."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Read", "broken", "read"]

UNSEEN = ("code", "pre", "annotation", "title", "script", "textarea")  # where a dollar sign is no mark of a formula


@dataclass
class Read:
    """The addresses and anchors of a page, and its text."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    text: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found, self.hidden = Read(), 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.hidden += tag in UNSEEN
        self.found.links += [str(given[name]) for name in ("href", "src") if name in given]
        self.found.anchors |= {str(given["id"])} if "id" in given else set()
        if "katex-error" in str(given.get("class", "")):
            self.found.faults.append("an error of KaTeX")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in UNSEEN

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.found.text.append(data)


def read(path: Path) -> Read:
    """Return what a page refers to and shows."""
    parser = _Parser()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser.found


def broken(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the pages of a folder: links without a target, raw formulas, errors of KaTeX."""
    pages = {path: read(path) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder)
        yield from (f"{name}: {fault}" for fault in page.faults)
        yield from (f"{name}: a raw formula: {text.strip()[:60]}" for text in page.text if "$" in text)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "https":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if parts.scheme or not target.is_file():
                yield f"{name}: {link} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: {link} has no such anchor"
