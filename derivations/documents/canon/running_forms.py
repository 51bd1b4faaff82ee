"""Right sides of running sums, turned pairs, slopes and dropout, entry by entry.

Source       Milakov and Gimelshein (2018), algorithm 3; Press, Smith and Lewis (2022), section 3; the pairs and dropout
             from the catalogue
"""

from __future__ import annotations

from sympy import Expr, Function, Indexed, Integer, Max, exp

from derivations.documents.canon.equations import form
from derivations.documents.canon.forms import Form, right
from derivations.symbols import scalar

__all__ = [
    "OTHER_WAY",
    "ROTARY",
    "alibi_slope",
    "dropped_entry",
    "frequency",
    "running_maximum",
    "running_sum",
    "turned_first",
    "turned_second",
]

before, entry, largest, last, mask = map(scalar, ["before", "entry", "largest", "last", "mask"])
total, rate, heads, head = (scalar(name, positive=True) for name in ["total", "rate", "heads", "head"])
scale, width, pair = (scalar(name, positive=True) for name in ["scale", "width", "pair"])
FROM_ONE = ("pairs are counted from 1",)
BASES = tuple(map(Integer, (10_000, 500_000, 1_000_000)))
WAVES = "positional_encoding.definition"
TILES, ROTARY = "softmax.online_tiles", "positional_encoding.rotary_definition"
OTHER_WAY = ("the pair is turned the other way",)


def running_maximum() -> tuple[Form, ...]:
    """The largest entry so far."""
    return (form(Max(before, entry), TILES),)


def running_sum() -> tuple[Form, ...]:
    """The sum of exponentials so far, taken relative to the largest entry so far."""
    return (form(total * exp(last - largest) + exp(entry - largest), TILES),)


def turned_first() -> tuple[Form, ...]:
    """The first entry of a pair that is turned, one way and the other."""
    return _turned(0)


def turned_second() -> tuple[Form, ...]:
    """The second entry of a pair that is turned, one way and the other."""
    return _turned(1)


def _turned(claim: int) -> tuple[Form, ...]:
    """Return an entry turned by an angle, or by an angle times a position."""
    angle, position = scalar("theta"), scalar("position")
    value, back = _pair(claim, angle), _pair(claim, -angle)
    return (
        form(value, ROTARY),
        form(value.subs(angle, position * angle), ROTARY),
        form(back, ROTARY, OTHER_WAY),
        form(back.subs(angle, position * angle), ROTARY, OTHER_WAY),
    )


def _pair(claim: int, angle: Expr) -> Expr:
    """Return an entry of a pair after it was turned by an angle."""
    value = right(ROTARY, claim)
    turn = next(function.args[0] for function in value.atoms(Function) if function.func.__name__ == "sin")
    entries = sorted(value.atoms(Indexed), key=lambda each: str(each.indices[1]))
    pair = dict(zip(entries, (scalar("first"), scalar("second")), strict=True))
    return value.xreplace(pair).subs(turn, angle)


def alibi_slope() -> tuple[Form, ...]:
    """The slope of a head."""
    return (form(Integer(2) ** (-8 * head / heads)),)


def dropped_entry() -> tuple[Form, ...]:
    """An entry after dropout, as it is in training."""
    return (
        form(mask * entry / (1 - rate), "dropout.definition"),
        form(mask * entry / rate, "dropout.definition", ("the rate is the share that is kept",)),
        form(mask * entry, "dropout.inference_equals_expectation", ("the output at inference is scaled",)),
    )


def frequency() -> tuple[Form, ...]:
    """The angle by which pair i is turned at each position, from the base 10000 or another one."""
    turns = ((-2 * pair / width, ()), (-2 * (pair - 1) / width, FROM_ONE))
    return tuple(form(base**power, WAVES, assumed) for base in (*BASES, scale) for power, assumed in turns)
