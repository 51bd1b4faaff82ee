"""Hoffmann et al. (2022), appendix F: FLOPs of a forward pass by parts; the backward pass costs twice as much.

Definition   the look-up of tokens counts as a product with one-hot rows, softmax counts 3 for each entry
Units        FLOPs for one text, a multiply-add being 2
Source       Hoffmann, Borgeaud, Mensch et al. (2022), appendix F
"""

from __future__ import annotations

from sympy import Expr, Integer, Rational

from derivations.costs.published.formula import HEADS, Departure, Published, Reading, letter
from derivations.symbols import d_ff, d_k, d_model, n, vocab

__all__ = ["CHINCHILLA", "RATIOS", "ratios"]

LETTERS = (
    letter("seq_len", "positions", n),
    letter("vocab_size", "tokens that there are", vocab),
    letter("d_model", "width of the model", d_model),
    letter("key_size", "width of a key", d_k),
    letter("num_heads", "heads", lambda s: s.heads),
    letter("ffw_size", "hidden width of the feed-forward network", d_ff),
    letter("num_layers", "layers", lambda s: s.layers),
)
length, tokens, width, key, heads, hidden, layers = (each.symbol for each in LETTERS)

embeddings = 2 * length * tokens * width
projections = 2 * 3 * length * width * (key * heads) + 2 * length * (key * heads) * width
context = 2 * length * length * (key * heads) + 2 * length * length * (key * heads)
softmax = 3 * heads * length * length
network = 2 * length * (width * hidden + width * hidden)
logits = 2 * length * width * tokens
forward = embeddings + layers * (projections + softmax + context + network) + logits


def counted(
    id: str, title: str, expression: Expr, row: str, reading: Reading, against: str, *departures: Departure
) -> Published:
    """Return an entry of the appendix."""
    return Published(
        id=f"chinchilla.{id}",
        title=title,
        expression=expression,
        letters=LETTERS,
        units="FLOPs for one text",
        convention="matrix products, a multiply-add is 2 FLOPs; 3 FLOPs for an entry of softmax",
        source=f"Hoffmann et al. (2022), appendix F, {row}",
        derived=reading,
        against=against,
        departures=departures,
        relations=HEADS,
    )


three = Departure(
    Rational(-2, 5), "softmax", lambda s: s.softmax, "3 operations for an entry, where 5 are counted here"
)
nothing_multiplied = Departure(Integer(1), "look-up as product", lambda s: s.look_ups, "rows are read, not multiplied")
softmax_of_training = Departure(
    Rational(4, 5), "softmax", lambda s: s.softmax, "3 times 3 operations for an entry, where the forward pass has 5"
)

CHINCHILLA: tuple[Published, ...] = (
    counted(
        "embeddings",
        "Embeddings against look-ups",
        embeddings,
        "embeddings",
        lambda s: Integer(0),
        "products that a look-up needs: none",
        nothing_multiplied,
    ),
    counted(
        "projections",
        "The four matrices of the attention",
        layers * projections,
        "key, query and value projections and final linear, of all layers",
        lambda s: s.projections,
        "products with the matrices of the attention",
    ),
    counted(
        "context",
        "Queries with keys, weights with values",
        layers * context,
        "key @ query logits and softmax @ query reductions, of all layers",
        lambda s: s.context,
        "the two products, every pair of positions",
    ),
    counted(
        "softmax",
        "Softmax",
        layers * softmax,
        "softmax, of all layers",
        lambda s: s.softmax,
        "softmax with 5 operations for an entry: maximum, difference, exp, sum, quotient",
        three,
    ),
    counted(
        "network",
        "The feed-forward network",
        layers * network,
        "dense block, of all layers",
        lambda s: s.network,
        "products with the two matrices",
    ),
    counted(
        "logits",
        "The scores of the tokens",
        logits,
        "final logits",
        lambda s: s.logits,
        "the product with the transposed table",
    ),
    counted(
        "forward",
        "A forward pass",
        forward,
        "total forward pass",
        lambda s: s.forward + s.softmax,
        "all products, every pair of positions, and softmax",
        nothing_multiplied,
        three,
    ),
    counted(
        "training",
        "A forward and a backward pass, 3 times a forward pass",
        3 * forward,
        "backward pass twice the forward pass",
        lambda s: s.training + s.softmax,
        "all products of both passes, every pair of positions, and the softmax of the forward pass",
        Departure(Integer(3), "look-up as product", lambda s: s.look_ups, "rows are read, not multiplied, thrice"),
        softmax_of_training,
    ),
)

# parameters in millions, layers, widths of model and network, heads, width of a key; the ratio to 6 N D that is printed
RATIOS: tuple[tuple[int, int, int, int, int, int, str], ...] = (
    (73, 10, 640, 2560, 10, 64, "1.03"),
    (305, 20, 1024, 4096, 16, 64, "1.10"),
    (552, 24, 1280, 5120, 10, 128, "1.08"),
    (1143, 26, 1792, 7168, 14, 128, "1.04"),
    (1593, 28, 2048, 8192, 16, 128, "1.03"),
    (6796, 40, 3584, 14336, 28, 128, "0.99"),
)


def ratios(row: tuple[int, int, int, int, int, int, str]) -> tuple[Rational, Rational]:
    """Return two ratios of 3 forward passes to 6 N D for a row: as in the appendix, and without the two tables.

    Definition   texts of 2048 tokens of 32,000; the second without embeddings and logits
    Source       Hoffmann et al. (2022), appendix F, comparison with 6 N D; for the two sizes that are rounded to 0.1
                 billion there, the list of all models
    """
    millions, *sizes, _ = row
    numbers = dict(zip((layers, width, hidden, heads, key), map(Integer, sizes), strict=True))
    numbers |= {length: Integer(2048), tokens: Integer(32000)}
    whole, inner = (each.xreplace(numbers) for each in (forward, forward - embeddings - logits))
    product = 6 * millions * 10**6 * numbers[length]
    return 3 * whole / product, 3 * inner / product
