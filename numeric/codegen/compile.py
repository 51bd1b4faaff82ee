r"""From a layer to a function over arrays: one readable Python function for each distinct layer, a line per equation.

Definition   compile_layer(layer)(*inputs, *parameters, *weights of parts, *sizes, **scalars) is the layer's output
Shapes       those of the layer; every input may have batch axes in front, which broadcast; weights have none
Assumes      float32 gives float32 and float64 gives float64; softmax subtracts the largest entry of the row, which
             leaves the result unchanged (softmax.shift_invariance)

The weights of a part are one argument, a dict (a list of dicts for a repetition). A size is an argument only where it
is not an axis of an input or a parameter; a scalar such as epsilon is a keyword.

>>> from derivations.linear import linear
>>> from numeric.codegen.compile import compile_layer
>>> print(*compile_layer(linear()).source.splitlines()[-2:], sep="\n")
    Y = X @ W + b  # (n, d_out)
    return Y
"""

import inspect
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sympy import Symbol

from derivations.language.layers.layer import Layer, require_layer
from numeric.codegen.backends import BACKENDS, Backend, backend_called
from numeric.codegen.backends.arguments import checked_call
from numeric.codegen.functions import PRIMITIVES, Function, printed_functions
from numeric.codegen.naming import named
from numeric.codegen.onnx_graph.compiled import EngineFunction
from numeric.codegen.onnx_graph.engines import ENGINES
from numeric.codegen.plan import Unit, plan_of
from numeric.codegen.syntax import names_in
from numeric.runtime import checks
from numeric.runtime.own_memory import own_memory

__all__ = ["PRIMITIVES", "CompiledLayer", "compile_layer", "source"]


@dataclass(frozen=True)
class CompiledLayer:
    """A layer as a function over arrays, which checks its arguments unless called with `check=False`.

    Raises       InputError where an argument does not fit the layer
    """

    layer: Layer
    source: str
    function: Function
    sizes: tuple[Symbol, ...]
    backend: str = "numpy"

    def __call__(self, *arguments: Any, check: bool = True, **named: Any) -> Any:
        """Return the output of the layer."""
        if check:
            of_numpy = self.backend not in BACKENDS or self.backend == "numpy"  # engines take NumPy arrays
            check_call = checks.check_call if of_numpy else checked_call(self.backend)
            arguments, named = (), check_call(self.layer, self.function, self.sizes, arguments, named)
        results = self.function(*arguments, **named)
        return own_memory(results, [*arguments, *named.values()]) if self.backend == "numpy" else results

    def __repr__(self) -> str:
        """Return the name and the signature."""
        return f"<compiled layer {self.function.__name__}{inspect.signature(self.function)}>"


@lru_cache(maxsize=256)
def compile_layer(layer: Layer, backend: str = "numpy") -> CompiledLayer:
    """Return a layer as a function over the arrays of NumPy, JAX or PyTorch; its source is at `.source`.

    Definition   the backends "onnxruntime" and "openvino" are engines: they take NumPy arrays, and run the layer's
                 ONNX graph; the source is NumPy's
    Raises       CompileError where an equation has no form there, ValueError for an unknown backend, ImportError for
                 a backend that is not installed, TypeError for an argument that is not a layer
    """
    return _for_engine(layer, backend) if backend in ENGINES else _compiled(layer, backend, runs=True)


def _for_engine(layer: Layer, engine: str) -> CompiledLayer:
    """Return a layer that an engine runs, with the signature and the checks of its NumPy function."""
    plain = compile_layer(layer)
    return replace(plain, function=EngineFunction(layer, engine, plain.function), backend=engine)


def source(layer: Layer, backend: str = "numpy") -> str:
    """Return a layer as the text of a Python module that runs without this package; the backend need not be installed.

    Raises       CompileError, ValueError and TypeError as for compile_layer
    """
    return (compile_layer(layer) if backend == "numpy" else _compiled(layer, backend, runs=False)).source


def _compiled(layer: Layer, backend_name: str, runs: bool) -> CompiledLayer:
    """Compile a layer; without `runs` only the text is produced, and the backend need not be installed."""
    backend = backend_called(backend_name)
    plan = plan_of(require_layer(layer))  # the functions to print, each after those that it calls
    names = named(plan)  # the names of the functions, and of the variables in each
    functions = printed_functions(plan, names, backend, runs)  # texts that run
    text = _module_text(layer, [functions[unit].text for unit in plan.units], backend)  # all in one module
    main = functions[Unit(layer)]
    return CompiledLayer(layer, text, main.function, tuple(main.sizes.values()), backend_name)


def _module_text(layer: Layer, functions: list[str], backend: Backend) -> str:
    """Return the text of one module: the imports, the array functions in use, and the given functions."""
    texts = [backend.primitives[name] for name in backend.needed(names_in("\n".join(functions)))]
    used = names_in("\n".join([*texts, *functions]))
    head = f'"""The layer `{layer.name}` over {backend.arrays}; inputs may have batch axes in front."""\n'
    imports = ["".join(f"{line}\n" for name, line in group.items() if name in used) for group in backend.imports]
    return "\n\n".join(["\n".join([head, *filter(None, imports)]).rstrip("\n") + "\n", *texts, *functions])
