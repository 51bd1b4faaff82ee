"""The numeric side: the equations of `derivations` over arrays."""

from numeric.codegen.compile import CompiledLayer, compile_layer, source
from numeric.codegen.formula_printer import CompileError
from numeric.models.load import LoadedModel, load
from numeric.models.transformer import Transformer
from numeric.models.weights import count, initialise
from numeric.optimize import Optimised, optimize
from numeric.optimize.prepare import Prepared, PreparedGradient, prepare, prepare_gradient
from numeric.runtime.checks import InputError

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
