"""The command that lists results and layers: by topic, by search, whole.

Rows come from the stored evidence of this very source, so that a list needs neither SymPy nor a proof. Where nothing
is stored, they are listed as not judged, from the index that an installed package has, or built in a checkout: whoever
searches for a formula does not wait for its proof.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

import click

import derivations
from derivations.cli import completion, stored_evidence
from derivations.cli.searching import found_by, is_in
from derivations.cli.shared import clean_errors, line_width, progress_of, said, shortened
from derivations.cli.stored_evidence import LAYER, NOT_JUDGED, Row, Stored
from derivations.processes import announce
from derivations.topics import TOPICS, nearest_are

__all__ = ["judged_rows", "keep", "list_command", "unjudged_rows"]

PROCESSES = min(4, os.cpu_count() or 1)
EXPECTED = ("proved", "definition", NOT_JUDGED)  # levels that the titles leave out; the last line counts them
NARROWEST = 36  # letters of a second column
EXAMPLES = (
    ("derivations list softmax", "results of a topic"),
    ('derivations list --search "kv cache"', "by words or letters"),
    ("derivations list --layers", "layers"),
    ("derivations list --all", "all results"),
    ("derivations show softmax.jacobian", "one of them"),
)


@click.command("list", short_help="Topics, results and layers.")
@click.argument("named", metavar="[TOPIC]", required=False, shell_complete=completion.topics)
@click.option("--topic", metavar="TOPIC", shell_complete=completion.topics, help="The results of a topic.")
@click.option("--layers", "of_layers", is_flag=True, help="The layers: what goes in and what comes out.")
@click.option("--search", "words", metavar="WORDS", help="Results and layers, by words of titles or by letters.")
@click.option("--all", "whole", is_flag=True, help="All results.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects: id, title, topic, evidence, letters.")
@click.option("--prove", is_flag=True, help="Prove everything now, whatever is stored.")
@clean_errors
def list_command(
    named: str | None,
    topic: str | None,
    of_layers: bool,
    words: str | None,
    whole: bool,
    as_json: bool,
    prove: bool,
) -> None:
    r"""List the topics; the results of a topic; the layers; what a search finds.

    Nothing is proved for a list: it shows the evidence that `verify` or a plain `derivations` found for this very
    source, which is stored in the user's cache folder; a last line says so.

    \b
    derivations list
    derivations list softmax
    derivations list --search "kv cache"
    derivations list --search d_ff
    derivations list --layers
    derivations list --all --json
    """
    options = {
        "TOPIC": named,
        "--topic": topic,
        "--layers": of_layers or None,
        "--search": words,
        "--all": whole or None,
    }
    given = [option for option, value in options.items() if value is not None]
    if named is not None and words is not None:
        raise ValueError(f'words to search for stand in quotes: --search "{words} {named}"')
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} exclude one another: leave all but one out")
    stored, source = judged_rows(prove=True) if prove else _rows()
    results = [row for row in stored.rows if row.topic != LAYER]
    layers = [row for row in stored.rows if row.topic == LAYER]
    rows: Sequence[Row] = layers if of_layers else results
    asked = named if topic is None else topic
    if asked is not None:
        rows = _of_topic(results, asked)
    if words is not None:
        rows = found_by(words, [*layers, *results])
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1))
    elif given:
        _print_rows(rows)
    else:
        _print_topics(results, layers)
    click.echo(source if as_json else said(source), err=as_json)


def _of_topic(rows: Sequence[Row], topic: str) -> list[Row]:
    """Return the rows of a topic.

    Raises `ValueError` with the topics in which the word is found, or else the nearest by spelling.
    """
    found = [row for row in rows if row.topic == topic]
    if not found:
        topics = list(dict.fromkeys(row.topic for row in rows))
        meant = dict.fromkeys(row.topic for row in rows if is_in(topic, row))
        near = [*meant, *get_close_matches(topic, topics, n=3, cutoff=0.4)] or topics
        raise ValueError(f"there is no topic called {topic!r}; {nearest_are(near[:3])}")
    return found


# --- the rows -------------------------------------------------------------------------------------------------------


def judged_rows(prove: bool, verdicts: Callable[[], Iterable[Any]] | None = None) -> tuple[Stored, str]:
    """Return the rows of this source with evidence, and the sentence that says where the evidence comes from.

    `verdicts` proves every result, for a command that does more with each.
    """
    digest, source = _source()
    stored = None if prove else stored_evidence.read(digest)
    if stored is None or not stored.is_judged:
        return keep(digest, (verdicts or _verdicts)()), f"{source}proved now, and stored for the next list."
    return stored, f"{source}{_FROM_CACHE.format(stored.proved)}"


def _rows() -> tuple[Stored, str]:
    """Return the rows of this source, with evidence where it is stored, and the sentence that says so."""
    digest, source = _source()
    stored = stored_evidence.read(digest) or stored_evidence.indexed()
    if stored is None:
        stored = stored_evidence.keep(digest, unjudged_rows())
    if not stored.is_judged:
        return (
            stored,
            f"{source}no proof was run yet. `derivations verify` proves all results, and the list then shows it; "
            "what `derivations verify ID` proves is printed, and not kept.",
        )
    return stored, f"{source}{_FROM_CACHE.format(stored.proved)}"


_FROM_CACHE = "read from the cache, proved {}; `derivations list --prove` proves anew."


def _source() -> tuple[str, str]:
    digest = stored_evidence.source_digest()
    return digest, f"Evidence of source {digest[:12]}, version {derivations.__version__}: "


def unjudged_rows() -> list[Row]:
    """Return the rows of all results and layers, built and not judged."""
    from derivations.catalogue import letters_of, results

    return [
        *(_row(name, found.title, NOT_JUDGED, letters_of(found)) for name, found in results().items()),
        *_layer_rows(),
    ]


def _verdicts() -> list[Any]:
    """Prove every result."""
    announce("derivations.catalogue")
    from derivations.catalogue import names, verify

    found = []
    with progress_of(len(names()), "proving") as advance:
        for verdict in verify(names(), PROCESSES, cross_checked=False):
            found.append(verdict)
            advance()
    return found


def keep(digest: str, verdicts: Iterable[Any]) -> Stored:
    """Store the evidence of all results, and the rows of all layers, under the digest of the source."""
    results = [_row(v.id, v.title, v.level, v.letters) for v in verdicts]
    return stored_evidence.keep(digest, [*results, *_layer_rows()])


def _row(name: str, title: str, evidence: str, letters: tuple[str, ...]) -> Row:
    return Row(name, title, name.partition(".")[0], evidence, letters)


def _layer_rows() -> list[Row]:
    from derivations.catalogue import layers

    return [_layer_row(name, each) for name, each in layers().items()]


def _layer_row(name: str, layer: Any) -> Row:
    arrays = [*layer.inputs, *layer.parameters, *layer.outputs]
    letters = {letter for array in arrays for letter in (array.name, *map(str, array.shape))}
    title = f"{_shapes(layer.inputs)} -> {_shapes(layer.outputs)}".strip()
    return Row(name, title, LAYER, "definition", tuple(sorted(letters)))


def _shapes(arrays: Iterable[Any]) -> str:
    from derivations.language.arrays.shapes import total  # SymPy comes with it

    return ", ".join(f"{array.name}[{','.join(str(total(axis)) for axis in array.shape)}]" for array in arrays)


# --- output ---------------------------------------------------------------------------------------------------------


def _print_topics(results: Sequence[Row], layers: Sequence[Row]) -> None:
    counts = Counter(row.topic for row in results)
    width = max(map(len, counts))
    click.echo(said(f"{_counted(results)}, {len(counts)} topics, {len(layers)} layers") + "\n")
    for topic, count in counts.items():
        line = f"{topic:{width}}  {count:3}  "
        click.echo(line + shortened(TOPICS.get(topic, ""), line_width() - len(line)))
    click.echo()
    _print_columns(EXAMPLES)
    click.echo()


def _print_rows(rows: Sequence[Row]) -> None:
    _print_columns([(row.id, row.title + f" [{row.evidence}]" * (row.evidence not in EXPECTED)) for row in rows])
    results = [row for row in rows if row.topic != LAYER]
    layers = len(rows) - len(results)
    parts = [_counted(results)] * bool(results) + [f"{layers} layer{'s' * (layers > 1)}"] * bool(layers)
    click.echo("\n" + said(", ".join(parts)))


def _counted(results: Sequence[Row]) -> str:
    levels = Counter(row.evidence for row in results)
    of_levels = ", ".join(f"{level} {count}" for level, count in levels.most_common())
    if set(levels) == {NOT_JUDGED}:
        of_levels = "proofs not run yet"
    return f"{len(results)} result{'s' * (len(results) > 1)} ({of_levels})"


def _print_columns(rows: Sequence[tuple[str, str]]) -> None:
    """Print pairs in two columns. If the second column would be too narrow, print each text below its name."""
    width = 2 + max(len(name) for name, _ in rows)
    beside = line_width() - width >= NARROWEST
    for name, text in rows:
        click.echo(said(f"{name:{width}}{text}", " " * width) if beside else f"{name}\n{said('    ' + text, '    ')}")
