"""The backends NumPy, JAX and PyTorch, one table row each; JAX and PyTorch are imported only when they are used.

Result       the array functions of JAX and PyTorch are NumPy's text under other names, that of `functional` where
             NumPy's writes in place, and their own where they have the function already; what still writes in place
             is left out, and a layer that needs it is refused
"""

import ast
import re
from collections.abc import Mapping

from numeric.codegen.backends import functional, jax_primitives, torch_primitives
from numeric.codegen.backends.backend import SPECIAL, Backend, Texts, TextsOf
from numeric.codegen.backends.jax_printer import JaxLayerPrinter
from numeric.codegen.backends.torch_printer import TorchLayerPrinter
from numeric.codegen.printer import NumPyLayerPrinter
from numeric.codegen.syntax import nodes
from numeric.runtime import primitives

__all__ = ["BACKENDS", "backend_called"]

STANDARD = {"math": "import math", "reduce": "from functools import reduce"}
OF_SIZES = ("relative_buckets", "signed_buckets")  # what is computed from sizes alone is NumPy's everywhere
JAX_NAMES = {"np": "jnp"}
TORCH_NAMES = {
    "np.broadcast_arrays": "torch.broadcast_tensors",
    "np.moveaxis": "torch.movedim",  # of which `vmap` has a rule
    "np.take_along_axis": "torch.take_along_dim",
    "np": "torch",
}
NUMPY = TextsOf(primitives)


def for_sizes() -> dict[str, str]:
    """Return the texts of the functions of sizes alone, which every backend computes with NumPy."""
    return {name: NUMPY[name] for name in OF_SIZES}


def traceable(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the functions that neither write in place nor call a function that does."""
    left = {name: text for name, text in texts.items() if not any(map(_writes, nodes(text)))}
    missing = texts.keys() - left.keys()
    # a function that calls a missing one is missing too, and so on
    while gone := {name for name, text in left.items() if any(re.search(rf"\b{m}\(", text) for m in missing)}:
        left, missing = {name: text for name, text in left.items() if name not in gone}, missing | gone
    return left


def _writes(node: ast.AST) -> bool:
    """Return whether a syntax node writes in place, or is a `with` block such as one for settings of NumPy."""
    match node:
        case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign(target=ast.Subscript()) | ast.With():
            return True
        case ast.Call(func=ast.Attribute(attr="at")) | ast.keyword(arg="out"):
            return True
    return False


BACKENDS = {
    backend.name: backend
    for backend in (
        Backend(
            "numpy",
            "NumPy arrays",
            "numpy",
            NumPyLayerPrinter,
            (STANDARD, {"np": "import numpy as np", "special": SPECIAL}),
            NUMPY,
        ),
        Backend(
            "jax",
            "JAX arrays",
            "jax",
            JaxLayerPrinter,
            (
                STANDARD,
                {
                    "jax": "import jax",
                    "jnp": "import jax.numpy as jnp",
                    "np": "import numpy as np",
                    "special": "from jax.scipy import special",
                },
            ),
            Texts(
                lambda: traceable(
                    {
                        **TextsOf(primitives, JAX_NAMES),
                        **TextsOf(functional, JAX_NAMES),
                        **TextsOf(jax_primitives),
                        **for_sizes(),
                    }
                )
            ),
        ),
        Backend(
            "torch",
            "PyTorch tensors",
            "torch",
            TorchLayerPrinter,
            (STANDARD, {"np": "import numpy as np", "torch": "import torch"}),
            Texts(
                lambda: traceable(
                    {
                        **TextsOf(primitives, TORCH_NAMES),
                        **TextsOf(functional, TORCH_NAMES),
                        **TextsOf(torch_primitives),
                        **for_sizes(),
                    }
                )
            ),
        ),
    )
}


def backend_called(name: str) -> Backend:
    """Return the backend with the given name.

    Raises       ValueError where no backend has this name
    """
    if name not in BACKENDS:
        raise ValueError(f"the backend {name!r} is unknown; choose one of {', '.join(BACKENDS)}")
    return BACKENDS[name]
