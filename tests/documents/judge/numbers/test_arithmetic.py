"""Arithmetic of documents: what is right is never called wrong, and what an oracle says is off is."""

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from sympy import Integer

from derivations.documents.checking import check_text
from derivations.documents.judge.numbers.arithmetic import check_arithmetic
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Number, Power, Product, Quotient, Sum
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import FakeScope, number, statement, tree

RIGHT = [
    ("e**3", "20.09", "≈"), ("e**3", "20.086", "≈"), ("e**3", "20.1", "="), ("sqrt(48)", "6.93", "≈"),
    ("20.09 / 22.81", "0.881", "≈"), ("512 / 8", "64", "="), ("6 * 7", "42", "="), ("6 + 8 + 4", "18", "="),
    ("96 * 12 * 12_288**2", "173_946_175_488", "="), ("1 / 3", "0.333", "="), ("1 / 8", "0.125", "="),
    ("0.4 * (1 - 0.4)", "0.24", "="), ("2**10", "1000", "≈"), ("e**15", "3_269_017", "≈"), ("e**15", "3_269_000", "≈"),
    ("total(i, i, 1, 100)", "5050", "="), ("total(2, i, 1, 16)", "32", "="), ("fence(3 + 4) * 5", "35", "="),
    ("log(20)", "3.00", "≈"), ("log(8)", "3", "="), ("sin(1)", "0.841", "≈"), ("tanh(1) + 1", "1.7616", "≈"),
    ("3", "1 + 2", "="), ("0.99", "1 - 0.01", "="), ("0.25", "1 / 4", "="), ("12", "4 * 3", "≈"),
    ("-(3 - 5)", "2", "="),
    ("max(0, 2 - 3)", "0", "="), ("exp(-1)", "0.368", "≈"), ("sqrt(64)", "8", "="), ("2 / 3", "4 / 6", "="),
    ("pi", "3.14159", "≈"), ("4 * 10**2", "400", "="), ("sqrt(2) * sqrt(2)", "2", "≈"), ("22 / 7", "3.1429", "≈"),
    ("erf(1)", "0.8427", "≈"), ("silu(2)", "1.7616", "≈"), ("swish(-1)", "-0.2689", "≈"),
    ("softplus(1)", "1.3133", "="), ("erf(0)", "0", "="),
]  # fmt: skip
WRONG = [
    ("6 + 8 + 2", "18", "=", "16"), ("e**3", "20.11", "≈", "20.09"), ("0.5 * 0.00009998", "0.000049", "≈", "0.000050"),
    ("sqrt(64)", "9", "=", "8"), ("512 / 8", "46", "=", "64"), ("e**15", "3_269_011", "≈", "3,269,017"),
    ("3 * 4", "13", "≈", "12"), ("1 / 3", "0.34", "=", "0.33"), ("2 / 3", "5 / 6", "=", "0.666666667"),
    ("log(20)", "4.1", "≈", "3.0"), ("ln(20)", "4.1", "≈", "3.0"), ("2**8", "265", "=", "256"),
    ("3 / 4", "2", "=", "0.75"), ("erf(1)", "0.8247", "≈", "0.8427"), ("silu(2)", "1.67", "≈", "1.76"),
]  # fmt: skip


def decided(left: Node | str, right: Node | str, relation: str = "=", scope: FakeScope | None = None) -> Finding | None:
    found = tuple(check_arithmetic(statement(left, right, relations=relation), 0, scope or FakeScope()))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(("left", "right", "relation"), RIGHT)
def test_what_is_right_holds(left: str, right: str, relation: str) -> None:
    found = decided(left, right, relation)
    assert found is not None
    assert found.verdict in ("holds", "conditional")


@pytest.mark.parametrize(("left", "right", "relation", "repair"), WRONG)
def test_what_is_off_is_wrong_and_the_repair_is_named(left: str, right: str, relation: str, repair: str) -> None:
    found = decided(left, right, relation)
    assert found is not None
    assert (found.verdict, found.right) == ("wrong", repair)


