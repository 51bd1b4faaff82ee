"""The rule for each kind of node, and the writer of one loop that goes by them.

What has no rule here is printed by the printer of layers, as one expression over the arrays of the tile.
"""

from __future__ import annotations

from derivations.language.arrangements import ColumnBlock, Concatenate
from derivations.language.columns import ColumnRange
from derivations.language.exponentials import Normalised, RowExponentials
from derivations.language.expression import Array, ColumnBroadcast, Member, Plus, Product, Scaled, Variable
from derivations.language.functions import Elementwise, Hadamard, Lookup, RowMean, RowSoftmax, RowSum
from numeric.lowering.arrangements import concatenate, lookup, printed
from numeric.lowering.entrywise import column_broadcast, elementwise, hadamard, plus, scaled
from numeric.lowering.products import product
from numeric.lowering.row_functions import normalised, row_exponentials, row_mean, row_softmax, row_sum
from numeric.lowering.views import column_block, column_range, member, variable
from numeric.lowering.writer import Rules

__all__ = ["RULES"]

RULES: Rules = {
    Array: printed,
    Variable: variable,
    Member: member,
    ColumnBlock: column_block,
    ColumnRange: column_range,
    Concatenate: concatenate,
    Lookup: lookup,
    Product: product,
    Plus: plus,
    Scaled: scaled,
    Hadamard: hadamard,
    Elementwise: elementwise,
    ColumnBroadcast: column_broadcast,
    RowSum: row_sum,
    RowMean: row_mean,
    RowSoftmax: row_softmax,
    RowExponentials: row_exponentials,
    Normalised: normalised,
}
