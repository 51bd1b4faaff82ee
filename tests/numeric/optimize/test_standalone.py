"""Optimised source runs where this package is not: it gives what the prepared layer gives, to the last bit."""

import ast
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from derivations.catalogue import LAYERS, layer
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language import gradient
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Layer
from derivations.linear.linear import linear
from numeric import compile_layer
from numeric.codegen.formula_printer import CompileError
from numeric.optimize import PASSES, here
from numeric.optimize.prepare import prepare
from numeric.optimize.standalone import optimised_source
from numeric.optimize.standalone.definitions import definitions, needed
from numeric.runtime import tiles
from numeric.verification.agreement.cases import SIZES, Case, case, subjects

FEW = (
    "softmax",
    "masked_scaled_dot_product_attention",
    "grouped_query_attention",
    "masked_latent_attention",
    "pre_norm_layer",
    "encoder_layer",
    "decoder",
    "transformer",
)
CHILD = """
import importlib, inspect, pickle, sys
sys.modules["derivations"] = sys.modules["numeric"] = None  # an import of either fails
sys.path.insert(0, ".")
results = {}
for module, function, inputs, weights, given in pickle.load(open("calls", "rb")):
    loaded = importlib.import_module(module)
    run = getattr(loaded, function)
    arguments = loaded.packed(**weights) if weights else {}
    asked = {name: given[name] for name in inspect.signature(run).parameters if name in given and name not in arguments}
    results[module] = run(*inputs, **arguments, **asked)
pickle.dump(results, open("results", "wb"))
"""


def results_elsewhere(folder: Path, sources: dict[str, str], cases: dict[str, Case]) -> dict[str, Any]:
    """What the sources give for their cases, in a process that cannot import this package."""
    calls = []
    for number, (name, drawn) in enumerate(cases.items()):
        (folder / f"source_{number}.py").write_text(sources[name], encoding="utf-8")
        given = {**drawn.sizes, **drawn.given}
        calls.append((f"source_{number}", drawn.layer.name, list(drawn.inputs.values()), drawn.weights, given))
    (folder / "calls").write_bytes(pickle.dumps(calls))
    ran = subprocess.run([sys.executable, "-I", "-c", CHILD], cwd=folder, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    found = pickle.loads((folder / "results").read_bytes())
    return {name: found[f"source_{number}"] for number, name in enumerate(cases)}


def prepared_result(drawn: Case) -> Any:
    scalars = {s.name: drawn.given[s.name] for s in drawn.layer.scalars if s.name in drawn.given}
    # all passes, whether they are a gain on this computer or not, as in the text
    with patch.object(here, "exp2_over_exp", lambda dtype: 0.5):
        function = prepare(drawn.layer, drawn.weights, sizes=drawn.sizes, threads=1)
    return function(*drawn.inputs.values(), **scalars)


def same_elsewhere(folder: Path, names: tuple[str, ...]) -> None:
    cases = {name: case(name, SIZES[0], np.float64) for name in names}
    found = results_elsewhere(folder, {n: optimised_source(c.layer) for n, c in cases.items()}, cases)
    for name, drawn in cases.items():
        assert np.array_equal(found[name], prepared_result(drawn)), name
        plain = compile_layer(drawn.layer)(**drawn.arguments)
        assert np.allclose(found[name], plain, rtol=1e-11, atol=1e-11), name


@pytest.mark.slow
def test_the_text_runs_without_the_package(tmp_path: Path):
    same_elsewhere(tmp_path, FEW)


@pytest.mark.slow
def test_every_layer_runs_without_the_package(tmp_path: Path):
    same_elsewhere(tmp_path, tuple(subjects()))


def test_a_wrong_text_is_noticed(tmp_path: Path):
    """The comparison can fail: a bias with the wrong sign gives another result."""
    drawn = case("linear", SIZES[0], np.float64)
    wrong = optimised_source(drawn.layer).replace("np.add(", "np.subtract(")
    found = results_elsewhere(tmp_path, {"linear": wrong}, {"linear": drawn})
    assert not np.allclose(found["linear"], prepared_result(drawn))


def test_the_text_carries_the_gradient(tmp_path: Path):
    whole = gradient(inlined(feed_forward()))
    source = optimised_source(whole)
    drawn = case("feed_forward", SIZES[0], np.float64)
    dY = np.random.default_rng(5).standard_normal((*drawn.inputs["X"].shape[:-1], drawn.sizes["d_model"]))
    both = Case("", whole, drawn.sizes, drawn.dtype, {**drawn.inputs, "dY": dY}, drawn.weights, {}, drawn.expected)
    found = results_elsewhere(tmp_path, {"": source}, {"": both})[""]
    plain = compile_layer(gradient(feed_forward()))(**drawn.inputs, dY=dY, **drawn.weights)
    assert all(np.allclose(one, other, rtol=1e-12) for one, other in zip(found, plain, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LAYERS))
def test_the_text_of_every_layer_names_all_that_it_uses(name: str):
    source = optimised_source(layer(name))
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {getattr(node, "module", None) or node.names[0].name for node in imported}
    assert not any(module.startswith(("numeric", "derivations")) for module in modules)
    assert f"def {layer(name).name}(" in source


def test_only_what_is_called_is_carried():
    assert "tiles" not in optimised_source(layer("positional_encoding"))
    assert "online_step" not in optimised_source(layer("feed_forward"))
    source = optimised_source(layer("feed_forward"))
    assert "register_at_fork" in source and "def product_of_heads" not in source
    assert "scipy" not in source and "from scipy import special" in optimised_source(layer("feed_forward_gelu"))


def test_what_a_definition_calls_is_needed_as_well():
    texts = definitions(
        "import os\nx = 1  # kept\n\n\ndef f():\n    return g()\n\n\ndef g():\n    return x\n\n\n"
        "def h():\n    return f()\n\n\nif os:\n    h()\n"
    )
    assert list(texts) == ["x", "f", "g", "h", "if 17"]
    assert list(needed(texts, [{"": "g()"}])) == ["x", "g"]
    assert list(needed(texts, [{"": "f()"}])) == ["x", "f", "g", "h", "if 17"]
    assert needed(texts, [{"": "y()"}]) == {}


def test_passes_that_are_left_out_leave_no_trace():
    plain = layer("multi_head_attention")
    assert "W_QKV" not in optimised_source(plain) or "W_Q_scaled" in optimised_source(plain)
    source = optimised_source(plain, without=PASSES)
    assert "_scaled" not in source and "exp2" not in source and "def packing" not in source
    with pytest.raises(ValueError, match="no pass called 'wide'"):
        optimised_source(plain, without=["wide"])


def test_a_layer_called_like_a_helper_is_refused():
    plain = linear()
    for name in ("Tile", "packed"):
        renamed = Layer(name, plain.inputs, plain.parameters, plain.equations, plain.args[4])
        assert name == "packed" or hasattr(tiles, name)
        with pytest.raises(CompileError, match=f"{name} is the name of a helper"):
            optimised_source(renamed)
