r"""Rotary frequencies for longer texts: each rule for the frequency of a pair, and the scale of the rotated entries.

Definition   w_i = base^(-2i/d) is the frequency of pair i of d columns. Linear: w_i / f. By wavelength: see
             `interpolated_by_wavelength`. Dynamic: the base times (f r/L - (f - 1))^(d/(d-2)), r = max(reach, L).
             YaRN: w_i (1 - t_i) + (w_i / f) t_i, t_i = (i - low) / (high - low) clipped to [0, 1]. LongRoPE:
             w_i / s_i, with one list of numbers s for reach <= L and another one beyond. Proportional: w_i / f for
             the first pairs, 0 for the others
Assumes      `reach` is the number of positions of the whole text, for which frequencies are chosen; L is the number of
             positions of the first training; pairs count from 0
Source       Chen, Wong, Chen and Tian (2023), section 2.3; Llama Team (2024), section 3.2; Peng, Quesnelle, Fan and
             Shippole (2023), sections 3 and B.1, for YaRN and the dynamic rule; Ding et al. (2024), section 3; defaults
             of numbers that a configuration omits are those of the library `transformers`
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sympy import Eq, Expr, Integer, Le, Lt, Max, Min, Rational, ceiling, floor, log, pi, sqrt

from derivations.language.arrays.scalars import Iverson
from derivations.positions.rotary import interpolated, interpolated_by_wavelength
from derivations.symbols import d_k, size

__all__ = ["SCALINGS", "amplitude", "reach", "same_reach", "yarn_range"]

reach = size("reach")
Rule = Mapping[str, Any]
SINGULAR = Rational(1, 1000)  # keeps the two ends of a ramp apart, which would else divide by 0


def _dynamic(frequency: Expr, pair: Expr, rule: Rule) -> Expr:
    factor, length = rule["factor"], rule["length"]
    return frequency * (factor * Max(reach, length) / length - (factor - 1)) ** (-2 * pair / (d_k - 2))


def _yarn(frequency: Expr, pair: Expr, rule: Rule) -> Expr:
    share = Min(1, Max(0, (pair - rule["low"]) / (rule["high"] - rule["low"])))
    return share * frequency / rule["factor"] + (1 - share) * frequency


def _longrope(frequency: Expr, pair: Expr, rule: Rule) -> Expr:
    within = Iverson(Le(reach, rule["length"], evaluate=False))
    return frequency / (
        within * _of_pair(rule["short_factor"], pair) + (1 - within) * _of_pair(rule["long_factor"], pair)
    )


def _of_pair(numbers: Sequence[Expr], pair: Expr) -> Expr:
    """Return numbers[pair] as a closed form: the commonest number, plus an Iverson bracket for each other one."""
    # the commonest number needs no bracket, which keeps the sum short
    usual = max(set(numbers), key=numbers.count)
    others = ((number - usual) * Iverson(Eq(pair, place)) for place, number in enumerate(numbers) if number != usual)
    return sum(others, usual)


SCALINGS: Mapping[str, Callable[[Expr, Expr, Rule], Expr]] = {
    "linear": lambda frequency, pair, rule: interpolated(frequency, rule["factor"]),
    "llama3": lambda frequency, pair, rule: interpolated_by_wavelength(
        frequency, rule["factor"], rule["length"], rule["low_freq_factor"], rule["high_freq_factor"]
    ),
    "dynamic": _dynamic,
    "yarn": _yarn,
    "longrope": _longrope,
    "proportional": lambda frequency, pair, rule: Iverson(Lt(pair, rule["pairs"])) * frequency / rule["factor"],
}


def amplitude(rule: Rule) -> Expr:
    """Return the factor of the rotated entries: 1, except for YaRN and LongRoPE, where it is given or computed.

    Definition   YaRN: 1 + log(f)/10, or the quotient of two such terms with the factors `mscale` and `mscale_all_dim`
                 of the logarithm; LongRoPE: sqrt(1 + log(f) / log(L)); 1 for a factor of at most 1
    """
    kind, given = rule.get("rope_type"), rule.get("attention_factor")
    if kind not in ("yarn", "longrope"):
        return Integer(1)
    if given is not None:
        return given
    factor = rule["factor"]
    if factor <= 1:
        return Integer(1)
    if kind == "longrope":
        return sqrt(1 + log(factor) / log(rule["length"]))

    def grown(scale: Expr) -> Expr:
        return 1 + scale * log(factor) / 10

    above, below = rule.get("mscale"), rule.get("mscale_all_dim")
    return grown(above) / grown(below) if above and below else grown(Integer(1))


def yarn_range(rule: Rule, columns: int, base: Expr) -> tuple[Expr, Expr]:
    """Return the pairs between which YaRN blends from kept to divided frequencies.

    Definition   the pair whose wave rotates `beta_fast` times in L positions, and the one that does `beta_slow` times:
                 d log(L / (2 pi beta)) / (2 log(base)), rounded away from each other unless `truncate` is false, no
                 lower than 0 and no higher than d - 1
    """
    fast, slow = (
        columns * log(rule["length"] / (beta * 2 * pi)) / (2 * log(base))
        for beta in (rule.get("beta_fast") or Integer(32), rule.get("beta_slow") or Integer(1))
    )
    low, high = (floor(fast), ceiling(slow)) if rule.get("truncate", True) else (fast, slow)
    low, high = Max(low, 0), Min(high, columns - 1)
    return low, high + SINGULAR if low == high else high


def same_reach(rules: Sequence[Rule], positions: int) -> int:
    """Return the least text length for which all rules choose the same frequencies as for `positions`."""
    least = 1
    for rule in rules:
        kind = rule["rope_type"]
        if kind in ("dynamic", "longrope") and positions > rule["length"]:
            least = max(least, positions if kind == "dynamic" else int(floor(rule["length"])) + 1)
    return least
