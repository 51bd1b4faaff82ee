r"""Text and fonts of LaTeX as tokens: names, conditions, connectives, words, letters of other alphabets.

Definition   `\text{head}` is a name, `\text{if }` begins a condition, `\text{and}` separates, `\text{ 的第 }` is none
             of them: words with a space at their ends are mere words. `\mathrm{d}` right before a letter makes the
             differential of it: one name with the accent "d"
"""

from __future__ import annotations

import re
from abc import abstractmethod

from derivations.documents.formulas import signs
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.latex_signs import SignLexer
from derivations.documents.formulas.letters import is_word
from derivations.documents.formulas.tokens import stop

__all__ = ["FontLexer"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_ /.][A-Za-z0-9]+)*\Z")
_ACRONYM = re.compile(r"[A-Z]{2,}\Z")  # `\text{OR}` is the odds ratio, `\text{ OR }` a word
_ESCAPED = re.compile(r"\\([_&%#${} ])")
_CIRCUMFLEX = re.compile(r"\\textasciicircum(?:\{\}| |(?![A-Za-z]))")
_BESIDE = re.compile(
    r"\s*(?:[A-Za-z_^(\[]|\\(?:\{|math|bold|bm|top|left|hat|operatorname|text\{[a-z]{1,20}\}\s*(?:\\left\s*)?\())"
)
_BEFORE_LETTER = re.compile(
    r"\s*(?:[A-Za-z]|\\(?:mathbf|boldsymbol|bm|mathit)\b|\\(?:text|mathrm)\{[A-Za-z]+\}|\\(?:"
    + "|".join(sorted(words.GREEK))
    + r")(?![A-Za-z]))"
)
_IN_FONT = re.compile(r"\\(?:text[a-z]{2}|emph|mathrm|mathbf)\s*\{([^{}\\]*)\}")
_SIZED = re.compile(r"\\(?:tiny|scriptsize|footnotesize|small|normalsize|large|Large)(?![A-Za-z])\s*\{?")
_FONT = re.compile(r"\\(?:rm|(?:mathrm|text|textrm|operatorname\*?)\s*\{)\s*([^{}]*)\}?\Z")
_ALPHABET = re.compile(
    r"\s*(?:\{\s*(?P<word>[A-Za-z0-9]+)\s*\}|(?P<letter>[A-Za-z])|\{\s*(?P<scripted>[A-Za-z])(?=\s*[_^]))"
)
_MAX_TEXT_DEPTH = 4
_MAX_BRACES = 60
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


