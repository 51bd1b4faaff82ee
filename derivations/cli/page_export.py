"""What `derivations export DIR` writes: results, layers and their gradients, by the names of their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from derivations.cli.own_modules import is_own, judged

if TYPE_CHECKING:
    from derivations.language.layers.layer import Layer
    from derivations.language.results.derivation import Derivation

__all__ = ["chosen", "is_id"]


def is_id(folder: str) -> bool:
    """Return whether the argument for a folder is the name of a result or layer instead."""
    from derivations.catalogue import LAYERS, names  # SymPy comes with it

    return is_own(folder) or (not Path(folder).exists() and (folder in LAYERS or folder in names()))


def chosen(ids: Sequence[str], gradients: bool) -> tuple[Mapping[str, Derivation], Mapping[str, Layer]]:
    """Return the results and layers that are named, or all; with `gradients`, after each layer its gradient.

    Raises       LookupError for an unknown name; ValueError for gradients where no layer is named, or one has none
    """
    from derivations import catalogue

    results, layers = _named(ids) if ids else (catalogue.results(), catalogue.layers())
    if not gradients:
        return results, layers
    if not layers:
        raise ValueError(f"{', '.join(ids)}: --gradients is about layers, such as feed_forward: name one, or nothing")
    return results, _with_gradients(layers, required=bool(ids))


def _named(ids: Sequence[str]) -> tuple[Mapping[str, Derivation], Mapping[str, Layer]]:
    from derivations.former_names import current
    from derivations.language import Derivation, Layer

    # a file is called as its result is typed, with a dot for the colon
    found = {name.replace(":", ".") if is_own(name) else current(name): judged(name) for name in ids}
    topics = [name.partition(".")[0] for name in found]  # the book has one section for each
    by_topic = sorted(found.items(), key=lambda item: topics.index(item[0].partition(".")[0]))
    results = {name: each for name, each in by_topic if isinstance(each, Derivation)}
    return results, {name: each for name, each in found.items() if isinstance(each, Layer)}


def _with_gradients(layers: Mapping[str, Layer], required: bool) -> Mapping[str, Layer]:
    """Return layers and their gradients; a layer without one is refused if `required`, and left as it is otherwise."""
    from derivations.language.differentiation.reverse import gradient, required_gradient

    both: dict[str, Layer] = {}
    for name, layer in layers.items():
        backward = required_gradient(layer) if required else gradient(layer)
        both |= {name: layer} | ({f"{name}_gradient": backward} if backward.equations else {})
    return both
