"""The letters of the package and what they stand for, and the conventions of print, for pages and for the book."""

from collections.abc import Mapping

__all__ = ["CONVENTIONS", "FUNCTIONS", "LETTERS", "SIZES", "meaning"]

CONVENTIONS = (  # with formulas between dollar signs, as in titles
    "Rows of a matrix are written small, so that $q_i$ is row $i$ of $Q$, and $W_i^Q$ is the projection of head $i$.",
    "A hat, as in the standardised rows $X_hat$ of layer norm, is part of the name.",
    "Brackets such as $[j <= i]$ are 1 where the condition holds and 0 elsewhere (Iverson); $delta$ is Kronecker's.",
    "The matrix $I$ is the identity, the vector $1$ has ones alone, and $A o B$ is a product entry by entry.",
    "In $X + b$ a vector as long as a row is added to every row, and $X / v$ divides row $i$ by $v_i$; alone, a matrix "
    "of equal rows is $1 b^T$, and one of equal columns $v 1^T$.",
    "Printed indices count from 1, those of positions and of the pairs of the positional encoding from 0.",
)

LETTERS: Mapping[str, tuple[tuple[str, str], ...]] = {  # layer, or nothing: (our name, what it is)
    "": (
        ("n", "positions, queries"),
        ("m", "keys, source positions"),
        ("d_model", "width of the model"),
        ("d_k", "width of a query or key"),
        ("d_v", "width of a value"),
        ("d_ff", "hidden width"),
        ("h", "heads"),
        ("N", "layers in a stack"),
        ("batch", "texts at once"),
        ("vocab", "tokens that there are"),
        ("rate", "share that dropout takes away"),
        ("pos", "position, from 0"),
        ("dX", "gradient by X"),
    ),
    "scaled_dot_product_attention": (
        ("Q", "queries"),
        ("K", "keys"),
        ("V", "values"),
        ("S", "scores"),
        ("A", "attention weights"),
        ("O", "output"),
    ),
    "multi_head_attention": (
        ("X_Q", "input for the queries"),
        ("X_K", "input for the keys"),
        ("X_V", "input for the values"),
        ("W_Q", "projections to queries"),
        ("W_K", "projections to keys"),
        ("W_V", "projections to values"),
        ("W_O", "output projection"),
        ("head", "outputs of the heads"),
    ),
    "feed_forward": (
        ("X", "input"),
        ("W_1", "first weights"),
        ("b_1", "first bias"),
        ("H", "before the activation"),
        ("G", "after the activation"),
        ("W_2", "second weights"),
        ("b_2", "second bias"),
        ("Y", "output"),
    ),
    "layer_norm": (
        ("mu", "mean of a row"),
        ("sigma2", "variance of a row, divided by d"),
        ("X_hat", "standardised rows"),
        ("gamma", "gain"),
        ("beta", "bias"),
    ),
    "encoder_layer": (("A", "attention sub-layer"), ("F", "feed-forward sub-layer"), ("Z", "output")),
}
SIZES: Mapping[str, str] = {  # of some layers only; a letter that means other things elsewhere is not listed
    "d": "width of a row",
    "d_in": "width of an input",
    "d_out": "width of an output",
    "experts": "experts",
    "chosen": "experts that a position uses",
    "d_expert": "hidden width of an expert",
    "d_shared": "hidden width of the experts that every position uses",
    "d_r": "columns of a key that are rotated",
    "h_I": "heads of an indexer",
    "d_P": "columns of an indexer's key that are not rotated",
    "k_I": "keys that an indexer chooses for a position",
    "d_E": "width of the row that a layer has for a token",
    "r_A": "rank of a learned residual branch",
    "r_Q": "width of the latent vector of queries",
    "r_KV": "width of the latent vector of keys and values",
    "g_D": "heads of keys of a delta rule",
    "r_D": "heads of values for a head of keys, of a delta rule",
    "k_D": "width of a key of a delta rule",
    "v_D": "width of a value of a delta rule",
    "g_S": "groups of heads of a state space",
    "r_S": "heads in a group of a state space",
    "d_S": "width of a head of a state space",
    "d_state": "numbers in the state of a channel",
    "d_inner": "channels with a state",
    "r_Delta": "rank of the time steps",
    "h_L": "blocks of the gates of a linear recurrence",
    "d_L": "width of a block of gates of a linear recurrence",
    "buckets": "buckets of distances",
    "positions": "rows of a table of positions",
    "segments": "kinds of segments",
    "channels": "colours of a picture",
    "pixels": "numbers in a patch",
    "frames": "frames of a sound",
    "mel": "frequency bands of a sound",
    "N_encoder": "layers of the encoder",
    "N_decoder": "layers of the decoder",
}
FUNCTIONS = (
    "softmax",
    "relu",
    "silu",
    "sigmoid",
    "concat",
    "scaled_dot_product_attention",
    "multi_head_attention",
    "feed_forward",
    "layer_norm",
    "rms_norm",
    "rotary_embedding",
)


def meaning(name: str, scope: str = "") -> str:
    """Return what a letter stands for, everywhere or in one layer, or an empty text for one that is not listed."""
    return dict(LETTERS.get(scope, ())).get(name) or dict(LETTERS[""]).get(name) or SIZES.get(name, "")
