r"""Reading one scalar formula back from LaTeX, in the subset that latexify-py 0.4 writes.

Definition   formula     = [signature "="] sum
             signature   = name "(" [name {"," name}] ")"
             sum         = product {("+" | "-") product}
             product     = unary {"\cdot" unary | unary}         the second form: not before a number or a sign
             unary       = ("+" | "-") unary | power
             power       = atom ["^" group] | application | fraction
             application = function argument | name "\left(" sum {"," sum} "\right)"
             argument    = application | atom
             fraction    = "\frac" group group
             atom        = number | name ["_" "{" label {"," label} "}"] | "\sqrt" ["[" number "]"] group
                         | "\left(" sum "\right)" | "\left|" sum "\right|"
             group       = "{" sum "}"
Result       the SymPy expression that the Python source of the formula means; every character is accounted for, and
             what the grammar does not hold is refused
Assumes      sizes and values real; decimals are exactly what is printed (0.1 is 1/10); roots are principal
Source       latexify-py 0.4.4, `expression_codegen.py` and `expression_rules.py`: a function without parentheses takes
             one atom (`\exp x y` is exp(x) y), a power of a function value is written with parentheses, a name
             directly before a parenthesis is called, and a product with a number on its right has a `\cdot`
Refused      on purpose, since TeX typesets it as something else than latexify-py means: `a +b` (for a (+b)), `1e-05`
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

import sympy
from sympy import Expr, IndexedBase, Integer, Rational, Symbol

__all__ = ["MAX_DEPTH", "MAX_GROWTH", "MAX_LENGTH", "LatexError", "read"]

MAX_LENGTH = 10_000  # characters of a formula
MAX_DEPTH = 50  # constructs inside one another; absolute values inside one another cost the cube of it
MAX_GROWTH = 200_000  # bits of a number that a power may evaluate to

Item = TypeVar("Item")

CONSTANTS: Mapping[str, Expr] = {"pi": sympy.pi, "e": sympy.E}
PREFIX_FUNCTIONS: Mapping[str, Callable[[Expr], Expr]] = {
    r"\exp": sympy.exp,
    r"\log": sympy.log,
    r"\sin": sympy.sin,
    r"\cos": sympy.cos,
    r"\tanh": sympy.tanh,
}
CALLED_FUNCTIONS: Mapping[str, tuple[Callable[..., Expr], int, int]] = {  # with least and greatest number of arguments
    "erf": (sympy.erf, 1, 1),
    "max": (sympy.Max, 2, 8),  # comparing them costs the square, and maxima of maxima merge
    "min": (sympy.Min, 2, 8),
}
STRUCTURE = (r"\frac", r"\sqrt", r"\cdot")
GREEK = re.compile(
    r"\\(alpha|beta|gamma|delta|(var)?epsilon|zeta|eta|(var)?theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon"
    r"|(var)?phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega)"
)
BRACKETS = {"(": ")", "|": "|"}

LEXEME = re.compile(
    r"""(?P<space>[ \t\n]+)
    |   \\mathrm\{(?P<name>(?:[A-Za-z0-9]|\\_)+)\}
    |   (?:\\mathopen\{\})?\\left(?P<open>[(|])
    |   (?:\\mathclose\{\})?\\right(?P<close>[)|])
    |   (?P<macro>\\[A-Za-z]+)
    |   (?P<word>[A-Za-z0-9.]+)
    |   (?P<mark>[-+^_={}()\[\],])""",
    re.VERBOSE,
)
NUMBER = re.compile(r"(?=.{1,100}$)[0-9]+(?:\.[0-9]+)?")


class LatexError(ValueError):
    """A formula outside the subset, or over its budget; the message names the position (from 0) and the token."""


@dataclass(frozen=True)
class Token:
    """A lexeme: its kind, its value (for a name, as Python spells it), where it starts, whether a space precedes."""

    kind: str
    value: str
    position: int
    spaced: bool


def read(latex: str, symbols: Mapping[str, Symbol] | None = None) -> Expr:
    r"""Read a scalar formula, with or without the signature `f(x) = ` on its left.

    Definition   `symbols` maps names as the Python source spells them to symbols: `d_k` for `\mathrm{d\_k}`, `epsilon`
                 for `\epsilon` or `\mathrm{epsilon}`, `x[0]` for `x_{0}`; without it every name is a symbol without
                 declarations, and `x_{0}` an entry of the `IndexedBase` x
    Result       the expression; under a signature the names are its arguments (and entries of them) alone;
                 `pi` and `e` are the constants where they are not among the names
    Raises       LatexError, for anything else than one whole formula of the subset within the budget

    >>> read(r"f(x) = \frac{\exp \mathopen{}\left( -x \mathclose{}\right)}{2} + x^{2}", {"x": Symbol("x")})
    x**2 + exp(-x)/2
    """
    if len(latex) > MAX_LENGTH:
        raise LatexError(f"The formula has {len(latex)} characters, over the budget of {MAX_LENGTH}: split it.")
    reader = _Reader(_tokens(latex), None if symbols is None else dict(symbols))
    if any(token.value == "=" for token in reader.tokens):
        reader.signature()
    expression = reader.sum()
    if reader.token.kind != "end":
        _refuse(reader.token, "expected the formula to end here")
    return expression


def _refuse(token: Token, reason: str) -> NoReturn:
    """Raise the error of the module at `token`."""
    what = "the end of the formula" if token.kind == "end" else repr(token.value)
    raise LatexError(f"At position {token.position}, {what}: {reason}.")


def _tokens(latex: str) -> list[Token]:
    """Split a formula into tokens that cover every character but the spaces, and end with a token of kind "end"."""
    tokens, position, spaced = [], 0, False
    while position < len(latex):
        match = LEXEME.match(latex, position)
        if match is None:
            _refuse(Token("character", latex[position], position, spaced), "the subset does not have this character")
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(_classified(Token(kind, match[kind], position, spaced)))
        position, spaced = match.end(), kind == "space"
    return [*tokens, Token("end", "", position, spaced)]


def _classified(token: Token) -> Token:
    """Return a token with the kind of its word or macro, or raise an error if the subset does not have it."""
    kind, value = token.kind, token.value
    if kind == "name":
        value = value.replace(r"\_", "_")
    elif kind == "macro" and GREEK.fullmatch(value):
        kind, value = "name", value[1:]
    elif kind == "macro" and value not in PREFIX_FUNCTIONS and value not in STRUCTURE:
        _refuse(token, "the subset does not have this macro")
    elif kind == "word" and len(value) == 1 and value.isalpha():
        kind = "name"
    elif kind == "word" and NUMBER.fullmatch(value):
        kind = "number"
    elif kind == "word":
        _refuse(token, r"neither a decimal of at most 100 digits nor one letter; write longer names as \mathrm{...}")
    return Token(kind, value, token.position, token.spaced)


@dataclass
class _Reader:
    """Recursive descent over tokens: a method for each rule of the grammar above, named after it."""

    tokens: list[Token]
    names: dict[str, Symbol] | None  # None: every name, or under a signature its arguments
    arguments: frozenset[str] | None = None
    place: int = 0
    depth: int = 0

    @property
    def token(self) -> Token:
        """The token that comes next; the last one stands for the end and is never passed."""
        return self.tokens[self.place]

    def at(self, kind: str, *values: str) -> bool:
        """Whether the next token is of this kind, and of one of these values where some are given."""
        return self.token.kind == kind and (not values or self.token.value in values)

    def take(self, kind: str, *values: str) -> Token:
        """Consume and return the next token, which must be of this kind and of one of these values."""
        if not self.at(kind, *values):
            _refuse(self.token, "expected " + (" or ".join(map(repr, values)) or f"a {kind}"))
        self.place += 1
        return self.tokens[self.place - 1]

    def nested(self, rule: Callable[[], Expr]) -> Expr:
        """Read by `rule` one level deeper."""
        if self.depth == MAX_DEPTH:
            _refuse(self.token, f"nested over {MAX_DEPTH} deep")
        self.depth += 1
        expression = rule()
        self.depth -= 1
        return expression

    def listed(self, rule: Callable[[], Item]) -> list[Item]:
        """Read by `rule` one item or more, with commas between."""
        items = [rule()]
        while self.at("mark", ","):
            self.take("mark")
            items.append(rule())
        return items

    def signature(self) -> None:
        """Read `f(x, ...) =` and keep only its arguments, and entries of them, as names."""
        self.take("name")
        self.take("mark", "(")
        arguments = [] if self.at("mark", ")") else self.listed(lambda: self.take("name"))
        self.take("mark", ")")
        self.take("mark", "=")
        if self.names is None:
            self.arguments = frozenset(argument.value for argument in arguments)
            return
        known = {key: key.partition("[")[0] for key in self.names}
        for argument in arguments:
            if argument.value not in known.values():
                _refuse(argument, "unknown identifier; give it among the symbols")
        bound = {argument.value for argument in arguments}
        self.names = {key: symbol for key, symbol in self.names.items() if known[key] in bound}

    def sum(self) -> Expr:
        """Terms between binary signs."""
        terms = [self.product()]
        while self.at("mark", "+", "-"):
            sign = self.take("mark")
            if sign.spaced and not self.token.spaced:
                _refuse(sign, "a space before the sign and none after it may stand for a product with a signed factor")
            term = self.product()
            terms.append(term if sign.value == "+" else -term)
        return sympy.Add(*terms)

    def product(self) -> Expr:
        r"""Factors side by side or between `\cdot`."""
        factors = [self.unary()]
        while self.at("macro") or self.at("name") or self.at("open"):
            if self.at("macro", r"\cdot"):
                self.take("macro")
            factors.append(self.unary())
        return sympy.Mul(*factors)

    def unary(self) -> Expr:
        """A power, with signs before it: -x^2 is -(x^2)."""
        if self.at("mark", "+", "-"):
            sign = self.take("mark")
            operand = self.nested(self.unary)
            return operand if sign.value == "+" else -operand
        return self.power()

    def power(self) -> Expr:
        """An atom with its exponent, or a function value or a fraction, which carry none without parentheses."""
        start = self.token
        if self.at("macro", r"\frac"):
            self.take("macro")
            numerator = self.group()
            return _checked(sympy.Mul(numerator, _power(self.group(), Integer(-1), start)), start)
        if self.applies():
            return self.application()
        base = self.atom()
        if not self.at("mark", "^"):
            return base
        start = self.take("mark")
        return _power(base, self.group(), start)

    def applies(self) -> bool:
        """Whether a function, or a name that is called, comes next."""
        return self.at("macro", *PREFIX_FUNCTIONS) or (self.at("name") and self.tokens[self.place + 1].kind == "open")

    def application(self) -> Expr:
        """A function and its argument."""
        start = self.token
        if self.at("name"):
            return self.call()
        function = PREFIX_FUNCTIONS[self.take("macro").value]
        argument = self.nested(self.application if self.applies() else self.atom)
        if function is sympy.exp:
            _check_growth(argument, argument, start)
        return _checked(function(argument), start)

    def call(self) -> Expr:
        """A function written by its name, with its arguments in parentheses."""
        start = self.take("name")
        if start.value in (self.names or ()) or start.value not in CALLED_FUNCTIONS:
            _refuse(start, "a name before a bracket is called, and this is no function of the subset")
        function, least, greatest = CALLED_FUNCTIONS[start.value]
        self.take("open", "(")
        arguments = self.listed(lambda: self.nested(self.sum))
        self.take("close", ")")
        if not least <= len(arguments) <= greatest:
            _refuse(start, f"called with {len(arguments)} arguments, takes {least} to {greatest}")
        try:
            expression = function(*arguments)
        except ValueError as error:
            raise LatexError(f"At position {start.position}, {start.value!r}: {error}") from error
        if expression.func is function and len(expression.args) > greatest:
            _refuse(start, f"merged with those inside it, takes over {greatest} arguments")
        return _checked(expression, start)

    def atom(self) -> Expr:
        """A number, a name, a root or a bracket."""
        if self.at("number"):
            whole, _, decimals = self.take("number").value.partition(".")
            return Rational(int(whole + decimals), 10 ** len(decimals))
        if self.at("name"):
            return self.name()
        if self.at("macro", r"\sqrt"):
            return self.radical()
        if not self.at("open"):
            _refuse(self.token, "expected a number, a name, a function or a bracket")
        start = self.take("open")
        inside = self.nested(self.sum)
        self.take("close", BRACKETS[start.value])
        return inside if start.value == "(" else _checked(sympy.Abs(inside), start)

    def name(self) -> Expr:
        """A symbol, an entry of one (`x_{0}` is Python's `x[0]`), or a constant."""
        start = self.take("name")
        labels: list[str] = []
        if self.at("mark", "_"):
            self.take("mark")
            self.take("mark", "{")
            labels = self.listed(self.label)
            self.take("mark", "}")
            if self.at("open"):
                _refuse(self.token, "an entry directly before a bracket is called, and the subset has no such function")
        name = start.value + "".join(f"[{label}]" for label in labels)
        if self.names is None and self.is_free(start.value, labels):
            return _symbol(start.value, labels)
        given = self.names or {}
        if name in given:
            return given[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        unknown = "give it among the symbols" if self.names is not None else "it is no argument of the function"
        _refuse(Token("name", name, start.position, start.spaced), f"unknown identifier; {unknown}")

    def is_free(self, name: str, labels: Sequence[str]) -> bool:
        """Whether a name without a given symbol becomes a symbol.

        Under a signature only its arguments do, and otherwise all names but the constants.
        """
        if self.arguments is not None:
            return name in self.arguments
        return bool(labels) or name not in CONSTANTS

    def label(self) -> str:
        """One subscript: a name or a number."""
        return self.take("name" if self.at("name") else "number").value

    def radical(self) -> Expr:
        """The principal root, square unless an index >= 2 is given."""
        start = self.take("macro")
        if not self.at("mark", "["):
            return _checked(sympy.sqrt(self.group()), start)
        self.take("mark")
        index = self.take("number")
        if not index.value.isdigit() or int(index.value) < 2:
            _refuse(index, "the index of a root is an integer >= 2")
        self.take("mark", "]")
        return _checked(sympy.root(self.group(), int(index.value)), start)

    def group(self) -> Expr:
        """A sum in braces."""
        self.take("mark", "{")
        inside = self.nested(self.sum)
        self.take("mark", "}")
        return inside


def _symbol(name: str, labels: Sequence[str]) -> Expr:
    """Return a symbol without declarations, or the entry of an array at labels."""
    if not labels:
        return Symbol(name)
    return IndexedBase(name)[tuple(Integer(label) if label.isdigit() else Symbol(label) for label in labels)]


def _power(base: Expr, exponent: Expr, token: Token) -> Expr:
    """Return base^exponent, unless it is undefined or SymPy would write out a number of over MAX_GROWTH bits."""
    _check_growth(base, exponent, token)
    return _checked(sympy.Pow(base, exponent), token)


def _check_growth(base: Expr, exponent: Expr, token: Token) -> None:
    """Refuse an exponent that is large itself, or large for the numbers in the base (for exp, in the exponent)."""
    reach = max((abs(number.p) for number in exponent.atoms(Rational)), default=1)
    if reach * _weight(base) > MAX_GROWTH or (exponent.is_number and not abs(exponent.evalf(5)) <= MAX_GROWTH):
        _refuse(token, f"the power may have over {MAX_GROWTH} bits")


def _weight(base: Expr) -> int:
    """Return the largest bit length of the numbers in `base`, or an exponent in it if that is larger."""
    bits = (max(abs(number.p), number.q).bit_length() for number in base.atoms(Rational))
    exponents = (power.as_base_exp()[1].atoms(Rational) for power in base.atoms(sympy.Pow, sympy.exp))
    return max([1, *bits, *(abs(number.p) for numbers in exponents for number in numbers)])


def _checked(expression: Expr, token: Token) -> Expr:
    """Return the expression if it is defined and real as far as it is written out: no 1/0, log 0, sqrt(-1)."""
    if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        _refuse(token, "no real value: division by zero, or a root or logarithm outside its domain")
    return expression
