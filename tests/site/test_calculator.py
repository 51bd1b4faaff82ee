"""The numbers of the page are those of `derivations count --json`, to the integer.

The page evaluates closed forms in which batch, length and bytes of a number are letters, printed as JavaScript; the
command puts the numbers in before it counts, in SymPy.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.models import model_names, named_model
from derivations.costs.counts import PHASES, count
from derivations.costs.fit.inference import Serving
from derivations.costs.fit.mesh import Mesh, tensor_sizes
from derivations.site import calculator
from derivations.site.calculator import calculator_data
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
def test_every_model(node: Node, data: Callable[[tuple[str, ...]], Path]):
    models = tuple(model_names())
    answered, refused = compared(node, data(models), models)
    assert answered + refused == len(models) * len(PHASES) * len(LENGTHS)
    assert answered > 1400


@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v3", "t5-small"])
def test_what_a_device_needs_is_what_the_command_says(node: Node, data: Callable[[tuple[str, ...]], Path], model: str):
    found, asked, wanted = named_model(model), [], []
    for ranks, batch, seq in product((1, 2, 8), (1, 3), (127, 4099)):
        if ranks in tensor_sizes(found):
            asked.append({"model": model, "phase": "forward", "batch": batch, "seq": seq, "dtype": "", "ranks": ranks})
            budget = Serving(found, seq, batch, Mesh(tensor=ranks)).budget
            wanted.append({f"fit.{name}": str(number) for name, number in budget.numbers().items()})
    assert len(wanted) >= 8
    assert node("run_counts.js", asked, ASSETS / "exact.js", data((model,))) == wanted


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
