"""Printing of formulas in plain characters, with brackets where LaTeX needs none."""

from __future__ import annotations

from derivations.documents.formulas import signs
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.text_parts import (
    aggregate_parts,
    chain_text,
    glued_text,
    label_text,
    product_text,
    sum_text,
)
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Arrow,
    Call,
    Cases,
    Chain,
    Derivative,
    Dots,
    Entry,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Set,
    Space,
    Sum,
    Transpose,
    Words,
)

__all__ = ["plain_text"]

_BIG_WORDS = {kind: word for word, kind in reversed(words.BIG.items())}
_LETTERS = {name: sign for sign, (kind, name) in reversed(signs.SIGNS.items()) if kind == "letter"}
_RELATIONS = {name: name if len(sign) > 1 and name != ":=" else sign for name, (_, sign) in words.RELATIONS.items()} | {
    "|": "∣"
}
_OPERATORS = {"expectation": "E", "variance": "Var"}
_SIGNS = {"sum": "∑", "product": "∏", "integral": "∫"}


def plain_text(node: Node) -> str:
    """Return a part of a formula in plain characters."""
    match node:
        case Number(text=text, unit=unit):
            digits, _, scale = text.partition(" ")
            return digits + (scale if len(scale) == 1 else f" {scale}" if scale else "") + (f" {unit}" if unit else "")
        case Name():
            return _plain_name(node)
        case Words(text=text):
            return text
        case Dots():
            return "..."
        case Space(letter=letter, sizes=sizes):
            inside = " × ".join(_plain_base(each, loose=True) for each in sizes)
            part = f"_{{{letter[1:]}}}" if letter[1:] else ""
            return {"R": "ℝ", "N": "ℕ", "Z": "ℤ"}.get(letter[0], letter[0]) + part + (f"^{{{inside}}}" if sizes else "")
        case Sum():
            return sum_text(node, plain_text, "±")
        case Product(factors=factors, operators=operators):
            signs = {name: sign for name, (_, sign) in words.OPERATORS.items()}
            return product_text(factors, operators, lambda each: _plain_base(each, loose=True), signs)
        case Negative(operand=operand):
            return "-" + _plain_base(operand, loose=True)
        case Quotient(numerator=above, denominator=below, slashed=slashed):
            if slashed:
                return f"{_plain_base(above, loose=True)} / {glued_text(below, plain_text)}"
            return f"{_plain_base(above, loose=True)} / {_plain_base(below)}"
        case Power(base=base, exponent=exponent):
            return f"{_plain_base(base)}^{_plain_script(exponent)}"
        case Root(radicand=radicand):
            order = node.degree
            return f"root({plain_text(radicand)}, {plain_text(order)})" if order else f"sqrt({plain_text(radicand)})"
        case Transpose(operand=operand):
            return f"{_plain_base(operand)}^T"
        case Fence(bracket=bracket, inside=inside):
            return _plain_brackets(bracket, plain_text(inside))
        case Call(function=Name(base="factorial"), arguments=(only,)):
            return f"{_plain_base(only)}!"
        case Call(function=Name(base="∂"), arguments=(only,)):
            return f"∂{_plain_base(only)}"
        case Call(function=function, arguments=arguments):
            opening, closing = "[]" if function.base == "E" else "()"
            return f"{plain_text(function)}{opening}{', '.join(map(plain_text, arguments))}{closing}"
        case Entry(of=of, indices=indices):
            if len(indices) == 1 and isinstance(indices[0], Words):
                return f"{_plain_base(of)}.{indices[0].text}"
            inside = ", ".join(map(plain_text, indices))
            return f"{plain_text(of)}[{inside}]" if isinstance(of, Name | Entry) else f"{_plain_base(of)}_{{{inside}}}"
        case Aggregate():
            return _aggregate(node)
        case Derivative(of=of, by=()):
            return f"∇{_plain_base(of)}"
        case Derivative(of=of, by=by):
            return f"∂{_plain_base(of)} / " + " ".join(f"∂{_plain_base(each)}" for each in by)
        case List(items=items, bracket=bracket):
            inside = ", ".join(map(plain_text, items)) + ("," if len(items) == 1 and bracket == "(" else "")
            return _plain_brackets(bracket, inside) if bracket else inside
        case Set(element=element, condition=condition):
            return f"{{{plain_text(element)} ∣ {plain_text(condition)}}}"
        case MatrixLiteral(rows=rows):
            return "[" + "; ".join(", ".join(map(plain_text, row)) for row in rows) + "]"
        case Cases(branches=branches):
            return "; ".join(
                plain_text(value) + (f" if {plain_text(condition)}" if condition is not None else "")
                for value, condition in branches
            )
        case Annotated(of=of, note=note):
            return f"{plain_text(of)} ({plain_text(note)})" if note != Words("row") else plain_text(of)
        case Arrow(above=above):
            return "→" if above is None else f"→{plain_text(above)}→"
        case Chain():
            return chain_text(node, plain_text, _RELATIONS, ", for ")
    raise TypeError(f"{type(node).__name__} is no part of a formula that can be printed")


def _plain_name(name: Name) -> str:
    letters = _LETTERS.get(name.base, name.base)
    if name.accent and name.accent not in ("bb", "cal", "frak"):
        letters += {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}.get(name.accent, "")
        letters = f"d{letters}" if name.accent == "d" else letters
    below = ""
    if name.subscripts:
        inside = ",".join(label_text(each, plain_text, str) for each in name.subscripts)
        below = f"_{inside}" if inside.isalnum() and inside.isascii() and _one(inside) else f"_{{{inside}}}"
    labels = [label_text(each, plain_text, str) for each in name.superscripts]
    above = "".join(f"^{label}" if label.isalnum() else f"^{{{label}}}" for label in labels)
    return letters + below + above + "'" * name.primes


def _one(text: str) -> bool:
    return text.isdigit() or text.isalpha()


def _plain_base(node: Node, loose: bool = False) -> str:
    """Return an operand, in brackets unless it binds closely. With `loose`, a product or a fraction has no brackets."""
    text = plain_text(node)
    bound = isinstance(node, Sum | Chain | Set | Cases) or (isinstance(node, List) and not node.bracket)
    weak = bound or isinstance(node, Product | Quotient | Negative | Aggregate | Derivative | Power | Transpose)
    loosely = isinstance(node, Product | Quotient | Negative | Aggregate | Derivative | Power | Transpose) and loose
    return f"({text})" if weak and not loosely else text


def _plain_script(node: Node) -> str:
    simple = isinstance(node, Number) or (isinstance(node, Name) and not node.superscripts and not node.primes)
    return (
        plain_text(node)
        if simple and not (isinstance(node, Number) and (node.unit or " " in node.text))
        else f"{{{plain_text(node)}}}"
    )


def _plain_brackets(bracket: str, inside: str) -> str:
    pair = {"||": "‖‖", "[)": "[)", "(]": "(]"}.get(bracket) or bracket + {
        "(": ")", "[": "]", "{": "}", "|": "|", "⌊": "⌋", "⌈": "⌉", "⟨": "⟩",
    }[bracket]  # fmt: skip
    return pair[0] + inside + pair[1]


def _aggregate(node: Aggregate) -> str:
    scripts, body = aggregate_parts(node, plain_text)
    if node.kind in _OPERATORS:
        return f"{_OPERATORS[node.kind]}{scripts}[{body}]"
    return f"{_SIGNS.get(node.kind) or _BIG_WORDS[node.kind]}{scripts} {body}"
