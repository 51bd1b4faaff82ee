"""The pages of results: read from the catalogue and proved, then written as HTML.

A site shows results of the catalogue, in which a result stands only if all of its steps are proved: the level of a
result is that of its weakest step, so that one level says it of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, islice
from typing import TypeAlias

from derivations.language.judge.rules import RULES
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.loops import python_source
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.page import Note, Row, display_conditions, layer_title, page, printer_for, rows_of
from derivations.language.printing.page import Page as Printed
from derivations.language.printing.titles import marked, printed_title
from derivations.language.printing.views import display_of, page_as_markdown
from derivations.language.printing.words import word
from derivations.language.results.derivation import Claim, Derivation
from derivations.language.results.titles import plain_title, title_parts
from derivations.site.attempts import Attempt
from derivations.site.formulas import NO_LETTERS, Formulas, Letters, written
from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page
from derivations.topics import TOPICS, aliases_of

__all__ = ["TITLES", "ResultView", "Use", "copies", "read_result", "result_page", "results_page", "used_by"]


OURS = "ours"
Titled: TypeAlias = tuple[tuple[str, str], ...]  # words alone, and formulas as plain text and as LaTeX, in turns
Use: TypeAlias = tuple[Titled, str]  # what refers to a result or layer: its title in parts, its path
MOST_OF_LETTERS = 6_000  # characters of Markdown in other letters on one page, which is to stay small
TITLES = {  # what a reader calls a notation
    "ours": "this site",
    "vaswani": "Vaswani et al. (2017)",
    "columns": "column vectors",
    "chapter-8": "a chapter on the feed-forward network",
    "chapter-7": "a chapter on attention",
    "ffn-notes": "notes on widths",
    "structure": "a text on the whole model",
    "close-reading": "a close reading of Vaswani et al.",
}


@dataclass(frozen=True)
class StepView:
    """A step as it is printed: its formula and its rule."""

    latex: str
    rule: str
    letters: Letters


@dataclass(frozen=True)
class ClaimView:
    """A claim as it is printed: its statement, and its steps."""

    latex: str
    letters: Letters
    steps: tuple[StepView, ...]


@dataclass(frozen=True)
class ResultView:
    """Everything that the page of a result shows, as texts."""

    id: str
    title: str
    topic: str
    heading: tuple[str, ...]
    level: str
    claims: tuple[ClaimView, ...]
    notes: tuple[Note, ...]
    letters: tuple[Letters, ...]  # of the formulas of the notes
    source: str
    titled: Titled
    copies: Mapping[str, tuple[str, Letters]]  # what a button copies, by its name: in our letters, and in others

    @property
    def path(self) -> str:
        """The permanent address of the page in a site."""
        return path_of(self.id)


def path_of(name: str) -> str:
    """Return the path of the page of a result in a site."""
    return f"results/{name}.html"


@dataclass(frozen=True)
class _Printed:
    """A result in the letters of one notation: its page with all steps, and the rows of its statements."""

    page: Printed
    conditions: tuple[str, ...]
    statements: tuple[Row, ...]

    def chains(self, claims: Sequence[Claim]) -> Iterator[tuple[Row, ...]]:
        """Yield the rows of the steps of each claim, without the row of a condition that follows them on the page."""
        rows = iter(self.page.rows)
        for claim, statement in zip(claims, self.statements, strict=True):
            yield tuple(islice(rows, len(claim.steps)))
            if statement.beside:
                next(rows)


def _printed(found: Derivation, name: str) -> _Printed:
    printer = printer_for(found, LatexPrinter, name)
    whole = page(found, LatexPrinter, name, steps=True, printer=printer)  # first: letters of rows stand in its order
    statements = tuple(row for claim in found.claims for row in rows_of(claim, printer, False))
    return _Printed(whole, display_conditions(found, printer), statements)


def read_result(found: Derivation, level: str) -> ResultView:
    """Return what the page of a result shows; `level` is that of its evidence."""
    own = _printed(found, OURS)
    length = len(page_as_markdown(own.page))
    offered = [name for name in NOTATIONS if name != OURS][: MOST_OF_LETTERS // length]
    printed = {OURS: own, **{name: _printed(found, name) for name in offered}}
    copies: dict[str, tuple[str, Letters]] = {
        "LaTeX": _differing({name: display_of(each.page.rows, each.conditions) for name, each in printed.items()}),
        "Markdown": _differing({name: page_as_markdown(each.page) for name, each in printed.items()}),
        "Python": (python_source(found), NO_LETTERS),
    }
    return ResultView(
        found.id,
        found.title,
        found.topic,
        own.page.heading,
        level,
        tuple(_claims(found.claims, printed)),
        own.page.notes,
        tuple(_letters_of_notes({name: each.page.notes for name, each in printed.items()})),
        found.source,
        titled(found.headline or found.title, own.page.heading),
        copies,
    )


def _claims(claims: Sequence[Claim], printed: Mapping[str, _Printed]) -> Iterator[ClaimView]:
    chains = {name: list(each.chains(claims)) for name, each in printed.items()}
    for number, claim in enumerate(claims):
        latex, letters = _differing({name: _statement(each.statements[number]) for name, each in printed.items()})
        steps = []
        for place, step in enumerate(claim.steps):
            own, others = _differing({name: _step_latex(each[number][place]) for name, each in chains.items()})
            steps.append(StepView(own, step.rule, others))
        yield ClaimView(latex, letters, tuple(steps))


def _letters_of_notes(found: Mapping[str, tuple[Note, ...]]) -> Iterator[Letters]:
    """Yield each formula of the notes in the other notations, except those with a different number of formulas."""
    formulas = {name: _formulas(notes) for name, notes in found.items()}
    for place, own in enumerate(formulas[OURS]):
        same = {name: each[place] for name, each in formulas.items() if len(each) == len(formulas[OURS])}
        yield _differing({**same, OURS: own})[1]


def _formulas(notes: Iterable[Note]) -> list[str]:
    return [formula for note in notes for formula, _ in note.items if formula]


def _differing(written: Mapping[str, str]) -> tuple[str, Letters]:
    """Return the text in our notation, and the texts of the other notations where they differ from it."""
    own = written[OURS]
    return own, {name: latex for name, latex in written.items() if latex != own}


# --- as HTML --------------------------------------------------------------------------------------------------------


def result_page(
    view: ResultView,
    formulas: Formulas,
    used: Iterable[Use] = (),
    beside: Sequence[ResultView] = (),
    tried: Sequence[Attempt] = (),
    notation: str = "",
) -> Page:
    """Return the page of a result.

    `used` are what refers to it, `beside` its neighbours, `tried` the attempts to break it,
    `notation` is the path of the page about letters, if the site has one.
    """
    back = Page(view.path, "", Html("")).root
    topic = element("a", _topic(view.topic), href=f"{back}results/index.html#{view.topic}")
    content = joined(
        [
            element("p", topic, class_="crumbs"),
            element("h1", heading(view.heading, formulas)),
            element(
                "p",
                element("code", view.id),
                " ",
                _badge(view.level),
                _choice_of_letters(view, notation and back + notation),
                class_="facts",
            ),
            *_statements(view, formulas),
            notes(view.notes, formulas, view.letters),
            copies(view.copies),
            *_steps(view, formulas),
            *_attempts(tried),
            *used_by(used, back),
            element("nav", *(_neighbour(each, back) for each in beside), aria_label="Neighbours", class_="beside"),
        ]
    )
    words = " ".join([view.id, view.topic, *aliases_of(view.id), view.source])
    return Page(view.path, view.title, content, "result", words, heading=view.heading)


def heading(parts: Sequence[str], formulas: Formulas) -> Html:
    """Return a title with its formulas."""
    return Html(marked(parts, lambda formula: formulas.inline(formula).text, lambda words: joined([words]).text))


def listed(title: Titled) -> Html:
    """Return a title as text, whose formulas the script sets when they come into view."""
    return joined(
        element("span", plain, class_="later", data_latex=latex) if latex else plain for plain, latex in title
    )


def titled(typed: str, latex: Sequence[str]) -> Titled:
    """Return the words and formulas of a title, in turns.

    `typed` has the formulas between dollar signs. `latex` has the printed form of each part.
    """
    parts = zip(title_parts(typed), latex, strict=True)
    return tuple((plain_title(f"${part}$"), shown) if at % 2 else (part, "") for at, (part, shown) in enumerate(parts))


def used_by(used: Iterable[Use], back: str) -> Iterator[Html]:
    """Yield the links to what refers to a result or layer."""
    links = [element("li", element("a", listed(title), href=back + path)) for title, path in used]
    if links:
        yield from (element("h2", "Used by"), element("ul", *links))


def notes(found: Sequence[Note], formulas: Formulas, letters: Sequence[Letters] = ()) -> Html:
    """Return the definitions, the assumptions and the source below a display."""
    marks = iter(formulas.inlines(_formulas(found), letters))
    parts = []
    for note in found:
        lead = word(note.lead, "en")
        items = (
            joined([next(marks), " (", *_words(words, formulas), ")"] if words else [next(marks)])
            if formula
            else joined([*_words(words, formulas)])
            for formula, words in note.items
        )
        parts += [element("dt", lead[:1].upper() + lead[1:]), *(element("dd", item) for item in items)]
    return element("dl", *parts, class_="notes") if parts else Html("")


def _words(words: str, formulas: Formulas) -> Iterator[Html | str]:
    for number, part in enumerate(title_parts(words)):
        yield formulas.inlines([part])[0] if number % 2 else part


def _step_latex(row: Row) -> str:
    return f"{row.left} {row.relation} {row.right}"


def _statement(row: Row) -> str:
    words = rf"\text{{{row.words}}}\ " if row.words else ""
    remark = rf" \qquad {words}{row.beside}" if row.beside else ""
    return f"{_step_latex(row)}{remark}"


def _statements(view: ResultView, formulas: Formulas) -> Iterator[Html]:
    """Yield the claims, numbered if there are several."""
    rows = [claim.latex for claim in view.claims]
    letters = [claim.letters for claim in view.claims]
    for number, shown in enumerate(formulas.displays(rows, letters), 1):
        numbered = element("span", f"({number})", class_="number")
        yield element("div", shown, numbered, class_="claim") if len(rows) > 1 else shown


def _steps(view: ResultView, formulas: Formulas) -> Iterator[Html]:
    """Yield the steps of every claim, each collapsed until a reader opens it."""
    yield element("h2", "Steps", id="steps")
    for number, claim in enumerate(view.claims, 1):
        if len(view.claims) > 1:
            yield element("h3", f"({number})")
        several = len(claim.steps) > 1  # a single step is the statement above
        rows = (_step(each, f"step-{number}-{place}", formulas, several) for place, each in enumerate(claim.steps, 1))
        yield element("ol", *rows, class_="steps")


def _step(view: StepView, anchor: str, formulas: Formulas, has_formula: bool) -> Html:
    """Return a step with the law of its rule, as an element with the given anchor."""
    law = element("p", listed(_law(view.rule)), class_="law") if view.rule in RULES else None
    shown = formulas.later(view.latex, letters=view.letters) if has_formula else None
    return element("li", element("details", element("summary", view.rule, class_="rule"), law, shown, id=anchor))


@cache
def _law(rule: str) -> Titled:
    """Return the law of a rule with its formulas."""
    law = RULES[rule].law
    return titled(law, printed_title(law, LatexPrinter(OURS)))


def _attempts(tried: Sequence[Attempt]) -> Iterator[Html]:
    """Yield the list of the attempts of the tests to break the result, with their files."""
    if not tried:
        return
    yield element("h2", "Tests that try to break it", id="tests")
    variants = [each for each in tried if each.is_variant]
    for found, one, many in (
        (variants, "wrong variant, which the judge must refuse", "wrong variants, each of which the judge must refuse"),
        ([each for each in tried if not each.is_variant], "other test", "other tests"),
    ):
        if found:
            files = joined((element("code", each) for each in dict.fromkeys(each.file for each in found)), ", ")
            yield element("p", f"{len(found)} {one if len(found) == 1 else many}, in ", files, ":")
            yield element("ul", *(element("li", each.what) for each in found), class_="tried")


def copies(texts: Mapping[str, tuple[str, Letters]]) -> Html:
    """Return a button for each named text, which copies the text in the notation that the page shows."""
    buttons = (
        element("button", f"Copy {name}", type="button", data_copy=text, **written(letters))
        for name, (text, letters) in texts.items()
    )
    return element("p", *buttons, class_="copies")


def _choice_of_letters(view: ResultView, notation: str) -> Html:
    """Return the menu of the notations that write this result differently, with a link to the page about notation."""
    seen = [*view.letters, *(claim.letters for claim in view.claims)]
    steps = [step.letters for claim in view.claims for step in claim.steps]
    options = [element("option", TITLES[OURS], value=OURS)]
    for name in NOTATIONS:
        if any(name in letters for letters in (*seen, *steps)):
            only = "" if any(name in letters for letters in seen) else " (in the steps)"
            options.append(element("option", TITLES.get(name, name) + only, value=name))
    if len(options) == 1:
        return Html("")
    words = element("a", "Letters", href=notation) if notation else "Letters"
    return element("label", " ", words, " of ", element("select", *options, id="letters"), class_="letters")


def _badge(level: str) -> Html:
    return element("span", level, class_=f"badge {level.partition(' ')[0]}")


def _neighbour(view: ResultView, back: str) -> Html:
    return element("a", listed(view.titled), href=back + view.path)


def _topic(topic: str) -> str:
    return layer_title(topic)


def results_page(views: Sequence[ResultView]) -> Page:
    """Return the page that lists all results by topic."""
    topics = [(topic, list(found)) for topic, found in groupby(views, key=lambda view: view.topic)]
    contents = element(
        "ul", *(element("li", element("a", _topic(t), href=f"#{t}")) for t, _ in topics), class_="contents"
    )
    parts: list[Html] = [element("h1", "Results"), contents]
    for topic, found in topics:
        parts += [element("h2", _topic(topic), id=topic)]
        parts += [element("p", TOPICS[topic])] if topic in TOPICS else []
        rows = (
            element("li", element("a", listed(each.titled), href=each.path.removeprefix("results/"))) for each in found
        )
        parts.append(element("ul", *rows, class_="results"))
    return Page("results/index.html", "Results", joined(parts), "page", "")
