r"""LaTeX as tokens. Every character becomes a token, joins one, or is dropped if it only affects the layout.

Definition   words in `\text{...}` are names (`\text{head}_i`), conditions (`\text{if } x > 0`), connectives
             (`\text{and}`) or mere words; letters side by side are letters unless they make a word (`letters`)
Raises       Stopped at a command that is in no table, and at a brace or an environment that is not closed
Assumes      linear time: no character is looked at more often than braces of text inside text are deep (bounded)
"""

from __future__ import annotations

import re

from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.latex_fonts import FontLexer
from derivations.documents.formulas.tokens import Token, stop

__all__ = ["latex_tokens"]

_LEXEME = re.compile(
    r"""(?P<space>[ \t\r\n~\u00a0\u2009\u202f\u3000]+)
    |   (?P<command>\\(?:(?:operatorname|hspace|vspace|tag|align|cases)\*|[A-Za-z]+))
    |   (?P<newline>\\\\\*?(?:[ ]*\[\s*-?[\d.]+\s*[a-z]{2}\s*\])?)
    |   (?P<control>\\.)
    |   (?P<number>\d{1,3}(?:(?:,|\{,\}|\\[,;!\ ]|[~\u00a0\u2009\u202f\ '])\d{3}){1,12}(?![,\d]?\d)(?:\.\d+)?
                  |\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)
    |   (?P<identifier>[A-Za-z]+(?:\\_[A-Za-z0-9]+)+)
    |   (?P<letters>[A-Za-z]+)
    |   (?P<wide>[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3々]+)
    |   (?P<dots>\.\.+|\.(?:[ ]\.){2,})
    |   (?P<string>"[^"$\n]{1,60}"|<[a-z]{2,9}>)
    |   (?P<pair>-+>|<=|>=|=>|(?<=\s)!=)
    |   (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {"<=": ("rel", "≤"), ">=": ("rel", "≥"), "=>": ("rel", "⇒"), "!=": ("rel", "≠")}
_MANY = 3  # spaces that cannot be broken
_ARGUMENT_OF = re.compile(r"\s*(?:\\[,!;]\s*)?\\?(max|min)(?![A-Za-z])")


def latex_tokens(text: str) -> list[Token]:
    """Return the tokens of a formula in LaTeX."""
    lexer = _Lexer(text)
    lexer.read(0, len(text), 0)
    if lexer.braces:
        stop(lexer.braces[-1][0], "the brace is not closed")
    if lexer.environments:
        stop(len(text), f"the environment {lexer.environments[-1]} is not closed")
    return lexer.tokens


class _Lexer(FontLexer):
    def read(self, position: int, end: int, depth: int) -> None:
        """Read the text from `position` to `end`. `depth` counts the mathematics nested inside text."""
        while position < end:
            match = _LEXEME.match(self.text, position, end)
            assert match is not None  # the last alternative is any character
            kind = match.lastgroup
            following = match.end()
            if kind == "space":
                self.spaced = True
                if match.group().count("~") >= _MANY:  # they keep something apart, as `\quad` does
                    self.add("quad", "", position, following)
            elif kind == "letters":
                following = self.letters(position, following)
            elif kind == "identifier":
                self.identifier(match.group().replace("\\_", "_"), position, following)
            elif kind == "number":
                following = self.number(match.group(), position, following, end)
            elif kind == "command" or kind == "control":
                following = self.command(match.group()[1:], position, following, end, depth)
            elif kind == "newline":
                self.add("newline", "", position, following)
                self.aligned = 0
            elif kind == "wide":
                self.add(words.role_of(match.group()), match.group(), position, following)
            elif kind == "dots":
                self.add("dots", "…", position, following)
            elif kind == "pair":
                self.add(*_PAIRS.get(match.group(), ("arrow", "→")), position, following)
            elif kind == "string":
                following = self.quoted(position, following)
            else:
                following = self.sign(match.group(), position, following, end)
            position = following

    def command(self, name: str, start: int, end: int, limit: int, depth: int) -> int:
        sides, self.fence_sides = self.fence_sides, ""
        if name in ("left", "right", "middle"):
            self.fence_sides = {"left": "open", "right": "close", "middle": "mid"}[name]
        elif name in words.DROPPED:
            self.spaced = self.spaced or name in (" ", ",", ";", ":")
            self.wide = self.wide or name in (" ", ";", "thickspace", "enspace")
        elif name in words.DROPPED_WITH_ARGUMENT:
            for _ in range(words.DROPPED_WITH_ARGUMENT[name]):
                end = self.argument(end, limit, optional=True)[1]
        elif name in words.TRANSPARENT:
            return self.transparent(name, start, end, limit)
        elif name in words.WRAPPED:
            return self.wrapped(words.WRAPPED[name], start, end, limit)
        elif name in words.TEXT:
            return self.text_argument(start, end, limit, depth)
        elif name in words.ROMAN or name in words.BOLD:
            return self.font(name, start, end, limit)
        elif name in words.ALPHABETS:
            return self.alphabet(words.ALPHABETS[name], start, end, limit)
        elif name in words.ACCENTS:
            self.add("accent", words.ACCENTS[name], start, end)
            self.single = max(self.single, 1)
        elif name in ("begin", "end"):
            return self.environment(name, start, end, limit)
        elif name == "verb" and (match := re.compile(r"([|+!])([A-Za-z_0-9]+)\1").match(self.text, end, limit)):
            self.identifier(match[2], start, match.end())
            return match.end()
        elif name == "not":
            return self.negated(start, end, limit)
        elif name == "arg" and (match := _ARGUMENT_OF.match(self.text, end, limit)):
            self.add("big", f"arg{match[1]}", start, match.end())
            return match.end()
        elif name == "|":
            self.add(sides or "bar", "‖", start, end)
        elif name in ("{", "}"):
            self.add("open" if name == "{" else "close", name, start, end)
        elif name == "_":  # escaped for Markdown
            self.add("_", "_", start, end)
        elif name == "%":
            stop(start, "a percent sign without a number before it")
        elif name in words.COMMANDS and words.COMMANDS[name][0] == "infix":
            self.infix(words.COMMANDS[name][1], start, end)
        elif name in words.COMMANDS:
            kind, text = words.COMMANDS[name]
            self.add(sides if sides and kind == "bar" else kind, text, start, end)
            self.single = {"frac": 2, "binom": 2, "sqrt": 1}.get(text, 0) if kind == "cmd" else 0
        else:
            stop(start, f"the command \\{name} is not known")
        return end

    def transparent(self, name: str, start: int, end: int, limit: int) -> int:
        """Drop a colour or frame command and its first arguments. Its braces stay only after ^, _ or a command."""
        for _ in range(words.TRANSPARENT[name]):
            end = self.argument(end, limit)[1]
        end = self.behind_space(end, limit)
        if self.text[end : end + 1] == "{" and not (self.tokens and self.tokens[-1].kind in ("_", "^", "cmd")):
            self.braces.append((start, "box" if "box" in name else "", len(self.tokens)))
            return end + 1
        return end

    def wrapped(self, bar: str, start: int, end: int, limit: int) -> int:
        """Read a command that puts its argument between bars."""
        end = self.behind_space(end, limit)
        if self.text[end : end + 1] != "{":
            stop(start, "an argument in braces is missing")
        self.add("open", bar, start, end)
        self.braces.append((start, bar, len(self.tokens)))
        return end + 1

    def environment(self, command: str, start: int, end: int, limit: int) -> int:
        name, end = self.argument(end, limit)
        self.aligned = 0
        if command == "end":
            if not self.environments or self.environments.pop() != name:
                stop(start, f"the environment {name} ends without having begun")
            if name not in words.ALIGNED:
                self.add("finish", name, start, end)
            return end
        if name not in words.ALIGNED | words.MATRICES | words.CASES | words.DETERMINANTS.keys():
            stop(start, f"the environment {name[:40]} is not known")
        self.environments.append(name)
        if match := re.compile(r"\s*\[[^\]]{0,20}\]").match(self.text, end, limit):
            end = match.end() if name != "bmatrix" or match.group().strip() in ("[t]", "[b]", "[c]") else end
        if name in ("array", "alignedat", "alignat", "alignat*"):
            end = self.argument(end, limit)[1]
        if name not in words.ALIGNED:
            self.add("begin", name, start, end)
        return end

    def negated(self, start: int, end: int, limit: int) -> int:
        match = re.compile(r"\s*(=|\\in\b|\\equiv\b)").match(self.text, end, limit)
        if not match:
            stop(start, r"the command \not is not known here")
        self.add("rel", "∉" if match[1] == r"\in" else "≠", start, match.end())
        return match.end()
