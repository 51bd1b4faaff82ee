"""Engines that run ONNX models on a CPU: a table of onnxruntime and OpenVINO, which are imported on first use.

Definition   `started(engine, model, threads)` compiles a model once; the function that it returns takes arrays by the
             names of the model's inputs, and returns its outputs in order
Assumes      float32 is computed in float32: OpenVINO takes bfloat16 by itself on processors that have it, unless asked
Raises       ImportError where the engine is not installed, ValueError for an unknown one, CompileError where it has no
             implementation of a node
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from numeric.codegen.formula_printer import CompileError
from numeric.runtime.tiles import default_threads

__all__ = ["ENGINES", "IN_FLOAT32", "Run", "started"]

IN_FLOAT32 = frozenset({"openvino"})  # engines that compute float64 in float32 (measured with OpenVINO 2026.4)

Run = Callable[[Mapping[str, Any]], list[Any]]


def _onnxruntime(library: Any, model: bytes, threads: int) -> Run:
    options = library.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3  # errors alone
    session = library.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = {each.name for each in session.get_inputs()}
    return lambda feeds: list(session.run(None, {name: x for name, x in feeds.items() if name in names}))


def _openvino(library: Any, model: bytes, threads: int) -> Run:
    core = library.Core()
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = core.compile_model(core.read_model(model), "CPU", settings)
    names = [each.get_any_name() for each in compiled.inputs]
    own = threading.local()  # a request holds the arrays of one call

    def run(feeds: Mapping[str, Any]) -> list[Any]:
        if not hasattr(own, "request"):
            own.request = compiled.create_infer_request()
        found = own.request.infer({name: feeds[name] for name in names}, share_inputs=True)
        return [found[each] for each in compiled.outputs]

    return run


@dataclass(frozen=True)
class Engine:
    """An engine: the package to install, and the function that compiles a model in it."""

    package: str
    start: Callable[[Any, bytes, int], Run]


ENGINES: Mapping[str, Engine] = {
    "onnxruntime": Engine("onnxruntime", _onnxruntime),
    "openvino": Engine("openvino", _openvino),
}


def started(engine: str, model: Any, threads: int | None = None) -> Run:
    """Return the function that runs a model; threads are by default the cores that the process may use."""
    if engine not in ENGINES:
        raise ValueError(f"the engine {engine!r} is unknown; choose one of {', '.join(ENGINES)}")
    found = ENGINES[engine]
    try:
        library = import_module(engine)
    except ImportError as error:
        raise ImportError(f"the engine {engine!r} is not installed: pip install {found.package}") from error
    count = default_threads() if threads is None else threads
    try:
        return found.start(library, model.SerializeToString(), count)
    except Exception as error:  # each engine has classes of errors of its own
        reason = str(error).strip().splitlines()[-1]  # it names the node, and with it the equation
        raise CompileError(f"{engine} does not take the graph of the layer {model.graph.name}: {reason}") from error
