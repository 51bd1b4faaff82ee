r"""Parsing of factors: numbers, names, brackets and structures, with their scripts and indices."""

from __future__ import annotations

from derivations.documents.formulas import applications, building, derivatives, relations, rows, scripts, structures
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.numbers import number_of
from derivations.documents.formulas.tokens import stop
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Chain,
    Dots,
    Entry,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Product,
    Quotient,
    Sum,
    Words,
)

__all__ = ["Atoms"]

_STARTS = frozenset(
    ("number", "digit", "letter", "word", "space", "open", "{", "accent", "big", "cmd", "differential", "nabla", "dots",
     "begin")
)  # fmt: skip
_PLACE = frozenset(("close", "comma", "}", "letter", "mid", "semicolon"))  # after a sign for an argument
_PLACEHOLDERS = {"dot": "·", ".": "·", "star": "*"}  # `f(\cdot)`, and sizes that are left open, `(*, d)`
_STRUCTURES = frozenset(("frac", "binom", "sqrt", "root", "underbrace", "overbrace", "overset", "underset", "stackrel"))


class Atoms(Grammar):
    """The grammar of factors. A subclass adds products, sums and relations."""

    def factor_next(self) -> bool:
        """Return whether a factor may begin here."""
        token = self.token
        if self.waiting:
            return True
        if token.kind == "text":
            return not set(token.text) <= rows.DASHES
        if token.kind in _STARTS and token.kind != "cmd":
            return True
        return token.kind == "cmd" and token.text in _STRUCTURES and relations.decorated_relation(self) < 0

    def factor(self) -> Node:
        """Read an atom with its scripts, indices and other postfixes."""
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
        """Read scripts, indices, factorials and transposes after something that is not a name."""
        while True:
            token = self.token
            if token.kind == "^":
                self.take()
                node = scripts.raised(node, scripts.read_superscript(self), self.end)
            elif token.kind == "_":
                self.take()
                node = Entry(node, scripts.read_subscript(self), start=node.start, end=self.end)
            elif token.kind == "transpose":
                self.take()
                node = scripts.raised(node, Name("T"), self.end)
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
                return scripts.read_small_digits(self, token) if token.kind == "digit" else number_of(token)
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
                return derivatives.read_differential(self)
            case "nabla":
                return derivatives.read_gradient(self)
            case "op" | "period" if token.text in _PLACEHOLDERS and self.placeholder():
                self.take()
                return Name(_PLACEHOLDERS[token.text], start=token.start, end=token.end)
        stop(token.start, f"{token.text or 'the end'!r} stands where a factor is expected")

    def placeholder(self) -> bool:
        r"""Return whether a sign is a placeholder for an argument, as in `f(\cdot)` and `x_{\cdot j}`."""
        before = self.tokens[self.position - 1].kind if self.position else ""
        after = self.tokens[self.position + 1].kind
        return before in ("open", "comma", "{", "mid") and after in _PLACE and (after != "letter" or before == "{")

    def items(self) -> tuple[list[Node], list[str]]:
        """Read the clauses inside brackets and the separators between them. The closing bracket is not read."""
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
                stop(self.token.start, "a condition is missing after the bar")
            return [building.conditional(before, items, before[0].start, self.end)], []
        return items, separators

    def brackets(self) -> Node:
        """Read a pair of brackets."""
        opening = self.take()
        items, separators = self.printed_numbers() or self.items()
        closing = self.expect("close", f"the bracket {opening.text} to be closed")
        if opening.text == ".":
            if closing.text != "|" or not self.at("_") or len(items) != 1:
                stop(opening.start, "an empty bracket")
            return Fence("(", items[0], start=opening.start, end=closing.end)  # `\left. y \right|_{x = 0}`
        if not items and opening.text not in "([{":
            stop(opening.start, "empty brackets")
        if self.syntax != "latex" and opening.text == "[" and len(items) == 1:
            return List(tuple(items), "[", start=opening.start, end=closing.end)
        return building.bracketed(opening.text, closing.text, items, separators, opening.start, closing.end)

    def printed_numbers(self) -> tuple[list[Node], list[str]] | None:
        """Read numbers separated by spaces, as code prints them: `[0.9 -0.1]`. Returns None for anything else."""
        ahead, count = self.position, 0
        while self.tokens[ahead].kind == "number" or self.tokens[ahead].text == "-":
            token, before = self.tokens[ahead], self.tokens[ahead - 1]
            if (before.text == "-" and token.spaced) or (before.kind == "number" and not token.spaced):
                return None  # a difference
            count += token.kind == "number"
            ahead += 1
        if self.syntax != "code" or count < 2 or self.tokens[ahead].text != "]":
            return None
        return [self.signed_factor() for _ in range(count)], ["comma"] * (count - 1)

    def skip_empty(self) -> None:
        """Skip empty braces, which only separate signs, `{} + x`; keep those that carry a script."""
        while self.at("{") and not self.token.detail and self.tokens[self.position + 1].kind == "}":
            if self.tokens[self.position + 2].kind in ("^", "_"):
                break
            self.position += 2

    def group(self) -> Node:
        """Read braces that only group. Parsing stops if a sum or a product in them would need brackets."""
        opening = self.take()
        before = self.tokens[self.position - 2] if self.position > 1 else opening
        node = self.clause()
        if before.kind == "rel" and self.at("comma"):  # `i \in {1, \dots, n}`: a set whose braces do not show
            self.take()
            items = [node, *scripts.read_clauses(self, "}")]
            closing = self.expect("}", "the brace to be closed")
            return List(tuple(items), "{", start=opening.start, end=closing.end)
        self.expect("}", "the brace to be closed")
        if isinstance(node, Name) and node == Name(node.base, accent=node.accent) and node.base:  # `{W}_i^Q`
            below, above, primes = scripts.read_scripts(self)
            node = scripts.attached(node, below, above, primes, self.end)
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
