"""The rule for each kind of node: a table that the writer of a loop looks up.

A node without a rule here is printed by the printer of layers, as one expression over the arrays of the tile.
"""

from __future__ import annotations

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.exponentials import Normalised, RowExponentials
from derivations.language.arrays.expression import Array, ColumnBroadcast, Member, Plus, Product, Scaled, Variable
from derivations.language.arrays.functions import Elementwise, Hadamard, Lookup, RowMean, RowSoftmax, RowSum
from numeric.codegen.lowering.arrangements import concatenate, lookup, printed
from numeric.codegen.lowering.entrywise import column_broadcast, elementwise, hadamard, plus, scaled
from numeric.codegen.lowering.products import product
from numeric.codegen.lowering.row_functions import normalised, row_exponentials, row_mean, row_softmax, row_sum
from numeric.codegen.lowering.views import column_block, column_range, member, variable
from numeric.codegen.lowering.writer import Rules

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
