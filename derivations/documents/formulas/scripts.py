r"""Labels and powers: what is attached to a name above and below.

Definition   `W^Q`, `W^{(i)}`, `W^{\text{out}}` are labels, `K^T` and `K^\top` transposes, `x^2`, `e^{-x}`, `A^{-1}`
             powers. By form alone: a capital over a capital is a label, brackets and words are labels, except over e
             and over numbers; anything else is a power
"""

from __future__ import annotations

from dataclasses import replace

from derivations.documents.formulas.vocabulary import GREEK, SYMBOLS
from derivations.documents.syntax import Fence, List, Name, Node, Power, Product, Transpose, Words

__all__ = ["attached", "raised"]

MARKS = {"star": "*", "*": "*", "dagger": "†", "+": "+", "-": "-"}  # labels that are no letters
_LABELLED = frozenset("QKVO")  # labels over any letter: queries, keys, values, output


def attached(name: Name, subscripts: tuple[Node, ...], above: Node | None, primes: int, end: int) -> Node:
    """Return the name with what is attached to it: a label, a transpose or a power."""
    name = replace(name, subscripts=subscripts, primes=primes, end=end)
    if above is None:
        return name
    if _is_transpose(above):
        return Transpose(name, start=name.start, end=end)
    if isinstance(above, Product) and len(above.factors) == 2 and _is_transpose(above.factors[1]):
        label = attached(name, subscripts, above.factors[0], primes, end)
        return Transpose(label, start=name.start, end=end)
    labels = _labels(name, above)
    if labels:
        return replace(name, superscripts=labels, end=end)
    return raised(name, above, end)


def raised(base: Node, above: Node, end: int) -> Node:
    """Return a power, or a transpose, of something that takes no label."""
    if _is_transpose(above):
        return Transpose(base, start=base.start, end=end)
    return Power(base, above, start=base.start, end=end)


def _is_transpose(above: Node) -> bool:
    r"""Say whether a superscript is the sign of a transpose: `T`, `\top`."""
    return isinstance(above, Name) and above.base in ("T", "top") and above == Name(above.base)


def _labels(name: Name, above: Node) -> tuple[Node, ...]:
    if name.base == "e" or not above:
        return ()
    match above:
        case Words():
            return (above,)
        case Fence(bracket=bracket) if bracket in "([⟨":
            return (above,)
        case Name(base=base) if base in MARKS:
            return (Words(MARKS[base], start=above.start, end=above.end),)
        case Name(base=base) if base in _LABELLED or (base.isupper() and name.base[:1].isupper()):
            return (above,)
        case Name(base=base) if len(base) > 1 and base not in GREEK and base not in SYMBOLS and above == Name(base):
            return (Words(base, start=above.start, end=above.end),)
        case Product(factors=factors) if all(isinstance(each, Name) and each.base in _LABELLED for each in factors):
            return factors
        case List(items=items, bracket=""):
            return items
    return ()
