"""The encoder-decoder Transformer as a model: sizes, weights, and the compiled layer.

Definition   P = softmax of the rows of the logits of `derivations.transformer`: post-norm, sinusoidal positions, causal
             decoder, output tied to the embedding
Shapes       source (..., m) and target (..., n) token numbers from 0 to vocab - 1; probabilities (..., n, vocab)
Source       Vaswani et al. (2017); the defaults are the base model of its table 3, on bytes as tokens

>>> import numpy as np
>>> model = Transformer(d_model=6, h=3, d_ff=7, N=2, vocab=11)
>>> model(np.array([1, 2, 3]), np.array([[4, 5], [6, 7]])).shape
(2, 2, 11)
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from derivations.language import gradient
from derivations.language.arrays.functions import Named, gelu, relu
from derivations.language.layers.layer import Layer
from derivations.transformer.transformer import transformer, transformer_loss
from numeric.codegen.compile import CompiledLayer, compile_layer
from numeric.models.decoding import Decoder
from numeric.models.weights import count, initialise
from numeric.runtime.checks import InputError, check_call, check_weights

__all__ = ["Transformer"]

ACTIVATIONS: Mapping[str, Named] = {"relu": relu, "gelu": gelu}


class Transformer:
    """A Transformer of given sizes: call it on source and target tokens for the probabilities of the next token.

    Assumes      d_k = d_v = d_model / h; without weights, those of `initialise` from the seed; given weights
                 keep their own number type
    Raises       InputError where a size is not an integer >= 1, h does not divide d_model, d_model is odd, or given
                 weights do not fit
    """

    def __init__(
        self,
        d_model: int = 512,
        h: int = 8,
        d_ff: int = 2048,
        N: int = 6,
        vocab: int = 256,
        seed: int = 0,
        dtype: DTypeLike = np.float32,
        biases: bool = False,
        activation: str | Named = "relu",
        final_norm: bool = False,
        weights: Mapping[str, Any] | None = None,
    ) -> None:
        sizes = {"d_model": d_model, "h": h, "d_ff": d_ff, "N": N, "vocab": vocab}
        self.sizes = {name: _size(name, value) for name, value in sizes.items()}
        d_model, h = self.sizes["d_model"], self.sizes["h"]
        if d_model % h or d_model % 2:
            needed = (
                f"h = {h} must divide it" if d_model % h else "it must be even (a sine and a cosine for each frequency)"
            )
            raise InputError(f"Transformer: d_model is {d_model}, and {needed}; choose another d_model")
        if isinstance(activation, str) and activation not in ACTIVATIONS:
            raise InputError(
                f"Transformer: the activation {activation!r} is unknown; choose {' or '.join(ACTIVATIONS)}"
            )
        self._options: dict[str, Any] = {
            "biases": biases,
            "activation": ACTIVATIONS[activation] if isinstance(activation, str) else activation,
            "final_norm": final_norm,
        }
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise InputError(f"Transformer: the dtype must be float32 or float64, not {self.dtype}")
        self.sizes |= {"d_k": d_model // h, "d_v": d_model // h}
        if weights is not None:
            check_weights(self.layer(), weights, self.sizes)
            self.dtype = weights["E"].dtype
        self.weights = weights if weights is not None else initialise(self.layer(), self.sizes, seed, self.dtype)

    def layer(self, *, padded: bool = False) -> Layer:
        """Return the equations of the model, with masks for padding when `padded`."""
        return transformer(padded=padded, **self._options)

    def __call__(
        self, source: Any, target: Any, source_visible: Any = None, target_visible: Any = None, *, check: bool = True
    ) -> Any:
        """Return the probabilities of the next token after each target position.

        Shapes       source and source_visible (..., m), target and target_visible (..., n) -> (..., n, vocab)
        Assumes      a mask is True at a token and False at padding; without a mask every token is visible
        Raises       InputError where tokens, masks or weights do not fit
        """
        return self._run(None, source, target, source_visible, target_visible, check)

    def logits(
        self, source: Any, target: Any, source_visible: Any = None, target_visible: Any = None, *, check: bool = True
    ) -> Any:
        """Return the logits, from which softmax computes the probabilities; arguments as for a call.

        Shapes       source and source_visible (..., m), target and target_visible (..., n) -> (..., n, vocab)
        Raises       InputError where tokens, masks or weights do not fit
        """
        return self._run("logits", source, target, source_visible, target_visible, check)

    def loss(self, source: Any, target: Any, labels: Any, *, check: bool = True) -> float:
        """Return the mean cross-entropy of the next token, over all target positions of a batch.

        Shapes       source (..., m), target and labels (..., n) -> a number
        Raises       InputError where tokens or weights do not fit
        """
        losses = _loss(**self._options)(*map(np.asarray, (source, target, labels)), **self.weights, check=check)
        return float(losses.mean())

    def gradient(self, source: Any, target: Any, labels: Any, *, check: bool = True) -> dict[str, Any]:
        """Return the gradient of the loss with respect to the weights, nested as the weights.

        Shapes       source (..., m), target and labels (..., n); each gradient that of its weight
        Raises       InputError where tokens or weights do not fit
        """
        tokens = [np.asarray(each) for each in (source, target, labels)]
        batch = np.broadcast_shapes(*(each.shape[:-1] for each in tokens))
        of_losses = np.full(batch, 1 / math.prod(batch), self.dtype)  # cotangent of the mean over the batch
        gradients = _gradient(**self._options)(*tokens, of_losses, **self.weights, check=check)
        return dict(zip(("E", "encoder", "decoder"), gradients, strict=True))

    def greedy(self, source: Any, start: int, end: int, longest: int, *, check: bool = True) -> Any:
        """Return the tokens of greedy decoding. After an end token, all further tokens are end tokens.

        Shapes       source (..., m) -> tokens (..., longest)
        Raises       InputError where tokens or weights do not fit
        """
        source = np.asarray(source)
        target = np.full((*source.shape[:-1], longest + 1), start)
        for place in range(longest):
            following = self.logits(source, target[..., : place + 1], check=check)[..., -1, :].argmax(axis=-1)
            target[..., place + 1] = np.where(target[..., place] == end, end, following)
        return target[..., 1:]

    def generate(self, source: Any, start: int, end: int, longest: int, *, check: bool = True) -> Any:
        """Return the tokens of `greedy`, with every position computed once: keys and values are kept from step to step.

        Shapes       source (..., m) -> tokens (..., longest)
        Raises       InputError where tokens or weights do not fit
        """
        source = np.asarray(source)
        target = np.full((*source.shape[:-1], longest + 1), start)
        layer = self.layer().until("logits")
        if check:
            compiled = compile_layer(layer)  # checked once: all steps have the weights and the source of the first
            check_call(layer, compiled.function, compiled.sizes, (source, target[..., :1]), self.weights)
        text = Decoder(layer, self.weights, self.sizes).start(longest, source)
        for place in range(longest):
            following = text.extend(target[..., place : place + 1]).argmax(axis=-1)
            target[..., place + 1] = np.where(target[..., place] == end, end, following)
        return target[..., 1:]

    def parameters(self) -> int:
        """Return the number of entries of the weights.

        Units        parameters
        """
        return count(self.weights)

    def _run(self, until: str | None, source: Any, target: Any, seen: Any, seen_target: Any, check: bool) -> Any:
        tokens, masks = [np.asarray(source), np.asarray(target)], []
        if seen is not None or seen_target is not None:
            given = zip(tokens, (seen, seen_target), strict=True)
            masks = [np.ones(each.shape[-1:], bool) if mask is None else np.asarray(mask) for each, mask in given]
        layer = self.layer(padded=bool(masks))
        compiled = compile_layer(layer.until(until) if until else layer)
        return compiled(*tokens, *masks, **self.weights, check=check)


@lru_cache
def _loss(**options: Any) -> CompiledLayer:
    return compile_layer(transformer_loss(**options))


@lru_cache
def _gradient(**options: Any) -> CompiledLayer:
    return compile_layer(gradient(transformer_loss(**options)))


def _size(name: str, value: Any) -> int:
    try:
        number = 0 if isinstance(value, bool) else index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"Transformer: {name} must be an integer >= 1, not {value!r}")
    return number
