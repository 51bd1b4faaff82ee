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

from derivations.documents.formulas import applications, attachments, building, relations, rows, structures
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.numbers import number_of
from derivations.documents.formulas.scripts import attached, raised
from derivations.documents.formulas.tokens import stop
from derivations.documents.syntax import (
    Aggregate,
    Arrow,
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
    Product,
    Quotient,
    Sum,
    Words,
)

__all__ = ["Reader"]

_STARTS = frozenset(
    ("number", "digit", "letter", "word", "space", "open", "{", "accent", "big", "cmd", "differential", "nabla", "dots",
     "begin")
)  # fmt: skip
_PLACE = frozenset(("close", "comma", "}", "letter", "mid", "semicolon"))  # behind a sign for an argument
_STRUCTURES = frozenset(("frac", "sqrt", "root", "underbrace", "overbrace", "overset", "underset", "stackrel"))


class Reader(Grammar):
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
                slashed = building.fraction(above, below, above.start, self.end, slashed=True)
                if token.text == "//":
                    slashed = Fence("⌊", slashed, start=above.start, end=self.end)
                factors[run:], operators[run:] = [slashed], []
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

    def factor_next(self) -> bool:
        """Say whether a factor may begin here."""
        token = self.token
        if self.waiting:
            return True
        if token.kind == "text":
            return not set(token.text) <= rows.DASHES
        if token.kind in _STARTS and token.kind != "cmd":
            return True
        return token.kind == "cmd" and token.text in _STRUCTURES and relations.decorated_relation(self) < 0

    def factor(self) -> Node:
        """Read an atom with what is attached to it."""
        if self.waiting:
            node, self.waiting = self.waiting, None
            return self.postfix(node)
        self.deeper()
        node = self.atom()
        if not self.waiting:
            node = self.postfix(node)
        self.depth -= 1
        return node

    def postfix(self, node: Node) -> Node:
        """Read scripts, indices, factorials and transposes behind something that is no name."""
        while True:
            token = self.token
            if token.kind == "^":
                self.take()
                node = raised(node, attachments.read_superscript(self), self.end)
            elif token.kind == "_":
                self.take()
                node = Entry(node, attachments.read_subscript(self), start=node.start, end=self.end)
            elif token.kind == "transpose":
                self.take()
                node = raised(node, Name("T"), self.end)
            elif token.kind == "factorial":
                self.take()
                node = Call(Name("factorial"), (node,), start=node.start, end=self.end)
            elif token.kind == "method":
                node = applications.read_method(self, node)
            elif token.kind == "open" and token.text == "[" and not token.spaced and applications.indexed(self, node):
                node = applications.read_entry(self, node)
                if self.waiting:
                    return node
            elif token.kind == "open" and self.syntax == "code":
                stop(token.start, "what is called here is no name")
            else:
                return node

    def atom(self) -> Node:
        """Read a number, a name, brackets or a structure."""
        token = self.token
        match token.kind:
            case "number" | "digit":
                self.take()
                return attachments.read_small_digits(self, token) if token.kind == "digit" else number_of(token)
            case "letter" | "word":
                return applications.read_name(self)
            case "text" | "cond":
                self.take()
                if self.at("_") or self.at("open", "(") or self.at("open", "["):
                    return applications.read_name(self, token)
                return Words(token.text, start=token.start, end=token.end)
            case "open":
                return self.brackets()
            case "{":
                return self.group()
            case "accent":
                return applications.read_accented(self)
            case "space":
                return structures.read_space(self, self.take())
            case "big":
                return structures.read_aggregate(self)
            case "dots":
                self.take()
                return Dots(start=token.start, end=token.end)
            case "begin":
                return rows.read_rows(self)
            case "cmd":
                return structures.read_structure(self)
            case "differential":
                return applications.read_differential(self)
            case "nabla":
                return applications.read_gradient(self)
            case "op" if token.text == "dot" and self.placeholder():
                self.take()
                return Name("·", start=token.start, end=token.end)
            case "period" if self.placeholder():
                self.take()
                return Name("·", start=token.start, end=token.end)
        stop(token.start, f"{token.text or 'the end'!r} stands where a factor is expected")

    def placeholder(self) -> bool:
        r"""Say whether a sign stands for an argument, as in `f(\cdot)` and `x_{\cdot j}`."""
        before = self.tokens[self.position - 1].kind if self.position else ""
        after = self.tokens[self.position + 1].kind
        return before in ("open", "comma", "{", "mid") and after in _PLACE and (after != "letter" or before == "{")

    def items(self) -> tuple[list[Node], list[str]]:
        """Read what stands between brackets: clauses, and what separates them; not the closing bracket."""
        items: list[Node] = []
        separators: list[str] = []
        before: list[Node] = []
        while not self.at("close"):
            items.append(self.clause())
            if self.at("mid") and not before:
                self.take()
                before, items = items, []
            elif self.at("comma") or self.at("semicolon"):
                separators.append(self.take().kind)
                self.accept("quad")
            else:
                break
        if before:
            if not items:
                stop(self.token.start, "a condition is missing behind the bar")
            return [building.conditional(before, items, before[0].start, self.end)], []
        return items, separators

    def brackets(self) -> Node:
        """Read a pair of brackets."""
        opening = self.take()
        if opening.text == ".":
            stop(opening.start, "an empty bracket")
        items, separators = self.items()
        closing = self.expect("close", f"the bracket {opening.text} to be closed")
        if not items and opening.text not in "([{":
            stop(opening.start, "empty brackets")
        if self.syntax != "latex" and opening.text == "[" and len(items) == 1:
            return List(tuple(items), "[", start=opening.start, end=closing.end)
        return building.bracketed(opening.text, closing.text, items, separators, opening.start, closing.end)

    def group(self) -> Node:
        """Read braces that only group; a sum inside them must stand alone."""
        opening = self.take()
        before = self.tokens[self.position - 2] if self.position > 1 else opening
        node = self.clause()
        self.expect("}", "the brace to be closed")
        if isinstance(node, Name) and node == Name(node.base, accent=node.accent) and node.base:  # `{W}_i^Q`
            below, above, primes = attachments.read_scripts(self)
            node = attached(node, below, above, primes, self.end)
        scripted = self.token.kind in ("^", "_")
        loose = isinstance(node, Product | Aggregate) or (isinstance(node, Quotient) and node.slashed)
        if scripted and loose:
            stop(opening.start, "braces around a product show nothing: brackets are missing")
        if isinstance(node, Sum | Negative | Chain) or (isinstance(node, Quotient) and node.slashed):
            alone = before is opening or before.kind in ("rel", "open", "comma", "{", "cmd", "arrow", "word")
            if not alone or self.factor_next() or self.token.kind in ("^", "_", "op"):
                stop(opening.start, "braces around a sum show nothing: brackets are missing")
        if isinstance(node, Name) and self.at("open", "(") and node.base not in words.QUANTITIES:
            return applications.read_call(
                self, node, opening._replace(kind="word", text=node.base, detail=node.accent)
            )  # `{\rm softmax}(x)`
        return node
