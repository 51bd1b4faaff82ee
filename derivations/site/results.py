"""The pages of results: read from the catalogue and proved, then written as HTML.

A site shows results of the catalogue, in which a result stands only if all of its steps are proved: the level of a
result is that of its weakest step, so that one level says it of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from derivations.language.judge.rules import RULES
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.loops import python_source
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.page import Note, Row, page, printer_for, rows_of
from derivations.language.printing.titles import marked
from derivations.language.printing.views import latex, markdown
from derivations.language.printing.words import word
from derivations.language.results.derivation import Claim, Derivation
from derivations.site.formulas import Formulas, Letters
from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page
from derivations.topics import TOPICS, aliases_of

__all__ = ["ResultView", "copies", "read_result", "result_page", "results_page"]


OURS = "ours"
MOST_OF_LETTERS = 10_000  # characters of formulas in other letters on one page, which is to stay small
TITLES = {"vaswani": "Vaswani et al.", "columns": "column vectors"}  # other notations have their names

Printers = Mapping[str, LatexPrinter]  # by the names of their notations


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
    copies: Mapping[str, str]  # what a button copies, by its name

    @property
    def path(self) -> str:
        """The permanent address of the page in a site."""
        return path_of(self.id)


def path_of(name: str) -> str:
    """Return the path of the page of a result in a site."""
    return f"results/{name}.html"


def read_result(found: Derivation, level: str) -> ResultView:
    """Return what the page of a result shows; `level` is that of its evidence."""
    printed = page(found, LatexPrinter, OURS, steps=True)
    length = sum(len(row.left) + len(row.right) for row in printed.rows)
    offered = list(NOTATIONS)[: 1 + MOST_OF_LETTERS // max(1, length)]
    printers = {name: printer_for(found, LatexPrinter, name) for name in offered}
    claims = tuple(_claim(each, printers) for each in found.claims)
    copies = {
        "LaTeX": latex(found, steps=True),
        "Markdown": markdown(found, steps=True),
        "Python": python_source(found),
    }
    return ResultView(
        found.id,
        found.title,
        found.topic,
        printed.heading,
        level,
        claims,
        printed.notes,
        tuple(_letters_of_notes(found, printed.notes, printers)),
        found.source,
        copies,
    )


def _claim(claim: Claim, printers: Printers) -> ClaimView:
    count = len(claim.steps)  # a condition follows the steps
    rows = {name: [_step_latex(row) for row in rows_of(claim, each, True)][:count] for name, each in printers.items()}
    latex, letters = _differing({name: _statement(*rows_of(claim, each, False)) for name, each in printers.items()})
    steps = (_differing(dict(zip(rows, found, strict=True))) for found in zip(*rows.values(), strict=True))
    shown = (StepView(own, step.rule, others) for (own, others), step in zip(steps, claim.steps, strict=True))
    return ClaimView(latex, letters, tuple(shown))


def _letters_of_notes(found: Derivation, notes: Sequence[Note], printers: Printers) -> Iterator[Letters]:
    """Yield the other letters of each formula of the notes; none where a notation counts the formulas otherwise."""
    own = [formula for note in notes for formula, _ in note.items if formula]
    others = {name: page(found, LatexPrinter, name, steps=True).notes for name in printers if name != OURS}
    formulas = {
        name: [formula for note in each for formula, _ in note.items if formula] for name, each in others.items()
    }
    for place, formula in enumerate(own):
        written = {name: each[place] for name, each in formulas.items() if len(each) == len(own)}
        yield _differing({OURS: formula, **written})[1]


def _formulas(notes: Iterable[Note]) -> list[str]:
    return [formula for note in notes for formula, _ in note.items if formula]


def _differing(written: Mapping[str, str]) -> tuple[str, Letters]:
    """Return what is ours, and what is written otherwise."""
    own = written[OURS]
    return own, {name: latex for name, latex in written.items() if latex != own}


# --- as HTML --------------------------------------------------------------------------------------------------------


def result_page(
    view: ResultView, formulas: Formulas, used: Iterable[tuple[str, str]], beside: Sequence[ResultView]
) -> Page:
    """Return the page of a result; `used` are the titles and paths of what refers to it, `beside` its neighbours."""
    back = Page(view.path, "", Html("")).root
    links = [element("li", element("a", title, href=back + path)) for title, path in used]
    topic = element("a", _topic(view.topic), href=f"{back}results/index.html#{view.topic}")
    content = joined(
        [
            element("p", topic, class_="crumbs"),
            element("h1", heading(view.heading, formulas)),
            element("p", element("code", view.id), " ", _badge(view.level), _choice_of_letters(view), class_="facts"),
            *_statements(view, formulas),
            notes(view.notes, formulas, view.letters),
            copies(view.copies),
            *_steps(view, formulas),
            *([element("h2", "Used by"), element("ul", *links)] if links else []),
            element("nav", *(_neighbour(each, back) for each in beside), aria_label="Neighbours", class_="beside"),
        ]
    )
    words = " ".join([view.id, view.topic, *aliases_of(view.id), view.source])
    return Page(view.path, view.title, content, "result", words)


def heading(parts: Sequence[str], formulas: Formulas) -> Html:
    """Return a title with its formulas."""
    return Html(marked(parts, lambda formula: formulas.inline(formula).text, lambda words: joined([words]).text))


def notes(found: Sequence[Note], formulas: Formulas, letters: Sequence[Letters] = ()) -> Html:
    """Return the definitions, the assumptions and the source below a display."""
    marks = iter(formulas.inlines(_formulas(found), letters))
    parts = []
    for note in found:
        lead = word(note.lead, "en")
        items = (
            joined([next(marks) if formula else None, f" ({words})" if formula and words else words])
            for formula, words in note.items
        )
        parts += [element("dt", lead[:1].upper() + lead[1:]), *(element("dd", item) for item in items)]
    return element("dl", *parts, class_="notes") if parts else Html("")


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
    """Yield the steps of every claim, each closed until it is opened."""
    yield element("h2", "Steps", id="steps")
    for number, claim in enumerate(view.claims, 1):
        if len(view.claims) > 1:
            yield element("h3", f"({number})")
        several = len(claim.steps) > 1  # a single step is the statement above
        yield element("ol", *(_step(each, formulas if several else None) for each in claim.steps), class_="steps")


def _step(view: StepView, formulas: Formulas | None) -> Html:
    """Return a step with the law of its rule, and with its formula if `formulas` are given."""
    rule = RULES.get(view.rule)
    law = element("p", rule.law, class_="law") if rule else None
    shown = formulas.later(view.latex, letters=view.letters) if formulas else None
    return element("li", element("details", element("summary", view.rule, class_="rule"), law, shown))


def copies(texts: Mapping[str, str]) -> Html:
    """Return a button for each text, by its name, which copies it."""
    buttons = (element("button", f"Copy {name}", type="button", data_copy=text) for name, text in texts.items())
    return element("p", *buttons, class_="copies")


def _choice_of_letters(view: ResultView) -> Html:
    """Return the switch between notations, of those that write this result otherwise."""
    steps = (step.letters for claim in view.claims for step in claim.steps)
    parts = [*view.letters, *(claim.letters for claim in view.claims), *steps]
    names = [name for name in NOTATIONS if any(name in letters for letters in parts)]
    if not names:
        return Html("")
    options = (element("option", TITLES.get(name, name), value=name) for name in (OURS, *names))
    return element("label", " Letters ", element("select", *options, id="letters"), class_="letters")


def _badge(level: str) -> Html:
    return element("span", level, class_=f"badge {level.partition(' ')[0]}")


def _neighbour(view: ResultView, back: str) -> Html:
    return element("a", view.title, href=back + view.path)


def _topic(topic: str) -> str:
    return topic.replace("_", " ").capitalize()


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
        rows = (element("li", element("a", each.title, href=each.path.removeprefix("results/"))) for each in found)
        parts.append(element("ul", *rows, class_="results"))
    return Page("results/index.html", "Results", joined(parts), "page", "")
