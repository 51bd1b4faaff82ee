r"""Attention tile by tile: each tile of keys updates a subtracted score (the reference), a sum and an output per row.

Definition   for tile t, with any reference r_t: l_t = sum_j exp(S_tj - r_t), o_t = sum_j exp(S_tj - r_t) v_tj
Result       O = sum_t exp(r_t - r) o_t / sum_t exp(r_t - r) l_t for any r: exact for all references
Shapes       for n queries: S (n, T b), V (T b, d_v), references and l (n, T), o (T, n, d_v); T tiles of b keys
Source       Milakov and Gimelshein (2018), section 3; Dao, Fu, Ermon, Rudra and Re (2022), section 3.1
"""

from sympy import Expr, Lambda, Sum, exp, log

from derivations.attention.attention import c
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import d_v, i, index, n, scalar, size

__all__: list[str] = []

TOPIC = "attention"

MILAKOV = "Milakov and Gimelshein (2018), section 3"
FLASH = "Dao, Fu, Ermon, Rudra and Re (2022), section 3.1"
tiles, width = size("T"), size("b")
t, q = index("t"), index("q")  # a tile, and a key in it
S, V = array("S", n, Blocks(tiles, width)), array("V", Blocks(tiles, width), d_v)
reference, common = array("r", n, tiles), array("r_all", n)
l, o = array("l", n, tiles), array("o", tiles, n, d_v)


def over_tiles(of: Expr) -> Expr:
    """Return the sum of an expression in t over all tiles."""
    return Sum(of, (t, 0, tiles - 1))


def over_tile(of: Expr) -> Expr:
    """Return the sum of an expression in q over the keys of one tile."""
    return Sum(of, (q, 0, width - 1))


def of_each_tile() -> tuple[Equation, Equation]:
    """Return the equations of l and o: each tile's sum of exponentials, and its sum of values weighted by them."""
    share = exp(S.entry(i, (t, q)) - reference[i, t])
    sums = Tabulated(Lambda((i, t), over_tile(share)), n, tiles)
    mixtures = Tabulated(Lambda((t, i, c), over_tile(share * V.entry((t, q), c))), tiles, n, d_v)
    return Equation(l, sums), Equation(o, mixtures)


@result
def tiling_is_exact() -> Derivation:
    """Tiles may be read one by one, each with its own reference (its maximum): the result is attention."""
    carried = exp(reference[i, t] - common[i])
    share = exp(S.entry(i, (t, q)) - common[i])
    return derivation(
        "Attention over tiles of keys, put together from each tile's sums, is attention over all keys",
        claim(
            (row_softmax(S) @ V).entry(i, c),
            step("exponent", over_tiles(over_tile(share * V.entry((t, q), c))) / over_tiles(over_tile(share))),
            step("exponent", over_tiles(carried * o[t, i, c]) / over_tiles(carried * l[i, t])),
        ),
        about=of_each_tile(),
        ranges={i: n, c: d_v},
        source=FLASH,
    )


# --- two sets of keys -----------------------------------------------------------------------------------------------

seen, added = size("m"), size("s")
SEEN = array("S", n, seen), array("V", seen, d_v)
ADDED = array("T", n, added), array("U", added, d_v)


def exponentials(keys: tuple[Array, Array], reference: Expr | int = 0) -> Expr:
    """Return the sum of exp(score - reference) over a set of keys."""
    scores, _ = keys
    return Sum(exp(scores[i, q] - reference), (q, 0, scores.shape[1] - 1))


def mixed(keys: tuple[Array, Array], reference: Expr | int = 0) -> Expr:
    """Return the sum of exp(score - reference) times the value over a set of keys."""
    scores, values = keys
    return Sum(exp(scores[i, q] - reference) * values[q, c], (q, 0, scores.shape[1] - 1))


@result
def tile_step() -> Derivation:
    """One step of the loop over tiles rescales the running sums to the new reference and adds the tile."""
    old, new = scalar("r"), scalar("r_new")
    return derivation(
        "A step over one tile: with the reference $r_new$ for $r$, sums carried so far are multiplied by $exp(r "
        "- r_new)$",
        claim(
            exp(old - new) * exponentials(SEEN, old) + exponentials(ADDED, new),
            step("exponent", exponentials(SEEN, new) + exponentials(ADDED, new)),
        ),
        claim(
            (exp(old - new) * mixed(SEEN, old) + mixed(ADDED, new))
            / (exp(old - new) * exponentials(SEEN, old) + exponentials(ADDED, new)),
            step("exponent", (mixed(SEEN) + mixed(ADDED)) / (exponentials(SEEN) + exponentials(ADDED))),
        ),
        ranges={i: n, c: d_v},
        source=MILAKOV,
    )


@result
def merged_outputs() -> Derivation:
    """Attention over two sets of keys is a mean of the attention over each, weighted by their sums of exponentials.

    Machines that hold different keys need to exchange one output and one log-sum-exp for each query, no more.
    """
    of_seen, of_added = array("lse", n), array("lse_next", n)
    outputs = row_softmax(SEEN[0]) @ SEEN[1], row_softmax(ADDED[0]) @ ADDED[1]
    # a / (a + b) = 1 / (1 + exp(log b - log a)), with a and b the sums of exponentials
    share = 1 / (1 + exp(of_added[i] - of_seen[i]))
    return derivation(
        "Attention over two sets of keys: a mean of both outputs, weighted by the sigmoid of the gap of log-sum-exps",
        claim(
            (mixed(SEEN) + mixed(ADDED)) / (exponentials(SEEN) + exponentials(ADDED)),
            step("algebra", share * outputs[0][i, c] + (1 - share) * outputs[1][i, c]),
        ),
        about=[
            Equation(of_seen, Tabulated(Lambda((i,), log(exponentials(SEEN))), n)),
            Equation(of_added, Tabulated(Lambda((i,), log(exponentials(ADDED))), n)),
        ],
        ranges={i: n, c: d_v},
        source=FLASH,
    )