def test_a_truncated_decimal_is_told_from_another_error() -> None:
    truncated, perturbed = decided("2 / 3", "0.66", "≈"), decided("2 / 3", "0.68", "≈")
    assert truncated is not None
    assert truncated.reason == "0.66 is truncated; rounded it is 0.67"
    assert perturbed is not None
    assert "truncated" not in perturbed.reason


def test_the_repair_replaces_the_digits_in_the_passage() -> None:
    text = r"2/3 \approx 0.68"
    shown = replace(number("0.68"), start=12, end=16)
    (found,) = check_arithmetic(statement("2 / 3", shown, relations="≈", text=text), 0, FakeScope())
    assert found.repair is not None
    assert (found.repair.start, found.repair.end, found.repair.text) == (12, 16, "0.67")


def test_a_rough_number_that_is_truncated_is_imprecise() -> None:
    rough = number("4.8 億", scale=10**8)
    found = decided("e**20", rough, "≈")
    assert found is not None
    assert (found.verdict, found.right) == ("conditional", "4.9 億")
    lost = decided("e**20", number("4.8 萬", scale=10**4), "≈")
    assert lost is not None
    assert lost.verdict == "wrong"


def test_a_scientific_number_keeps_its_digits() -> None:
    for text, verdict in (("4.85 * 10**8", "holds"), ("4.84 * 10**8", "wrong"), ("4.85 * 10**7", "wrong")):
        found = decided("e**20", text, "≈")
        assert found is not None
        assert found.verdict == verdict


def test_letters_have_the_values_of_the_section() -> None:
    scope = FakeScope({"d_model": Integer(768), "h": Integer(12)})
    holds, wrong = (decided("d_model / h", value, "=", scope) for value in ("64", "46"))
    assert holds is not None
    assert holds.verdict == "holds"
    assert wrong is not None
    assert wrong.verdict == "wrong"
    assert "d_model = 768" in wrong.reason
    assert decided("d_model / h", "64", "=") is None


def test_numbers_that_are_put_in_for_letters_may_be_others() -> None:
    """A section about one model may speak of another: `d_model / h = 1024 / 16` says what d_model and h are there."""
    scope = FakeScope({"d_model": Integer(512), "h": Integer(8)})
    assert decided("d_model / h", "1280 / 10", "=", scope) is None
    found = decided("d_model / h", "512 * 8", "=", scope)
    assert found is not None
    assert found.verdict == "wrong"


def test_units_that_may_be_converted_are_converted_or_left_alone() -> None:
    hour = decided(tree("60 * 60"), number("1", unit="h"))
    assert hour is not None
    assert hour.assumptions == ("the number without a unit is in s",)
    assert decided(tree("60 * 60"), number("1", unit="months")) is None
    converted = decided(number("3", unit="bytes"), number("24", unit="bits"))
    assert converted is not None
    assert converted.verdict == "holds"
    for printed, verdict in (("16", "holds"), ("18", "wrong")):
        found = decided("2 + 2 + 4 + 4 + 4", number(printed, unit="bytes"))
        assert found is not None
        assert found.verdict == verdict


def test_terminating_decimals_do_not_explain_a_tenth() -> None:
    for text, verdict in (("0.7 + 0.2 + 0.2", "wrong"), ("0.33 + 0.33 + 0.33", "conditional")):
        found = decided(text, "1")
        assert found is not None
        assert found.verdict == verdict
        assert found.right in ("1.1", None)


def test_numbers_side_by_side_are_no_product_for_certain() -> None:
    assert decided("7 @ 4", "3") is None


def test_a_slash_beside_a_product_without_a_sign_is_never_wrong() -> None:
    slashed = Quotient(tree("6"), Product((tree("2"), tree("fence(1 + 2)")), ("",)), slashed=True)
    assert decided(slashed, "9") is None
    found = decided(slashed, "1")
    assert found is not None
    assert found.verdict == "holds"


def test_a_value_right_before_the_sources_were_rounded_is_not_wrong() -> None:
    earlier = statement("e**2", "7.4", relations="≈")
    found = decided("7.4 / 3", "2.46", "≈", FakeScope(before=(earlier,)))  # e^2 / 3 is 2.463, 7.4 / 3 is 2.467
    assert found is not None
    assert found.verdict == "conditional"
    alone = decided("7.4 / 3", "2.46", "≈")
    assert alone is not None
    assert (alone.verdict, alone.check) == ("wrong", "arithmetic.truncated")
    off = decided("7.4 / 3", "2.43", "≈")
    assert off is not None
    assert off.verdict == "wrong"


