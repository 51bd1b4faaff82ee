r"""The two layers of RWKV: rows mixed over time, and rows mixed over channels; both read the row before as well.

Definition   X' is X one row further down; row(mu) = X' + mu o (X - X')
             time: R = sigmoid(row(mu_R) W_R), K = row(mu_K) W_K, V = row(mu_V) W_V, c the rate of a channel, and
             Y_t = (sum_{s<t} e^(K_s - (t - 1 - s) e^c) V_s + e^(u + K_t) V_t) / (the same without V);
             output (R o Y) W_O
             channels: sigmoid(row(mu_R) W_R) o (max(0, row(mu_K) W_K)^2 W_V)
Result       two states of each channel are all that is kept of the past: linear in the length
Shapes       X and the output (n, d_model), mu (d_model,), R, K, V and Y (n, d), c and u (d,); d_ff columns between the
             two products of the channels
Source       Peng et al. (2023), RWKV, section 3 and figure 2
"""

from sympy import Integer, Max

from derivations.activations.sigmoid import sigmoid
from derivations.language.arrays.arrangements import column_block
from derivations.language.arrays.expression import Array, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, Named, exponential, named
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.rows import PlacedRows, RowRange
from derivations.language.arrays.selection import Windows
from derivations.language.arrays.shapes import Sized
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Layer
from derivations.recurrences.writer import Writer
from derivations.symbols import d, d_ff, d_model, n, scalar

__all__ = ["channel_mixing", "time_mixing"]

TOPIC = "recurrence"

x, y = scalar("x"), scalar("y")
quotient = named("quotient", x / y, x, y)
squared_relu = named("squared_relu", Max(0, x) ** 2, x)
X = array("X", n, d_model)


def later(rows: Array) -> Array:
    """Return the rows shifted down by one position, with zeros in the first row."""
    length = rows.shape[0]
    return RowRange(PlacedRows(rows, 1, length + 1), 0, length)


class _Mixing(Writer):
    """A `Writer` that also mixes each row with the row before it and multiplies the mixed rows by a matrix."""

    def __init__(self) -> None:
        super().__init__()
        # as windows of two rows, of which a cache keeps the last one
        pairs = Windows(PlacedRows(X, 1, n + 1), 2)
        self.before = self.let("X_before")(column_block(pairs, Integer(0)))

    def product(self, name: str, columns: Sized, activation: Named | None = None) -> Array:
        """Add the product of mixed rows with a new matrix, followed by an activation if there is one."""
        mu = RowBroadcast(self.weight(f"mu_{name}", d_model), n)
        mixed = self.let(f"X_{name}")(self.before + Hadamard(mu, X - self.before))
        W = self.weight(f"W_{name}", d_model, columns)
        return self.let(name)(mixed @ W if activation is None else activation(mixed @ W))


def time_mixing() -> Layer:
    """Return the layer that mixes rows over time, with a rate of decay for each channel.

    Definition   that of the module
    Shapes       X and O (n, d_model), W_R, W_K and W_V (d_model, d), W_O (d, d_model)
    Assumes      exponentials of keys are finite, so that it is no layer of the catalogue, which takes numbers of any
                 size; libraries subtract the largest key so far
    Source       Peng et al. (2023), section 3.1
    """
    write = _Mixing()
    let = write.let
    R, K, V = write.product("R", d, sigmoid), write.product("K", d), write.product("V", d)
    decays = let("L")(RowBroadcast(-exponential(write.weight("c", d)), n))
    E = let("E")(exponential(K))
    added = let("F")(Hadamard(E, V))
    sums, weights = let("A")(Recurrence(decays, later(added))), let("B")(Recurrence(decays, later(E)))
    own = let("U")(exponential(K + RowBroadcast(write.weight("u", d), n)))
    Y = let("Y")(quotient(sums + Hadamard(own, V), weights + own))
    output = let("O")(let("G")(Hadamard(R, Y)) @ write.weight("W_O", d, d_model))
    return Layer("time_mixing", (X,), write.weights, let, output)


@catalogued
def channel_mixing() -> Layer:
    """Return the layer that mixes channels: a network of two products, multiplied by a gate.

    Shapes       X and O (n, d_model), W_R (d_model, d_model), W_K (d_model, d_ff), W_V (d_ff, d_model)
    Source       Peng et al. (2023), section 3.1
    """
    write = _Mixing()
    R, K = write.product("R", d_model, sigmoid), write.product("K", d_ff, squared_relu)
    V = write.let("V")(K @ write.weight("W_V", d_ff, d_model))
    return Layer("channel_mixing", (X,), write.weights, write.let, write.let("O")(Hadamard(R, V)))
