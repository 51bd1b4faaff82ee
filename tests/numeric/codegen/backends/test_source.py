"""The sources for JAX and PyTorch: they run alone, read as they should, and say no where a layer has no form."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sympy import Function, Symbol, besselj, gamma

from derivations.catalogue import layers
from derivations.cli import cli
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named
from derivations.language.layers.layer import Equations, Layer
from derivations.positions.positional_encoding import positional_encoding
from derivations.symbols import d, n
from numeric import CompileError, compile_layer, source
from numeric.codegen import formula_printer, printer
from numeric.codegen.backends import BACKENDS, backend, functional, libraries
from numeric.codegen.backends.traced_printer import TracedPrinter
from numeric.verification.agreement.cases import SIZES, case

LIBRARIES = ("jax", "torch")
NUMPY_ITSELF = re.compile(r"""f["'][^"'\n]*\bnp\.\w+\(""")
x = Symbol("x", real=True)


# The text


def test_constants_are_numpys_in_float64_and_are_handed_over():
    text = source(layers()["rotary_embedding"], "jax")
    assert "C = np.cos(angle)" in text and "jnp.asarray(C, X.dtype)" in text
    text = source(layers()["rotary_embedding"], "torch")
    assert "C = np.cos(angle)" in text and "torch.as_tensor(C, dtype=X.dtype, device=X.device)" in text


def test_an_output_is_the_librarys_array_even_where_it_is_constant():
    angle = positional_encoding().until("angle")
    assert "angle = jnp.asarray(np.arange" in source(angle, "jax")
    assert "angle = torch.as_tensor(np.arange" in source(angle, "torch")


def test_attention_reads_alike_in_all_three():
    for name in BACKENDS:
        assert "    S = Q @ K.mT / math.sqrt(d_k)  # (n, m)\n" in source(layers()["scaled_dot_product_attention"], name)


def test_relu_is_the_function_whose_slope_at_zero_is_zero():
    assert "G = jax.nn.relu(H)" in source(feed_forward(), "jax")
    assert "G = torch.relu(H)" in source(feed_forward(), "torch")


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_is_imported_that_is_not_used(name):
    text = source(layers()["feed_forward"], name)
    assert "import numpy" not in text and f"import {name}" in text


@pytest.mark.parametrize("module", [printer, formula_printer])
def test_no_rule_of_a_printer_names_numpy_itself(module):
    """A rule that printed `np.` would hand a traced array to NumPy; it asks the printer for the library's name."""
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert not NUMPY_ITSELF.search(text)


def test_a_rule_that_names_numpy_itself_is_seen():
    assert NUMPY_ITSELF.search('return f"np.zeros({size})"') and NUMPY_ITSELF.search('f"(~np.tri({size}))"')


@pytest.mark.parametrize("name", LIBRARIES)
def test_no_array_function_writes_in_place_and_none_is_missing(name):
    texts = BACKENDS[name].primitives
    assert texts.keys() >= BACKENDS["numpy"].primitives.keys()
    assert {each for each, text in texts.items() if re.search(r"\bnp\.", text)} == set(libraries.OF_SIZES)


def test_what_writes_in_place_is_left_out_with_what_calls_it():
    texts = {
        "writes": "def writes(x):\n    x[0] = 1\n    return x\n",
        "adds": "def adds(x):\n    x[0] += 1\n    return x\n",
        "gives": "def gives(x, y):\n    return np.add(x, y, out=x)\n",
        "quiet": "def quiet(x):\n    with np.errstate(over='ignore'):\n        return np.exp(x)\n",
        "calls": "def calls(x):\n    return writes(x) + 1\n",
        "stays": 'def stays(x):\n    """Return y with y[0] = x."""\n    return x + 1\n',
    }
    assert libraries.traceable(texts).keys() == {"stays"}


# The functional forms, by NumPy alone: the same as those that write in place


def test_functional_forms_are_those_that_write_in_place():
    rng = np.random.default_rng(0)
    own = import_module("numeric.runtime.primitives")
    rows, matrices, numbers = rng.normal(size=(2, 5, 3)), rng.normal(size=(7, 3, 11)), rng.integers(7, size=(2, 5))
    right = rng.normal(size=(2, 5, 11))
    calls = {
        "top_k": (rng.integers(3, size=(2, 5, 7)), 3),
        "top_k_mask": (rng.integers(3, size=(2, 5, 7)), rng.integers(2, size=(5, 7)) > 0, 3),
        "routed_product": (rows, matrices, numbers),
        "routed_outer_over_batch": (rows, right, numbers, 7),
        "place_block": (rows, 1, 3),
        "add_windows": (rng.normal(size=(2, 4, 6)), 5),
        "add_entries": (rng.normal(size=(2, 3, 5, 7)), rng.integers(11, size=(5, 7)), 11),
        "add_rows": (rows, numbers, 7),
        "choose": (rng.normal(size=(2, 7, 3)), rng.integers(7, size=(5, 2))),
        "row_exponentials": (np.where(rows > 1, -np.inf, rows), 2.0),
    }
    assert calls.keys() == set(functional.__all__)
    whole = rng.normal(size=(7, 3)), rng.integers(7, size=(11, 5, 2))
    np.testing.assert_array_equal(functional.choose(*whole), own.choose(*whole))
    for name, arguments in calls.items():
        expected = getattr(own, name)(*arguments)
        np.testing.assert_allclose(getattr(functional, name)(*arguments), expected, rtol=1e-13, atol=1e-15)
    with pytest.raises(ValueError, match="4 largest"):
        functional.top_k(rows, 4)


# Saying no


def one_of(formula):
    X = array("X", n, d)
    let = Equations()
    return Layer("one", (X,), (), let, let("Y")(named("f", formula, x)(X)))


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_formula_without_a_form_is_refused(name):
    with pytest.raises(CompileError, match="unknown"):
        source(one_of(Function("unknown")(x)), name)


@pytest.mark.parametrize(("name", "formula"), [("jax", besselj(0, x)), ("torch", gamma(x)), ("torch", besselj(0, x))])
def test_a_function_that_the_library_lacks_is_refused(name, formula):
    assert "special." in source(one_of(formula))
    with pytest.raises(CompileError, match="has no counterpart in"):
        source(one_of(formula), name)


def test_an_array_function_without_a_form_is_refused(monkeypatch):
    whole = BACKENDS["jax"]
    left = {name: text for name, text in whole.primitives.items() if name != "row_softmax"}
    monkeypatch.setitem(BACKENDS, "jax", replace(whole, primitives=left))
    with pytest.raises(CompileError, match="row_softmax has no form in jax"):
        source(layers()["softmax"], "jax")


def test_a_subclass_must_say_how_constants_are_handed_over():
    with pytest.raises(NotImplementedError):
        TracedPrinter._from_numpy(None, "X")


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_not_installed_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    backend._namespace.cache_clear()
    try:
        with pytest.raises(ImportError, match=f"needs the package {name}: install it"):
            compile_layer(one_of(x + 17), name)
        assert f"import {name}" in source(layers()["softmax"], name)  # the text needs no library
    finally:
        backend._namespace.cache_clear()


def test_importing_numeric_imports_neither_library(repository):
    program = "import sys, numeric, numeric.codegen.backends.sharding; print({'jax', 'torch'} & sys.modules.keys())"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", cwd=repository, check=True
    )
    assert ran.stdout == "set()\n"