def test_numbers_in_a_product_may_have_been_rounded() -> None:
    """30 tanh(1) is 22.85, and 0.80, 0.53 and 0.27 may be a vector of length 1: the last digit tells nothing."""
    assert [said(rf"So $30 \times 0.76 = {end}$.") for end in ("22.8", "22.9", "23.1")] == [
        "holds",
        "conditional",
        "wrong",
    ]
    text = r"So $0.80 \times 0.80 + 0.53 \times 0.53 + 0.27 \times 0.27 = {}$."
    assert [said(text.format(end)) for end in ("0.9938", "1.00", "1.03")] == ["holds", "conditional", "wrong"]


def test_bytes_may_be_counted_by_1000_or_1024() -> None:
    for product, printed, verdict in (("7_000_000_000 * 2", "14", "holds"), ("1024**3 * 12", "12", "conditional")):
        found = decided(product, number(printed, unit="GB"), "=")
        assert found is not None
        assert found.verdict == verdict
    off = decided("7_000_000_000 * 2", number("28", unit="GB"), "=")
    assert off is not None
    assert off.verdict == "wrong"


def test_orders() -> None:
    for left, right, relation, verdict in (
        ("64", "512", "<", "holds"), ("e**3", "20", "<", "wrong"), ("2", "1000", "≪", "holds"),
        ("5", "5", "≤", "holds"), ("1000", "2", "≪", "wrong"), ("sqrt(2)", "1.5", "≥", "wrong"),
        ("1", "2", "≠", "holds"), ("2", "2", "≠", "wrong"),
    ):  # fmt: skip
        found = decided(left, right, relation)
        assert found is not None
        assert found.verdict == verdict, (left, relation, right)
    assert decided("10", "12", "≪") is None


@pytest.mark.parametrize(
    ("left", "right"),
    [("x", "3"), ("3", "x + 1"), ("e**(10**100)", "5"), ("10**(10**(10**10))", "5"), ("1 / (2 - 2)", "5"),
     ("Q @ K", "3"), ("total(i**i, i, 1, 10**100)", "5"), ("softmax(x)", "0.5"), ("sqrt(2 - 5)", "1"), ("log(0)", "1"),
     ("max(0, log(0))", "3"), ("9**9**9**9", "9**9")],
)  # fmt: skip
def test_what_has_no_number_is_left_alone(left: str, right: str) -> None:
    assert decided(left, right) is None


# --- mutants, told apart by an oracle that shares nothing with the judge: mpmath at 50 digits on the same trees ---


def oracle(node: Node, bound: dict[str, int] | None = None) -> mpmath.mpf:
    """Evaluate a tree by another road: rounded numbers of 50 digits."""
    match node:
        case Number():
            return mpmath.mpf(node.value.numerator) / node.value.denominator
        case Name():
            return mpmath.mpf((bound or {})[node.key]) if node.key in (bound or {}) else mpmath.e
        case Product():
            return mpmath.fprod(oracle(each, bound) for each in node.factors)
        case Quotient():
            return oracle(node.numerator, bound) / oracle(node.denominator, bound)
        case Power():
            return mpmath.power(oracle(node.base, bound), oracle(node.exponent, bound))
        case Aggregate():
            places = range(
                *(int(oracle(each)) + more for each, more in ((node.lower, 0), (node.upper, 1)) if each is not None)
            )
            return mpmath.fsum(oracle(node.body, {node.index[0].key: place}) for place in places)
    assert isinstance(node, Sum)
    return mpmath.fsum(sign * oracle(term, bound) for term, sign in zip(node.terms, node.signs, strict=True))


def fixed(value: mpmath.mpf, places: int) -> str:
    units = int(mpmath.nint(value * 10**places))
    whole, part = divmod(abs(units), 10**places)
    return f"{whole}" + (f".{part:0{places}d}" if places else "")


