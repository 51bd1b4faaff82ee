r"""Letters, numbers and signs of LaTeX as tokens. Every character becomes a token, joins one, or is dropped.

Definition   letters side by side are letters unless they make a word (`letters`); `dQ` with a capital letter is the
             differential of Q: one name with the accent "d", unless a bare d in the formula says that d is a letter
Raises       Stopped at a character that is not known, and at a brace that closes nothing
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from unicodedata import normalize

from derivations.documents.formulas import signs
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.letters import accented_letter, identifier, is_label, pieces
from derivations.documents.formulas.numbers import latex_amount, printed_number, vulgar_fraction
from derivations.documents.formulas.tokens import MAX_TOKENS, Token, stop

__all__ = ["SignLexer"]

_SEPARATED = re.compile(r"\d+(?:,\d{3})+\Z")
_OPENING = {("open", "("), ("open", "["), ("open", "{"), ("comma", ","), ("{", "_")}
_DIFFERENTIAL = re.compile(r"d[A-Z]+\Z")
_BARE_D = re.compile(r"(?<![A-Za-z\\])d(?![A-Za-z_])")
_DEFINED = re.compile(r"(?:\A|\\\\|[,;&]|\\q?quad)\s*d[A-Z](?:[_^](?:\{[^{}]*\}|\w))*\s*&?\s*=")


class SignLexer:
    """The tokens so far, and what decides how the next character is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.braces: list[tuple[int, str, int]] = []  # open braces: place, how the grammar sees them, tokens before
        self.environments: list[str] = []
        self.spaced = False
        self.wide = False  # after `\;` and the like
        self.aligned = 0  # signs of alignment in this line
        self.single = 0  # so many arguments of one character may follow: `\frac12`, `x^12`
        self.fence_sides = ""  # after \left or \right: a period is an empty fence

    def add(self, kind: str, text: str, start: int, end: int, detail: str = "") -> None:
        """Add a token."""
        detail = "wide" if kind == "open" and self.wide else detail
        if kind == "big" and text in ("max", "min") and self.tokens and self.tokens[-1].text == "arg":
            start, text = self.tokens.pop().start, f"arg{text}"  # `\text{arg}\max`
        self.tokens.append(Token(kind, text, start, end, self.spaced, detail))
        self.spaced = self.wide = False
        if len(self.tokens) > MAX_TOKENS:
            stop(start, f"the formula has more than {MAX_TOKENS} parts")

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
        """Add a run of letters as words or single letters, and return where it ends.

        All methods that return an offset return the end of what they read.
        """
        run, before = self.text[start:end], self.tokens[-1].kind if self.tokens else ""
        spelled = run in words.GREEK and len(run) == 2  # `x_{pi}` has two indices: π is a command
        if before in ("_", "^") and not (before == "_" and run in words.LABELS):
            end, run = start + 1, run[0]
        elif self.single:
            self.single -= 1
            end, run = start + 1, run[0]
        elif (
            before == "{"
            and self.tokens[-1].detail
            and self.text[end : end + 1] in ("}", ",")
            and is_label(run)
            and not spelled
        ):
            self.add("word", run, start, end)
            return end
        if run in words.BIG and (run not in ("sum", "inf", "int") or self.text[end : end + 1] == "_"):
            self.add("big", words.BIG[run], start, end)
        elif len(run) > 1 and before == "_":
            self.add("word", run, start, end)
        elif _DIFFERENTIAL.match(run) and self.has_differentials(before):
            self.add("accent", "d", start, start + 1)
            for place in range(start + 1, end):
                self.add("letter", self.text[place], place, place + 1)
        else:
            for offset, piece in enumerate(run) if spelled else pieces(run):
                self.add("word" if len(piece) > 1 else "letter", piece, start + offset, start + offset + len(piece))
        return end

    def has_differentials(self, before: str) -> bool:
        """Return whether d before a capital letter makes a differential here: not after a number or in a script."""
        if before == "number" or (self.braces and self.braces[-1][1] == "argument"):
            return False
        return self.differentials_defined

    @cached_property
    def differentials_defined(self) -> bool:
        """Whether d may make differentials: the formula has no bare d, or a line such as `dQ = ...` defines one."""
        return not _BARE_D.search(self.text) or bool(_DEFINED.search(self.text))

    def number(self, written: str, start: int, end: int, limit: int) -> int:
        """Add a number with the scale, the unit or the percent sign after it."""
        before = (self.tokens[-1].kind, self.tokens[-1].text) if self.tokens else ("", "")
        raised = before[0] in ("_", "^") and self.spaced is False
        if raised or self.single:
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
        scale, unit, percent, following = "", "", False, end
        if not raised:  # what stands after `10^9` belongs to the whole of it
            scale, unit, percent, following = latex_amount(self.text, written, end, limit, side)
        number = printed_number(written, start, following, scale, unit, percent)
        self.tokens.append(Token("number", number.text, start, following, self.spaced, "", number))
        self.spaced = False
        return following

    def sign(self, character: str, start: int, end: int, limit: int) -> int:
        """Add a sign, or a brace."""
        if character == "{":
            argument = bool(self.tokens) and self.tokens[-1].kind in ("_", "^")
            self.braces.append((start, "argument" if argument else "{", len(self.tokens)))
            self.single = 0
            self.add("{", self.tokens[-1].text if argument else "{", start, end, "argument" if argument else "")
        elif character == "}":
            if not self.braces:
                stop(start, "a brace is closed that was not opened")
            opened, seen, first = self.braces.pop()
            if seen == "infix":  # the brace closes what stands after `\over`, and what stands around it
                self.add("}", "}", start, start)
                opened, seen, first = self.braces.pop()
            if seen in words.WRAPPED.values():
                self.add("close", seen, start, end)
            elif seen and seen != "box":
                self.add("}", "}", start, end)
            elif first < len(self.tokens):
                self.widen(first, opened, end)
        elif character == "$" and self.braces and self.braces[-1][1] == "box":
            self.spaced = True  # a box holds text, and mathematics between dollar signs
        elif character == "%":
            newline = self.text.find("\n", start, limit)
            return limit if newline < 0 else newline + 1
        elif character == "&":
            inner = self.environments[-1] if self.environments else ""
            if inner and inner not in words.ALIGNED:
                self.add("&", "&", start, end)
            elif inner not in words.ONE_COLUMN:
                self.aligned += 1
                if not self.aligned % 2:  # every second one begins another column: `x &= y && i = 1, 2`
                    self.add("quad", "column", start, end)
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

    def infix(self, command: str, start: int, end: int) -> None:
        r"""Rewrite `{a \over b}` as `{\frac{a}{b}}`: the content of the braces before the command is the numerator."""
        if not self.braces or self.braces[-1][1] == "infix":
            stop(start, "whether all of this stands above the line cannot be told")
        opened, seen, first = self.braces[-1]
        first += seen in ("{", "argument")  # the brace itself is a token
        self.tokens[first:first] = [Token("cmd", command, opened, opened), Token("{", "{", opened, opened)]
        self.tokens += [Token("}", "}", start, start), Token("{", "{", end, end)]
        self.braces.append((start, "infix", len(self.tokens)))

    def quoted(self, start: int, end: int) -> int:
        r"""Add words between quotation marks; a mark right after a letter is two primes, `f"(x)`."""
        mark = self.text[start]
        if mark == "<" and self.tokens and self.tokens[-1].kind not in ("comma", "open", "rel", "{"):
            self.add("rel", "<", start, start + 1)  # else the name of a token, `[x_1, <eos>]`
            return start + 1
        if mark == '"' and self.tokens and not self.spaced and self.tokens[-1].kind in ("letter", "}"):
            self.add("prime", "''", start, start + 1)
            return start + 1
        if end - start < 2:
            stop(start, "the quotation mark is not closed")
        content = self.text[start:end] if mark == "<" else self.text[start + 1 : end - 1].replace("\\,", " ")
        self.add("text", content, start, end)
        return end

    def widen(self, first: int, start: int, end: int) -> None:
        """Extend the tokens inside a font or colour command to the start of the command and to its closing brace."""
        for place, begin, finish in ((first, start, None), (-1, None, end)):
            token = self.tokens[place]
            begin, finish = token.start if begin is None else begin, token.end if finish is None else finish
            number = replace(token.number, start=begin, end=finish) if token.number else None
            self.tokens[place] = token._replace(start=begin, end=finish, number=number)

    def character(self, character: str, start: int, end: int) -> None:
        """Add a character other than a brace: an operator, a script, a Greek or a mathematical letter."""
        if character == "—":
            self.add("text", character, start, end)
            return
        if character in signs.SUBSCRIPTS or character in signs.SUPERSCRIPTS:
            script = character in signs.SUBSCRIPTS
            plain = (signs.SUBSCRIPTS if script else signs.SUPERSCRIPTS)[character]
            self.add("_" if script else "^", plain, start, start)
            if plain.isdigit():
                self.tokens.append(Token("number", plain, start, end, False, "", printed_number(plain, start, end)))
            else:
                self.add("letter", plain, start, end)
            return
        if character == '"':
            self.quoted(start, end)
            return
        if accented := accented_letter(character, start, end, self.tokens):
            self.tokens += accented
            return
        fraction = vulgar_fraction(character, start, end)
        if fraction:
            self.tokens.append(Token("number", character, start, end, self.spaced, "", fraction))
            self.spaced = False
            return
        character = character if character in signs.SIGNS else normalize("NFKC", character)
        if character not in signs.SIGNS and not (len(character) == 1 and character.isascii() and character.isalnum()):
            stop(start, f"the character {character!r} is not known")
        kind, name = signs.SIGNS.get(character, ("letter", character))
        if self.fence_sides and kind == "bar":
            kind = self.fence_sides
        if kind in ("_", "^"):
            self.single = 0
        self.add(kind, name, start, end)
