"""Caches against the library's own cache objects: the numbers that they hold after a text, layer by layer.

Keys and values, latent rows, and the states of recurrences. Of a convolution w rows wide the next position needs the
last w - 1 rows; some families of the library keep w of them.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from derivations.costs.key_value_caches import cached_numbers
from derivations.symbols import n
from tests.numeric.verification.agreement.small_families import COUNTED, DECODERS, RECURRENT, SMALL
from tests.numeric.verification.agreement.test_executed_flops import library, tokens

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers

LATENT = [
    case
    for case in (*SMALL, *COUNTED)
    if case[0].startswith(("Deepseek", "MiniCPM3", "Youtu", "Glm4MoeLite", "GlmMoeDsa"))
]
SHARED = [case for case in SMALL if case[0].startswith(("Gemma3n", "Gemma4"))]
NORMED = [case for case in SMALL if case[0].startswith(("Olmo", "Persimmon", "Phi", "FlexOlmo", "HunYuan"))]
PLAIN = [case for case in SMALL if case[0].removesuffix("ForCausalLM") in DECODERS and case not in NORMED]
PLAIN += LATENT + SHARED
OUTSIDE = ("RecurrentGemma", "Rwkv")  # which keep their states in their layers, or in a list, and in no cache
RECURRING = [case for case in RECURRENT if not case[0].startswith(OUTSIDE)]


def kept(cache: Any, width: int) -> Iterator[int]:
    """Yield the numbers that the layers of a cache hold, w - 1 rows of each convolution."""
    for layer in cache.layers:
        if getattr(layer, "is_initialized", True) and getattr(layer, "keys", None) is not None:
            yield layer.keys.numel() + layer.values.numel()
        if getattr(layer, "indexer_keys", None) is not None:
            yield layer.indexer_keys.numel()
        states = [getattr(layer, name, None) or {} for name in ("conv_states", "recurrent_states")]
        for rows in (each for each in states[0].values() if each is not None):
            assert rows.shape[-1] in (width - 1, width)
            yield rows.numel() // rows.shape[-1] * (width - 1)
        yield from (each.numel() for each in states[1].values() if each is not None)
    yield from (each.numel() for each in getattr(cache, "linear_cache", ()) if len(each))


def compared(name: str, sizes: dict[str, Any], length: int) -> tuple[int, int]:
    """Return what the library's cache holds after texts of a length, and what is counted."""
    theirs, model = library(name, sizes)
    with torch.no_grad():
        out = theirs(tokens(2, length), use_cache=True)
    names = ("cache", "past_key_values", "cache_params")
    cache = next(each for each in (getattr(out, name, None) for name in names) if each is not None)
    widths = {each.kernel_size[0] for each in theirs.modules() if isinstance(each, torch.nn.Conv1d)}
    counted = cached_numbers(model)
    return sum(kept(cache, max(widths, default=1))), 2 * int(counted.subs({**model.values, n: length}))


@pytest.mark.parametrize(("name", "sizes"), NORMED, ids=[f"{i}-{name}" for i, (name, _) in enumerate(NORMED)])
def test_keys_that_are_normed_are_kept_once(name: str, sizes: dict[str, Any]) -> None:
    """Texts are shorter than a window, of which the library keeps all but the next position."""
    theirs, ours = compared(name, sizes, 1)
    assert theirs == ours > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sizes"), PLAIN, ids=[f"{i}-{name}" for i, (name, _) in enumerate(PLAIN)])
def test_keys_and_values_are_those_of_the_library(name: str, sizes: dict[str, Any]) -> None:
    theirs, ours = compared(name, sizes, 1)
    assert theirs == ours > 0


@pytest.mark.slow
@pytest.mark.parametrize("length", [7, 50])
@pytest.mark.parametrize(("name", "sizes"), RECURRING, ids=[f"{i}-{name}" for i, (name, _) in enumerate(RECURRING)])
def test_states_are_those_of_the_library(name: str, sizes: dict[str, Any], length: int) -> None:
    """Keys and values grow with the text, states do not."""
    theirs, ours = compared(name, sizes, length)
    assert theirs == ours > 0
