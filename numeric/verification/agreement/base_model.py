"""The base-size Transformer on a text: the run itself, and the values with which it must agree.

Definition   bytes are tokens; source and target are the same window of the text, so that target position i, which sees
             the bytes up to i, gives the probabilities of byte i + 1
Result       the compiled float32 probabilities agree with the uncompiled float64 computation of the module `einsum`;
             rows sum to 1; a change of the last byte changes no earlier row; parameters and FLOPs equal their counts
Source       Vaswani et al. (2017), table 3, the base model; without training: a seed determines the weights
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from derivations.language.counting.costs import count_flops, count_parameters
from numeric.codegen.compile import compile_layer
from numeric.models.transformer import Transformer
from numeric.verification.agreement import einsum
from numeric.verification.agreement.counts import at, flops_difference, parameters_check
from numeric.verification.agreement.properties import row_sums_check
from numeric.verification.agreement.recording import Log, recorded
from numeric.verification.agreement.report import Agreement, Check
from numeric.verification.agreement.rounding import rounding_bound, roundings

__all__ = ["BASE", "Run", "base_agreement", "base_checks", "run"]

BASE: dict[str, Any] = {"d_model": 512, "h": 8, "d_ff": 2048, "N": 6, "vocab": 256}


@dataclass(frozen=True)
class Run:
    """One forward pass over a window: the model, the tokens, and the probabilities of the next token."""

    model: Transformer
    tokens: Any
    probabilities: Any

    @property
    def sizes(self) -> dict[str, int]:
        """Every size of the equations, by name."""
        sizes, n = self.model.sizes, len(self.tokens)
        width = sizes["d_model"] // sizes["h"]
        return {**sizes, "d_k": width, "d_v": width, "m": n, "n": n}

    @property
    def bits(self) -> float | None:
        """The mean information of a byte under the model, in bits; None where the window has one byte."""
        following = self.tokens[1:]
        if not len(following):
            return None
        return float(-np.log2(self.probabilities[np.arange(len(following)), following]).mean())


def run(window: bytes, model: Transformer) -> Run:
    """Return the forward pass of a model over a window of bytes, as source and as target."""
    tokens = np.frombuffer(window, np.uint8).astype(np.int64)
    return Run(model, tokens, model(tokens, tokens))


def base_agreement(run: Run) -> Agreement:
    """Return how well the probabilities of a run agree with the uncompiled float64 computation.

    Units        units in the last place of the largest probability of a row
    """
    expected = einsum.probabilities(run.tokens, run.tokens, run.model.weights)
    unit = np.spacing(expected.max(axis=-1).astype(run.probabilities.dtype))
    error = float((np.abs(run.probabilities - expected).max(axis=-1) / unit).max())
    bound = rounding_bound(roundings(run.model.layer(), run.sizes))
    return Agreement("base-size transformer", tuple(run.sizes.items()), str(run.probabilities.dtype), error, bound)


def base_checks(run: Run) -> Iterator[Check]:
    """Yield the properties of a run: row sums, causality, parameters as allocated, FLOPs of products as executed."""
    yield row_sums_check("the base-size model", run.probabilities)
    layer = run.model.layer()
    yield parameters_check("the base-size model", count_parameters(layer), run.sizes, run.model.weights)
    changed, log = run.tokens.copy(), Log()
    changed[-1] = (changed[-1] + 1) % run.model.sizes["vocab"]
    again = compile_layer(layer)(run.tokens, changed, **recorded(run.model.weights, log))
    yield causal_check(run.probabilities, np.asarray(again), rounding_bound(roundings(layer, run.sizes)))
    executed = sum(flops for _, flops in log)
    counted = at(count_flops(layer).matmul, run.sizes)
    yield flops_difference("the base-size model", counted, executed)


def causal_check(before: Any, after: Any, bound: float) -> Check:
    """Return by how much a change of the last target token changes the rows before the last.

    Units        units in the last place of the largest probability of a row
    """
    unit = np.spacing(before.max(axis=-1))[:-1]
    errors = np.abs(before - after)[:-1].max(axis=-1) / unit
    return Check("rows before a changed byte stay", float(errors.max(initial=0.0)), bound, "ULP")
