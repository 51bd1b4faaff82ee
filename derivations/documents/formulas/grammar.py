r"""The grammar of formulas: one for LaTeX, plain text and code, over their tokens.

Definition   clause   = [side] {relation side}                      relations: = < \in \approx \to ...
             side     = ["-"] product {("+" | "-" | "±") product}
             product  = factor {[operator] factor | "/" factor}     in order; side by side only outside of code
             factor   = atom {script | "[" indices "]" | "!" | ".T"}
             atom     = number | name | name "(" clauses ")" | brackets | fraction | root | aggregate | matrix | ...
Assumes      a slash takes what stands before it up to the last `\times`; behind it one factor, and letters that are
             glued to it (`1/2n`). A name applied to brackets is a function by its form: see `Reader.calls`
Raises       Stopped, where understanding ends
"""

from __future__ import annotations

from derivations.documents.formulas import building, derivatives, relations, structures
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.atoms import Atoms
from derivations.documents.formulas.numbers import number_of
from derivations.documents.formulas.tokens import Token, stop
from derivations.documents.syntax import (
    Arrow,
    Chain,
    Dots,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Sum,
)

__all__ = ["Reader"]

_ENDS_SIDE = frozenset(("end", "comma", "semicolon", "period", "newline", "quad", "break", "cond", "text"))


