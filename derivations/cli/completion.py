"""What the shell completes: ids of results, names of layers, topics, models, devices and notations; files, folders.

Ids come from the stored evidence where this source has some, so that a key press need not wait for SymPy.
"""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from derivations.cli import stored_evidence
from derivations.cli.stored_evidence import LAYER
from derivations.topics import TOPICS

__all__ = [
    "devices",
    "engines",
    "files",
    "folders",
    "layers",
    "layers_or_folders",
    "models",
    "notations",
    "results",
    "results_and_layers",
    "topics",
]

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completing(names: Callable[[], Iterable[str]] = tuple, otherwise: str = "") -> Complete:
    """Return a function that completes names. If none matches, the shell completes a path of the type `otherwise`."""

    def complete(context: click.Context, parameter: click.Parameter, beginning: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names() if name.startswith(beginning)]
        return found or [CompletionItem(beginning, type=otherwise)] * bool(otherwise)

    return complete


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


def _models() -> Iterable[str]:
    from derivations.architectures.models import model_names  # SymPy comes with it

    return model_names()


def _devices() -> Iterable[str]:
    from derivations.costs.fit.hardware import device_names  # as above

    return device_names()


def _engines() -> Iterable[str]:
    from derivations.costs.fit.hardware import engine_names  # as above

    return engine_names()


def _notations() -> Iterable[str]:
    from derivations.language.printing.notation import NOTATIONS  # as above

    return NOTATIONS


results = _completing(_results)
layers = _completing(_layers)
results_and_layers = _completing(lambda: [*_layers(), *_results()])
topics = _completing(lambda: TOPICS)
models = _completing(_models, otherwise="file")
devices, engines = _completing(_devices), _completing(_engines)
notations = _completing(_notations, otherwise="file")
files, folders = _completing(otherwise="file"), _completing(otherwise="dir")
layers_or_folders = _completing(_layers, otherwise="dir")