def formulas(source: random.Random) -> Iterator[tuple[str, int]]:
    """Yield expressions of positive value with the number of places that they are printed with."""
    for _ in range(60):
        a, b, c = (source.randint(2, 40) for _ in range(3))
        x, y = (f"{source.randint(101, 999) / 100:.2f}" for _ in range(2))
        yield from (
            (f"{a} + {b} + {c}", 0), (f"{a} * {b} + {c}", 0), (f"{a * b} / {b}", 0), (f"{a}**3", 0), (f"{a} / {b}", 3),
            (f"e**{a % 9} / (e**{a % 9} + e**{b % 9})", 4), (f"{x} * {y}", 2), (f"{x} / {y}", 3), (f"e**{a % 12}", 2),
            (f"total(i**2, i, 1, {c})", 0), (f"({a} + {b}) * {c} / 7", 2), (f"{a * 16} / 16 * {b}", 0),
        )  # fmt: skip


def mutants(right: str, source: random.Random) -> Iterator[tuple[str, str]]:
    """Yield other numbers than a printed one: last digit changed, cut off, a digit swapped, the exponent lost."""
    digits = [k for k, each in enumerate(right) if each.isdigit()]
    last = digits[-1]
    yield (
        "last digit",
        right[:last] + str((int(right[last]) + source.choice((1, 2, 3, -1, -2, -3))) % 10) + right[last + 1 :],
    )
    yield "power of ten lost", str(Fraction(right) / 10) if "." not in right and right.endswith("0") else right + "0"
    first = source.choice(digits)
    yield "digit", right[:first] + str((int(right[first]) + source.randint(1, 9)) % 10) + right[first + 1 :]
    if len(digits) > 1:
        k = source.choice(range(len(digits) - 1))
        swapped = list(right)
        swapped[digits[k]], swapped[digits[k + 1]] = right[digits[k + 1]], right[digits[k]]
        yield "digits swapped", "".join(swapped)


@pytest.mark.slow
def test_mutants_of_arithmetic_are_wrong() -> None:
    """Every mutant that the oracle puts beyond half a unit of its last digit is to be called wrong."""
    source = random.Random("mutants of arithmetic")
    caught = differ = right_ones = 0
    missed: list[tuple[str, str, str]] = []
    with mpmath.workdps(50):
        for text, places in formulas(source):
            relation = "≈" if places else "="
            value = oracle(tree(text))
            correct = fixed(value, places)
            found = decided(text, correct, relation)
            right_ones += 1
            assert found is not None and found.verdict in ("holds", "conditional"), (text, correct, found)
            for kind, other in mutants(correct, source):
                if "/" in other or not off(value, other):
                    continue
                differ += 1
                said = decided(text, other.lstrip("0") if other.lstrip("0").isdigit() else other, relation)
                if said is not None and said.verdict == "wrong":
                    caught += 1
                else:
                    missed.append((kind, text, other))
                assert said is None or said.verdict != "proved"
    print(f"{right_ones} right ones held; {caught} of {differ} mutants called wrong ({caught / differ:.1%})")
    assert caught >= 0.95 * differ, missed[:20]


def off(value: mpmath.mpf, text: str) -> bool:
    places = len(text.partition(".")[2])
    return bool(abs(value - mpmath.mpf(text)) > mpmath.mpf(10) ** -places / 2 * (1 + mpmath.mpf(10) ** -30))


def test_truncated_decimals_are_imprecise_and_told_so() -> None:
    source, caught, differ = random.Random("truncated"), 0, 0
    for _ in range(200):
        a, b = source.randint(2, 400), source.randint(3, 400)
        if 10_000 * a % b * 2 <= b:
            continue
        cut = math.floor(10_000 * a / b)
        said = decided(f"{a} / {b}", f"{cut // 10_000}.{cut % 10_000:04d}", "≈")
        differ += 1
        caught += said is not None and said.check == "arithmetic.truncated" and "truncated" in said.reason
    print(f"{caught} of {differ} truncated decimals told")
    assert caught == differ > 50


def test_a_statement_of_one_side_is_no_link() -> None:
    one: Statement = statement("3 + 4")
    assert not tuple(check_arithmetic(one, None, FakeScope()))


