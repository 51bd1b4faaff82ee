"""Printing of formulas in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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

__all__ = ["latex_text"]

_BIG_WORDS = {kind: word for word, kind in reversed(words.BIG.items())}
_COMMANDS = frozenset(name for name, (kind, text) in words.COMMANDS.items() if kind == "word" and name == text)
_PRODUCTS = {name: f"\\{command}" for name, (command, _) in words.OPERATORS.items()} | {"at": "@", "star": "*"}
_RELATIONS = {name: f"\\{command}" if command.isalpha() else command for name, (command, _) in words.RELATIONS.items()}
_COMPARED = (Name("max"), Name("min"))
_OPERATORS = {"expectation": r"\mathbb{E}", "variance": r"\text{Var}"}


def latex_text(node: Node) -> str:
    """Return a part of a formula in LaTeX."""
    match node:
        case Number():
            return _latex_number(node)
        case Name():
            return _latex_name(node)
        case Words(text=text):
            return text if set(text) & set("\\{}$") else rf"\text{{ {_escaped(text)} }}"
        case Dots():
            return r"\dots"
        case Space(letter=letter, sizes=sizes):
            inside = r" \times ".join(map(latex_text, sizes))
            part = "_{" + letter[1:].replace("≥", r"\geq ") + "}" if letter[1:] else ""
            return rf"\mathbb{{{letter[0]}}}" + part + (f"^{{{inside}}}" if sizes else "")
        case Sum():
            return sum_text(node, latex_text, r"\pm ")
        case Product(factors=factors, operators=operators):
            return product_text(factors, operators, latex_text, _PRODUCTS)
        case Negative(operand=operand):
            return "-" + latex_text(operand)
        case Quotient(slashed=True):
            return latex_text(node.numerator) + " / " + glued_text(node.denominator, latex_text)
        case Quotient(numerator=above, denominator=below):
            return rf"\frac{{{latex_text(above)}}}{{{latex_text(below)}}}"
        case Power(base=base, exponent=exponent):
            return f"{_latex_base(base)}^{{{latex_text(exponent)}}}"
        case Root(radicand=radicand, degree=order):
            return r"\sqrt" + (f"[{latex_text(order)}]" if order else "") + f"{{{latex_text(radicand)}}}"
        case Transpose(operand=operand):
            return f"{_latex_base(operand)}^{{T}}"
        case Fence(bracket=bracket, inside=inside):
            return _latex_brackets(bracket, latex_text(inside))
        case Call():
            return _latex_call(node)
        case Entry(of=of, indices=indices):
            if isinstance(of, Name):
                return latex_text(of) + _latex_brackets("[", ", ".join(map(latex_text, indices)))
            return f"{_latex_base(of, scripts=True)}_{{{_labels(indices)}}}"
        case Aggregate():
            return _aggregate(node)
        case Derivative(of=of, by=by):
            if not by:
                return rf"\nabla {_latex_operand(of)}"
            variables = " ".join(rf"\partial {_latex_operand(each)}" for each in by)
            return rf"\frac{{\partial {_latex_operand(of)}}}{{{variables}}}"
        case List(items=items, bracket=bracket):
            inside = ", ".join(map(latex_text, items)) + ("," if len(items) == 1 and bracket in ("(", "[") else "")
            return _latex_brackets(bracket, inside) if bracket else inside
        case Set(element=element, condition=condition):
            return _latex_brackets("{", rf"{latex_text(element)} \mid {latex_text(condition)}")
        case MatrixLiteral(rows=rows):
            return _environment("bmatrix", rows)
        case Cases(branches=branches):
            return _environment("cases", [[each for each in branch if each is not None] for branch in branches])
        case Annotated(of=of, note=Words(text="row")):
            return rf"\leftarrow {latex_text(of)} \rightarrow"
        case Annotated(of=of, note=note):
            return rf"\underbrace{{{latex_text(of)}}}_{{{latex_text(note)}}}"
        case Arrow(above=above, below=below):
            if above is None and below is None:
                return r"\to"
            return (
                r"\xrightarrow"
                + (f"[{latex_text(below)}]" if below else "")
                + f"{{{latex_text(above) if above else ''}}}"
            )
        case Chain():
            return chain_text(node, latex_text, _RELATIONS, r" \quad \text{for } ")
    raise TypeError(f"{type(node).__name__} is no part of a formula that can be printed")


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "_&%#" else each for each in text)


def _latex_number(node: Number) -> str:
    digits, _, scale = node.text.partition(" ")
    text = digits.replace("%", r"\%").replace(",", "{,}")
    return text + (rf"\,\text{{{scale}}}" if scale else "") + (rf"\,\text{{{node.unit}}}" if node.unit else "")


def _latex_base_letters(base: str) -> str:
    if base in words.GREEK or base in words.SYMBOLS or base in _COMMANDS:
        return f"\\{base}"
    if base == "∂":
        return r"\partial"
    if base == "∇":
        return r"\nabla"
    if base == "·":
        return r"\cdot"
    if base in ("0", "1"):
        return rf"\mathbf{{{base}}}"
    if base in words.BIG:
        return rf"\text{{{base}}}"
    return base if len(base) < 2 else rf"\text{{{_escaped(base)}}}"


def _latex_name(name: Name) -> str:
    letters = _latex_base_letters(name.base)
    alphabet = {"bb": "mathbb", "cal": "mathcal", "frak": "mathfrak"}.get(name.accent)
    if name.accent == "d":
        letters = r"\mathrm{d}" + letters
    elif alphabet:
        letters = rf"\{alphabet}{{{name.base}}}"
    elif name.accent:
        letters = rf"\{name.accent}{{{letters}}}"
    below = f"_{{{_labels(name.subscripts)}}}" if name.subscripts else ""
    above = f"^{{{_labels(name.superscripts)}}}" if name.superscripts else ""
    return letters + "'" * name.primes + below + above


def _latex_base(node: Node, scripts: bool = False) -> str:
    """Return the base of a script in LaTeX, in braces if its own scripts would be in the way."""
    text = latex_text(node)
    closed = isinstance(node, Aggregate) and node.kind in _OPERATORS
    plain = (
        closed
        or isinstance(node, Number | Fence | Root | MatrixLiteral | List)
        or (isinstance(node, Call) and text.endswith(")"))
    )
    if plain or (isinstance(node, Name) and not node.superscripts and not scripts):
        return text
    return f"{{{text}}}"


def _latex_brackets(bracket: str, inside: str) -> str:
    opening, closing = {
        "(": ("(", ")"), "[": ("[", "]"), "{": (r"\{", r"\}"), "|": ("|", "|"), "||": (r"\|", r"\|"),
        "⌊": (r"\lfloor", r"\rfloor"), "⌈": (r"\lceil", r"\rceil"), "⟨": (r"\langle", r"\rangle"),
        "[)": ("[", ")"), "(]": ("(", "]"),
    }[bracket]  # fmt: skip
    return rf"\left{opening} {inside} \right{closing}"


def _latex_operand(node: Node) -> str:
    if node == Name(""):
        return ""
    single = isinstance(node, Name | Number | Call | Root | Fence) and not (isinstance(node, Name) and _applied(node))
    return latex_text(node) if single else _latex_brackets("(", latex_text(node))


def _applied(name: Name) -> bool:
    return name.base in words.BARE_FUNCTIONS


def _latex_call(node: Call) -> str:
    if node.function == Name("factorial") and len(node.arguments) == 1:
        return f"{_latex_base(node.arguments[0])}!"
    if node.function.base == "∂" and len(node.arguments) == 1:
        return rf"\partial {_latex_operand(node.arguments[0])}"
    square = node.function.base == "E" and not node.function.accent
    inside = ", ".join(map(latex_text, node.arguments))
    if square:
        return rf"\mathbb{{{node.function.base}}}" + latex_text(node.function)[1:] + _latex_brackets("[", inside)
    function = f"\\{node.function.base}" if node.function in _COMPARED else latex_text(node.function)
    return function + _latex_brackets("(", inside)


def _environment(name: str, rows: Iterable[Sequence[Node]]) -> str:
    lines = r" \\ ".join(" & ".join(latex_text(cell) for cell in row) for row in rows)
    return rf"\begin{{{name}}} {lines} \end{{{name}}}"


def _labels(nodes: Sequence[Node]) -> str:
    return ", ".join(label_text(each, latex_text, _label) for each in nodes)


def _label(text: str) -> str:
    return text if text in "*†+-" else rf"\text{{{_escaped(text)}}}"


def _aggregate(node: Aggregate) -> str:
    scripts, body = aggregate_parts(node, latex_text)
    if node.kind in _OPERATORS:
        return _OPERATORS[node.kind] + scripts + _latex_brackets("[", body)
    word = _BIG_WORDS[node.kind]
    command = rf"\operatorname{{{word}}}" if word.startswith("arg") else f"\\{word}"
    return f"{command}{scripts} {body}"
