"""The catalogue: every layer and every result, by name.

`@result` in the module of a concept adds a result; importing the modules here, each after the ones that it builds on,
fills the catalogue.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module

from derivations.architectures.patches import (
    audio_stem,
    class_token,
    patch_embedding,
)
from derivations.architectures.relative_position_bias import relative_position_bias
from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.grouped_query import grouped_query_attention
from derivations.attention.kernels import linear_attention
from derivations.attention.latent import latent_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.costs.memory import pre_norm_layer
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import gated_feed_forward
from derivations.feed_forward.mixture_of_experts import mixture_of_experts
from derivations.former_names import current
from derivations.language.arrays.functions import gelu
from derivations.language.cross_check import cross_check
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import RESULTS, Derivation, FalseStepError, registered
from derivations.linear.convolution import convolution_layer
from derivations.linear.dropout import dropout
from derivations.linear.linear import linear
from derivations.linear.low_rank_adaptation import low_rank_adaptation
from derivations.linear.recurrent import recurrent_step
from derivations.normalisation.batch_norm import batch_norm, batch_norm_inference
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.positions.position_bias import alibi_attention, learned_positions
from derivations.positions.positional_encoding import positional_encoding
from derivations.positions.rotary import rotary_embedding
from derivations.processes import in_order, rarely_collecting
from derivations.softmax.cross_entropy import cross_entropy
from derivations.softmax.softmax import softmax
from derivations.transformer.decoder import decoder, decoder_layer
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer, transformer_loss

__all__ = ["LAYERS", "Verdict", "get", "known", "layer", "layers", "names", "results", "verify"]

CONCEPTS = (  # the topics of the results, in the order in which they build on one another
    "softmax", "dot_product", "attention", "multi_head", "linear", "convolution", "recurrent", "low_rank_adaptation",
    "activation", "feed_forward", "layer_norm", "rms_norm", "batch_norm", "residual", "dropout", "positional_encoding",
    "embedding", "initialisation", "encoder", "decoder", "transformer", "gradient", "mixture_of_experts", "patches",
    "parameters", "flops", "memory",
)  # fmt: skip

MODULES = (  # the modules that define them
    "softmax.softmax", "softmax.jacobian", "softmax.limits", "softmax.log_sum_exp", "softmax.cross_entropy",
    "attention.dot_product", "attention.attention", "attention.symmetries", "attention.masks", "attention.causal",
    "attention.band_masks", "attention.weights", "attention.circuits", "attention.tiles", "attention.rewrites",
    "attention.kernels", "attention.multi_head", "attention.multi_head_costs", "attention.grouped_query",
    "linear.convolution", "linear.recurrent", "attention.costs", "linear.linear", "linear.low_rank_adaptation",
    "activations.sigmoid", "activations.gelu", "activations.activation", "feed_forward.feed_forward",
    "feed_forward.costs", "feed_forward.derivatives", "feed_forward.symmetries", "feed_forward.gated",
    "normalisation.layer_norm", "normalisation.layer_norm_jacobian", "normalisation.layer_norm_symmetries",
    "normalisation.rms_norm", "normalisation.rms_norm_jacobian", "normalisation.batch_norm", "transformer.residual",
    "linear.dropout", "positions.positional_encoding", "positions.rotary", "positions.position_bias",
    "transformer.embedding", "linear.initialisation", "feed_forward.symmetry_breaking", "transformer.encoder",
    "transformer.decoder", "transformer.transformer", "gradients.gradient", "gradients.layer_gradients",
    "attention.latent", "feed_forward.mixture_of_experts", "architectures.relative_position_bias",
    "architectures.patches", "costs.parameters", "costs.flops", "costs.memory", "costs.model_costs",
    "costs.cost_questions", "costs.published.results",
)  # fmt: skip

LAYERS: dict[str, Callable[[], Layer]] = {
    "softmax": softmax,
    "cross_entropy": cross_entropy,
    "soft_cross_entropy": lambda: cross_entropy(soft=True),
    "linear": linear,
    "low_rank_adaptation": low_rank_adaptation,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "masked_scaled_dot_product_attention": lambda: scaled_dot_product_attention(masked=True),
    "linear_attention": linear_attention,
    "alibi_attention": alibi_attention,
    "multi_head_attention": multi_head_attention,
    "masked_multi_head_attention": lambda: multi_head_attention(masked=True),
    "multi_head_attention_with_biases": lambda: multi_head_attention(biases=True),
    "grouped_query_attention": grouped_query_attention,
    "masked_grouped_query_attention": lambda: grouped_query_attention(masked=True),
    "latent_attention": latent_attention,
    "masked_latent_attention": lambda: latent_attention(masked=True),
    "convolution": convolution_layer,
    "recurrent_step": recurrent_step,
    "feed_forward": feed_forward,
    "feed_forward_gelu": lambda: feed_forward(gelu),
    "gated_feed_forward": gated_feed_forward,
    "gated_feed_forward_with_biases": lambda: gated_feed_forward(biases=True),
    "mixture_of_experts": mixture_of_experts,
    "mixture_with_shared_experts": lambda: mixture_of_experts(shared=True),
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "batch_norm": batch_norm,
    "batch_norm_inference": batch_norm_inference,
    "positional_encoding": positional_encoding,
    "learned_positions": learned_positions,
    "relative_position_bias": relative_position_bias,
    "relative_position_bias_looking_back": lambda: relative_position_bias(bidirectional=False),
    "patch_embedding": patch_embedding,
    "class_token": class_token,
    "audio_stem": audio_stem,
    "rotary_embedding": rotary_embedding,
    "rotary_embedding_halves": lambda: rotary_embedding(halves=True),
    "embedding": embedding,
    "dropout": dropout,
    "encoder_layer": encoder_layer,
    "pre_norm_layer": lambda: pre_norm_layer(dropping=False),
    "pre_norm_layer_with_dropout": pre_norm_layer,
    "encoder": encoder,
    "decoder_layer": decoder_layer,
    "decoder": decoder,
    "transformer": transformer,
    "transformer_loss": transformer_loss,
}


def names() -> list[str]:
    """Return the ids of all results, by concept and then by module; results registered by users follow."""
    for module in MODULES:
        import_module(f"derivations.{module}")
    topics = {topic: place for place, topic in enumerate(CONCEPTS)}
    modules = {f"derivations.{module}": place for place, module in enumerate(MODULES)}

    def place(name: str) -> tuple[int, int]:
        module = RESULTS[name].__module__  # the sort is stable: within a module results keep the order of their code
        return topics.get(name.partition(".")[0], len(topics)), modules.get(module, len(modules))

    return sorted(RESULTS, key=place)


def get(name: str) -> Derivation:
    """Return the result called `name` after proving it.

    Raises `LookupError` with the nearest ids for an unknown name, `FalseStepError` if a step is refuted or not decided.
    """
    return registered(known(name))


def known(name: str) -> str:
    """Return the current name of a result, without building the result.

    Raises `LookupError` with the nearest ids for an unknown name.
    """
    return _known(name, names(), "result")


def layer(name: str) -> Layer:
    """Return the layer called `name`.

    Raises `LookupError` with the nearest names for an unknown name.
    """
    return _built(_known(name, list(LAYERS), "layer"))


@cache
def _built(name: str) -> Layer:
    return LAYERS[name]()  # layers are immutable, so one object can be shared


def _known(name: str, known: list[str], kind: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {kind} is a text, such as {known[0]!r}, not {name!r}")
    name = current(name)
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.4) or known[:3]
        raise LookupError(f"there is no {kind} called {name!r}; the nearest are {', '.join(near)}")
    return name


def layers() -> dict[str, Layer]:
    """Return all layers of the package by name."""
    return {name: _built(name) for name in LAYERS}


def results() -> dict[str, Derivation]:
    """Return all results by id, ordered by concept."""
    return {name: RESULTS[name]() for name in names()}


@dataclass(frozen=True)
class Verdict:
    """The verdict on one result: its level of evidence, the failed steps, and the outcome of the cross-check."""

    id: str
    title: str
    level: str
    failures: tuple[str, ...] = ()
    cross_check: str = ""  # "agrees", "disagrees" or "not applicable"; "" if it was not requested
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether the result is refuted or unknown, or the cross-check disagrees."""
        return self.level in ("refuted", "unknown") or self.cross_check == "disagrees"


def verify(ids: Iterable[str], jobs: int | None = 1, cross_checked: bool = True) -> Iterator[Verdict]:
    """Prove results again in `jobs` processes and cross-check them numerically if asked; yield verdicts in order.

    With `jobs=None` the surrounding `joblib.parallel_config`, such as a Dask or Ray backend, decides how many workers
    run and where.
    """
    yield from in_order(partial(_verify, cross_checked=cross_checked), ids, jobs)


@rarely_collecting()
def _verify(name: str, cross_checked: bool) -> Verdict:
    try:
        found = get(name)
    except FalseStepError as error:  # no derivation is returned, so the id serves as the title
        return Verdict(name, name, error.evidence.level, error.evidence.failures)
    evidence = judge(found)
    if not cross_checked:
        return Verdict(name, found.title, evidence.level, evidence.failures)
    checked = cross_check(found)
    return Verdict(name, found.title, evidence.level, evidence.failures, checked.outcome, checked.reason)
