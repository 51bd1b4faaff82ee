r"""Printed names: a base with a subscript and a superscript, to which indices are added.

`Name("W", sup="Q")` with the index i of a family prints as W_{i}^{Q}, `Name("b", "1")` with the index j as b_{1,j}.
A `#` in a script is replaced by the index of a family: W_Q^{(#)} prints as W_{Q}^{(i)}.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["GREEK", "Name", "NotationError", "is_gradient", "joined", "parse_name", "spelled", "with_comma"]

_SMALL_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon"
_OTHER_GREEK = "phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_OTHER_LETTERS = "varepsilon vartheta varphi ell top intercal prime star ast dagger circ max min"
_ACCENTED = "hat bar tilde vec dot ddot check widehat widetilde overline underline"
_ALPHABETIC = "mathrm mathbf mathcal mathsf mathit mathbb mathfrak boldsymbol"

GREEK = frozenset(f"{_SMALL_GREEK} {_OTHER_GREEK}".split())
_LETTERS = GREEK | frozenset(_OTHER_LETTERS.split())
_ACCENTS = frozenset(_ACCENTED.split())
_ALPHABETS = frozenset(_ALPHABETIC.split())
_WORDS = frozenset({"text", "operatorname"})
_TOKEN = re.compile(r"\\[A-Za-z]+|\\[_,;! %&]|[A-Za-z0-9'(),.:;+*=<>|/\[\] #_^{}-]")
_SCRIPTS = ("_", "^")
_GRADIENT = re.compile(r"d([2-9]?)([A-Za-z].*)")


class NotationError(ValueError):
    """A notation cannot be used; the message names the file, the entry and the remedy in one sentence."""


@dataclass(frozen=True)
class Name:
    """A printed name: base, subscript and superscript; `row` is the base for rows if it is not the small letter."""

    base: str
    sub: str = ""
    sup: str = ""
    row: str = ""

    def of_row(self) -> "Name":
        """Return the name of a row: x for X, also under an accent; other bases do not change."""
        small = re.sub(r"^((?:\\[a-z]+\{)*)([A-Z])(\}*)$", lambda m: m[1] + m[2].lower() + m[3], self.base)
        return replace(self, base=self.row or small)

    def latex(self, indices: Sequence[str] = (), *, member: bool = False) -> str:
        """Return the LaTeX of the name with indices; with `member`, the first one is the index of a family."""
        family, rest = (indices[0], indices[1:]) if member and indices else ("", indices)
        below, above = self.sub, self.sup
        if "#" in below + above:
            below, above, family = _filled(below, family), _filled(above, family), ""
        below = with_comma(below, with_comma(family, joined(rest)))
        return self.base + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _filled(text: str, family: str) -> str:
    # Without an index, the brackets around # are dropped too: W_Q^{(#)} prints as W_{Q}.
    return text.replace("#", family) if family else re.sub(r"[(\[]?#[)\]]?", "", text)


def with_comma(left: str, right: str) -> str:
    """Return two texts with a comma between them, or the only one that is not empty."""
    return f"{left},{right}" if left and right else left or right


def joined(indices: Sequence[str]) -> str:
    """Return indices side by side: ij when each is one letter or digit, otherwise i,j+1."""
    simple = all(len(index) == 1 or re.fullmatch(r"\\dv[A-Za-z]+", index) for index in indices)
    return "".join(indices) if simple else ",".join(indices)


def is_gradient(name: str) -> bool:
    """Return whether a name such as dX denotes a gradient; the name of a Greek letter, such as delta, does not."""
    base = name.partition("_")[0]
    return bool(_GRADIENT.fullmatch(base)) and base not in GREEK


def spelled(name: str) -> Name:
    r"""Return the printed form of a name outside the notation: `mu` is \mu, `Wq` W_q, `X_hat` \hat{X}."""
    base, *scripts = (part for part in name.split("_") if part)
    differential = _GRADIENT.fullmatch(base)
    if differential and is_gradient(base) and not base[1:].isdigit():
        order, rest = differential.groups()
        of = spelled("_".join([rest, *scripts]))
        return replace(of, base=rf"\mathrm{{d}}{f'^{{{order}}}' if order else ''}{of.base}", row="")
    subscripted = re.fullmatch(r"([A-Z])([a-z])", base)
    if subscripted and base not in GREEK:  # Wq: W_q
        base, scripts = subscripted[1], [subscripted[2], *scripts]
    numbered = re.fullmatch(r"([A-Za-z]+)([0-9]+)", base)
    if numbered:
        base, scripts = numbered[1], [numbered[2], *scripts]
    text = _letters(base)
    for accent in (script for script in scripts if script in _ACCENTS):
        text = f"\\{accent}{{{text}}}"
    return Name(text, ",".join(_letters(script) for script in scripts if script not in _ACCENTS))


def _letters(word: str) -> str:
    if word in GREEK:
        return f"\\{word}"
    return word if len(word) == 1 or word.isdigit() else f"\\mathrm{{{word}}}"


def parse_name(latex: str) -> Name:
    r"""Read one printed name: a base, then at most one subscript and one superscript, such as "W_{Q}^{(#)}".

    Raises `NotationError` for any other text: unbalanced braces, a macro that is neither a letter nor an accent nor an
    alphabet, a character that would end the formula.
    """
    tokens = _TOKEN.findall(latex)
    if not latex.strip() or "".join(tokens) != latex:
        raise NotationError(
            f"the name {latex!r} is empty or contains a sign that is not allowed: use letters and scripts"
        )
    if _read(tokens, 0, latex) != len(tokens):
        raise _bad(latex)
    base, scripts, at = "", {}, 0
    while at < len(tokens):
        if tokens[at] in _SCRIPTS:
            end = _atom(tokens, at + 1, latex)
            script = tokens[at + 1 : end]
            scripts[tokens[at]] = "".join(script[1:-1] if script[0] == "{" else script)
        else:
            end = _atom(tokens, at, latex)
            base += "".join(tokens[at:end])
            if scripts:
                raise NotationError(f"the name {latex!r} goes on after its scripts: put the scripts at the end")
        at = end
    if "#" in base:
        raise NotationError(f"the name {latex!r} has # in its base: it marks the place of an index in a script")
    return Name(base, scripts.get("_", ""), scripts.get("^", ""))


def _bad(latex: str) -> NotationError:
    return NotationError(
        f"the name {latex!r} is not a LaTeX name: check its braces, that a script follows a letter and occurs once, "
        "and that its macros are letters, accents or alphabets"
    )


def _read(tokens: Sequence[str], at: int, latex: str) -> int:
    """Return the end of a sequence of letters with scripts: a closing brace or the end of the tokens."""
    while at < len(tokens) and tokens[at] != "}":
        at, seen = _atom(tokens, at, latex), set()
        while at < len(tokens) and tokens[at] in _SCRIPTS:
            if tokens[at] in seen:
                raise _bad(latex)
            seen.add(tokens[at])
            at = _atom(tokens, at + 1, latex)
    return at


def _atom(tokens: Sequence[str], at: int, latex: str) -> int:
    """Return the end of one letter, group or accented letter."""
    if at >= len(tokens) or tokens[at] in ("}", *_SCRIPTS):
        raise _bad(latex)
    macro = tokens[at][1:] if tokens[at].startswith("\\") and tokens[at][1:].isalpha() else ""
    if macro in _WORDS:
        end = tokens.index("}", at) if "}" in tokens[at:] else at
        if tokens[at + 1 : at + 2] != ["{"] or end == at + 2 or {*_SCRIPTS, "{", "#"} & set(tokens[at + 2 : end]):
            raise _bad(latex)
        return end + 1
    if macro in _ACCENTS | _ALPHABETS:
        if tokens[at + 1 : at + 2] != ["{"]:
            raise _bad(latex)
        return _atom(tokens, at + 1, latex)
    if macro and macro not in _LETTERS:
        raise _bad(latex)
    if tokens[at] != "{":
        return at + 1
    end = _read(tokens, at + 1, latex)
    if end >= len(tokens) or end == at + 1:
        raise _bad(latex)
    return end + 1
