r"""Write what the package prints into the pages: `python -m docs.build` refreshes README.md and docs/*.md.

It also writes the index of results and layers that `derivations list` reads in an installed package, and the names of
the letters that a notation file may name.

A page holds marks; what stands between a mark and its end is written here, the rest by hand:

    <!-- derivation: softmax.jacobian title steps -->  a result, as `derivations render` fills it
    <!-- layer: feed_forward title gradient -->        a layer, or its gradient
    <!-- results: softmax -->                the results of a topic: id, title, evidence as decided now
    <!-- shapes: encoder_layer n=10 -->      the shape of every input, parameter and intermediate of a layer, at sizes
    <!-- levels: -->                         what evidence of each level means
    <!-- conventions: -->                    what printed signs mean
    <!-- rules: -->                          the rules that a step may name
    <!-- trusted: -->                        what the judge trusts, in the words of its module
    <!-- letters: vaswani columns -->        our letters beside those of notations
    <!-- help: show -->                      the help text of a command, or of all together
    <!-- source: tempered.py -->             a file of docs/examples; a mark may name what it has, tempered:slope
    <!-- end -->
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from derivations.catalogue import get, layer, layers, names
from derivations.cli import cli
from derivations.cli.listing import unjudged_rows
from derivations.cli.stored_evidence import INDEX, index_of
from derivations.documents.rendering import MarkedBlock, MarkError, Options, blocks_of, emitted
from derivations.documents.rendering.marks import KINDS
from derivations.documents.replacing import Replacement, repaired
from derivations.language.arrays.shapes import total
from derivations.language.counting.costs import shape_table
from derivations.language.judge import proof
from derivations.language.judge.rules import RULES
from derivations.language.layers.layer import Layer
from derivations.language.printing.alphabet import CONVENTIONS, FUNCTIONS, LETTERS
from derivations.language.printing.github import refusals
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.notation import NOTATIONS, Notation
from derivations.language.printing.notation_file import NAMES
from derivations.language.printing.titles import marked, printed_title
from derivations.language.printing.views import delimiters, escaped_markdown
from derivations.language.results.derivation import Derivation
from derivations.language.results.levels import LEVELS
from derivations.language.results.titles import plain_title
from docs.optimisation_views import optimised, passes, rewrites, tile_sizes

__all__ = ["PageError", "by_hand", "formulas", "letter_names", "pages", "refreshed"]

ROOT = Path(__file__).resolve().parent.parent


def example(name: str) -> Any:
    """Return what a module of docs/examples has by the name `module:thing`."""
    module, _, thing = name.partition(":")
    found = getattr(import_module(f"docs.examples.{module}"), thing)
    return found if isinstance(found, Layer | Derivation) else found()


STYLE = Options(math="fence", own=example)
INLINE = delimiters("fence")[1]


class PageError(ValueError):
    """A mark that names nothing, or has no end."""


def results(*topics: str) -> str:
    """Return the results of topics as a table."""
    found = [get(name) for name in names() if name.partition(".")[0] in topics]
    missing = sorted(set(topics) - {result.topic for result in found})
    if missing:
        raise PageError(f"there are no results about {missing[0]}")
    return _table(("id", "result", "evidence"), ((f"`{r.id}`", _escaped(r.title), r.evidence.level) for r in found))


def shapes(name: str, *sizes: str) -> str:
    """Return the shape of every input, parameter and intermediate of a layer, in order of evaluation."""
    given = {key: int(value) for key, _, value in (size.partition("=") for size in sizes)}
    printer = LatexPrinter()
    rows = []
    for array, shape in shape_table(layer(name).at(**given)):
        rows.append((f"`{array}`", INLINE(r" \times ".join(printer.doprint(total(along)) for along in shape))))
    return _table(("array", "shape"), rows)


def rules() -> str:
    """Return the rules as a table: name, law, what decides."""
    uses = (
        (rule, rule.tactic + " with " * bool(rule.features) + ", ".join(sorted(rule.features)))
        for rule in RULES.values()
    )
    return _table(("rule", "law", "decided by"), ((rule.name, f"`{plain_title(rule.law)}`", how) for rule, how in uses))


def levels() -> str:
    """Return the levels of evidence as a table."""
    return _table(("level", "means"), ((f"`{level}`", means) for level, means in LEVELS.items()))


def conventions() -> str:
    """Return what printed signs mean, as a paragraph."""
    said = (marked(printed_title(each, LatexPrinter()), INLINE, escaped_markdown) for each in CONVENTIONS)
    return " ".join(said) + "\n"


def trusted() -> str:
    """Return what the judge trusts, and what it does not use, from the head of its module."""
    head = (proof.__doc__ or "").partition("What it trusts:\n")[2]
    items, _, rest = head.partition("What it does not use:")
    joined = " ".join(items.split()).replace("; ", ";\n- ")
    return f"- {joined}\n\nIt does not use{rest.partition(chr(10))[0]}\n"


def letters(*others: str) -> str:
    """Return our letters beside those of notations; an empty cell stands for ours."""
    used = [NOTATIONS[name] for name in others]
    rows: list[tuple[str, ...]] = []
    for scope, entries in LETTERS.items():
        rows += [_letter_row(f"`{name}`", what, used, _letter(name, scope)) for name, what in entries]
    rows += [_letter_row(f"`{name}`", "function", used, _function(name)) for name in FUNCTIONS]
    return _table(("name", "what", "ours", *others), rows)


def _letter(name: str, scope: str) -> Callable[[Notation], str]:
    return lambda notation: notation.of(name, scope).latex()


def _function(name: str) -> Callable[[Notation], str]:
    return lambda notation: notation.function(name) or r"\text{(its formula)}"


def _letter_row(name: str, what: str, used: list[Notation], printed: Callable[[Notation], str]) -> tuple[str, ...]:
    ours = printed(NOTATIONS["ours"])
    theirs = (printed(notation) for notation in used)
    return (name, what, INLINE(ours), *("" if letter == ours else INLINE(letter) for letter in theirs))


def help_text(*commands: str) -> str:
    """Return the help of a command, or of the whole command line."""
    chosen: click.Command = cli
    for command in commands:
        chosen = cli.commands[command]
    path = " ".join(["derivations", *commands])
    context = click.Context(chosen, info_name=path, max_content_width=100, terminal_width=100)
    return f"```text\n{chosen.get_help(context)}\n```\n"


def source(name: str) -> str:
    """Return a file of docs/examples as a block of Python."""
    return f"```python\n{(ROOT / 'docs' / 'examples' / name).read_text(encoding='utf-8')}```\n"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines: list[tuple[str, ...]] = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _escaped(words: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_<>$" else c for c in words)


GENERATORS: Mapping[str, Callable[..., str]] = {
    "results": results,
    "shapes": shapes,
    "rules": rules,
    "levels": levels,
    "conventions": conventions,
    "trusted": trusted,
    "letters": letters,
    "passes": passes,
    "rewrites": rewrites,
    "optimised": optimised,
    "tiles": tile_sizes,
    "help": help_text,
    "source": source,
}


@cache
def _generated(kind: str, words: tuple[str, ...]) -> str:
    try:
        if kind in KINDS:
            return emitted(MarkedBlock(kind, words, 1, 0, 0), STYLE.with_words(words[1:]), "markdown")
        return GENERATORS[kind](*words)
    except (KeyError, LookupError, TypeError, ValueError) as error:
        raise PageError(f"the mark {kind}: {' '.join(words)} cannot be filled: {error}") from error


def refreshed(text: str) -> str:
    """Return a page with what stands at its marks written anew.

    Raises       PageError, naming the mark, where it names nothing or has no end of its own
    """
    try:
        blocks = blocks_of(text, "markdown", (*KINDS, *GENERATORS))
    except MarkError as error:
        raise PageError(f"line {error.line}: {error}") from error
    new = (Replacement(block.start, block.end, block.lines(_generated(block.kind, block.words))) for block in blocks)
    return repaired(text, list(new))


def by_hand(text: str) -> str:
    """Return what stands outside of the blocks of a page."""
    return repaired(text, [Replacement(b.start, b.end, "") for b in blocks_of(text, "markdown", (*KINDS, *GENERATORS))])


def pages() -> list[Path]:
    """Return the pages: the README, then those in docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def formulas(text: str) -> list[str]:
    """Return the formulas of a page as GitHub reads them: Markdown takes away the backslash of a bar in a table."""
    found = re.findall(r"^```math\n(.*?)\n```$|\$`(.*?)`\$", text, re.M | re.S)
    return [display or inline.replace(r"\|", "|") for display, inline in found]


def main() -> None:
    """Refresh every page and the index; say which ones changed, and what GitHub refuses in them."""
    for path in pages():
        page = refreshed(path.read_text(encoding="utf-8"))
        _replace(path, page)
        for refusal in refusals(formulas(page)):
            print(f"{path.relative_to(ROOT)} on GitHub: {refusal}", file=sys.stderr)
    _replace(INDEX, index_of(unjudged_rows()))
    _replace(NAMES, letter_names())


def letter_names() -> str:
    """Return the names of the letters of all layers, one on a line: what a notation file may name."""
    known = layers().values()
    names = {name for each in known for name in each.shapes}
    names |= {symbol.name for each in known for symbol in (*each.sizes, *each.scalars)}
    return "".join(f"{name}\n" for name in sorted(names))


def _replace(path: Path, new: str) -> None:
    if not path.exists() or new != path.read_text(encoding="utf-8"):
        path.write_text(new, encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT)} refreshed", file=sys.stderr)


if __name__ == "__main__":
    main()
