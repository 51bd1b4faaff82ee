r"""Macros that a LaTeX document defines for itself, replaced by what they stand for.

Definition   `\newcommand{\R}{\mathbb{R}}`, `\def\vec#1{\mathbf{#1}}`, `\DeclareMathOperator{\softmax}{softmax}`: a
             name, a number of arguments, the first of which may have a default, and a body
Result       text with every macro replaced, where each character of a body stands at the place of its use
Assumes      nothing is run: names and bodies are text, and what grows beyond a bound stays as it was written
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from derivations.documents.readers.source import Excerpt, joined

__all__ = ["PACKAGES", "Expansion", "Macro", "defined_macros", "group_end", "without_definitions"]

_MAX_BODY = 2_000  # characters of a body, or of an argument
_MAX_GAP = 100  # characters of space between two arguments
_MAX_ROUNDS = 12  # macros inside the bodies of macros
_MAX_GROWTH = 100_000  # characters that the macros of a short document may write

_DEFINITION = re.compile(
    r"\\(?:(?:re)?new|provide)command\*?\s*\{?\s*\\(?P<name>[A-Za-z]+)\s*\}?\s*"
    r"(?:\[(?P<count>[0-9])\])?\s*(?:\[(?P<default>[^\[\]]{0,200})\])?\s*(?=\{)"
    r"|\\(?:New|Renew|Provide|Declare)DocumentCommand\s*\{?\s*\\(?P<document>[A-Za-z]+)\s*\}?\s*"
    r"\{(?P<taken>[m\s]{0,40})\}\s*(?=\{)"
    r"|\\[gex]?def\s*\\(?P<defined>[A-Za-z]+)\s*(?P<parameters>(?:#[1-9]){0,9})\s*(?=\{)"
    r"|\\DeclareMathOperator(?P<star>\*?)\s*\{?\s*\\(?P<operator>[A-Za-z]+)\s*\}?\s*(?=\{)"
    r"|\\DeclarePairedDelimiter\s*\{?\s*\\(?P<pair>[A-Za-z]+)\s*\}?\s*(?=\{)"
    r"|\\(?:re)?newenvironment\*?\s*\{(?P<environment>[A-Za-z]+\*?)\}\s*(?=\{)"
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[A-Za-z]+\*?\}")
_SIZE = re.compile(r"\*|\[\\[A-Za-z]+\]")  # of the bars that a command sets: `\norm*{x}`, `\norm[\big]{x}`
_COMMAND = re.compile(r"\\([A-Za-z]+)|\\.", re.DOTALL)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")


@dataclass(frozen=True)
class Macro:
    """A macro: its body, with `#1` for an argument. `default` is the default value of the first argument.

    One that is `sized` may have a star, or a size, in front of its argument; one that is `braced` is used with braces
    around all its arguments, or is another command.
    """

    body: str
    arguments: int = 0
    default: str | None = None
    sized: bool = False
    braced: bool = False


_LATIN = "abcdefghijklmnopqrstuvwxyz"
#: Letters in fonts of `math_commands.tex`, which comes with the template of ICLR: vectors, matrices, tensors, sets.
_TEMPLATE = {
    **{f"{kind}{letter}": Macro(f"\\mathbf{{{letter}}}") for kind in ("v", "rv") for letter in _LATIN},
    **{
        f"{kind}{letter}": Macro(f"\\{font}{{{letter}}}")
        for kind, font in {
            "m": "bm",
            "rm": "mathbf",
            "t": "bm",
            "s": "mathbb",
            "g": "mathcal",
            "em": "mathnormal",
        }.items()
        for letter in _LATIN.upper()
    },
}
#: What packages define: siunitx, physics (or derivative), and a template.
PACKAGES = {
    **_TEMPLATE,
    "num": Macro("#2", 2, ""),
    "SI": Macro(r"#2\,\text{#3}", 3, ""),
    "qty": Macro(r"#2\,\text{#3}", 3, ""),
    "pdv": Macro(r"\frac{\partial #1}{\partial #2}", 2, braced=True),
    "dv": Macro(r"\frac{d #1}{d #2}", 2, braced=True),
}


def group_end(text: str, start: int, limit: int = _MAX_BODY) -> int | None:
    """Return the offset after the group that opens at `start`, or None if no closing brace is in reach."""
    depth = 0
    for match in _BRACE.finditer(text, start, min(len(text), start + limit)):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return None


def without_definitions(excerpt: Excerpt) -> Excerpt:
    """Return the excerpt without the definitions in it."""
    kept, position = [], 0
    for start, end, _, _ in defined_macros(excerpt.text):
        kept.append(excerpt.part(position, start))
        position = end
    return joined(excerpt.source, [*kept, excerpt.part(position)]) if kept else excerpt


def defined_macros(text: str) -> Iterator[tuple[int, int, str, Macro]]:
    """Yield the definitions of a text: where each starts and ends, the name, and the macro."""
    position = 0
    while definition := _DEFINITION.search(text, position):
        position = definition.end()
        end = group_end(text, position)
        if end is None:
            continue
        body = text[position + 1 : end - 1].replace("\\xspace", "").replace("\\ensuremath", "")
        start, pair, environment = definition.start(), definition["pair"], definition["environment"]
        if definition["operator"]:
            yield start, end, definition["operator"], Macro(f"\\operatorname{definition['star']}{{{body}}}")
        elif pair or environment:
            second = end + len(text[end : end + _MAX_GAP]) - len(text[end : end + _MAX_GAP].lstrip())
            last = group_end(text, second) if text.startswith("{", second) else None
            if last is None:
                continue
            closing = text[second + 1 : last - 1]
            if pair:
                yield start, last, pair, Macro(f"{body} #1{closing}", 1, sized=True)
            else:
                yield start, last, f"\\begin{{{environment}}}", Macro(body)
                yield last, last, f"\\end{{{environment}}}", Macro(closing)
            end = last
        else:
            taken = (definition["taken"] or "").count("m")
            count = int(definition["count"] or len(definition["parameters"] or "") // 2 or taken)
            name = definition["name"] or definition["defined"] or definition["document"]
            yield start, end, name, Macro(body, count, definition["default"])
        position = end


@dataclass
class Expansion:
    """The macros of a document, and how many characters they may still write in it."""

    macros: dict[str, Macro]
    left: int

    @classmethod
    def in_document(cls, length: int) -> Expansion:
        """Return an expansion without macros, for a document of the given length."""
        return cls({}, _MAX_GROWTH + 2 * length)

    def of(self, excerpt: Excerpt) -> Excerpt:
        """Return the excerpt with its macros expanded, or unchanged if the expansion exceeds a limit."""
        result = excerpt
        for _ in range(_MAX_ROUNDS):
            parts = list(self._replaced(result))
            if self.left < 0:
                return excerpt
            if len(parts) == 1:
                return result
            result = joined(excerpt.source, parts)
        return excerpt

    def _replaced(self, excerpt: Excerpt) -> Iterator[Excerpt]:
        """Yield the text between macros, and what the macros stand for."""
        position = 0
        for command in _COMMAND.finditer(excerpt.text) if self.macros and self.left >= 0 else ():
            environment = _ENVIRONMENT.match(excerpt.text, command.start())
            macro = self.macros.get(environment[0] if environment else command[1] or "")
            if macro is None or command.start() < position:
                continue
            found = _arguments(excerpt, (environment or command).end(), macro)
            if found is None:
                continue
            arguments, end = found
            yield excerpt.part(position, command.start())
            for part in _filled(excerpt, command.start(), macro, arguments):
                self.left -= len(part.text)
                if self.left < 0:
                    return
                yield part
            position = end
        yield excerpt.part(position)


def _arguments(excerpt: Excerpt, position: int, macro: Macro) -> tuple[list[Excerpt], int] | None:
    """Return the arguments of a macro and where they end."""
    text, arguments, start = excerpt.text, [], position
    if macro.sized and (size := _SIZE.match(text, position)):
        position = size.end()
    for number in range(macro.arguments):
        while position < len(text) and text[position] in " \t\n":
            position += 1
        if number == 0 and macro.default is not None:
            end = text.find("]", position, position + _MAX_BODY)
            if text.startswith("[", position) and end > 0:
                arguments.append(excerpt.part(position + 1, end))
                position = end + 1
            else:
                arguments.append(_written(excerpt, start - 1, macro.default))
            continue
        if position >= len(text) or (macro.braced and text[position] != "{"):
            return None
        if text[position] == "{":
            group = group_end(text, position)
            if group is None:
                return None
            arguments.append(excerpt.part(position + 1, group - 1))
            position = group
        else:
            token = _COMMAND.match(text, position)
            end = token.end() if token else position + 1
            arguments.append(excerpt.part(position, end))
            position = end
    return arguments, position


def _filled(excerpt: Excerpt, use: int, macro: Macro, arguments: list[Excerpt]) -> Iterator[Excerpt]:
    """Yield the pieces of a macro's body with its arguments, and a space after a command at its end."""
    position = 0
    for parameter in _PARAMETER.finditer(macro.body):
        yield _written(excerpt, use, macro.body[position : parameter.start()])
        if int(parameter[1]) <= len(arguments):
            yield arguments[int(parameter[1]) - 1]
        position = parameter.end()
    ending = " " if re.search(r"\\[A-Za-z]+$", macro.body) else ""
    yield _written(excerpt, use, macro.body[position:] + ending)


def _written(excerpt: Excerpt, use: int, text: str) -> Excerpt:
    """Return text whose characters all have the place of the macro's use."""
    at = excerpt.part(use, use + 1).runs[0][1]
    return Excerpt(excerpt.source, text, tuple((offset, at) for offset in range(len(text))) or ((0, at),))
