"""What the papers print in numbers, recomputed: from the formulas, and from sums over layers written apart."""

import pytest
from sympy import Integer, Rational, Symbol, expand

from derivations.architectures.models import named_model
from derivations.costs.published.chinchilla import RATIOS, ratios
from derivations.costs.published.figures import fixed, percent, relative, short, times
from derivations.costs.published.formula import difference
from derivations.costs.published.formulas import published
from derivations.costs.published.memory_formulas import devices
from derivations.costs.published.page import GPT
from derivations.costs.published.subject import Subject
from derivations.costs.published.training_systems import model_flops_utilisation
from derivations.symbols import N, batch, d_ff, d_model, h, n, vocab

POSITIONS = Symbol("positions", integer=True, positive=True)


def sizes(name: str) -> tuple[int, ...]:
    """Layers, width, heads, hidden width, tokens, rows of positions."""
    values = named_model(name).values
    layers, width, heads, hidden, tokens, rows = (int(values[each]) for each in (N, d_model, h, d_ff, vocab, POSITIONS))
    return layers, width, heads, hidden, tokens, rows + 2 * name.startswith("opt")  # OPT has two rows more than texts


@pytest.mark.parametrize("name", GPT)
@pytest.mark.parametrize("length", [2, 13])
def test_costs_equal_sums_over_layers_and_positions(name: str, length: int) -> None:
    """Written apart from the equations: products as (rows, inner, columns), one after the other."""
    layers, width, heads, hidden, tokens, rows = sizes(name)
    each = width // heads
    products, context = [(length, width, tokens)], []
    for _ in range(layers):
        products += [(length, width, width)] * 4 + [(length, width, hidden), (length, hidden, width)]
        context += [(length, each, length), (length, length, each)] * heads
    forward, paired = (2 * sum(a * b * c for a, b, c in some) for some in (products, context))
    vectors = layers * (4 * width + 3 * width + width + hidden + width) + 2 * width
    learned = tokens * width + rows * width + layers * (4 * width * width + 2 * width * hidden) + vectors
    lengths = {n: length, batch: 1, devices: 1}
    for formula, expected in {
        "kaplan.two_n": Rational(forward + paired, length),
        "kaplan.six_n_d": 3 * (forward + paired),
        "palm.model_flops": Rational(3 * (forward + paired), length),
        "narayanan.parameters": learned,
        "korthikanti.hardware_flops": 3 * (forward + paired) + paired,
        "zero.training_state": 16 * learned,
    }.items():
        assert difference(published(formula), Subject(named_model(name))).at(lengths)[1] == expected, formula


def test_selective_recomputation_adds_4_b_s2_h_for_each_layer() -> None:
    """The text of appendix A, by count; equation 8 as printed adds three times as much."""
    subject = Subject(named_model("gpt2"))
    model, printed, of_text = (
        difference(published(f"korthikanti.{name}"), subject)
        for name in ("model_flops", "hardware_flops", "hardware_flops_of_text")
    )
    added = 4 * batch * n**2 * d_model * N
    assert expand(of_text.derived - model.derived - added) == 0
    assert expand(of_text.published - model.published - added) == 0
    assert expand(printed.published - model.published - 3 * added) == 0


@pytest.mark.parametrize(
    ("layers", "width", "length", "printed"), [(96, 12288, 2048, "2.7"), (105, 20480, 2048, "1.6")]
)
def test_equation_8_as_printed_gives_the_percentages_of_its_paper(
    layers: int, width: int, length: int, printed: str
) -> None:
    """GPT-3 and MT-NLG with 51,200 tokens: Korthikanti et al. (2022), section 5."""
    of = dict(zip("BLshv", (1, layers, length, width, 51200), strict=True))
    values = {Symbol(letter, positive=True): Integer(value) for letter, value in of.items()}
    model, hardware = (
        published(f"korthikanti.{name}").expression.xreplace(values) for name in ("model_flops", "hardware_flops")
    )
    assert fixed(100 * (hardware / model - 1), 1) == printed


@pytest.mark.parametrize(("heads", "width", "saved"), [(96, 12288, "70"), (128, 20480, "65")])
def test_selective_recomputation_saves_what_its_paper_says(heads: int, width: int, saved: str) -> None:
    values = {Symbol(k, positive=True): Integer(v) for k, v in {"s": 2048, "b": 1, "h": width, "a": heads}.items()}
    whole = published("korthikanti.activations").expression.xreplace(values)
    left = published("korthikanti.sequence_selective").expression.xreplace({**values, Symbol("t", positive=True): 1})
    assert fixed(100 * (1 - left / whole), 0) == saved


