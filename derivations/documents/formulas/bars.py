r"""The role of every bar: opening, closing or condition, as in `|x|`, `\|x\|`, `p(x | y)`, `||x|| + |y|`.

Definition   a bar opens where a factor may begin, closes what is open, and else is the bar of a condition. Two bars
             side by side are one sign where all bars then match; `|a||b|` and `||a| - |b||` have single ones
Result       `told_bars(tokens)`: the same tokens, with "open", "close" or "mid" for every bar
Assumes      linear time; bars match inside one pair of brackets, and between commas
"""

from __future__ import annotations

from typing import NamedTuple

from derivations.documents.formulas.tokens import Token, stop

__all__ = ["BREAKS", "told_bars"]

BREAKS = frozenset(("newline", "quad", "break", "semicolon", "comma", "&", "cond"))
_ENDS_FACTOR = frozenset(
    ("number", "letter", "word", "close", "finish", "}", "prime", "transpose", "dots", "text", "factorial", "space",
     "method", "end", "script")
)  # fmt: skip
_NESTED = 200  # brackets inside one another: beyond what the grammar reads, and stopped without a second look


class _Bar(NamedTuple):
    """A bar: its position among the tokens, its width in tokens, its text, and whether a factor ends before it."""

    place: int
    width: int
    text: str
    after_factor: bool


def told_bars(tokens: list[Token]) -> list[Token]:
    """Return the tokens with every bar marked as opening, closing or the bar of a condition."""
    tokens = _unmatched(_paired(tokens))
    groups: list[tuple[str, list[_Bar]]] = [("", [])]
    before = ""
    for place, token in enumerate(tokens):
        opener, bars = groups[-1]
        if token.kind == "bar" or (token.kind == "mid" and opener != "open"):
            bars.append(_Bar(place, 1, token.text, before in _ENDS_FACTOR))
        elif token.kind in ("open", "{", "begin"):
            groups.append((token.kind, []))
            if len(groups) > _NESTED:
                stop(token.start, "too many brackets inside one another")
        elif token.kind in ("close", "}", "finish"):
            _tell(tokens, groups.pop()[1])
            groups = groups or [("", [])]
        elif token.kind in BREAKS:
            _tell(tokens, bars)
            bars.clear()
        is_operator = before != "^" and not (before in ("bar", "open") and token.text == "dot")
        before = token.kind if token.kind != "op" or is_operator else "letter"  # `x^*` and `\cdot` alone are none
    for _, bars in groups:
        _tell(tokens, bars)
    return [token for token in tokens if token.kind != "bar"]


def _paired(tokens: list[Token]) -> list[Token]:
    r"""Join `\mid \mid` into one bar, as in `KL(p \mid\mid q)`."""
    paired: list[Token] = []
    for token in tokens:
        if paired and token.kind == paired[-1].kind == "mid":
            paired[-1] = paired[-1]._replace(kind="bar", text="‖", end=token.end)
        else:
            paired.append(token)
    return paired


def _unmatched(tokens: list[Token]) -> list[Token]:
    r"""Turn opening and closing bars that do not match into bars without a direction: `p(x \lvert y)`."""
    if any(token.text == "." and token.kind in ("open", "close") for token in tokens):  # `\left. y \right|_{x = 0}`
        return tokens
    for text in "|‖":
        kinds = [token.kind for token in tokens if token.text == text and token.kind in ("open", "close")]
        if kinds.count("open") != kinds.count("close"):
            tokens = [
                token._replace(kind="bar") if token.text == text and token.kind in ("open", "close") else token
                for token in tokens
            ]
    return tokens


def _tell(tokens: list[Token], bars: list[_Bar]) -> None:
    r"""Mark the bars of one group. `\mid` is a bar only if it has a partner, with no relation in between."""
    mids = [bar.place for bar in bars if tokens[bar.place].kind == "mid"]
    between = any(token.kind in ("rel", "arrow") for first, last in _couples(mids) for token in tokens[first:last])
    if len(mids) % 2 or between:
        bars = [bar for bar in bars if tokens[bar.place].kind == "bar"]
    doubled = _doubled(bars)
    kinds, match = _kinds(doubled)
    if not match:
        doubled, kinds = bars, _kinds(bars)[0]
    for bar, kind in zip(doubled, kinds, strict=True):
        end = tokens[bar.place + bar.width - 1].end
        tokens[bar.place] = tokens[bar.place]._replace(kind=kind, text=bar.text, end=end)  # the second remains a bar


def _couples(places: list[int]) -> list[tuple[int, int]]:
    return list(zip(places[::2], places[1::2], strict=False))


def _doubled(bars: list[_Bar]) -> list[_Bar]:
    """Return the bars with every two adjacent single bars joined into one."""
    doubled: list[_Bar] = []
    for bar in bars:
        last = doubled[-1] if doubled else None
        if last and last.width == 1 and bar.place == last.place + 1 and last.text == bar.text == "|":
            doubled[-1] = last._replace(width=2, text="‖")
        else:
            doubled.append(bar)
    return doubled


def _kinds(bars: list[_Bar]) -> tuple[list[str], bool]:
    """Return the role of each bar, and whether all of them match."""
    kinds: list[str] = []
    opened: list[str] = []
    matched = True
    for number, bar in enumerate(bars):
        last = bars[number - 1] if number else None
        beside = last is not None and kinds[-1] == "close" and last.place + last.width == bar.place  # `|a||b|`
        after_factor = bar.after_factor or beside
        if after_factor and opened and opened[-1] == bar.text:
            kinds.append("close")
            opened.pop()
        elif after_factor and ((len(bars) - number) % 2 or opened):
            matched = matched and not opened
            kinds.append("mid")
        else:
            kinds.append("open")
            opened.append(bar.text)
    return kinds, matched and not opened
