r"""Spellings of names with a mark for the running index of an equation: m_t is `m@`, m_{t-1} is `m@-`.

Definition   the running index is the last subscript of the left side, a letter or a letter plus or minus a number; it
             may stand above in brackets as well, `m^{(t)}`
Result       `running(left)` is the index; `spelled(name, index)` the spelling; `left_spelling(left)` that of a
             left side, `Var(W)` as well
"""

from __future__ import annotations

from fractions import Fraction

from derivations.documents.syntax import Call, Fence, Name, Node, Number, Power, Product, Sum

__all__ = ["left_spelling", "running", "spelled", "step_before"]


def running(left: Node) -> Node | None:
    """Return the running index of a left side; None where it has none."""
    match left:
        case Call(arguments=(Name() as inside,)):
            return running(inside)
        case Power(base=Name() as inside):
            return running(inside)
        case Name(subscripts=(*_, last)) if _is_running(last):
            return last
        case Name(superscripts=(*_, Fence(inside=last))) if _is_running(last):
            return last
    return None


def _is_running(node: Node) -> bool:
    match node:
        case Name(base=base, subscripts=()):
            return len(base) == 1 and not base.isupper()  # E_A, L_{DPO} have labels
        case Sum(terms=(Name() as letter, Number())):
            return _is_running(letter)
        case Name(base="", subscripts=_) | _:
            return False


def step_before(index: Node) -> Node:
    """Return the index one step before."""
    letter, shift = _parted(index)
    return _whole(letter, shift - 1)


def _parted(index: Node) -> tuple[Node, Fraction]:
    match index:
        case Sum(terms=(letter, Number(value=value)), signs=(1, sign)):
            return letter, value * sign
    return index, Fraction(0)


def _whole(letter: Node, shift: Fraction) -> Node:
    if not shift:
        return letter
    return Sum((letter, Number(str(abs(shift)), abs(shift))), (1, 1 if shift > 0 else -1))


def spelled(name: Name, index: Node | None) -> str:
    """Return a name as one text, with `@` and `@-` for the running index and the one before it; x_{2i} is `x_2i`."""
    lower = "".join(_open(each, index) or f"_{Name('', (each,)).key[1:]}" for each in name.subscripts)
    upper = "".join(_open(each, index) or f"^{Name('', (), (each,)).key[1:]}" for each in name.superscripts)
    return f"{name.accent}{name.base}{lower}{upper}".replace("·", "") + "'" * name.primes


def _open(part: Node, index: Node | None) -> str:
    """Return the mark of an index, or an empty string for another subscript."""
    if index is None:
        return ""
    inner = part.inside if isinstance(part, Fence) else part
    if inner == index or _parted(inner) == _parted(index):
        return "@"
    return "@-" if _parted(inner) == _parted(step_before(index)) else ""


def left_spelling(left: Node) -> str:
    """Return how a left side is spelled: a name, the square of one, or a function of one."""
    index = running(left)
    match left:
        case Name():
            return spelled(left, index)
        case Power(base=Name() as base, exponent=Number(text=text)):
            return f"{spelled(base, index)}^{text}"
        case Power(base=Name() as base, exponent=Product() as label) if _word(label):
            return f"{spelled(base, index)}^{_word(label)}"
        case Product():
            return _word(left)
        case Call(function=function, arguments=(Name() as inside,)):
            return f"{function.key}({spelled(inside, index)})"
    return ""


def _word(node: Product) -> str:
    """Return the word that a product of single letters spells, such as `lr`, or an empty string."""
    plain = all(isinstance(each, Name) and each.key == each.base and len(each.base) == 1 for each in node.factors)
    return "".join(each.base for each in node.factors if isinstance(each, Name)) if plain else ""