# The text alone


RUN = """
import sys
import numpy as np
assert "derivations" not in sys.modules and "numeric" not in sys.modules
import emitted
arrays = dict(np.load("arrays.npz"))
{convert}
nested = {{}}
for path, value in arrays.items():
    *folders, name = path.split("/")
    place = nested
    for folder in folders:
        place = place.setdefault(folder, {{}})
    place[name] = to(value)
found = emitted.{function}(**nested)
found = found if isinstance(found, tuple) else (found,)
np.savez("found.npz", *(np.asarray(each) for each in found if not isinstance(each, dict)))
"""
CONVERT = {
    "jax": "import jax; jax.config.update('jax_enable_x64', True); to = jax.numpy.asarray",
    "torch": "import torch; to = torch.from_numpy",
}


def run_alone(folder, backend_name, options, function, arrays):
    """What a layer's emitted text returns in a process that has neither of our packages."""
    emitted = CliRunner().invoke(cli, ["code", *options, "--backend", backend_name])
    assert emitted.exit_code == 0, emitted.output
    (folder / "emitted.py").write_text(emitted.stdout, encoding="utf-8")
    (folder / "run.py").write_text(RUN.format(convert=CONVERT[backend_name], function=function), encoding="utf-8")
    np.savez(folder / "arrays.npz", **arrays)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run([sys.executable, "run.py"], cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    return list(np.load(folder / "found.npz").values())


def by_path(tree, path=""):
    parts = {f"{path}{name}": value for name, value in tree.items()}
    return {
        name: array
        for where, value in parts.items()
        for name, array in (by_path(value, f"{where}/") if isinstance(value, dict) else {where: value}).items()
    }


@pytest.mark.peers
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_text_of_a_layer_runs_alone(name, tmp_path):
    pytest.importorskip(name)
    it = case("encoder_layer", SIZES[0], "float64")
    (found,) = run_alone(tmp_path, name, ["encoder_layer"], "encoder_layer", by_path(it.arguments))
    np.testing.assert_allclose(found, compile_layer(it.layer)(**it.arguments), rtol=1e-12, atol=1e-13)


@pytest.mark.peers
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_text_of_a_gradient_runs_alone(name, tmp_path):
    pytest.importorskip(name)
    language = import_module("derivations.language")
    it = case("masked_multi_head_attention", SIZES[0], "float64")
    shape = compile_layer(it.layer)(**it.arguments).shape
    arguments = {**it.arguments, "dY": np.random.default_rng(0).normal(size=shape)}
    options = ["masked_multi_head_attention", "--gradient"]
    found = run_alone(tmp_path, name, options, "masked_multi_head_attention_gradient", arguments)
    expected = compile_layer(language.gradient(it.layer))(**arguments)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
