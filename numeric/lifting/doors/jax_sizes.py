"""Symbolic sizes in JAX: a size symbol as a dimension variable of `jax.export`, and back.

JAX answers `n == m` with False where it cannot know, and raises at `n < m`. While a function is lifted, a comparison in
the user's own code is a decision of the trace instead, as at the other doors; JAX's own code keeps JAX's answers. What
needs the number of a size (`int`, `float`) is refused with the user's line.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
from jax import export
from sympy import Expr, Integer, Symbol, expand

from numeric.lifting.numbers import Size, is_number, size_of, whole_quotient
from numeric.lifting.refusals import asked_by_user, refuse

__all__ = ["Dimensions", "replaced"]

_RESERVED = ("mod", "floordiv", "max", "min")
_COMPARED = {f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
_WITHOUT_VALUE = ("__int__", "__float__", "__index__")  # JAX's own code expects no __index__: it gets a TypeError
_FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tanh")


class Dimensions:
    """The dimension variables of one trace, in a scope of their own, so that JAX's caches serve no other trace."""

    def __init__(self, symbols: list[Symbol]) -> None:
        scope = export.SymbolicScope()
        plain = [s.name.isidentifier() and s.name.isascii() and s.name not in _RESERVED for s in symbols]
        names = [
            s.name if fits else f"size_{number}" for number, (s, fits) in enumerate(zip(symbols, plain, strict=True))
        ]
        self.symbols = dict(zip(names, symbols, strict=True))
        made = export.symbolic_shape(",".join(names), scope=scope) if names else ()
        self._made = dict(zip(symbols, made, strict=True))
        self._class: Any = type(made[0]) if made else None

    def dimension(self, size: Expr) -> Any:
        """Return a polynomial in size symbols as a dimension of JAX."""
        if size.is_Integer:
            return int(size)
        if size.is_Symbol:
            return self._made[size]
        parts = [self.dimension(part) for part in size.args]
        if size.is_Add or size.is_Mul:
            combine = operator.add if size.is_Add else operator.mul
            result = parts[0]
            for part in parts[1:]:
                result = combine(result, part)
            return result
        if size.is_Pow and isinstance(parts[1], int) and parts[1] > 0:
            return parts[0] ** parts[1]
        raise refuse(f"an axis of the size {size}")

    def size(self, dimension: Any) -> Expr:
        """Return a dimension of JAX as a polynomial in size symbols."""
        if isinstance(dimension, int):
            return Integer(dimension)
        return expand(self._read(ast.parse(str(dimension), mode="eval").body))

    def sizes(self, shape: Iterable[Any]) -> tuple[Expr, ...]:
        """Return the sizes of a shape of JAX."""
        return tuple(map(self.size, shape))

    def _read(self, tree: ast.expr) -> Expr:
        match tree:
            case ast.Constant(value=int(value)):
                return Integer(value)
            case ast.Name(id=name):
                return self.symbols[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._read(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._read(left) + self._read(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._read(left) - self._read(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._read(left) * self._read(right)
            case ast.BinOp(left=left, op=ast.Pow(), right=right) | ast.BinOp(left=left, op=ast.BitXor(), right=right):
                return self._read(left) ** self._read(right)
            case ast.Call(func=ast.Name(id="floordiv"), args=[top, bottom]):
                one, other = self._read(top), self._read(bottom)
                found = whole_quotient(one, other)
                if found is None:
                    raise refuse(f"{one} // {other} is not exact for all sizes: declare {one} as a multiple of {other}")
                return found
            case ast.Call(func=ast.Name(id="mod"), args=[top, bottom]):
                one, other = self._read(top), self._read(bottom)
                found = expand(one + other) if one.is_negative else one
                if Size(found) >= 0 and Size(expand(other - found)) >= 1:
                    return found
                raise refuse(f"{one} % {other} is not known for all sizes")
        raise refuse(f"a size {ast.unparse(tree)}, which is no polynomial in the sizes of the arguments")

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Let the trace decide comparisons of sizes in the user's code, and let functions such as `sqrt` take sizes."""
        if self._class is None:
            yield
            return
        new: dict[str, Any] = {name: self._comparison(name, relation) for name, relation in _COMPARED.items()}
        new |= {name: _refusing(name, getattr(self._class, name, None)) for name in _WITHOUT_VALUE}
        new |= {name: _function(name) for name in _FUNCTIONS}
        new["__pow__"] = _power(self._class.__pow__)
        new["__bool__"] = self._truth
        with replaced(self._class, new):
            yield

    def _known(self, value: Any) -> Any:
        """Return an operand of a comparison as a size if it is a dimension of JAX, else unchanged."""
        return size_of(self.size(value)) if isinstance(value, self._class) else value

    def _comparison(self, name: str, relation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        plain = getattr(self._class, name)

        def compared(own: Any, other: Any) -> Any:
            if not asked_by_user():
                return plain(own, other)
            known = self._known(other)
            if not is_number(known):
                return plain(own, other)
            return relation(self._known(own), known)

        return compared

    @property
    def _truth(self) -> Callable[[Any], bool]:
        def truth(own: Any) -> bool:
            return bool(self._known(own)) if asked_by_user() else True

        return truth


@contextmanager
def replaced(kind: Any, new: Mapping[str, Any]) -> Iterator[None]:
    """Give a class other methods inside the block."""
    absent = object()
    before = {name: vars(kind).get(name, absent) for name in new}
    try:
        for name, value in new.items():
            setattr(kind, name, value)
        yield
    finally:
        for name, value in before.items():
            if value is absent:
                delattr(kind, name)
            else:
                setattr(kind, name, value)


def _refusing(name: str, plain: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    what = name.strip("_")

    def asked(own: Any) -> Any:
        if asked_by_user():
            raise refuse(f"{what}() of {own} needs its value, and it is symbolic")
        if plain is None:
            raise TypeError(f"{what}() of the symbolic size {own}")
        return plain(own)

    return asked


def _function(name: str) -> Callable[[Any], Any]:
    """Return the method by which NumPy applies a function to an object."""
    return lambda own: getattr(jnp, name)(jnp.asarray(own, dtype=float))


def _power(plain: Callable[..., Any]) -> Callable[..., Any]:
    def raised(own: Any, exponent: Any, *modulus: Any) -> Any:
        if isinstance(exponent, float) or (isinstance(exponent, int) and exponent < 0):
            return jnp.power(jnp.asarray(own, dtype=float), exponent)
        return plain(own, exponent, *modulus)

    return raised