def test_state_of_training_of_7_5_billion_parameters() -> None:
    """Rajbhandari et al. (2020), figure 1: 120 GB."""
    found = published("zero.training_state").expression.xreplace({Symbol("Psi", positive=True): Integer(75 * 10**8)})
    assert found == 120 * 10**9


@pytest.mark.parametrize(("attention", "printed"), [(1, "46.2"), (0, "45.7")])
def test_utilisation_of_the_largest_model_of_chowdhery_et_al(attention: int, printed: str) -> None:
    """540.35 billion parameters, 238.3 thousand tokens a second on 6144 chips of 275 TFLOPs: section 4.1."""
    of = {"N": 54035 * 10**7, "L": 118, "H": 48, "Q": 256, "T": 2048 * attention}
    each = published("palm.model_flops").expression.xreplace(
        {Symbol(letter, positive=True): Integer(value) for letter, value in of.items()}
    )
    assert fixed(100 * model_flops_utilisation(each, 238300, 6144 * 275 * 10**12), 1) == printed


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("activations", 2868903936),
        ("tensor_parallel", 578813952),
        ("sequence_parallel", 358612992),
        ("selective", 327155712),
        ("sequence_selective", 106954752),
        ("full", 50331648),
    ],
)
def test_activations_of_a_layer_of_the_largest_model(name: str, stated: int) -> None:
    """s b h is 2048 * 12288; with 96 heads 5 a s / h is 80: 114, 10 + 104/8, 114/8, 10 + 24/8, 34/8 and 2 of it."""
    found = difference(published(f"korthikanti.{name}"), Subject(named_model("gpt3-175b")))
    assert found.at({n: 2048, batch: 1, devices: 8})[0] == stated
    exact = {"activations": 114, "tensor_parallel": 23, "sequence_parallel": Rational(114, 8), "full": 2}
    exact |= {"selective": 13, "sequence_selective": Rational(34, 8)}
    assert stated == 2048 * 12288 * exact[name]


def test_llama_3_shares_keys_and_values_among_4_heads() -> None:
    subject = Subject(named_model("llama-3-8b"))
    of_groups, of_all = (difference(published(f"pope.{name}"), subject) for name in ("cache", "cache_of_all_heads"))
    assert of_groups.at({}) == (131072, 131072)
    assert of_all.at({}) == (4 * 131072, 131072)
    assert [term.departure.cost for term in of_all.terms] == ["keys and values that heads share"]


def test_the_look_up_as_a_product_is_27_percent_of_the_products_of_the_smallest_model() -> None:
    """At the 1024 positions that it takes, every pair counted; with softmax beside the products a little less."""
    subject = Subject(named_model("gpt2"))
    numbers = {symbol: Integer(value) for symbol, value in {**named_model("gpt2").values, n: 1024}.items()}
    assert percent((subject.look_ups / subject.forward).xreplace(numbers)) == "+27.10%"
    stated, derived = difference(published("chinchilla.forward"), subject).at({n: 1024})
    assert percent(stated / derived - 1) == "+26.93%"


@pytest.mark.parametrize("row", RATIOS)
def test_the_ratios_of_hoffmann_et_al_leave_the_tables_out(row: tuple[int, int, int, int, int, int, str]) -> None:
    whole, inner = ratios(row)
    assert abs(Rational(fixed(inner, 2)) - Rational(row[-1])) <= Rational(1, 100)
    assert abs(Rational(fixed(whole, 2)) - Rational(row[-1])) >= Rational(4, 100)


# --- how numbers print ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (fixed(Rational(-1, 200), 2), "-0.01"),
        (fixed(Rational(1, 3), 0), "0"),
        (fixed(Rational(-1, 1000), 2), "0.00"),
        (percent(Rational(-1, 3)), "-33.33%"),
        (percent(Rational(1, 10**7)), "+0.00001%"),
        (percent(Integer(0)), "0.00%"),
        (relative(Integer(3), Integer(2)), "+50.00%"),
        (relative(Integer(2), Integer(2)), "0"),
        (relative(Integer(2), Integer(0)), "from 0"),
        (short(Integer(1234567)), "1,234,567"),
        (short(Integer(123456789)), "1.235e8"),
        (short(Integer(99999999)), "1.000e8"),
        (times(Rational(-1, 2)), "-1/2"),
        (times(Integer(3)), "+3"),
    ],
)
def test_numbers_print_exactly(printed: str, shown: str) -> None:
    assert printed == shown