class Reader(Atoms):
    """Reads the tokens of a formula; `functions` are single letters that are functions."""

    def clause(self) -> Node:
        """Read sides with relations between them, or one side alone."""
        start = self.token.start
        if relations.relation_next(self) or self.at("rel", ":"):
            sides: list[Node] = [Name("", start=start, end=start)]
        else:
            sides = [self.side()]
        signs: list[str | Arrow] = []
        while relations.relation_next(self):
            signs.append(relations.read_relation(self))
            if signs[-1] in (":", "<", ">") and not self.side_next():
                sides.append(Name("", start=self.end, end=self.end))
            else:
                sides.append(self.side(space=signs[-1] == "∈"))
                if signs[-1] == "∼" and _bounds_range(sides[-2]) and _bounds_range(sides[-1]):
                    stop(sides[-2].end, "whether this is a range or a relation cannot be told")
        if not signs:
            return sides[0]
        return Chain(tuple(sides), tuple(signs), start=start, end=self.end)

    def side_next(self) -> bool:
        """Say whether a side may begin here."""
        return self.factor_next() or self.at("op", "-") or self.at("op", "+") or self.at("op", "±")

    def side(self, space: bool = False) -> Node:
        """Read a sum; `space` says that R is the real numbers here."""
        start = self.token.start
        sign, written = self.sign(), self.end > start
        if space and self.at("letter") and self.token.text in "RNZC" and not written:
            letter = self.take()
            return structures.read_space(self, letter)
        terms = [self.product()]
        signs = [sign]
        while self.at("op", "+") or self.at("op", "-") or self.at("op", "±"):
            if len(terms) == 1 and self.is_range():
                stop(self.token.start, "whether this is a range or a difference cannot be told")
            signs.append(self.sign())
            terms.append(self.product())
        if len(terms) > 1 or (written and sign >= 0):
            return Sum(tuple(terms), tuple(signs), start=start, end=self.end)
        return Negative(terms[0], start=start, end=self.end) if sign < 0 else terms[0]

    def is_range(self) -> bool:
        """Say whether a dash may stand for a range of numbers, as in `10–20` and, at the end of a chain, in `10-20`."""
        around = self.tokens[self.position - 1 : self.position + 3]
        if self.syntax == "code" or [token.kind for token in around[:3]] != ["number", "op", "number"]:
            return False
        lower, dash, upper, behind = around
        if dash.spaced or upper.spaced or dash.text != "-":
            return False
        ascending = number_of(lower).value < number_of(upper).value
        return self.text[dash.start] == "–" or (ascending and behind.kind in _ENDS_SIDE)

    def sign(self) -> int:
        """Read a sign if one stands here."""
        if self.accept("op", "-"):
            return -1
        if self.accept("op", "±"):
            return 0
        self.accept("op", "+")
        return 1

    def product(self, sizes: bool = False) -> Node:
        r"""Read factors in order; `sizes` says that `\times` ends one size of an array."""
        factors, operators, run = [self.signed_factor()], list[str](), 0
        while True:
            token = self.token
            if self.waiting:
                operators.append("")
                factors.append(self.factor())
            elif self.syntax == "plain" and self.at("word", "mod") and _begins_factor(self.tokens[self.position + 1]):
                self.take()
                operators.append("mod")
                factors.append(self.signed_factor())
            elif token.kind == "op" and token.text in words.OPERATORS and not (sizes and token.text == "times"):
                self.take()
                if not self.factor_next() and not self.at("op", "-"):
                    stop(self.token.start, "a factor is missing")
                run = len(factors) if token.text == "times" else run
                operators.append(token.text)
                factors.append(self.signed_factor())
            elif token.kind == "op" and token.text in ("/", "//"):
                self.take()
                below = self.denominator()
                if derivatives.is_derivative(factors[-1], below):  # `A ∂L/∂Y`
                    run = len(factors) - 1
                above = building.product(factors[run:], operators[run:])
                slashed = derivatives.fraction(above, below, above.start, self.end, slashed=True)
                if token.text == "//":
                    slashed = Fence("⌊", slashed, start=above.start, end=self.end)
                factors[run:], operators[run:] = [slashed], []
                doubtful = _ends_with_brackets(above) or isinstance(below, Fence)
                if self.at("open", "(") and doubtful and not isinstance(below, Number):
                    stop(self.token.start, "whether these brackets belong to the denominator cannot be told")
            elif self.at("letter", "star") and _begins_factor(self.tokens[self.position + 1]):
                stop(token.start, "what this operator means is not known")
            elif sizes and self.at("letter", "x") and _begins_factor(self.tokens[self.position + 1]):
                break
            elif self.factor_next():
                if self.syntax == "code":
                    stop(token.start, "two expressions stand side by side in code")
                if token.kind == "number" and isinstance(factors[-1], Number) and not factors[-1].unit:
                    stop(token.start, "two numbers stand side by side")
                crossed = isinstance(factors[-1], Number) and token.text in ("x", "X") and self.crossed()
                operators.append("times" if crossed else "")
                factors.append(self.factor())
            else:
                break
        if self.syntax == "plain":
            factors, operators = building.phrase(factors, operators)
        if len(factors) == 3 and isinstance(factors[0], Number) and isinstance(factors[1], Dots):  # `1…n`
            return List(tuple(factors), start=factors[0].start, end=factors[2].end)
        return building.product(factors, operators)

    def crossed(self) -> bool:
        """Read the letter x between numbers as a times sign: `512 x 2048`, in plain text."""
        if self.syntax == "plain" and self.tokens[self.position + 1].kind == "number":
            self.take()
            return True
        return False

    def signed_factor(self) -> Node:
        """Read a factor with the signs before it."""
        start = self.token.start
        if self.accept("op", "-"):
            self.deeper()
            operand = self.signed_factor()
            self.depth -= 1
            return Negative(operand, start=start, end=self.end)
        return self.factor()

    def power_of_ten_behind(self) -> bool:
        r"""Say whether a times sign and a power of ten come next, as behind the 3.2 of `3.2 \times 10^{15}`."""
        kinds = [token.kind for token in self.tokens[self.position : self.position + 3]]
        if kinds != ["op", "number", "^"] or self.token.text not in ("times", "dot", "star"):
            return False
        return self.tokens[self.position + 1].text == "10"

    def denominator(self) -> Node:
        """Read what a slash divides by: one factor, or numbers and letters that are glued together."""
        factors = [self.signed_factor()]
        if isinstance(factors[0], Number) and self.syntax != "code" and self.power_of_ten_behind():
            if factors[0].exact:
                stop(self.token.start, "whether this power of ten belongs to the denominator cannot be told")
            operator = self.take().text  # `3.2 \times 10^{15}` is one number
            return building.product([factors[0], self.factor()], [operator])
        while (
            self.syntax != "code"
            and isinstance(factors[-1], Number | Name | Power)
            and not self.token.spaced
            and self.token.kind == "letter"
        ):
            factors.append(self.factor())
        if self.waiting:
            stop(self.waiting.start, "whether these brackets belong to the denominator cannot be told")
        return building.product(factors, [""] * (len(factors) - 1))


def _bounds_range(node: Node) -> bool:
    """Say whether a side may be a bound of a range of numbers: 60, or 10^4."""
    return isinstance(node.base if isinstance(node, Power) else node, Number)


def _begins_factor(token: Token) -> bool:
    """Say whether a factor may begin with a token: behind the letter x for a times sign, behind the word mod."""
    return token.kind in ("letter", "word", "number", "digit", "open", "{")


def _ends_with_brackets(node: Node) -> bool:
    """Say whether brackets stand side by side at the end of a product, `x (y + z)`."""
    return isinstance(node, Product) and node.operators[-1] == "" and isinstance(node.factors[-1], Fence)
