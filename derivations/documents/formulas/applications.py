r"""Parsing of names with their arguments: functions with and without brackets, methods, indices."""

from __future__ import annotations

from dataclasses import replace

from derivations.documents.formulas import building, scripts
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.bare_arguments import bare_next, goes_on, read_bare_argument
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.tokens import Token, stop
from derivations.documents.syntax import (
    Call,
    Chain,
    Dots,
    Entry,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Root,
    Sum,
    Words,
)

__all__ = [
    "indexed", "read_accented", "read_arguments", "read_call", "read_entry", "read_method", "read_name",
]  # fmt: skip

_ACCENTED = frozenset(("cal", "bb", "frak"))
_ANGLED = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_EXPECTATIONS = frozenset(("E", "V", "P", "Var", "Cov"))
_AGGREGATES = {"E": "expectation", "Var": "variance", "V": "variance"}


def read_name(reader: Grammar, token: Token | None = None, forced: bool = False) -> Node:
    """Read a name with its scripts, and its arguments if it is a function.

    With `forced`, the brackets after the name hold its arguments, as after a derivative.
    """
    token = token or reader.take()
    accent = token.detail if token.detail in _ACCENTED else ""
    base = Name(token.text, font=scripts.font_of(token), accent=accent, start=token.start, end=token.end)
    below, above, primes = scripts.read_scripts(reader)
    label = scripts.attached(base, below, above, primes, reader.end)
    function, power = label, None
    word = len(token.text) > 1 and token.text not in words.GREEK
    if isinstance(label, Power) and (word or token.text in words.LETTER_FUNCTIONS | reader.functions):
        function, power = label.base, label.exponent  # `\sin^2 x` is the square of a value
        if isinstance(function, Name) and isinstance(power, Negative):  # `\sigma^{-1}(p)` is of the inverse function
            function, power = replace(function, superscripts=(power,), end=reader.end), None
    if not isinstance(function, Name):
        return label
    if _calls(reader, token, function):
        opening = reader.token
        value = read_call(reader, function, token, forced)
        if token.text in _ANGLED and isinstance(value, Call) and goes_on(reader, token, opening, value):
            first = Fence("(", value.arguments[0], start=opening.start, end=reader.end)
            argument = read_bare_argument(reader, first)
            value = Call(function, (argument,), start=token.start, end=reader.end)
    elif token.text in words.BARE_FUNCTIONS and bare_next(reader):
        value = Call(function, (read_bare_argument(reader),), start=token.start, end=reader.end)
    else:
        return label
    if reader.waiting:
        return label
    return value if power is None else Power(value, power, start=token.start, end=reader.end)


def _calls(reader: Grammar, token: Token, name: Name) -> bool:
    """Return whether brackets after a name may hold its arguments. For single letters `read_call` decides."""
    opening = reader.token
    if opening.kind != "open" or opening.text not in "([{":
        return False
    word = len(token.text) > 1 and token.text not in words.GREEK
    if opening.text == "{":
        return (word and token.text in words.FUNCTIONS) or _is_indicator(token)
    if opening.text == "[":
        expected = token.text in _EXPECTATIONS and (
            token.detail == "upright" or bool(name.subscripts) or not opening.spaced
        )
        known = (word and token.text in words.FUNCTIONS) or token.detail == "bb" or _is_indicator(token)
        return known or (expected and reader.syntax != "code")
    if reader.syntax == "code":
        return not opening.spaced
    if word:
        glued = not opening.spaced or reader.syntax == "latex"
        known = token.text in words.FUNCTIONS or token.kind == "text"
        return known or (glued and token.text not in words.QUANTITIES and "_" not in token.text)
    return not opening.spaced or reader.syntax == "latex"


def _is_indicator(token: Token) -> bool:
    r"""Return whether a letter is the indicator function of a condition, `\mathbf{1}\{x > 0\}`."""
    return token.text == "1" and token.detail in ("bold", "bb")


def read_call(reader: Grammar, function: Name, token: Token, forced: bool = False) -> Node:
    """Read the arguments of a function; after a letter the brackets may be a factor.

    A letter is a function if it was given, if it is f, g, φ, ψ, σ, O or of another alphabet and does not stand bare
    in its own brackets (`σ(1 - σ)`), and if the brackets hold one name, a list, or a condition: `p(y | x)`.
    """
    letter = len(token.text) == 1 or token.text in words.GREEK
    opening = reader.token
    arguments = read_arguments(reader)
    if (
        letter
        and reader.syntax != "code"
        and opening.text == "("
        and not (forced or _applied(reader, function, token, arguments))
    ):
        reader.waiting = Fence("(", arguments[0], start=opening.start, end=reader.end)
        return function
    if function.base in _AGGREGATES and function.subscripts and len(arguments) == 1 and opening.text == "[":
        kind = _AGGREGATES[function.base]
        return building.aggregate(kind, function.subscripts, None, arguments[0], function.start)
    if function.base == "sqrt" and len(arguments) == 1 and not function.subscripts:
        return Root(arguments[0], start=function.start, end=reader.end)
    return Call(function, arguments, start=function.start, end=reader.end)


