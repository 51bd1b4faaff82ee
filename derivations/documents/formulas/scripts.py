r"""Parsing of scripts: subscripts, primes, and superscripts that are labels, transposes or powers.

Definition   `W^Q`, `W^{(i)}`, `W^{\text{out}}` are labels, `K^T` and `K^\top` transposes, `x^2`, `e^{-x}`, `A^{-1}`
             powers. By form alone: capitals over a capital are labels, and over what is bold, and q, k, v, o over W;
             brackets and words are labels, except over e and over numbers; anything else is a power
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from derivations.documents.formulas import building
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.numbers import number_of, printed_number
from derivations.documents.formulas.tokens import Token, stop
from derivations.documents.formulas.vocabulary import GREEK, SYMBOLS
from derivations.documents.syntax import Fence, List, Name, Negative, Node, Number, Power, Product, Transpose, Words

__all__ = [
    "attached", "font_of", "raised", "read_clauses", "read_script", "read_scripts", "read_small_digits",
    "read_subscript", "read_superscript",
]  # fmt: skip

_MARKS = {"star": "*", "*": "*", "dagger": "†", "+": "+", "-": "-"}  # labels that are no letters
_LABELLED = frozenset("QKVO")  # labels over any letter: queries, keys, values, output
_OF_WEIGHTS = frozenset("qkvo")  # the same over W, which nobody raises to these powers


def attached(name: Name, subscripts: tuple[Node, ...], above: Node | None, primes: int, end: int) -> Node:
    """Return a name with its scripts. The superscript is a label, a transpose or a power."""
    name = replace(name, subscripts=subscripts, primes=primes, end=end)
    if above is None:
        return name
    if _is_transpose(above):
        return Transpose(name, start=name.start, end=end)
    is_number = name.base == "e" and not subscripts  # e^{z T} has a product in its exponent
    if isinstance(above, Product) and len(above.factors) == 2 and _is_transpose(above.factors[1]) and not is_number:
        label = attached(name, subscripts, above.factors[0], primes, end)
        return Transpose(label, start=name.start, end=end)
    if isinstance(above, Transpose) and _labels(name, above.operand):  # `W^{K^T}`
        return Transpose(attached(name, subscripts, above.operand, primes, end), start=name.start, end=end)
    labels = _labels(name, above)
    if labels:
        return replace(name, superscripts=labels, end=end)
    return raised(name, above, end)


def raised(base: Node, above: Node, end: int) -> Node:
    """Return a power, or a transpose, of something that takes no label."""
    if _is_transpose(above):
        return Transpose(base, start=base.start, end=end)
    is_number = base == Name("e")
    if isinstance(above, Negative) and _is_transpose(above.operand) and not is_number:  # `A^{-T}`
        one = Number("1", Fraction(1), Fraction(1, 2), start=above.operand.start, end=above.end)
        return Transpose(Power(base, replace(above, operand=one), start=base.start, end=end), start=base.start, end=end)
    return Power(base, above, start=base.start, end=end)


def _is_transpose(above: Node) -> bool:
    r"""Return whether a superscript is the sign of a transpose: `T`, `\top`."""
    return isinstance(above, Name) and above.base in ("T", "top") and above == Name(above.base)


def _labels(name: Name, above: Node) -> tuple[Node, ...]:
    if name.base == "e" or not above:
        return ()
    match above:
        case Words():
            return (above,)
        case Fence(bracket=bracket) if bracket in "([⟨":
            return (above,)
        case Name(base=base) if base in _MARKS:
            return (Words(_MARKS[base], start=above.start, end=above.end),)
        case Name(base=base) if base in _LABELLED or (base.isupper() and name.base[:1].isupper()):
            return (above,)
        case Name(base=base) if name.base == "W" and base in _OF_WEIGHTS:
            return (above,)
        case Name() if name.font == "bold" and _is_capital(above):  # vectors have no powers
            return (above,)
        case Name(base=base) if len(base) > 1 and base not in GREEK and base not in SYMBOLS and above == Name(base):
            return (Words(base, start=above.start, end=above.end),)
        case Product(factors=factors) if all(isinstance(each, Name) and each.base in _LABELLED for each in factors):
            return factors
        case Product(factors=factors) if name.base[:1].isupper() and all(map(_is_capital, factors)):
            letters = "".join(each.base for each in factors if isinstance(each, Name))
            return (Words(letters, start=above.start, end=above.end),)  # `W^{DKV}`
        case List(items=items, bracket=""):
            return items
    return ()


def _is_capital(node: Node) -> bool:
    """Return whether a node is one Latin capital without scripts, other than the T of a transpose."""
    letter = node.base if isinstance(node, Name) and node == Name(node.base) else ""
    return len(letter) == 1 and "A" <= letter <= "Z" and letter != "T"


# --- reading ---


def read_superscript(reader: Grammar) -> Node:
    """Read a superscript after the `^`."""
    token = reader.token
    if token.kind == "op" and token.text in ("star", "+", "-", "*") and reader.syntax != "code":
        following = reader.tokens[reader.position + 1]
        if token.text == "-" and following.kind in ("number", "letter", "open"):
            return reader.signed_factor()
        reader.take()
        return Name(token.text, start=token.start, end=token.end)
    if token.kind == "op" and token.text == "-":
        return reader.signed_factor()
    if _is_arrow(token):  # `h_t^\rightarrow`
        reader.take()
        return Words(token.text, start=token.start, end=token.end)
    if token.kind == "prime":
        reader.take()
        return Name("'", start=token.start, end=token.end)
    if token.kind != "{":
        node = read_script(reader, power=True)
        grouped = reader.syntax != "latex" and isinstance(node, Fence) and not isinstance(node.inside, Name | Number)
        return building.unfenced(node) if grouped else node
    reader.take()
    mark = reader.token
    if mark.kind == "prime":
        primes = ""
        while reader.at("prime"):
            primes += reader.take().text
        node = Name(primes, start=mark.start, end=reader.end)
    elif _is_arrow(mark):
        node = Words(reader.take().text, start=mark.start, end=mark.end)
    elif mark.kind == "op" and reader.tokens[reader.position + 1].kind == "}":
        reader.take()
        node = Name(mark.text, start=mark.start, end=mark.end)
    else:
        items = read_clauses(reader, "}")
        if (
            len(items) == 1 and isinstance(items[0], Name) and reader.at("op") and reader.token.text in _MARKS
        ):  # `^{r*}`
            items = [replace(items[0], superscripts=(*items[0].superscripts, _mark(reader)), end=reader.end)]
        node = building.listed(items) if items else stop(reader.token.start, "the superscript is empty")
        if reader.at("prime") and isinstance(node, Fence):  # `\phi^{(l)'}` is `\phi'^{(l)}`
            node = List((node, Name(reader.take().text, start=mark.start, end=reader.end)), start=mark.start)
    reader.expect("}", "the end of the superscript")
    return node


def read_subscript(reader: Grammar) -> tuple[Node, ...]:
    """Read a subscript after the `_`."""
    if reader.at("op") and reader.token.text in _MARKS:  # `s_+`
        return (_mark(reader),)
    if not reader.at("{"):
        return building.subscripts([read_script(reader)])
    reader.take()
    marked = reader.at("op") and reader.token.text in _MARKS and reader.tokens[reader.position + 1].kind == "}"
    items = [_mark(reader)] if marked else read_clauses(reader, "}")
    reader.expect("}", "the end of the subscript")
    if not items:
        stop(reader.token.start, "the subscript is empty")
    return building.subscripts(items)


def _mark(reader: Grammar) -> Node:
    token = reader.take()
    return Words(_MARKS[token.text], start=token.start, end=token.end)


def read_script(reader: Grammar, power: bool = False) -> Node:
    """Read a script without braces: one letter, number or command, or a factor for a power in plain text."""
    token = reader.token
    if token.kind in ("letter", "number", "digit", "word", "space") and not (power and reader.syntax != "latex"):
        reader.take()
        if token.kind in ("number", "digit"):
            return number_of(token)
        return Name(token.text, font=font_of(token), start=token.start, end=token.end)
    if reader.syntax == "latex" and token.kind == "open":
        stop(token.start, "a script in braces is missing")
    reader.deeper()
    node = reader.factor() if power and reader.syntax != "latex" else reader.atom()
    reader.depth -= 1
    return node


def read_clauses(reader: Grammar, closing: str) -> list[Node]:
    """Read clauses between commas or lines, up to a closing token that is not read."""
    items: list[Node] = []
    while not reader.at(closing):
        items.append(reader.clause())
        if not (
            reader.accept("comma") or reader.accept("newline") or reader.accept("semicolon") or reader.accept("quad")
        ):
            break
    return items


def read_small_digits(reader: Grammar, token: Token) -> Node:
    """Read consecutive small digits as one number, ₁₂."""
    written = token.text
    while reader.at("digit"):
        written += reader.take().text
    return printed_number(written, token.start, reader.end)


def read_scripts(reader: Grammar) -> tuple[tuple[Node, ...], Node | None, int]:
    """Read the scripts of a name: subscripts, a superscript, primes."""
    below: tuple[Node, ...] = ()
    above: Node | None = None
    primes = 0
    while True:
        if reader.at("_"):
            if below:
                stop(reader.token.start, "a second subscript")
            reader.take()
            below = read_subscript(reader)
        elif reader.at("^") and reader.token.text != "**":
            if above is not None:
                stop(reader.token.start, "a second superscript")
            reader.take()
            if reader.at("{") and reader.tokens[reader.position + 1].kind == "}":  # `\sum_i^{ }`
                reader.position += 2
                continue
            above = read_superscript(reader)
            if isinstance(above, List) and not above.bracket and _is_prime(above.items[-1]):
                primes, above = primes + len(above.items[-1].base), building.listed(above.items[:-1])
            if _is_prime(above):
                primes, above = primes + len(above.base), None
        elif reader.at("prime"):
            primes += len(reader.take().text)
        else:
            return below, above, primes


def _is_arrow(token: Token) -> bool:
    return token.kind == "arrow" or (token.kind, token.text) == ("rel", "←")


def _is_prime(node: Node | None) -> TypeGuard[Name]:
    return isinstance(node, Name) and bool(node.base) and set(node.base) == {"'"}


def font_of(token: Token) -> str:
    """Return the font of a letter. Greek letters have the font "Greek", since their names are spelled out."""
    return token.detail if token.detail in ("bold", "upright") else "Greek" if token.text in GREEK else ""
