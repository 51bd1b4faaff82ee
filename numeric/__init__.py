"""The numeric side: the equations of `derivations` over arrays."""

from numeric.checks import InputError
from numeric.compile import CompiledLayer, compile_layer, source
from numeric.formula_printer import CompileError
from numeric.load import LoadedModel, load
from numeric.optimize import Optimised, optimize
from numeric.prepare import Prepared, PreparedGradient, prepare, prepare_gradient
from numeric.transformer import Transformer
from numeric.weights import count, initialise

__all__ = [
    "CompileError",
    "CompiledLayer",
    "InputError",
    "LoadedModel",
    "Optimised",
    "Prepared",
    "PreparedGradient",
    "Transformer",
    "compile_layer",
    "count",
    "initialise",
    "load",
    "optimize",
    "prepare",
    "prepare_gradient",
    "source",
]
