"""Numerics: equations of `derivations` compiled to functions over arrays, and functions lifted to equations."""

from numeric.codegen.compile import CompiledLayer, compile_layer, source
from numeric.codegen.formula_printer import CompileError
from numeric.exchange.export import to_onnx, write_onnx
from numeric.models.load import LoadedModel, load
from numeric.models.transformer import Transformer
from numeric.models.weights import count, initialise
from numeric.optimize import Optimised, optimize
from numeric.optimize.engine import PreparedForEngine, prepare_for_engine
from numeric.optimize.prepare import Prepared, PreparedGradient, prepare, prepare_gradient
from numeric.runtime.checks import InputError

__all__ = [
    "CompileError",
    "CompiledLayer",
    "InputError",
    "LoadedModel",
    "Optimised",
    "Prepared",
    "PreparedForEngine",
    "PreparedGradient",
    "Transformer",
    "compile_layer",
    "count",
    "initialise",
    "load",
    "optimize",
    "prepare",
    "prepare_for_engine",
    "prepare_gradient",
    "source",
    "to_onnx",
    "write_onnx",
]
