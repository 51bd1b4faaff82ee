"""Checks of the arguments of a compiled layer: all are compared with its shapes before the computation.

Result       one sentence names the layer, the argument that does not fit, its shape or type, the needed one, and sizes
Assumes      inputs may have batch axes in front, which broadcast; weights have exactly their own axes; the gradient by
             an output has the batch axes of that output, so that gradients for weights are sums over the whole batch

The shapes and number types of a call are remembered. A later call with the same shapes and number types has only its
values checked. No argument is ever changed.
"""

from numeric.runtime.checks.call import InputContract, check_call, check_weights
from numeric.runtime.checks.given import InputError

__all__ = ["InputContract", "InputError", "check_call", "check_weights"]