class FontLexer(SignLexer):
    """Reads the content of commands for text and fonts."""

    @abstractmethod
    def read(self, position: int, end: int, depth: int) -> None:
        """Read the text from `position` to `end`. `depth` counts the mathematics nested inside text."""

    def behind_space(self, position: int, limit: int) -> int:
        """Return the position after any spaces before an argument."""
        while position < limit and self.text[position] in " \t\n":
            position += 1
        return position

    def argument(self, position: int, limit: int, optional: bool = False) -> tuple[str, int]:
        """Return the text between the next braces, and where they end."""
        position = self.behind_space(position, limit)
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

    def text_argument(self, start: int, end: int, limit: int, depth: int) -> int:
        """Read the argument of a text command, including mathematics between dollar signs."""
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
        kind, bare = _role(content)
        if kind == "space":
            self.spaced = True
        elif kind == "command":
            stop(start, "a command inside of text")
        elif kind == "sign":
            self.character(bare, start, end)
        elif bare == "d" and _BEFORE_LETTER.match(self.text, end):
            self.add("accent", "d", start, end)
        elif kind == "name":
            self.identifier(bare, start, end)
        else:
            self.add(kind, bare, start, end, "upright" if kind in ("letter", "word") else "")

    def font(self, name: str, start: int, end: int, limit: int) -> int:
        """Read the argument of a font command. Upright letters form one word, other letters are read as usual."""
        if not re.compile(r"\s*\{").match(self.text, end, limit):
            return end  # one letter, or the old form `{\bf x}`
        content, after = self.argument(end, limit)
        if name == "mathop" and (inner := _FONT.match(content.strip())):  # `\mathop{\rm max}`
            content = inner[1]
        bare = _ESCAPED.sub(r"\1", content).strip()
        if name in words.ROMAN and bare in words.BIG and bare != "int":
            self.add("big", words.BIG[bare], start, after)
        elif (big := "".join(re.findall("[a-z]+", bare.replace("\\,", "")))) in ("argmax", "argmin") and len(bare) < 12:
            self.add("big", big, start, after)
        elif bare == "d" and name in words.ROMAN and _BEFORE_LETTER.match(self.text, after, limit):
            self.add("accent", "d", start, after)
        elif bare in ("0", "1") and name in words.BOLD and self.is_vector(after, limit):
            self.add("letter", bare, start, after, "bold")
        elif bare and _NAME.match(bare) and (name in words.ROMAN or len(bare) == 1 or is_word(bare)):
            detail = "bold" if name in words.BOLD else "upright"
            if detail == "upright":
                self.identifier(bare, start, after)
            else:
                self.add("letter" if len(bare) == 1 else "word", bare, start, after, detail)
        elif name in words.ROMAN and bare and not bare.isascii():
            self.words(content, start, after)
        else:
            return self.opened(content, start, end)
        return after

    def is_vector(self, end: int, limit: int) -> bool:
        """Return whether a bold 0 or 1 is a vector, because it has a factor beside it or a script."""
        beside = bool(self.tokens) and self.tokens[-1].kind in ("letter", "word", "close", "}")
        return beside or bool(_BESIDE.match(self.text, end, limit))

    def opened(self, content: str, start: int, end: int) -> int:
        r"""Drop the braces of a font command where they group nothing: `\mathbf{0.73}`."""
        scripted = bool(self.tokens) and self.tokens[-1].kind in ("_", "^", "cmd", "accent", "}")
        if _unscripted(content) and not scripted:
            brace = self.text.index("{", end)
            self.braces.append((start, "", len(self.tokens)))
            return brace + 1
        return end

    def alphabet(self, accent: str, start: int, end: int, limit: int) -> int:
        """Read a letter of another alphabet: a blackboard R is a space, a calligraphic L a letter."""
        match = _ALPHABET.match(self.text, end, limit)
        if not match:
            stop(start, "a letter is missing")
        letter = match["word"] or match["letter"] or match["scripted"]
        if match["scripted"]:  # `\mathbb{R^n}`: the scripts stand in the braces too, which say nothing then
            self.braces.append((start, "", len(self.tokens)))
        if accent == "bb" and letter in "RNZCQF":
            self.add("space", letter, start, match.end())
        elif accent == "bb" and letter in "EVP":
            self.add("letter", letter, start, match.end(), "upright")
        else:
            self.add("word" if len(letter) > 1 else "letter", letter, start, match.end(), accent)
        return match.end()


def _unscripted(content: str) -> bool:
    """Return whether the braces around `content` may be dropped, because it has no sign that binds weakly."""
    return not any(sign in content for sign in "+-=<>,&")


def _unbalanced(content: str) -> bool:
    return content.count("(") != content.count(")") or content.count("[") != content.count("]")


def _role(content: str) -> tuple[str, str]:
    """Return the kind of token that a text is, and its cleaned words.

    The caller refines the kinds "space", "command", "sign" and "name".
    """
    clean = _ESCAPED.sub(r"\1", _CIRCUMFLEX.sub("^", content)).replace("~", " ").replace("\\,", " ")
    clean = _IN_FONT.sub(r"\1", clean)
    if "\\" in clean:  # `A\small{TTN}` is one word in two sizes
        clean = _SIZED.sub("", clean).replace("}", "") if _SIZED.search(clean) else clean
    bare = " ".join(clean.split())
    lower = bare.lower().strip(" ,:;")
    outer = clean != clean.strip()
    if not bare:
        return "space", ""
    if "\\" in bare or "{" in bare:
        return "command", bare
    if bare in ("T", "top"):
        return "letter", "T"
    if (lower in words.CONNECTIVES or lower.rstrip(".") in words.CONNECTIVES) and (outer or not _ACRONYM.match(bare)):
        return "break", bare
    if lower == "mod":
        return "op", "mod"
    if not lower.strip("."):
        return signs.SIGNS.get(bare[0], ("text", bare))
    if _begins_condition(lower):
        return "cond", bare
    if _NAME.match(bare) and (not outer or bare in words.FUNCTIONS or len(bare) == 1):
        return "name", bare
    if not outer and not bare.isascii() and bare.isalnum():
        return "word", bare
    return ("sign", bare) if bare in signs.SIGNS else ("text", bare)


def _begins_condition(lower: str) -> bool:
    """Return whether a text begins with a condition word. A word of one Chinese character must be the whole text."""
    for word in words.CONDITION_WORDS:
        if lower.startswith(word):
            behind = lower[len(word) : len(word) + 1]
            if not behind or (not behind.isalnum() if word.isascii() else len(word) > 1):
                return True
    return False
