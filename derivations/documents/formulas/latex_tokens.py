r"""LaTeX as tokens: every character is one, or belongs to one, or is dropped because it says only how it looks.

Definition   words in `\text{...}` are names (`\text{head}_i`), conditions (`\text{if } x > 0`), connectives
             (`\text{and}`) or mere words; letters side by side are letters unless they make a word (`letters`)
Raises       Stopped at a command that is in no table, and at a brace or an environment that is not closed
Assumes      linear time: no character is looked at more often than braces of text inside text are deep (bounded)
"""

from __future__ import annotations

import re
from unicodedata import normalize

from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.latex_amounts import latex_amount
from derivations.documents.formulas.latex_words import ESCAPED, NAME, role
from derivations.documents.formulas.letters import identifier, is_label, is_word, pieces
from derivations.documents.formulas.numbers import printed_number
from derivations.documents.formulas.tokens import MAX_TOKENS, Token, stop

__all__ = ["latex_tokens"]

_LEXEME = re.compile(
    r"""(?P<space>[ \t\r\n~\u00a0\u2009\u202f\u3000]+)
    |   (?P<command>\\(?:(?:operatorname|hspace|vspace|tag|align|cases)\*|[A-Za-z]+))
    |   (?P<newline>\\\\\*?(?:[ ]*\[\s*-?[\d.]+\s*[a-z]{2}\s*\])?)
    |   (?P<control>\\.)
    |   (?P<number>\d{1,3}(?:(?:,|\{,\}|\\[,;!\ ]|[~\u00a0\u2009\u202f])\d{3}){1,12}(?![,\d]?\d)(?:\.\d+)?
                  |\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)
    |   (?P<identifier>[A-Za-z]+(?:\\_[A-Za-z0-9]+)+)
    |   (?P<letters>[A-Za-z]+)
    |   (?P<wide>[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々]+)
    |   (?P<dots>\.\.\.)
    |   (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_SEPARATED = re.compile(r"\d+(?:,\d{3})+\Z")
_OPENING = {("open", "("), ("open", "["), ("open", "{"), ("comma", ","), ("{", "_")}
_ARGUMENT_OF = re.compile(r"\s*(?:\\[,!;]\s*)?\\?(max|min)(?![A-Za-z])")
_BESIDE = re.compile(r"\s*(?:[A-Za-z_^]|\\(?:math|bold|bm|top|left|hat))")
_MAX_TEXT_DEPTH = 4
_MAX_BRACES = 60
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def latex_tokens(text: str) -> list[Token]:
    """Return the tokens of a formula in LaTeX."""
    lexer = _Lexer(text)
    lexer.read(0, len(text), 0)
    if lexer.braces:
        stop(lexer.braces[-1][0], "the brace is not closed")
    if lexer.environments:
        stop(len(text), f"the environment {lexer.environments[-1]} is not closed")
    return lexer.tokens


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.braces: list[tuple[int, str]] = []  # where open braces stand, and whether they are seen by the grammar
        self.environments: list[str] = []
        self.spaced = False
        self.single = 0  # so many arguments of one character may follow: `\frac12`, `x^12`
        self.fence_sides = ""  # after \left or \right: a period is an empty fence

    def add(self, kind: str, text: str, start: int, end: int, detail: str = "") -> None:
        self.tokens.append(Token(kind, text, start, end, self.spaced, detail))
        self.spaced = False
        if len(self.tokens) > MAX_TOKENS:
            stop(start, f"the formula has more than {MAX_TOKENS} parts")

    def read(self, position: int, end: int, depth: int) -> None:
        """Read the stretch; `depth` counts mathematics inside text."""
        while position < end:
            match = _LEXEME.match(self.text, position, end)
            assert match is not None  # the last alternative is any character
            kind = match.lastgroup
            following = match.end()
            if kind == "space":
                self.spaced = True
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
            elif kind == "wide":
                self.add("text", match.group(), position, following)
            elif kind == "dots":
                self.add("dots", "…", position, following)
            else:
                following = self.sign(match.group(), position, following, end)
            position = following

    # --- letters, numbers, signs ---

    def identifier(self, name: str, start: int, end: int) -> None:
        r"""Add a name with its labels, `d\_model`, as if the labels were subscripts."""
        base, labels = identifier(name)
        self.add("letter" if len(base) == 1 or base in words.GREEK else "word", base, start, end, "upright")
        if labels:
            self.add("_", "_", end, end)
            self.add("{", "_", end, end, "argument")
            for number, label in enumerate(labels):
                if number:
                    self.add("comma", ",", end, end)
                if label.isdigit():
                    number_token = Token("number", label, end, end, False, "", printed_number(label, end, end))
                    self.tokens.append(number_token)
                else:
                    self.add("letter" if len(label) == 1 else "word", label, end, end)
            self.add("}", "}", end, end)

    def letters(self, start: int, end: int) -> int:
        run, before = self.text[start:end], self.tokens[-1].kind if self.tokens else ""
        if before in ("_", "^") and not (before == "_" and run in words.LABELS):
            end, run = start + 1, run[0]
        elif self.single:
            self.single -= 1
            end, run = start + 1, run[0]
        elif before == "{" and self.tokens[-1].detail and self.text[end : end + 1] in ("}", ",") and is_label(run):
            self.add("word", run, start, end)
            return end
        if run in words.BIG and (run not in ("sum", "inf", "int") or self.text[end : end + 1] == "_"):
            self.add("big", words.BIG[run], start, end)
        elif len(run) > 1 and before == "_":
            self.add("word", run, start, end)
        else:
            for offset, piece in pieces(run):
                self.add("word" if len(piece) > 1 else "letter", piece, start + offset, start + offset + len(piece))
        return end

    def number(self, written: str, start: int, end: int, limit: int) -> int:
        before = (self.tokens[-1].kind, self.tokens[-1].text) if self.tokens else ("", "")
        if (before[0] in ("_", "^") and self.spaced is False) or self.single:
            self.single = max(self.single - 1, 0)
            written, end = written[0], start + 1
            if written == ".":
                stop(start, "a decimal point without a digit before it")
        elif _SEPARATED.match(written) and (before in _OPENING or (before[0] == "{" and self.tokens[-1].detail)):
            after = self.text[end : end + 12].lstrip(" ~").removeprefix("\\right").lstrip()[:2]
            if after[:1] in tuple(")],}") or after == "\\}":  # (1,200) lists 1 and 200
                end = start + written.index(",")
                written = self.text[start:end]
        side = not self.tokens or self.tokens[-1].kind == "rel"
        scale, unit, percent, following = latex_amount(self.text, written, end, limit, side)
        number = printed_number(written, start, following, scale, unit, percent)
        self.tokens.append(Token("number", number.text, start, following, self.spaced, "", number))
        self.spaced = False
        return following

    def sign(self, character: str, start: int, end: int, limit: int) -> int:
        if character == "{":
            argument = bool(self.tokens) and self.tokens[-1].kind in ("_", "^")
            self.braces.append((start, "{"))
            self.single = 0
            self.add("{", self.tokens[-1].text if argument else "{", start, end, "argument" if argument else "")
        elif character == "}":
            if not self.braces:
                stop(start, "a brace is closed that was not opened")
            if self.braces.pop()[1]:
                self.add("}", "}", start, end)
        elif character == "%":
            newline = self.text.find("\n", start, limit)
            return limit if newline < 0 else newline + 1
        elif character == "&":
            inner = self.environments[-1] if self.environments else ""
            if inner and inner not in words.ALIGNED:
                self.add("&", "&", start, end)
            self.spaced = True  # elsewhere it only aligns lines
        elif character == "." and self.fence_sides:
            self.add(self.fence_sides, ".", start, end)
        elif character == ":" and self.text[end : end + 1] == "=":
            self.add("rel", ":=", start, end + 1)
            end += 1
        else:
            self.character(character, start, end)
        self.fence_sides = ""
        return end

    def character(self, character: str, start: int, end: int) -> None:
        if character == "—":
            self.add("text", character, start, end)
            return
        if character in words.SUBSCRIPTS or character in words.SUPERSCRIPTS:
            script = character in words.SUBSCRIPTS
            plain = (words.SUBSCRIPTS if script else words.SUPERSCRIPTS)[character]
            self.add("_" if script else "^", plain, start, start)
            if plain.isdigit():
                self.tokens.append(Token("number", plain, start, end, False, "", printed_number(plain, start, end)))
            else:
                self.add("letter", plain, start, end)
            return
        character = character if character in words.SIGNS else normalize("NFKC", character)
        if character not in words.SIGNS and not (len(character) == 1 and character.isascii() and character.isalnum()):
            stop(start, f"the character {character!r} is not known")
        kind, name = words.SIGNS.get(character, ("letter", character))
        if self.fence_sides and kind == "bar":
            kind = self.fence_sides
        if kind in ("_", "^"):
            self.single = 0
        self.add(kind, name, start, end)

    # --- commands ---

    def command(self, name: str, start: int, end: int, limit: int, depth: int) -> int:
        sides, self.fence_sides = self.fence_sides, ""
        if name in ("left", "right", "middle"):
            self.fence_sides = {"left": "open", "right": "close", "middle": "mid"}[name]
        elif name in words.DROPPED:
            self.spaced = self.spaced or name in (" ", ",", ";", ":")
        elif name in words.DROPPED_WITH_ARGUMENT:
            return self.argument(end, limit, optional=True)[1]
        elif name in words.TRANSPARENT:
            return self.transparent(name, end, limit)
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
        elif name == "not":
            return self.negated(start, end, limit)
        elif name == "arg" and (match := _ARGUMENT_OF.match(self.text, end, limit)):
            self.add("big", f"arg{match[1]}", start, match.end())
            return match.end()
        elif name == "|":
            self.add(sides or "bar", "‖", start, end)
        elif name in ("{", "}"):
            self.add("open" if name == "{" else "close", name, start, end)
        elif name == "%":
            stop(start, "a percent sign without a number before it")
        elif name in words.COMMANDS:
            kind, text = words.COMMANDS[name]
            self.add(sides if sides and kind == "bar" else kind, text, start, end)
            self.single = {"frac": 2, "sqrt": 1}.get(text, 0) if kind == "cmd" else 0
        else:
            stop(start, f"the command \\{name} is not known")
        return end

    def argument(self, position: int, limit: int, optional: bool = False) -> tuple[str, int]:
        """Return the text between the next braces, and where they end."""
        while position < limit and self.text[position] in " \t\n":
            position += 1
        if self.text[position : position + 1] != "{" or position >= limit:
            if optional:
                return "", position
            stop(min(position, len(self.text)), "an argument in braces is missing")
        depth = 0
        if len(self.braces) > _MAX_BRACES:
            stop(position, "too many braces inside one another")
        for match in _BRACE.finditer(self.text, position, limit):
            depth += (match.group() == "{") - (match.group() == "}")
            if not depth:
                return self.text[position + 1 : match.start()], match.end()
        stop(position, "the brace is not closed")

    def transparent(self, name: str, end: int, limit: int) -> int:
        """Drop a command that colours or frames, with its first arguments; its braces remain only after ^ and _."""
        for _ in range(words.TRANSPARENT[name]):
            end = self.argument(end, limit)[1]
        while end < limit and self.text[end] in " \t\n":
            end += 1
        if self.text[end : end + 1] == "{" and not (self.tokens and self.tokens[-1].kind in ("_", "^", "cmd")):
            self.braces.append((end, ""))
            return end + 1
        return end

    def text_argument(self, start: int, end: int, limit: int, depth: int) -> int:
        content, after = self.argument(end, limit)
        first = after - len(content) - 1
        if content.count("$") % 2:
            stop(start, "a dollar sign inside text is not closed")
        if "$" in content or _unbalanced(content):
            if depth >= _MAX_TEXT_DEPTH:
                stop(start, "text inside text inside text")
            for match in re.compile(r"\$(?P<inner>[^$]*)\$|(?P<bracket>[()\[\]])|(?P<words>[^$()\[\]]+|\$)").finditer(
                content
            ):
                place = first + match.start()
                if match["inner"] is not None:
                    self.read(place + 1, place + 1 + len(match["inner"]), depth + 1)
                elif match["bracket"]:
                    self.sign(match["bracket"], place, place + 1, limit)
                elif match["words"].strip():
                    self.words(match["words"], place, place + len(match["words"]))
        else:
            self.words(content, start, after)
        return after

    def words(self, content: str, start: int, end: int) -> None:
        """Add the words of a text: a condition, a connective, a name, or words."""
        kind, bare = role(content)
        if kind == "space":
            self.spaced = True
        elif kind == "command":
            stop(start, "a command inside of text")
        elif kind == "sign":
            self.character(bare, start, end)
        elif kind == "name":
            self.identifier(bare, start, end)
        else:
            self.add(kind, bare, start, end, "upright" if kind in ("letter", "word") else "")

    def font(self, name: str, start: int, end: int, limit: int) -> int:
        """Read a word in a font: upright letters are one word, others are as they stand."""
        if not re.compile(r"\s*\{").match(self.text, end, limit):
            return end  # one letter, or the old form `{\bf x}`
        content, after = self.argument(end, limit)
        bare = ESCAPED.sub(r"\1", content).strip()
        if name in words.ROMAN and bare in words.BIG and bare != "int":
            self.add("big", words.BIG[bare], start, after)
        elif (big := "".join(re.findall("[a-z]+", bare.replace("\\,", "")))) in ("argmax", "argmin") and len(bare) < 12:
            self.add("big", big, start, after)
        elif bare in ("0", "1") and name in words.BOLD and self.is_vector(after, limit):
            self.add("letter", bare, start, after, "bold")
        elif bare and NAME.match(bare) and (name in words.ROMAN or len(bare) == 1 or is_word(bare)):
            detail = "bold" if name in words.BOLD else "upright"
            if detail == "upright":
                self.identifier(bare, start, after)
            else:
                self.add("letter" if len(bare) == 1 else "word", bare, start, after, detail)
        elif name in words.ROMAN and bare and not bare.isascii():
            self.words(content, start, after)
        else:
            return self.opened(content, end)
        return after

    def is_vector(self, end: int, limit: int) -> bool:
        """Say whether a bold 0 or 1 is a vector: if a factor stands beside it, or a script is on it."""
        beside = bool(self.tokens) and self.tokens[-1].kind in ("letter", "word", "close", "}")
        return beside or bool(_BESIDE.match(self.text, end, limit))

    def opened(self, content: str, end: int) -> int:
        r"""Drop the braces of a font, `\mathbf{0.73}`, where they group nothing; else they remain."""
        scripted = bool(self.tokens) and self.tokens[-1].kind in ("_", "^", "cmd", "accent", "}")
        if _unscripted(content) and not scripted:
            brace = self.text.index("{", end)
            self.braces.append((brace, ""))
            return brace + 1
        return end

    def alphabet(self, accent: str, start: int, end: int, limit: int) -> int:
        """Read a letter of another alphabet: R is a space, L a loss."""
        match = re.compile(r"\s*(?:\{\s*([A-Za-z0-9]+)\s*\}|([A-Za-z]))").match(self.text, end, limit)
        if not match:
            stop(start, "a letter is missing")
        letter = match[1] or match[2]
        if accent == "bb" and letter in "RNZCQF":
            self.add("space", letter, start, match.end())
        elif accent == "bb" and letter in "EVP":
            self.add("letter", letter, start, match.end(), "upright")
        else:
            self.add("word" if len(letter) > 1 else "letter", letter, start, match.end(), accent)
        return match.end()

    def environment(self, command: str, start: int, end: int, limit: int) -> int:
        name, end = self.argument(end, limit)
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


def _unscripted(content: str) -> bool:
    """Say whether braces around this may be dropped: nothing in it binds weaker than what may stand outside."""
    return not any(sign in content for sign in "+-=<>,&")


def _unbalanced(content: str) -> bool:
    return content.count("(") != content.count(")") or content.count("[") != content.count("]")
