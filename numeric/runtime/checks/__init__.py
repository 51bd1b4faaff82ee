"""What a compiled layer is given: every argument is checked against the layer's shapes before anything is computed.

Result       one sentence says which layer and argument do not fit, what was given, what is wanted, and with which sizes
Assumes      inputs may have batch axes in front, which broadcast; weights have exactly their own axes; the gradient by
             an output has the batch axes of that output, so that gradients by weights are sums over all of the batch

Shapes and number types of a call are remembered: a later call that differs from it in values alone is checked in its
values alone. Nothing that is given is ever changed.
"""

from numeric.runtime.checks.call import InputContract, check_call, check_weights
from numeric.runtime.checks.given import InputError

__all__ = ["InputContract", "InputError", "check_call", "check_weights"]
