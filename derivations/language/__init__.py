"""The public names of the language: symbolic arrays, layers, derivations, the judge, counts and printers."""

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    RowBroadcast,
    Variable,
    array,
    mask_array,
    token_array,
)
from derivations.language.arrays.functions import (
    Hadamard,
    RowMean,
    RowSum,
    exponential,
    gelu,
    named,
    relu,
    row_softmax,
    square,
    uninterpreted_function,
)
from derivations.language.arrays.shapes import ShapeError
from derivations.language.counting.costs import count_flops, count_parameters
from derivations.language.counting.memory_counts import saved_residuals
from derivations.language.differentiation.proving import prove_gradient
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.evaluate import function_of
from derivations.language.judge.proof import judge, prove_equal
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.printing.exchange import NotClosedForm, python, statement_json
from derivations.language.printing.views import latex, markdown, text
from derivations.language.results.derivation import (
    Assumption,
    Claim,
    Derivation,
    FalseStepError,
    Step,
    claim,
    derivation,
    register,
    result,
    step,
)

__all__ = [
    "Array",
    "Assumption",
    "Claim",
    "ColumnBroadcast",
    "Derivation",
    "Equation",
    "Equations",
    "FalseStepError",
    "Hadamard",
    "Layer",
    "Member",
    "NotClosedForm",
    "RowBroadcast",
    "RowMean",
    "RowSum",
    "ShapeError",
    "Step",
    "Tabulated",
    "Variable",
    "array",
    "claim",
    "count_flops",
    "count_parameters",
    "derivation",
    "exponential",
    "function_of",
    "gelu",
    "gradient",
    "judge",
    "latex",
    "markdown",
    "mask_array",
    "named",
    "part",
    "prove_equal",
    "prove_gradient",
    "python",
    "register",
    "relu",
    "result",
    "row_softmax",
    "saved_residuals",
    "square",
    "statement_json",
    "step",
    "text",
    "token_array",
    "uninterpreted_function",
]
