"""Pope et al. (2022): a token costs 2 N in the forward pass, and adds its keys and values to the cache.

Units        FLOPs for each token, a multiply-add being 2; bytes for each token, 2 for a number
Source       Pope et al. (2022), sections 2 and 3.3; the product of sizes is printed in Chen (2022)
"""

from __future__ import annotations

from sympy import Integer

from derivations.costs.published.formula import HEADS, Departure, Letter, Published, letter
from derivations.symbols import d_k, n

__all__ = ["POPE"]

parameters = letter("N", "parameters", lambda s: s.parameters)
layers = letter("n_layers", "layers", lambda s: s.layers)
heads = letter("n_heads", "heads", lambda s: s.heads)
groups = letter("n_heads", "heads that have keys and values of their own", lambda s: s.key_value_heads)
width = letter("d_head", "width of a head", d_k)


def cache(id: str, title: str, of: Letter, source: str, *departures: Departure) -> Published:
    """Return the formula of the cache: 2 numbers of 2 bytes for every layer, head and column."""
    return Published(
        id=f"pope.{id}",
        title=title,
        expression=2 * 2 * layers.symbol * of.symbol * width.symbol,
        letters=(layers, of, width),
        units="bytes for each token of a text",
        convention="2 bytes for a number",
        source=source,
        derived=lambda s: 2 * s.cache,
        against="keys and values of all layers",
        departures=departures,
        relations=HEADS,
        any_decoder=True,
    )


POPE: tuple[Published, ...] = (
    Published(
        id="pope.forward",
        title="2 N for each token forward",
        expression=2 * parameters.symbol,
        letters=(parameters,),
        units="FLOPs for each token",
        convention="matrix products, a multiply-add is 2 FLOPs",
        source="Pope et al. (2022), section 2, after Kaplan et al. (2020)",
        derived=lambda s: s.forward / n,
        against="all products, every pair of positions",
        departures=(
            Departure(Integer(-1), "context", lambda s: s.context / n, "left out"),
            Departure(Integer(2), "biases", lambda s: s.biases, "added, not multiplied"),
            Departure(Integer(2), "norms", lambda s: s.norms, "applied entry by entry"),
            Departure(Integer(2), "tables of rows", lambda s: s.looked_up, "rows are read, not multiplied"),
        ),
        any_decoder=True,
    ),
    cache(
        "cache",
        "The cache of keys and values",
        groups,
        "Pope et al. (2022), section 3.3, for the arrays; written as in Chen (2022), with the heads that have keys",
    ),
    cache(
        "cache_of_all_heads",
        "The cache of keys and values, if every head had its own",
        heads,
        "Chen (2022), Transformer Inference Arithmetic, after Pope et al. (2022), as many keys as heads",
        Departure(
            Integer(1),
            "keys and values that heads share",
            lambda s: 2 * s.cache * (s.heads / s.key_value_heads - 1),
            "kept once for each group of heads",
        ),
    ),
)
