"""Rotary positions, in the different spellings of configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Expr, Integer, Rational, Symbol

from derivations.architectures.description import Rotary
from derivations.architectures.hugging_face.fields import Fields, positive, shown
from derivations.positions.rotary_scaling import yarn_range
from derivations.symbols import d_k, size

__all__ = [
    "PROPORTIONAL",
    "of_one_axis",
    "rotary",
    "rotary_by_kind",
    "rotary_of",
    "table_of_kind",
    "turn_by",
    "turned_columns",
]

ALL_COLUMNS = Rational(1)
FULL, SLIDING = "full_attention", "sliding_attention"  # the kinds of layers
ORIGINAL, LONGEST = "original_max_position_embeddings", "max_position_embeddings"
PROPORTIONAL = "proportional"


def rotary(
    f: Fields,
    base: str = "10000",
    *,
    halves: bool = True,
    share: str | None = None,
    names: tuple[str, str] = ("rope_theta", "partial_rotary_factor"),
    first: int | None = None,
) -> Rotary:
    """Read rotary positions from `rope_scaling` or `rope_parameters`.

    The base and the share of rotated columns may also be given outside that table, in the fields `names`. `base`,
    `share` and `first`, the length of the first training, are the family's defaults.
    """
    tables = [f.table(field) for field in ("rope_scaling", "rope_parameters")]
    outside = f.number(names[0], base)
    part = f.number(names[1], share or "1")
    if share is None and part != 1:
        raise f.error(names[1], f"is {part}, which this family does not know")
    return rotary_of(f, next((table for table in tables if table), {}), outside, part, halves=halves, first=first)


def turn_by(f: Fields, usual: Mapping[str, object]) -> None:
    """Set the rotary rule of the family in a configuration that gives none."""
    if usual and not any(f.config.get(each) for each in ("rope_parameters", "rope_scaling")):
        f.config["rope_parameters"] = dict(usual)


def rotary_by_kind(f: Fields, base: str) -> dict[str, Rotary | None]:
    """Read the rotary positions of layers with and without a window.

    In older files `rope_scaling` is the rule of layers without a window.
    """
    outside = f.number("rope_theta", base)
    tables = f.table("rope_parameters") or {}
    of_full = {**table_of_kind(f, tables, FULL), **(f.table("rope_scaling") or {})}
    return {
        FULL: rotary_of(f, of_full, outside),
        SLIDING: rotary_of(f, table_of_kind(f, tables, SLIDING), outside),
    }


def table_of_kind(f: Fields, tables: Mapping[str, object], kind: str) -> dict[str, object]:
    """Return the table of rotary parameters for one kind of layer."""
    table = tables.get(kind) or {}
    if not isinstance(table, dict):
        raise f.error(f"rope_parameters.{kind}", f"is {shown(table)}; an object or null is needed")
    return table


def rotary_of(
    f: Fields,
    given: Mapping[str, object],
    base: Rational,
    share: Rational = ALL_COLUMNS,
    *,
    halves: bool = True,
    width: Symbol = d_k,
    first: int | None = None,
) -> Rotary:
    """Return the rotary positions of one table of parameters, for rows of `width` columns."""
    if "rope_theta" in given:
        base = positive(f, "rope_parameters.rope_theta", given["rope_theta"])
    if "partial_rotary_factor" in given:
        share = positive(f, "rope_parameters.partial_rotary_factor", given["partial_rotary_factor"])
    if share > 1:
        raise f.error("partial_rotary_factor", f"is {share}; at most 1 is needed")
    if given.get("rope_type") == PROPORTIONAL:
        return Rotary(None, halves, base, _proportional(f, given, share, width))
    # truncated in floating point, as the library `transformers` does
    count = int(f.values[width] * float(share))
    columns = turned_columns(f, count, width)
    return Rotary(columns, halves, base, _scaling(f, given, count, base, first))


def _proportional(
    f: Fields, given: Mapping[str, object], share: Rational, width: Symbol
) -> tuple[tuple[str, object], ...]:
    """Return the rule that rotates only the first pairs, at the frequencies that all columns would have."""
    for field in given:
        if field not in ("rope_type", "rope_theta", "partial_rotary_factor", "factor"):
            raise f.error(f"rope_parameters.{field}", f"is not understood for rotary positions of type {PROPORTIONAL}")
    pairs = int(float(share) * f.values[width] // 2)
    if f.values[width] % 2 or not pairs:
        raise f.error("rotary positions", f"turn pairs of columns, not {share} of the {f.values[width]} of a head")
    factor = positive(f, "rope_parameters.factor", given.get("factor", 1))
    return (("rope_type", PROPORTIONAL), ("pairs", Integer(pairs)), ("factor", factor))


def turned_columns(f: Fields, count: int, width: Symbol = d_k) -> Expr | None:
    """Return the number of rotated columns, which is even, or None for all."""
    if not 0 < count <= f.values[width] or count % 2:
        raise f.error("rotary positions", f"turn pairs of columns, not {count} of the {f.values[width]} of a head")
    return None if count == f.values[width] else f.let(size("d_rotary"), count)


SCALES = ("short_mscale", "long_mscale")  # of short and of long texts, another name of a factor of both
_SCALINGS = {
    "default": (),
    "linear": ("factor",),
    "dynamic": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
    "yarn": ("factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"),
    "longrope": ("short_factor", "long_factor", "factor", "attention_factor"),
}
_REQUIRED = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "llama3": _SCALINGS["llama3"],
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
}
_OF_ALL = ("rope_type", "type", "rope_theta", "partial_rotary_factor", ORIGINAL)
_NEUTRAL = {"attn_factor": (1,), "extrapolation_factor": (1,), "finetuned": (True, False)}  # of the first YaRN code


def _scaling(
    f: Fields, given: Mapping[str, object], columns: int, base: Rational, first: int | None
) -> tuple[tuple[str, object], ...]:
    """Return the rule that changes the frequencies of some columns: its name, its numbers and derived numbers."""
    kind = given.get("rope_type", given.get("type", "default"))
    kind = "longrope" if kind == "su" else kind
    if not isinstance(kind, str) or kind not in _SCALINGS:
        raise f.error("rope_parameters.rope_type", f"is {shown(kind)}; known are {', '.join(_SCALINGS)}")
    if kind == "longrope" and given.get(SCALES[0]) is not None and given.get(SCALES[0]) == given.get(SCALES[1]):
        given = {field: value for field, value in given.items() if field not in SCALES} | {
            "attention_factor": given[SCALES[0]]
        }
    for field, value in given.items():
        if field in (*_OF_ALL, *_SCALINGS[kind]) or (kind == "yarn" and value in _NEUTRAL.get(field, ())):
            continue
        raise f.error(f"rope_parameters.{field}", f"is not understood for rotary positions of type {kind}")
    if kind == "default":
        return ()
    for field in _REQUIRED[kind]:
        if given.get(field) is None:
            raise f.error(f"rope_parameters.{field}", f"is missing for rotary positions of type {kind}")
    rule = {"rope_type": kind, **{field: _exact(f, field, given[field]) for field in _SCALINGS[kind] if field in given}}
    return tuple({**rule, **_following(f, rule, given, columns, base, first)}.items())


def _following(
    f: Fields, rule: Mapping[str, object], given: Mapping[str, object], columns: int, base: Rational, usual: int | None
) -> dict[str, object]:
    """Return the numbers that a rule implies, such as the context length of the first training."""
    kind, longest = rule["rope_type"], f.whole(LONGEST, None, none=True)
    first = f.take(ORIGINAL, None) or usual or given.get(ORIGINAL) or longest
    length = longest if kind == "dynamic" else first
    if kind == "linear":
        return {}
    if length is None:
        return {"lacks": LONGEST}
    found: dict[str, object] = {"length": _exact(f, ORIGINAL, length)}
    if kind == "dynamic" and columns == 2:
        raise f.error("rope_parameters.rope_type", "is dynamic, which a single pair of columns has no base for")
    if kind == "yarn":
        found["low"], found["high"] = yarn_range({**rule, **found}, columns, base)
    if kind == "longrope":
        for field in _REQUIRED[kind]:
            numbers = rule[field]
            if not isinstance(numbers, tuple) or len(numbers) != columns // 2:
                raise f.error(f"rope_parameters.{field}", f"must have a number for each of the {columns // 2} pairs")
        if rule.get("factor") is None:
            if longest is None:
                return {"lacks": LONGEST}
            found["factor"] = longest / _exact(f, ORIGINAL, first)
    return found


def _exact(f: Fields, field: str, value: object) -> Any:
    """Return a value of a rule in exact numbers."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list):
        return tuple(positive(f, f"rope_parameters.{field}", each) for each in value)
    return positive(f, f"rope_parameters.{field}", value)


def of_one_axis(f: Fields) -> None:
    """Remove the split of columns among three axes of positions from the configuration.

    In a text the three positions of a token are equal.
    """
    for field in ("rope_scaling", "rope_parameters"):
        rule = f.config.get(field)
        if isinstance(rule, dict) and "mrope_section" in rule:
            usual = {k: "default" if v == "mrope" else v for k, v in rule.items() if not k.startswith("mrope_")}
            f.config[field] = usual
