"""The table of accuracy: it says what is further off, and ours is not, where layers take little time."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
pytest.importorskip("jax", reason="the peers tests compare with JAX")

from numeric.runtime.structure import identifier
from numeric.verification.agreement.cases import subjects
from tests.benchmarks.accuracy import IMPLEMENTATIONS, OURS, compared, errors, rows
from tests.benchmarks.accuracy_libraries import LIBRARIES
from tests.benchmarks.accuracy_peers import PEERS
from tests.benchmarks.accuracy_situations import situations

pytestmark = [pytest.mark.peers, pytest.mark.slow]
QUICK = (
    "softmax", "masked_softmax", "linear", "masked_scaled_dot_product_attention", "multi_head_attention_with_biases",
    "layer_norm", "rms_norm", "batch_norm", "encoder_layer",
)  # fmt: skip
FURTHER_OFF = {  # line by line alone; docs/accuracy.md says why
    ("layer_norm", "constant rows"), ("batch_norm", "ordinary"), ("batch_norm", "mean 1e4, variance 1e-2"),
}  # fmt: skip
SURELY = 1.25  # by so much, and by more than the spread of three seeds
NOT_WRITTEN = {  # layers of which neither library has a short form
    "scale_norm", "latent_attention", "masked_latent_attention", "mixture_of_experts", "mixture_with_shared_experts",
    "lightning_indexer", "sparse_latent_attention",
    "relative_position_bias", "relative_position_bias_looking_back", "audio_stem", "pre_norm_layer_with_dropout",
    "linear_recurrence", "causal_convolution", "short_convolution", "selective_states", "selective_state_space",
    "state_space_heads", "gated_recurrence", "decaying_heads", "lightning_attention", "channel_mixing",
    "gated_delta_net", "kimi_delta_attention", "grouped_convolution", "weight_normed_convolution",
    "disentangled_attention", "per_layer_embedding", "augmented_residual", "stream_router", "predicted_streams",
    "corrected_streams", "compressed_rms_norm",
}  # fmt: skip


def named(names):
    return [pytest.param(each, id=f"{each.layer_name}, {each.name}") for each in situations(names)]


@pytest.mark.parametrize("situation", named(QUICK))
def test_ours_is_not_further_off_than_the_worse_peer(situation):
    found = errors(situation, range(3))
    for route, name in OURS.items():
        comparison = compared(found[name], [found[library] for library in LIBRARIES])
        known = route == "compiled" and (situation.layer_name, situation.name) in FURTHER_OFF
        assert known or comparison.rounded or comparison.low < SURELY, f"{name}: {comparison}"


def test_a_coarser_implementation_is_further_off():
    """Weights rounded to half precision on the way: seen in every seed."""
    (situation,) = situations(("softmax",))[:1]

    def coarse(situation, arguments):
        return IMPLEMENTATIONS["ours"](situation, arguments).astype(np.float16)

    found = errors(situation, range(4), {**IMPLEMENTATIONS, "coarse": coarse})
    comparison = compared(found["coarse"], [found[library] for library in LIBRARIES])
    assert comparison.verdict == "further off"
    assert comparison.low > 100
    assert compared(found["torch"], [found["coarse"]]).verdict in ("closer", "rounded correctly")


NAMES = [name for name in subjects() if "," not in name]


@pytest.mark.parametrize("name", NAMES)
def test_a_layer_has_a_peer_or_is_named_as_having_none(name):
    assert (name in PEERS) != (name in NOT_WRITTEN), f"compare {name} in accuracy_peers.py, or add it to NOT_WRITTEN"


def test_what_is_named_as_having_no_peer_is_a_layer():
    assert set(NAMES) >= NOT_WRITTEN


def test_a_row_of_the_table():
    (row,) = [row for row in rows(("masked_softmax",)) if row["situation"] == "no visible key in a row"]
    assert row["torch"] == row["jax"] == "NaN"
    assert row["ours is"] == "closer"
    assert row["ours"].endswith(")")


def test_arguments_can_be_drawn_for_every_situation():
    for situation in situations(tuple(PEERS)):
        arguments = situation.arguments(0)
        assert all(identifier(variable.name) in arguments for variable in situation.layer.inputs)
