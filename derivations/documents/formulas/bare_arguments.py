r"""Arguments of functions without brackets, `\sin m \theta`: where they end.

Definition   factors side by side up to the next function; the variable of an integral is none of them. Where brackets
             or what stands after them could belong to the argument or not, the reading stops
"""

from __future__ import annotations

from derivations.documents.formulas import building
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.tokens import Token, stop
from derivations.documents.syntax import Call, Fence, Name, Node, Quotient, Sum

__all__ = ["bare_next", "goes_on", "read_bare_argument"]


def bare_next(reader: Grammar) -> bool:
    """Return whether a function without brackets has an argument here."""
    if reader.syntax == "code" or reader.at("text") or reader.at("dots"):
        return False
    return reader.factor_next() and not reader.at("open", "(")


def goes_on(reader: Grammar, token: Token, opening: Token, value: Call) -> bool:
    r"""Return whether letters after brackets belong to the argument too: `\cos (m - n) \theta`, an angle after a sum.

    They do where the brackets stand apart from a function of LaTeX; else it cannot be told.
    """
    behind, only = reader.token, value.arguments[0] if len(value.arguments) == 1 else None
    if behind.kind not in ("letter", "accent") or reader.waiting or not isinstance(only, Sum):
        return False
    angle = any(isinstance(node, Name) and node.base in words.GREEK for node in only.walk())
    if angle or "\\" in reader.text[reader.end : behind.start]:  # a thin space separates
        return False
    greek = behind.kind == "letter" and behind.text in words.GREEK
    apart = opening.spaced and reader.text[token.start : token.start + 1] == "\\"
    if not greek and not opening.spaced:
        return False
    if not (greek and apart):
        stop(behind.start, "whether this belongs to the argument of the function cannot be told")
    return True


def read_bare_argument(reader: Grammar, first: Node | None = None) -> Node:
    r"""Read the argument of a function without brackets: factors side by side, up to the next function."""
    reader.deeper()
    if reader.at("{") and first is None:
        argument = reader.atom()
        if not (isinstance(argument, Fence) or reader.waiting):  # `\log{(x)}^2` is the square of the logarithm
            argument = reader.postfix(argument)
        reader.depth -= 1
        return building.unfenced(argument)
    factors = [first or reader.factor()]
    while not reader.waiting and reader.factor_next() and not reader.at("open") and not reader.at("text"):
        if reader.token.text in words.FUNCTIONS and reader.token.kind in ("word", "big"):
            break
        if _is_variable(reader):  # `\int \log x \, dx`
            break
        if isinstance(factors[-1], Call | Fence | Quotient) and first is None:
            stop(reader.token.start, "whether this belongs to the argument of the function cannot be told")
        factors.append(reader.factor())
        if reader.waiting:
            break
    if reader.waiting or (reader.at("open", "(") and isinstance(factors[-1], Name)):
        bracket = reader.waiting.start if reader.waiting else reader.token.start
        stop(bracket, "whether these brackets belong to the argument cannot be told")
    reader.depth -= 1
    return building.product(factors, [""] * (len(factors) - 1))


def _is_variable(reader: Grammar) -> bool:
    """Return whether the variable of an integral comes next."""
    token, following = reader.token, reader.tokens[reader.position + 1]
    if not reader.integrals or token.text != "d":
        return False
    return token.kind == "accent" or (token.kind == "letter" and following.kind in ("letter", "accent"))
