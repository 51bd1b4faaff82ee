"""Counts read off the equations, compared with allocated weights and executed products.

Definition   parameters: the entries of the weights initialised for a layer; FLOPs: those of the products that its
             compiled function executes on arrays that record them
Units        parameters; FLOPs, one multiply-add being 2
Assumes      causal products are executed and counted for all pairs of positions
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sympy import Expr, Integer

from derivations.language.counting.costs import count_flops, count_parameters
from numeric.codegen.compile import compile_layer
from numeric.models.weights import count
from numeric.verification.agreement.cases import BATCH, DTYPES, SIZES, Case, case, subjects
from numeric.verification.agreement.recording import Log, recorded
from numeric.verification.agreement.report import Check

__all__ = ["at", "count_checks", "executed_flops", "flops_check", "flops_difference", "parameters_check"]


def count_checks(sizes: tuple[dict[str, int], ...] = SIZES[:1]) -> Iterator[Check]:
    """Yield the differences of counted and allocated parameters, and of counted and executed FLOPs, for every layer."""
    for name in subjects():
        for chosen in sizes:
            each = case(name, chosen, DTYPES[0])
            yield parameters_check(name, count_parameters(each.layer), each.sizes, each.weights)
            yield flops_check(each)


def parameters_check(name: str, counted: Expr, sizes: Mapping[str, int], weights: Any) -> Check:
    """Return the counted parameters minus the allocated ones."""
    allocated = count(weights)
    return Check("parameters counted - allocated", at(counted, sizes) - allocated, 0, f"({allocated:,} in {name})")


def flops_check(case: Case, function: Callable[..., Any] | None = None) -> Check:
    """Return the counted FLOPs of products minus those that a function, by default the compiled layer, executes."""
    executed = executed_flops(function or compile_layer(case.layer), case.arguments)
    counted = at(count_flops(case.layer, BATCH).matmul, case.sizes)
    return flops_difference(case.name, counted, executed)


def flops_difference(name: str, counted: int, executed: int) -> Check:
    """Return the counted FLOPs of products minus the executed ones.

    Units        FLOPs, one multiply-add being 2
    """
    return Check("FLOPs of products counted - executed", counted - executed, 0, f"({executed:,} in {name})")


def executed_flops(function: Callable[..., Any], arguments: Mapping[str, Any]) -> int:
    """Return the FLOPs of the products that a function executes on the arguments.

    Units        FLOPs, one multiply-add being 2
    """
    log: Log = []
    function(**{name: recorded(value, log) for name, value in arguments.items()})
    return sum(flops for _, flops in log)


def at(counted: Expr, sizes: Mapping[str, int]) -> int:
    """Return a count at the given sizes."""
    values = {symbol: Integer(sizes[symbol.name]) for symbol in counted.free_symbols}
    return int(counted.xreplace(values))
