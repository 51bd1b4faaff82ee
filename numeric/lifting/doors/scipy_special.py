"""SciPy's special functions on symbolic arrays: a table of rules for those that have an elementary formula."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from sympy import (
    Abs,
    Expr,
    Integer,
    Le,
    assoc_laguerre,
    chebyshevt,
    chebyshevu,
    cos,
    exp,
    expand,
    gegenbauer,
    hermite,
    jacobi,
    laguerre,
    legendre,
    log,
    pi,
    sin,
    sqrt,
    tan,
)

from numeric.lifting import operations as op
from numeric.lifting.doors.numpy_arguments import Table
from numeric.lifting.numbers import as_number, is_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["rule_of_scipy", "scipy_functions"]


def rule_of_scipy(ufunc: Any) -> Callable[..., Any] | None:
    """Return the rule of a function of scipy.special, if the ufunc is that function."""
    special = sys.modules.get("scipy.special")
    name = str(ufunc.__name__)
    return _SPECIAL.get(name) if getattr(special, name, None) is ufunc else None


_POLYNOMIALS: dict[str, Callable[..., Expr]] = {  # of a known degree, in SciPy's words
    "eval_chebyt": chebyshevt,
    "eval_chebyu": chebyshevu,
    "eval_chebyc": lambda n, x: 2 * chebyshevt(n, x / 2),
    "eval_chebys": lambda n, x: chebyshevu(n, x / 2),
    "eval_sh_chebyt": lambda n, x: chebyshevt(n, 2 * x - 1),
    "eval_sh_chebyu": lambda n, x: chebyshevu(n, 2 * x - 1),
    "eval_legendre": legendre,
    "eval_sh_legendre": lambda n, x: legendre(n, 2 * x - 1),
    "eval_hermite": hermite,
    "eval_laguerre": laguerre,
    "eval_gegenbauer": gegenbauer,
    "eval_genlaguerre": assoc_laguerre,
    "eval_jacobi": jacobi,
}


_MOST_TERMS = 32


def _polynomial(name: str) -> Callable[..., Any]:
    def rule(degree: Any, *given: Any) -> Any:
        *parameters, x = given
        known = as_number(degree) if is_number(degree) else None
        if known is None or not known.is_Integer or not 0 <= known <= _MOST_TERMS:
            raise refuse(f"scipy.special.{name} of a degree that is no small whole number")
        if not all(map(is_number, parameters)):
            raise refuse(f"scipy.special.{name} with an array of parameters")
        return op.formula(name, expand(_POLYNOMIALS[name](known, *map(as_number, parameters), op.FIRST)), x)

    return rule


_RADIANS = op.FIRST * pi / 180


def _of_degrees(name: str, function: Callable[[Expr], Expr]) -> Callable[..., Any]:
    return lambda x: op.formula(name, function(_RADIANS), x)


_SPECIAL: Table = {
    "erf": op.UNARY["erf"],
    "erfc": op.UNARY["erfc"],
    "ndtr": op.UNARY["ndtr"],
    "expit": op.sigmoid,
    "log_expit": op.UNARY["log_sigmoid"],
    "log1p": op.UNARY["log1p"],
    "xlogy": op.x_log_y,
    "xlog1py": lambda x, y: op.x_log_y(x, op.add(y, 1)),
    "entr": op.UNARY["entr"],
    "logit": lambda x: op.formula("logit", log(op.FIRST) - log(1 - op.FIRST), x),
    "pseudo_huber": lambda by, x: op.formula(
        "pseudo_huber", as_number(by) ** 2 * (sqrt(1 + (op.FIRST / as_number(by)) ** 2) - 1), x
    ),
    "rel_entr": lambda x, y: _relative_entropy(x, y),
    "kl_div": lambda x, y: op.add(op.subtract(_relative_entropy(x, y), x), y),
    "huber": lambda by, x: op.where(
        op.compare(op.UNARY["absolute"](x), by, Le),
        op.formula("near", op.FIRST**2 / 2, x),
        op.formula("far", as_number(by) * (Abs(op.FIRST) - as_number(by) / 2), x),
    ),
    **{name: _polynomial(name) for name in _POLYNOMIALS},
    "exprel": lambda x: op.formula("exprel", (exp(op.FIRST) - 1) / op.FIRST, x),
    "powm1": lambda x, by: op.subtract(op.power(x, by), 1),
    **{name: _of_degrees(name, angle) for name, angle in (("sindg", sin), ("cosdg", cos), ("tandg", tan))},
    "cotdg": lambda x: op.formula("cotdg", cos(_RADIANS) / sin(_RADIANS), x),
    "exp10": lambda x: op.formula("exp10", Integer(10) ** op.FIRST, x),
    "boxcox": lambda x, by: _box_cox(x, as_number(by)),
    "boxcox1p": lambda x, by: _box_cox(op.add(x, 1), as_number(by)),
    "cosm1": lambda x: op.formula("cosm1", cos(op.FIRST) - 1, x),
    "inv_boxcox": lambda x, by: _from_box_cox(x, as_number(by)),
}


def _relative_entropy(x: Any, y: Any) -> Any:
    x, y = (op.at_least_0(each) if isinstance(each, Tensor) else each for each in (x, y))
    return op.subtract(op.x_log_y(x, x), op.x_log_y(x, y))


def _box_cox(x: Any, power: Expr) -> Any:
    x = op.at_least_0(x)
    return op.UNARY["log"](x) if power == 0 else op.formula("box_cox", (op.FIRST**power - 1) / power, x)


def _from_box_cox(x: Any, power: Expr) -> Any:
    if power != 0 and not (1 / power).is_integer:
        raise refuse(f"the inverse of Box and Cox's transformation for the power {power}")
    return op.UNARY["exp"](x) if power == 0 else op.formula("from_box_cox", (1 + power * op.FIRST) ** (1 / power), x)


def scipy_functions() -> Iterator[tuple[Any, Any]]:
    """Yield functions that SciPy writes in Python with checks that symbolic sizes do not pass, and their rules."""
    special = sys.modules.get("scipy.special")
    if special is not None:
        plain_one = special.logsumexp

        def log_sum_exp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, **more: Any) -> Any:
            if not isinstance(a, Tensor):
                return plain_one(a, axis, b, keepdims, **more)
            if b is not None or more or (axis is None and a.ndim != 1):
                raise refuse("scipy.special.logsumexp with factors, with signs, or of all entries")
            return op.log_sum_exp(a, 0 if axis is None else axis, keepdims)

        yield plain_one, log_sum_exp
