"""Rewriting of tokens before parsing: groups of scripts, continued lines, conditions in brackets.

Definition   a line that begins with a relation or an operator goes on with the line before
Assumes      linear time; every token is kept but the breaks before lines that go on
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.formulas.bars import BREAKS, told_bars
from derivations.documents.formulas.systems import without_brace
from derivations.documents.formulas.tokens import Token

__all__ = ["arranged"]

BRACKETS = ("(", "（")  # of a remark after a statement, which nothing goes on with
_ENDS_STATEMENT = frozenset(("newline", "quad", "comma", "period", "semicolon"))


def arranged(tokens: list[Token], end: int) -> list[Token]:
    """Return the tokens rewritten for the grammar, with an end token after them."""
    ready = told_bars(list(_groups(_joined(_noted(_set_apart(_remarked(without_brace(tokens))))))))
    ready.append(Token("end", "", end, end))
    return ready


def _remarked(tokens: list[Token]) -> list[Token]:
    r"""Turn words in brackets at the end of a statement into a condition: `64 \text{（per head）}`."""
    for place, token in enumerate(tokens):
        last = place + 1 == len(tokens) or tokens[place + 1].kind in _ENDS_STATEMENT
        if token.kind == "text" and place and last and token.text[:1] in BRACKETS and token.text[-1:] in ")）":
            tokens[place] = token._replace(kind="cond")
    kinds = [token.kind for token in tokens[-3:]]
    if len(tokens) > 3 and kinds == ["open", "text", "close"] and tokens[-3].spaced:  # `σ(z)   (激活)` in plain text
        tokens = [*tokens[:-3], tokens[-2]._replace(kind="cond")]
    return tokens


def _set_apart(tokens: list[Token]) -> list[Token]:
    r"""Remove the brackets around a condition or a statement after a formula: `\; (i = 1, \dots, n)`."""
    ready, dropped = list(tokens), set[int]()
    opened: list[tuple[int, set[str]]] = []
    for place, token in enumerate(tokens):
        if _numbers_formula(tokens, place):
            dropped |= set(range(place - 1, place + 3))
        if token.kind in ("open", "{", "begin"):
            opened.append((place, set()))
        elif token.kind in ("close", "}", "finish") and opened:
            first, inside = opened.pop()
            opening = tokens[first]
            apart = opening.detail == "wide" or (first > 0 and tokens[first - 1].kind == "quad")
            last = place + 1 == len(tokens) or tokens[place + 1].kind in _ENDS_STATEMENT
            if not opened and first and apart and last and opening.text + token.text == "()" and "rel" in inside:
                said = ("break", "where") if "space" in inside else ("cond", "for")
                ready[first] = Token(*said, opening.start, opening.end)
                dropped |= {place, first} if tokens[first + 1].kind == "cond" else {place}
        elif opened:
            opened[-1][1].add(token.kind)
    return [token for place, token in enumerate(ready) if place not in dropped]


def _numbers_formula(tokens: list[Token], place: int) -> bool:
    r"""Return whether an equation number, `\qquad (3)`, begins here at the end of a formula with a relation."""
    around = tokens[place - 1 : place + 4] if place else []
    kinds = [token.kind for token in around]
    return (
        kinds[:4] == ["quad", "open", "number", "close"]
        and kinds[4:] in ([], ["newline"], ["}"], ["finish"])
        and around[1].text == "("
        and any(token.kind == "rel" for token in tokens[:place])
    )


def _noted(tokens: list[Token]) -> Iterator[Token]:
    r"""Move the remarks on lines, `y &= x && \text{by the rule} \\ &= z`, to the end of a chain that continues."""
    notes: list[Token] = []
    noting, matrices = False, 0
    for place, token in enumerate(tokens):
        matrices += (token.kind == "begin") - (token.kind == "finish")
        if token.kind == "newline" and not matrices:
            noting = False
            if place + 1 == len(tokens) or tokens[place + 1].kind not in ("rel", "arrow", "newline"):
                yield from notes
                notes = []
        apart = (token.kind == "quad" and token.text == "column") or _is_remark(tokens, place)
        noting = noting or (apart and not matrices)
        if noting:
            notes.append(token)
        else:
            yield token
    yield from notes


def _is_remark(tokens: list[Token], place: int) -> bool:
    r"""Return whether a remark on a continued line begins here: words, or something in brackets, after a space.

    Words in brackets at the end of a line, `(by definition)`, are a remark wherever it ends.
    """
    token, behind = tokens[place], tokens[place + 1 : place + 2]
    if token.kind == "cond" and token.text[:1] in BRACKETS:
        return all(each.kind == "newline" for each in behind)
    if token.kind != "quad" or not behind:
        return False
    end = next((at for at in range(place, len(tokens)) if tokens[at].kind == "newline"), len(tokens))
    if any(each.kind not in ("rel", "arrow") for each in tokens[end + 1 : end + 2]) or end + 1 >= len(tokens):
        return False
    if (behind[0].kind, behind[0].text) == ("open", "("):
        return tokens[end - 1].kind == "close" and not any(each.kind == "open" for each in tokens[place + 2 : end])
    alone = end == place + 2 and behind[0].kind in ("name", "word")
    return alone or behind[0].kind in ("text", "cond", "break")


def _joined(tokens: Iterator[Token]) -> Iterator[Token]:
    """Drop line breaks before and after a relation or an operator. Of several other breaks, keep one."""
    kept: Token | None = None
    before: Token | None = None
    matrices = 0
    ahead, related = list(tokens), False  # whether this statement has a relation
    for place, token in enumerate(ahead):
        matrices += (token.kind == "begin") - (token.kind == "finish")
        if matrices and token.kind == "newline":
            yield token
        elif token.kind in ("newline", "quad"):
            if kept is None or token.kind == "newline":
                kept = token
            continue
        elif kept:
            goes_on = token.kind in ("rel", "arrow") or (
                token.kind == "op"
                and (token.text != "-" or kept.kind == "quad" or (related and _states_nothing(ahead, place)))
            )
            remarked = before is not None and before.kind == "cond" and before.text[:1] in BRACKETS
            begun = before is not None and before.kind in ("rel", "arrow", "op", *BREAKS) and not remarked
            if before is not None and not (goes_on or begun):
                related = False
                yield kept
            kept = None
            yield token
        else:
            yield token
        related = related or token.kind in ("rel", "arrow")
        before = token


def _states_nothing(tokens: list[Token], place: int) -> bool:
    """Return whether a line that begins with a minus sign continues the line before, because it has no relation."""
    depth = 0
    for token in tokens[place:]:
        if depth == 0 and token.kind in ("newline", "comma", "quad", "break", "cond"):
            return token.kind == "newline"
        if depth == 0 and token.kind in ("rel", "arrow"):
            return False
        depth += (token.kind in ("open", "begin", "{")) - (token.kind in ("close", "finish", "}"))
    return True


def _groups(tokens: Iterator[Token]) -> Iterator[Token]:
    """Group runs of subscript or superscript characters, and plain-text braces after ^ and _."""
    script, closing = "", []
    before: Token | None = None
    for token in tokens:
        if script and (token.kind != "script" or token.text[0] != script):
            yield Token("}", "}", token.start, token.start)
            script = ""
        if token.kind == "script":
            if not script:
                script = token.text[0]
                yield Token(script, script, token.start, token.start)
                yield Token("{", script, token.start, token.start, False, "argument")
            yield _small(token)
        elif token.kind == "open" and token.text == "{":
            group = before is not None and before.kind in ("_", "^")
            closing.append(group)
            yield token._replace(kind="{", text=before.text, detail="argument") if group and before else token
        elif token.kind == "close" and token.text == "}":
            yield token._replace(kind="}") if closing and closing.pop() else token
        else:
            yield token
        before = token
    if script and before:
        yield Token("}", "}", before.end, before.end)


def _small(token: Token) -> Token:
    from_sign = token.text[1:]
    if from_sign.isdigit():
        return token._replace(kind="digit", text=from_sign)
    return token._replace(kind="op" if from_sign in "+-" else "letter", text=from_sign)