def _applied(reader: Grammar, function: Name, token: Token, arguments: tuple[Node, ...]) -> bool:
    """Return whether a letter before brackets is a function, judged by the content of the brackets."""
    if token.text in reader.functions or len(arguments) != 1:
        return True
    only = arguments[0]
    if isinstance(only, Name) and only.superscripts and reader.at("^") and token.text not in words.LETTER_FUNCTIONS:
        return False  # `\delta (W^{(1)})^T`: brackets between two superscripts
    alone = isinstance(only, Name | Words | Dots | Call | Entry | Chain)
    if alone:
        return only != function
    known = (
        token.text in words.LETTER_FUNCTIONS or token.detail in _ACCENTED or (token.text == "E" and token.detail != "")
    )
    return known and not any(node == function for node in only.walk())


def read_arguments(reader: Grammar) -> tuple[Node, ...]:
    """Read arguments between brackets."""
    opening = reader.take()
    reader.deeper()
    items, _ = reader.items()
    closing = reader.expect("close", "the end of the arguments")
    if {"(": ")", "[": "]", "{": "}"}[opening.text] != closing.text:
        stop(closing.start, f"the bracket {opening.text} is closed by {closing.text}")
    reader.depth -= 1
    return tuple(items)


def read_accented(reader: Grammar) -> Node:
    r"""Read `\hat{x}`: an accent on a name."""
    token = reader.take()
    if reader.at("{"):
        reader.take()
        reader.deeper()
        node = reader.side()
        reader.depth -= 1
        reader.expect("}", "the end of the accent")
    else:
        node = scripts.read_script(reader)
    if token.text == "bar" and not isinstance(node, Name):
        return Call(Name("overline", start=token.start, end=token.end), (node,), start=token.start, end=reader.end)
    if not isinstance(node, Name) or node.accent:
        stop(token.start, "an accent stands on more than a name")
    below, above, primes = scripts.read_scripts(reader)
    if below and node.subscripts:
        stop(token.start, "a second subscript")
    base = replace(node, accent=token.text, start=token.start)
    if node.superscripts and above is None:
        return replace(base, subscripts=below or node.subscripts, primes=primes or node.primes, end=reader.end)
    label = scripts.attached(base, below or node.subscripts, above, primes or node.primes, reader.end)
    inner = Token("letter", node.base, token.start, token.end)
    if isinstance(label, Name) and _calls(reader, inner, label):
        return read_call(reader, label, inner)
    return label


def read_method(reader: Grammar, node: Node) -> Node:
    """Read a method, such as `x.mean(-1)`, as a function of x, or an attribute, such as `x.shape`."""
    token = reader.take()
    if reader.at("open", "(") and not reader.token.spaced:
        function = Name(token.text, start=token.start, end=token.end)
        return Call(function, (node, *read_arguments(reader)), start=node.start, end=reader.end)
    return Entry(node, (Words(token.text, start=token.start, end=token.end),), start=node.start, end=reader.end)


def read_entry(reader: Grammar, node: Node) -> Node:
    """Read indices in square brackets. In LaTeX, brackets that do not look like indices are a factor."""
    word = isinstance(node, Name) and len(node.base) > 1 and node.base not in words.GREEK
    brackets = reader.brackets()
    items = brackets.items if isinstance(brackets, List) else (getattr(brackets, "inside", brackets),)
    if reader.syntax != "latex" or word or all(_is_index(each) for each in items):
        return Entry(node, items, start=node.start, end=reader.end)
    reader.waiting = brackets
    return node


def indexed(reader: Grammar, node: Node) -> bool:
    """Return whether square brackets after a node may hold indices."""
    return reader.syntax != "latex" or isinstance(node, Name)


def _is_index(node: Node) -> bool:
    if isinstance(node, Name):
        return len(node.base) == 1
    if isinstance(node, Chain):
        return node.relations == (":",)
    return isinstance(node, Number) or (isinstance(node, Sum) and all(_is_index(term) for term in node.terms))
