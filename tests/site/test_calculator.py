"""The numbers of the page are those of `derivations count --json`, to the integer.

The page evaluates closed forms in which batch, length and bytes of a number are letters, printed as JavaScript; the
command puts the numbers in before it counts, in SymPy.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.description import Model
from derivations.architectures.models import model_names, named_model
from derivations.architectures.storage import BYTES
from derivations.costs.counts import PHASES, count, length_limits
from derivations.costs.fit.inference import Serving, usual_length
from derivations.costs.fit.mesh import Mesh, tensor_sizes
from derivations.costs.fit.precision import stored_as
from derivations.costs.fit.training import Training
from derivations.site import calculator
from derivations.site.calculator import calculator_data, row_of
from derivations.site.letters import meaning_of
from derivations.symbols import n
from tests.tiers import few

pytestmark = pytest.mark.browser

Node = Callable[..., Any]
ASSETS = Path(calculator.__file__).with_name("assets")
LENGTHS = (1, 2, 127, 512, 4099)  # below, at and above the windows and tables of some models
BATCHES = (1, 3, 7)
NAMED = [*few(["gpt2", "gemma-2-9b", "t5-small", "deepseek-v3", "vit-b-16", "whisper-tiny", "bert-base"], fast=7)]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Callable[[tuple[str, ...]], Path]:
    def written(models: tuple[str, ...]) -> Path:
        path = tmp_path_factory.mktemp("calculator") / "data.js"
        path.write_text(calculator_data(models), encoding="utf-8")
        return path

    return written


def numbers(found: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{above}{name}.")
        elif isinstance(value, int) and not isinstance(value, bool):
            yield above + name, str(value)


def expected(asked: Mapping[str, Any]) -> dict[str, str] | None:
    """What the command prints, or None where it refuses."""
    try:
        counts = count(
            named_model(asked["model"]), batch=asked["batch"], seq=asked["seq"], phase=asked["phase"],
            dtype=asked["dtype"] or None,
        ).json()  # fmt: skip
    except ValueError:
        return None
    found = dict(numbers({name: counts[name] for name in ("parameters", "flops", "memory")}))
    return {path: number for path, number in found.items() if path not in ("flops.batch", "flops.seq")}


def compared(node: Node, script: Path, models: tuple[str, ...]) -> tuple[int, int]:
    """Compare all questions about some models; return how many have an answer, and how many are refused."""
    asked = [
        {"model": model, "phase": phase, "batch": BATCHES[place % 3], "seq": seq, "source": None,
         "dtype": ("", "float32", "int8")[place % 3]}
        for place, (model, phase, seq) in enumerate(product(models, PHASES, LENGTHS))
    ]  # fmt: skip
    answers = node("run_counts.js", asked, ASSETS / "exact.js", script)
    wanted = [expected(question) for question in asked]
    for question, answer, want in zip(asked, answers, wanted, strict=True):
        assert (answer == want) if want else "refused" in answer, question
    return sum(want is not None for want in wanted), wanted.count(None)


@pytest.mark.parametrize("model", NAMED)
def test_a_model_of_every_kind(node: Node, data: Callable[[tuple[str, ...]], Path], model: str):
    answered, _ = compared(node, data((model,)), (model,))
    assert answered >= 3 * len(LENGTHS) - 3


@pytest.mark.slow
def test_every_model(node: Node, site: Path):
    """By the script of the site as it is written, which takes longer to make than all else here."""
    models = tuple(model_names())
    answered, refused = compared(node, site / "calculator-data.js", models)
    assert answered + refused == len(models) * len(PHASES) * len(LENGTHS)
    assert answered > 1400


def command(model: Model, phase: str, batch: int, seq: int, dtype: str, ranks: int) -> dict[str, str] | None:
    """The bytes that `derivations fit` has for these choices, or None where it refuses."""
    try:
        found = stored_as(model, dtype or None)
        limit = length_limits(found, phase).get(n)
        seq = usual_length(found) if limit is None or limit.fixed else seq  # of pictures, the length is left out
        of = Training if phase == "training" else Serving
        plan = of(found, seq, batch, mesh=Mesh(tensor=ranks))
    except ValueError:
        return None
    return {f"fit.{name}": str(number) for name, number in plan.budget.numbers().items() if number}


def compared_with_fit(node: Node, script: Path, model: Model, exhaustive: bool) -> list[bool]:
    """Compare what a device needs for all choices; return for each whether there is a plan."""
    choices = product(PHASES, (*BYTES, ""), [each for each in (1, 2, 8) if each in tensor_sizes(model)])
    asked = [
        {"model": model.name, "phase": phase, "batch": 1 + 2 * (place % 2), "seq": (127, 509)[place % 2],
         "dtype": dtype, "ranks": ranks}
        for place, (phase, dtype, ranks) in enumerate(choices)
        if exhaustive or place % 3 == 0 or dtype in ("float32", "int8")
    ]  # fmt: skip
    answers = node("run_counts.js", asked, ASSETS / "exact.js", script)
    known = []
    for question, answer in zip(asked, answers, strict=True):
        if "refused" in answer:  # a phase that the model does not have
            continue
        wanted = command(**{**question, "model": model})
        assert (answer or None) == wanted, question
        known.append(wanted is not None)
    return known


@pytest.mark.parametrize("model", few(["llama-3-8b", "t5-small", "bert-base", "deepseek-v3"], fast=3))
def test_what_a_device_needs_is_what_the_command_says(node: Node, data: Callable[[tuple[str, ...]], Path], model: str):
    known = compared_with_fit(node, data((model,)), named_model(model), exhaustive=False)
    assert len(known) >= 10 and all(known)


def test_packed_weights_are_served_and_trained_only_as_one_type(node: Node, tmp_path: Path):
    model = stored_as(named_model("gpt2"), "int4")
    row = row_of(model)
    words = {"bytes": dict(BYTES), "purposes": calculator.PURPOSES, "models": {model.name: row.pop("model")}}
    script = tmp_path / "data.js"
    script.write_text(f"globalThis.CALCULATOR={json.dumps({**row, **words})};", encoding="utf-8")
    known = compared_with_fit(node, script, model, exhaustive=True)
    assert known.count(False) == 2  # training on one or two devices, as stored
    assert "packed weights are not trained themselves" in script.read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_a_device_needs_of_every_model(node: Node, site: Path):
    for model in model_names():
        assert any(compared_with_fit(node, site / "calculator-data.js", named_model(model), exhaustive=False)), model


def test_every_letter_has_a_meaning(data: Callable[[tuple[str, ...]], Path]):
    text = data(tuple(NAMED)).read_text(encoding="utf-8")
    letters = json.loads(text.partition("=")[2].rstrip().rstrip(";"))["letters"]
    assert len(letters) > 15 and [name for name, (_, words) in letters.items() if not words] == []
    assert meaning_of("d_k_decoder") == "width of a query or key, of the decoder" and meaning_of("nothing_1") == ""


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (999, "", ""),
        (124_439_808, "", "124.44 M"),
        (999_994, "", "999.99 k"),
        (999_995, "", "1.00 M"),
        (1023, "B", ""),
        (3 * 2**29, "B", "1.50 GiB"),
        (2**30 - 1, "B", "1.00 GiB"),
    ],
)
def test_short_figures_are_rounded(node: Node, tmp_path: Path, number: int, unit: str, shown: str):
    script = tmp_path / "data.js"
    script.write_text("globalThis.CALCULATOR = {};")
    assert node("run_counts.js", [{"about": str(number), "unit": unit}], ASSETS / "exact.js", script) == [shown]


def test_another_formula_is_noticed(node: Node, data: Callable[[tuple[str, ...]], Path]):
    """The check is checked: one coefficient changed in the script, and the numbers differ."""
    script = data(("gpt2",))
    text = script.read_text(encoding="utf-8")
    assert text.count('["*",12,') > 0
    script.write_text(text.replace('["*",12,', '["*",13,'), encoding="utf-8")
    with pytest.raises(AssertionError):
        compared(node, script, ("gpt2",))


def test_half_of_an_odd_number_is_refused(node: Node, tmp_path: Path):
    script = tmp_path / "data.js"
    form = '{"x": [[["/", "n", 2], "n/2"]]}'
    model = '{"phases": {"forward": 0}, "limits": {"forward": {"n": [null, false]}}, "sizes": {}, "dtype": "int8"}'
    script.write_text(f"globalThis.CALCULATOR = {{forms: [{form}], bytes: {{int8: 1}}, models: {{m: {model}}}}};")
    asked = [{"model": "m", "phase": "forward", "batch": 1, "seq": seq, "dtype": ""} for seq in (6, 7)]
    even, odd = node("run_counts.js", asked, ASSETS / "exact.js", script)
    assert even == {"x": "3"} and "not a whole number" in odd["refused"]
