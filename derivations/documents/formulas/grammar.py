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
from derivations.documents.formulas.tokens import stop
from derivations.documents.syntax import (
    Arrow,
    Call,
    Chain,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Sum,
)

__all__ = ["Reader"]


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
            signs.append(self.sign())
            terms.append(self.product())
        if len(terms) > 1 or (written and sign >= 0):
            return Sum(tuple(terms), tuple(signs), start=start, end=self.end)
        return Negative(terms[0], start=start, end=self.end) if sign < 0 else terms[0]

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
            elif token.kind == "op" and token.text in words.OPERATORS and not (sizes and token.text == "times"):
                self.take()
                if not self.factor_next() and not self.at("op", "-"):
                    stop(self.token.start, "a factor is missing")
                run = len(factors) if token.text == "times" else run
                operators.append(token.text)
                factors.append(self.signed_factor())
            elif token.kind == "op" and token.text in ("/", "//"):
                self.take()
                if isinstance(factors[-1], Call) and factors[-1].function.base == "∂":  # `A ∂L/∂Y`
                    run = len(factors) - 1
                above = building.product(factors[run:], operators[run:])
                below = self.denominator()
                slashed = derivatives.fraction(above, below, above.start, self.end, slashed=True)
                if token.text == "//":
                    slashed = Fence("⌊", slashed, start=above.start, end=self.end)
                factors[run:], operators[run:] = [slashed], []
                if self.at("open", "(") and _ends_with_brackets(above) and not isinstance(below, Number):
                    stop(self.token.start, "whether these brackets belong to the denominator cannot be told")
            elif self.factor_next():
                if self.syntax == "code":
                    stop(token.start, "two expressions stand side by side in code")
                crossed = isinstance(factors[-1], Number) and token.text == "x" and self.crossed()
                operators.append("times" if crossed else "")
                factors.append(self.factor())
            else:
                break
        if self.syntax == "plain":
            factors, operators = building.phrase(factors, operators)
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

    def denominator(self) -> Node:
        """Read what a slash divides by: one factor, or numbers and letters that are glued together."""
        factors = [self.signed_factor()]
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


def _ends_with_brackets(node: Node) -> bool:
    """Say whether brackets stand side by side at the end of a product, `x (y + z)`."""
    return isinstance(node, Product) and node.operators[-1] == "" and isinstance(node.factors[-1], Fence)
