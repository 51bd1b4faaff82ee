"""The usual letters of the roles in canonical formulas, the likeliest first."""

from __future__ import annotations

from collections.abc import Mapping

from derivations.documents.canon.concept import letters_of

__all__ = [
    "GATED",
    "KEY_WIDTHS",
    "LOGITS",
    "LOW_RANK",
    "NETWORK",
    "NORM",
    "ONE_QUERY",
    "OTHER_SIZES",
    "PLACE",
    "PROBABILITIES",
    "QUERIES",
    "ROW",
    "TARGETS",
]

KEY_WIDTHS = "d_k d_key d_q d_qk d_h d_head d_K d head_dim d_{head} dim_k dk D C depth"
QUERIES = letters_of(
    Q="Q q query queries Query Queries", K="K k key keys Key Keys", V="V v value values Value Values",
    d_k=KEY_WIDTHS, B="M B mask Mask bias",
)  # fmt: skip
ONE_QUERY = letters_of(q="q query s h", K="K keys H X", V="V values H X", d_k=KEY_WIDTHS)
LOGITS = letters_of(
    x="x z s o a u e l logits scores v y", T="T tau temperature t beta alpha", m="m c M x_max x_{max} a"
)
TARGETS = letters_of(y="haty hatp p q a pi y", t="t y p q Y", N="N n B m batch_size")
PROBABILITIES = letters_of(p="p P q pi y", q="q Q haty p", n="N T n M L", loss="L l loss H J ell NLL CE")
LOW_RANK = letters_of(
    X="x X h z",
    W="W W_0 W0 W_q",
    A="A A_0 W_A W_a",
    B="B B_0 W_B W_b",
    alpha="alpha",
    r="r rank",
    s="s gamma lambda c",
    b="b",
)
NETWORK = letters_of(
    X="x X input h H z Z u a", W_1="W_1 W1 w_1 w1 W_in W^1 W^(1) W_up U_1", b_1="b_1 b1 b^1 b^(1) b_in b_up",
    W_2="W_2 W2 w_2 w2 W_out W^2 W^(2) W_down U_2", b_2="b_2 b2 b^2 b^(2) b_out b_down",
)  # fmt: skip
GATED = letters_of(
    X="x X input h", W_gate="W_gate W_g W_G W_1 w1 W1 W", W_up="W_up W_u W_U W_3 w3 W3 V",
    W_down="W_down W_d W_D W_2 w2 W2 W_o", b_gate="b_gate b b_1 b_g", b_up="b_up c b_2 b_u", b_down="b_down d b_3",
)  # fmt: skip
NORM = letters_of(
    X="x X z a h", mu="mu m E mean", sigma="sigma s std", epsilon="epsilon eps", gamma="gamma g w a alpha",
    beta="beta b", X_hat="hatx hatX hatz hata",
)  # fmt: skip
ROW = letters_of(
    x="x a z X h",
    mu="mu barx m mean",
    d="d H n N D d_model m K C",
    gamma="gamma g w",
    epsilon="epsilon eps",
    sigma="sigma",
)
PLACE = letters_of(pos="pos p position t k m", i="i j k", d_model="d_model d D d_emb d_m dim E C")

#: Letters that mean another size, so that they stand for the width of the keys only where that is the same.
OTHER_SIZES: Mapping[str, str] = {
    "d_model": "model width", "d_m": "model width", "d_embed": "model width", "d_emb": "model width",
    "d_ff": "hidden width", "d_v": "value width", "n": "sequence length", "L": "sequence length",
    "h": "number of heads",
}  # fmt: skip