def test_a_whole_number_that_running_text_begins_with_may_be_cut_off() -> None:
    said = statement("512", "64")
    plain = replace(said, passage=replace(said.passage, syntax="plain"))
    assert [each.verdict for each in check_arithmetic(said, 0, FakeScope())] == ["wrong"]
    assert not tuple(check_arithmetic(plain, 0, FakeScope()))
    computed = replace(plain, chain=statement("512 / 8", "65").chain)
    assert [each.verdict for each in check_arithmetic(computed, 0, FakeScope())] == ["wrong"]


def test_a_side_of_an_equivalence_is_not_said_to_hold() -> None:
    text = r"A \iff 512 = 64"
    said = statement("512", "64", text=text)
    placed = replace(said, chain=replace(said.chain, start=text.index("512"), end=len(text)))
    assert not tuple(check_arithmetic(placed, 0, FakeScope()))


def said(text: str) -> str:
    """Return what is said of the first claim of a text."""
    return check_text(text, "markdown").claims[0].finding.verdict


def test_a_b_behind_a_number_may_stand_for_bytes() -> None:
    """8 B is eight bytes or eight billion: nothing is wrong that is right for one of them."""
    assert said(r"So $2 \times 4 = 8\text{ B}$.") != "wrong"
    assert said(r"So $2 \times 4 = 9\text{ B}$.") == "wrong"


def test_a_rounded_exponent_is_rounded() -> None:
    """11.09 stands for what lies between 11.085 and 11.095, while 0.5 is a half."""
    assert said(r"So $\exp(11.09) \approx 65504$.") == "conditional"
    assert said(r"So $\exp(11.09) \approx 75504$.") == "wrong"
    assert said(r"So $e^{0.5} \approx 1.63$.") == "wrong"


def test_a_percentage_beside_whole_numbers_may_be_a_share_of_something() -> None:
    assert said(r"So $0 + 1 = 75\%$.") == "unknown"
    assert said(r"So $3 / 4 = 70\%$.") == "wrong"


def test_a_power_of_two_may_stand_for_what_is_just_below_it() -> None:
    assert said(r"So $2^{16} \times 1.999 \approx 131072$.") == "unknown"
    assert said(r"So $2^{16} \times 1.999 \approx 131073$.") == "wrong"
    assert said(r"So $2^{16} \times 1.999 = 131072$.") == "wrong"
    assert said(r"So $2^{16} \times 1.98 \approx 131072$.") == "wrong"


def test_a_number_is_recomputed_from_what_stands_before_it_behind_an_arrow() -> None:
    """30 tanh(5/30) is 4.95, of which 0.17 shows two digits."""
    text = "```\nlogits = 5 → tanh(5/30) = tanh(0.17) ≈ 0.17 → 30 × 0.17 = {}\n```"
    verdicts = [
        {claim.text: claim.finding.verdict for claim in check_text(text.format(end), "markdown").claims}[f"= {end}"]
        for end in ("5.0", "5.3")
    ]
    assert verdicts == ["conditional", "wrong"]


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("2 * 28672 / 2550 = 22", "conditional"),  # 22.487...
        ("100 / 7 = 14", "conditional"),
        ("19683 / 512 = 38", "conditional"),  # 38.443359375 has so many digits that nobody prints them
        ("100 / 7 = 15", "wrong"),
        ("10 / 3 = 3", "wrong"),  # one digit is no rounding
        ("513 / 8 = 64", "wrong"),  # 64.125 would be printed
        (r"8 / 3 \cdot 4096 = 10922", "wrong"),  # truncated
        (r"2 \cdot 10^9 \cdot 16 \cdot 32 = 10^{12}", "unknown"),  # an order of magnitude
        (r"2 \cdot 10^9 \cdot 16 \cdot 40 = 10^{12}", "wrong"),
    ],
)
def test_fractions_may_be_rounded_to_whole_numbers(formula: str, verdict: str) -> None:
    assert check_text(f"${formula}$", "markdown").claims[-1].finding.verdict == verdict


def test_a_proportion_is_no_equation_of_two_numbers() -> None:
    assert check_text("$96:48:24 = 4:2:1$", "markdown").claims == ()
