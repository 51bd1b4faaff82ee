"""True equations at random, sums, fractions, powers, exp and log of letters and numbers: none is wrong."""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
import sympy
from sympy import Expr, Integer, Rational

from derivations.documents.checking import check_text

LETTERS = sympy.symbols("a b n d x y", positive=True)
FORMS: Sequence[Callable[[Expr], Expr]] = (
    sympy.expand, sympy.together, sympy.factor, sympy.powsimp, sympy.expand_log, sympy.cancel, sympy.radsimp,
)  # fmt: skip


def expression(rng: random.Random, depth: int, leaves: Sequence[Expr]) -> Expr:
    if depth == 0:
        return rng.choice(
            [*leaves, *leaves, Integer(rng.randint(1, 20)), Rational(rng.randint(1, 9), rng.randint(2, 9))]
        )
    one, other = (expression(rng, rng.randint(0, depth - 1), leaves) for _ in range(2))
    operation = rng.randint(0, 6)
    if operation == 5:
        return sympy.exp(expression(rng, 0, LETTERS[:2] if leaves else ()) / 4)
    if operation == 6:
        return sympy.log(1 + expression(rng, 0, leaves))
    result = (
        one + other,
        one - other,
        one * other,
        one / other if other != 0 else one,
        one ** rng.choice([2, 3, -1]) if one != 0 else other,
    )
    return result[operation]


def verdicts(formula: str) -> Counter[str]:
    claims = check_text(f"$${formula}$$", "markdown").claims
    wrong = [claim for claim in claims if claim.finding.verdict == "wrong"]
    assert not wrong, f"{formula}: {wrong[0].finding.reason}"
    return Counter(claim.finding.verdict for claim in claims)


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [LETTERS, ()], ids=["letters", "numbers"])
def test_equal_forms_are_not_wrong_and_mostly_proved(leaves: Sequence[Expr]) -> None:
    rng, found = random.Random(5), Counter[str]()
    for _ in range(70):
        value = expression(rng, 3, leaves)
        sides = (value, rng.choice(FORMS)(value), rng.choice(FORMS)(value))
        found += verdicts(
            " = ".join(sympy.latex(side, mul_symbol=rng.choice([None, "dot", "times"])) for side in sides)
        )
    assert found["proved"] + found["holds"] > 40


def test_rounded_numbers_hold() -> None:
    rng, found = random.Random(7), Counter[str]()
    for _ in range(60):
        value = expression(rng, 3, ())
        places = rng.randint(1, 5)
        units = int(sympy.floor(abs(value).evalf(60) * 10**places + Rational(1, 2)))
        whole, part = divmod(units, 10**places)
        if 0 < units < 10**15:
            sign = "-" if value.is_negative else ""
            found += verdicts(f"{sympy.latex(value)} \\approx {sign}{whole}.{part:0{places}d}")
    assert found["holds"] >= 0.9 * found.total()  # \log(18)^2 can be read in two ways
