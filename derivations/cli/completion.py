"""What the shell completes: ids of results, names of layers, topics, names of models.

Ids come from the stored evidence where this source has some, so that a key press need not wait for SymPy.
"""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from derivations.cli import stored_evidence
from derivations.cli.stored_evidence import LAYER
from derivations.topics import TOPICS

__all__ = ["layers", "models", "results", "results_and_layers", "topics"]

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _completing(names: Callable[[], Iterable[str]]) -> Complete:
    return lambda context, parameter, beginning: [name for name in names() if name.startswith(beginning)]


def _results() -> list[str]:
    stored = stored_evidence.read(stored_evidence.source_digest())
    if stored is not None:
        return [row.id for row in stored.rows if row.topic != LAYER]
    from derivations.catalogue import names

    return names()


def _layers() -> list[str]:
    stored = stored_evidence.read(stored_evidence.source_digest())
    if stored is not None:
        return [row.id for row in stored.rows if row.topic == LAYER]
    from derivations.catalogue import LAYERS

    return list(LAYERS)


def models(context: click.Context, parameter: click.Parameter, beginning: str) -> list[CompletionItem]:
    """Return the built-in models, or leave it to the shell to complete the path of a configuration."""
    from derivations.architectures.models import model_names  # SymPy comes with it

    found = [CompletionItem(name) for name in model_names() if name.startswith(beginning)]
    return found or [CompletionItem(beginning, type="file")]


results = _completing(_results)
layers = _completing(_layers)
results_and_layers = _completing(lambda: [*_layers(), *_results()])
topics = _completing(lambda: TOPICS)
