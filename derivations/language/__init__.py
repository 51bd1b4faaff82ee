"""The language: arrays with symbolic shapes, layers, derivations; the judge, the counts and the printers about them."""

from derivations.language.arrays.expression import Array, Variable, array, mask_array, token_array
from derivations.language.arrays.shapes import ShapeError
from derivations.language.counting.costs import count_flops, count_parameters
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
    "Derivation",
    "Equation",
    "Equations",
    "FalseStepError",
    "Layer",
    "NotClosedForm",
    "ShapeError",
    "Step",
    "Variable",
    "array",
    "claim",
    "count_flops",
    "count_parameters",
    "derivation",
    "function_of",
    "gradient",
    "judge",
    "latex",
    "markdown",
    "mask_array",
    "part",
    "prove_equal",
    "python",
    "register",
    "result",
    "statement_json",
    "step",
    "text",
    "token_array",
]
