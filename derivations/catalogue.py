"""The catalogue: every layer and every result, by name.

A result enters by `@result` in the module of its concept; importing the modules here, in the order in which they
build on one another, fills the catalogue.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from difflib import get_close_matches
from importlib import import_module

from derivations.attention import scaled_dot_product_attention
from derivations.decoder import decoder, decoder_layer
from derivations.dropout import dropout
from derivations.embedding import embedding
from derivations.encoder import encoder, encoder_layer
from derivations.feed_forward import feed_forward
from derivations.language.derivation import RESULTS, Derivation
from derivations.language.functions import gelu
from derivations.language.layer import Layer
from derivations.language.proof import judge
from derivations.layer_norm import layer_norm
from derivations.linear import linear
from derivations.multi_head import multi_head_attention
from derivations.positional_encoding import positional_encoding
from derivations.softmax import softmax
from derivations.transformer import transformer

__all__ = ["LAYERS", "get", "layer", "layers", "names", "results", "verify"]

CONCEPTS = (
    "softmax", "dot_product", "attention", "multi_head", "linear", "activation", "feed_forward", "layer_norm",
    "batch_norm", "residual", "dropout", "positional_encoding", "embedding", "encoder", "decoder", "transformer",
    "parameters", "flops",
)  # fmt: skip

LAYERS: dict[str, Callable[[], Layer]] = {
    "softmax": softmax,
    "linear": linear,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "masked_scaled_dot_product_attention": lambda: scaled_dot_product_attention(masked=True),
    "multi_head_attention": multi_head_attention,
    "masked_multi_head_attention": lambda: multi_head_attention(masked=True),
    "multi_head_attention_with_biases": lambda: multi_head_attention(biases=True),
    "feed_forward": feed_forward,
    "feed_forward_gelu": lambda: feed_forward(gelu),
    "layer_norm": layer_norm,
    "positional_encoding": positional_encoding,
    "embedding": embedding,
    "dropout": dropout,
    "encoder_layer": encoder_layer,
    "encoder": encoder,
    "decoder_layer": decoder_layer,
    "decoder": decoder,
    "transformer": transformer,
}


def names() -> list[str]:
    """Return the ids of all results, concept by concept."""
    for concept in CONCEPTS:
        import_module(f"derivations.{concept}")
    return sorted(RESULTS, key=lambda name: CONCEPTS.index(name.partition(".")[0]))


def get(name: str) -> Derivation:
    """Return the result called `name`.

    Raises `LookupError` with the nearest ids when there is none.
    """
    return RESULTS[_known(name, names(), "result")]()


def layer(name: str) -> Layer:
    """Return the layer called `name`.

    Raises `LookupError` with the nearest names when there is none.
    """
    return LAYERS[_known(name, list(LAYERS), "layer")]()


def _known(name: str, known: list[str], kind: str) -> str:
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.4) or known[:3]
        raise LookupError(f"there is no {kind} called {name!r}; the nearest are {', '.join(near)}")
    return name


def layers() -> dict[str, Layer]:
    """Return every layer of the package by its name."""
    return {name: build() for name, build in LAYERS.items()}


def results() -> dict[str, Derivation]:
    """Return every result by its id, concept by concept."""
    return {name: get(name) for name in names()}


def verify(ids: Iterable[str], jobs: int = 1) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Prove results again, in `jobs` processes; yield id, level of evidence, and what failed."""
    if jobs == 1:
        yield from map(_verify, ids)
        return
    with ProcessPoolExecutor(jobs, initializer=_leave_stopping_to_the_parent) as pool:
        try:
            yield from pool.map(_verify, ids, chunksize=4)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _leave_stopping_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _verify(name: str) -> tuple[str, str, tuple[str, ...]]:
    evidence = judge(get(name))
    return name, evidence.level, evidence.failures
