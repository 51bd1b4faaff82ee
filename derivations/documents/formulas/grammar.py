r"""The grammar of formulas. It reads the tokens of LaTeX, plain text and code alike.

Definition   clause   = [side] {relation side}                      relations: = < \in \approx \to ...
             side     = ["-"] product {("+" | "-" | "±") product}
             product  = factor {[operator] factor | "/" factor}     in order; side by side only outside of code
             factor   = atom {script | "[" indices "]" | "!" | ".T"}
             atom     = number | name | name "(" clauses ")" | brackets | fraction | root | aggregate | matrix | ...
Assumes      a slash takes what stands before it up to the last `\times`; after it one factor, and letters that are
             glued to it (`1/2n`). A name applied to brackets is a function by its form: see `applications`
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
    Entry,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
)

__all__ = ["Reader"]

_UPDATES = ("+", "-", "star", "/", "at")  # `x += y`
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
        if self.updates() and isinstance(sides[0], Name | Entry):
            sides.append(self.updated(sides[0]))
            signs.append("←")
        while relations.relation_next(self):
            if self.syntax != "latex" and not self.depth and "=" in signs and self.at("rel", "←"):
                self.position = len(self.tokens) - 1  # a note after an equation: `Q = X W   ← queries`
                break
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

    def updates(self) -> bool:
        """Return whether an update operator, such as `+=`, comes next."""
        token, following = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        known = token.kind == "op" and token.text in _UPDATES
        return known and following.kind == "rel" and following.text == "=" and not following.spaced

    def updated(self, old: Node) -> Node:
        """Read the rest of an update such as `x += y`, and return the new value, `x + y`."""
        operator = self.take()
        self.take()
        behind = self.side()
        if relations.relation_next(self):
            stop(self.token.start, "a relation after an update")
        behind = (
            Fence("(", behind, start=behind.start, end=behind.end) if isinstance(behind, Sum | Negative) else behind
        )
        if operator.text in ("+", "-"):
            return Sum((old, behind), (1, 1 if operator.text == "+" else -1), start=operator.start, end=self.end)
        if operator.text == "/":
            return Quotient(old, behind, slashed=True, start=operator.start, end=self.end)
        return Product((old, behind), (operator.text,), start=operator.start, end=self.end)

    def side_next(self) -> bool:
        """Return whether a side may begin here."""
        return self.factor_next() or self.at("op", "-") or self.at("op", "+") or self.at("op", "±")

    def side(self, space: bool = False) -> Node:
        """Read a sum. With `space`, the letter R is the real numbers."""
        start, here = self.token.start, self.position
        sign, written = self.sign(), self.position > here
        if space and not written and structures.space_next(self):
            return structures.read_space(self, self.take())
        terms = [self.product()]
        signs = [sign]
        while (self.at("op", "+") or self.at("op", "-") or self.at("op", "±")) and not self.updates():
            if len(terms) == 1 and self.is_range():
                stop(self.token.start, "whether this is a range or a difference cannot be told")
            signs.append(self.sign())
            terms.append(self.product())
        if len(terms) > 1 or (written and sign >= 0):
            return Sum(tuple(terms), tuple(signs), start=start, end=self.end)
        return Negative(terms[0], start=start, end=self.end) if sign < 0 else terms[0]

    def is_range(self) -> bool:
        """Return whether a dash may mean a range of numbers, as in `10–20` and, at the end of a chain, in `10-20`."""
        around = self.tokens[self.position - 1 : self.position + 3]
        if self.syntax == "code" or [token.kind for token in around[:3]] != ["number", "op", "number"]:
            return False
        lower, dash, upper, behind = around
        if dash.spaced or upper.spaced or dash.text != "-":
            return False
        ascending = number_of(lower).value < number_of(upper).value
        return self.text[dash.start] == "–" or (ascending and behind.kind in _ENDS_SIDE)

    def sign(self) -> int:
        """Read an optional sign. Returns 1 for plus or no sign, -1 for minus, and 0 for plus or minus."""
        if self.accept("op", "-"):
            return -1
        if self.accept("op", "±"):
            return 0
        self.accept("op", "+")
        return 1

    def product(self, sizes: bool = False) -> Node:
        r"""Read the factors of a product. With `sizes`, `\times` ends the product, because it separates two sizes."""
        self.skip_empty()
        factors, operators, run = [self.signed_factor()], list[str](), 0
        while (operator := self.operator(factors[-1], sizes)) is not None:
            if operator in ("/", "//"):
                run = self.divided(operator, factors, operators, run)
                continue
            run = len(factors) if operator == "times" else run
            operators.append(operator)
            factors.append(self.signed_factor() if operator else self.factor())
        if self.syntax == "plain":
            factors, operators = building.phrase(factors, operators)
        if len(factors) == 3 and isinstance(factors[0], Number) and isinstance(factors[1], Dots):  # `1…n`
            return List(tuple(factors), start=factors[0].start, end=factors[2].end)
        return building.product(factors, operators)

    def operator(self, before: Node, sizes: bool) -> str | None:
        """Read the operator between two factors. Returns an empty string for none, and None if the product ends."""
        self.skip_empty()
        token, following = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if self.waiting:
            return ""
        if self.ends_product(token, following, sizes):
            return None
        if token.kind == "op" and token.text in ("/", "//"):
            return self.take().text
        if (token.kind == "op" and token.text in words.OPERATORS) or (
            token.kind == "period" and self.multiplies(before)
        ):
            self.take()
            if not self.factor_next() and not self.at("op", "-"):
                stop(self.token.start, "a factor is missing")
            return "dot" if token.kind == "period" else token.text
        if self.syntax == "plain" and token[:2] == ("word", "mod") and _begins_factor(following):
            return self.take().text
        if token[:2] == ("letter", "star") and _begins_factor(following):
            stop(token.start, "what this operator means is not known")
        if not self.factor_next():
            return None
        if self.crosses(before, following):
            self.take()
            return "times"
        if self.syntax == "code":
            stop(token.start, "two expressions stand side by side in code")
        if token.kind == "number" and isinstance(before, Number) and not before.unit:
            stop(token.start, "two numbers stand side by side")
        return ""

    def ends_product(self, token: Token, following: Token, sizes: bool) -> bool:
        """Return whether an operator here ends the product: `x +=`, the mark of `r*`, a sign between sizes."""
        marks = token[:2] == ("op", "star") and following.kind == "}" and bool(self.depth)
        between = token[:2] == ("op", "times") or (token[:2] == ("letter", "x") and _begins_factor(following))
        return marks or (sizes and between) or self.updates()

    def divided(self, slash: str, factors: list[Node], operators: list[str], run: int) -> int:
        """Read a denominator and divide the factors from `run` on by it. Returns where the next run begins."""
        below = self.denominator()
        if derivatives.is_derivative(factors[-1], below):  # `A ∂L/∂Y`
            run = len(factors) - 1
        above = building.product(factors[run:], operators[run:])
        slashed = derivatives.fraction(above, below, above.start, self.end, slashed=True)
        if slash == "//":
            slashed = Fence("⌊", slashed, start=above.start, end=self.end)
        factors[run:], operators[run:] = [slashed], []
        doubtful = _ends_with_brackets(above) or isinstance(below, Fence)
        if self.at("open", "(") and doubtful and not isinstance(below, Number):
            stop(self.token.start, "whether these brackets belong to the denominator cannot be told")
        return run

    def crosses(self, before: Node, following: Token) -> bool:
        """Return whether the letter x is a times sign: `512 x 2048` in plain text, and between expressions of code."""
        if not (self.at("letter") and self.token.text in ("x", "X")):
            return False
        if self.syntax == "code":  # where two names never stand side by side
            return self.token.spaced and following.spaced and _begins_factor(following)
        return self.syntax == "plain" and isinstance(before, Number) and following.kind == "number"

    def multiplies(self, before: Node) -> bool:
        """Return whether a period is a product: `x_i.y_i`, `(a . b)`, but not `s.t.`, `x.shape`, or a full stop.

        Inside brackets no sentence ends; outside of them the period is glued to what follows, or apart from both sides.
        Letters alone could be an abbreviation, and words a method.
        """
        following = self.tokens[self.position + 1]
        if self.syntax != "latex" or isinstance(before, Number) or following.kind == "end":
            return False
        if following.spaced and not (self.depth or self.token.spaced):
            return False
        starts = following.kind in ("letter", "open", "cmd", "{", "big", "word", "accent")
        bare = isinstance(before, Name) and before == Name(before.base) and before.base not in words.GREEK
        word = following.kind in ("letter", "word") and following.text not in words.GREEK
        behind = next(each for each in self.tokens[self.position + 2 :] if each.kind != "letter" or each.spaced)
        called = behind.kind in ("_", "^", "prime", "open")
        abbreviated = (bare and following.spaced) or (word and not called)
        return starts and not abbreviated and following.text != "T"

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
        r"""Return whether a times sign and a power of ten come next, as after the 3.2 of `3.2 \times 10^{15}`."""
        kinds = [token.kind for token in self.tokens[self.position : self.position + 3]]
        if kinds != ["op", "number", "^"] or self.token.text not in ("times", "dot", "star"):
            return False
        return self.tokens[self.position + 1].text == "10"

    def denominator(self) -> Node:
        """Read the denominator after a slash: one factor, or numbers and letters without a space in between."""
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
    """Return whether a side may be a bound of a range of numbers: 60, or 10^4."""
    return isinstance(node.base if isinstance(node, Power) else node, Number)


def _begins_factor(token: Token) -> bool:
    """Return whether a factor may begin with a token, after the letter x as a times sign or the word mod."""
    return token.kind in ("letter", "word", "number", "digit", "open", "{")


def _ends_with_brackets(node: Node) -> bool:
    """Return whether a product ends with brackets that follow another factor directly: `x (y + z)`."""
    return isinstance(node, Product) and node.operators[-1] == "" and isinstance(node.factors[-1], Fence)
