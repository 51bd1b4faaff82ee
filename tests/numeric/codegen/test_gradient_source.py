"""The source of gradients: it reads like the textbook, its lines are short, and it runs without the package."""

import ast
import pickle
import subprocess
import sys

import numpy as np
import pytest

from derivations.attention.attention import scaled_dot_product_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.differentiation.reverse import gradient
from derivations.linear.linear import linear
from derivations.transformer.encoder import encoder
from numeric import compile_layer, source
from numeric.codegen.line_wrapping import WIDTH, wrapped_items, wrapped_statement
from numeric.verification.agreement.cases import DTYPES, SIZES, case, subjects
from numeric.verification.agreement.gradients import cotangents, gradient_names, leaves, results, run

NAMES = [name for name, (layer, _) in subjects().items() if gradient_names(layer)]
LONGEST = 120


def body(layer):
    """Return the lines of the layer's own function, without its docstring."""
    function = ast.parse(source(layer)).body[-1]
    return [ast.unparse(statement) for statement in function.body if not isinstance(statement, ast.Expr)]


def test_the_gradient_of_attention_reads_like_the_textbook():
    assert body(gradient(scaled_dot_product_attention())) == [
        "d_k = Q.shape[-1]",
        "S = Q @ K.mT / math.sqrt(d_k)",
        "A = row_softmax(S)",
        "dA = dO @ V.mT",
        "dS = A * (dA - (dA * A).sum(axis=-1)[..., None])",
        "dQ = dS @ K / math.sqrt(d_k)",
        "dK = dS.mT @ Q / math.sqrt(d_k)",
        "dV = A.mT @ dO",
        "return (like(dQ, Q), like(dK, K), like(dV, V))",
    ]


def test_the_gradient_of_the_feed_forward_network_reads_like_the_textbook():
    assert body(gradient(feed_forward())) == [
        "H = X @ W_1 + b_1",
        "G = np.maximum(0, H)",
        "dG = dY @ W_2.mT",
        "dH = dG * (H > 0).astype(H.dtype)",
        "dX = dH @ W_1.mT",
        "dW_1 = product_over_batch(X, dH)",
        "db_1 = sum_batch(dH.sum(axis=-2), 1)",
        "dW_2 = product_over_batch(G, dY)",
        "db_2 = sum_batch(dY.sum(axis=-2), 1)",
        "return (dX, dW_1, db_1, dW_2, db_2)",
    ]


def test_a_gradient_asks_for_no_forward_value_that_it_does_not_need():
    assert not any(line.startswith("Y = ") for line in body(gradient(linear())))


def test_a_stack_keeps_its_tapes_and_runs_nothing_twice():
    text = source(gradient(encoder()))
    assert text.count("Z, layers_tape = forward_through(encoder_layer_forward, X, layers, epsilon=epsilon)") <= 1
    assert text.count("def encoder_layer_forward(") == text.count("def encoder_layer_backward(") == 1
    assert "def encoder_layer(" not in text


# Lines


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_source_is_tidy(name):
    text = source(gradient(subjects()[name][0]))
    assert text.endswith("\n") and not text.endswith("\n\n")
    for line in text.splitlines():
        code = line.split("  # ")[0]
        assert len(code) <= LONGEST and line == line.rstrip(), line
    functions = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert functions and all(ast.get_docstring(each) for each in functions)
    names = [each.name for each in functions]
    assert len(names) == len(set(names))


LINES = {
    "short = 1": "short = 1",
    "x = call(alpha, beta, **gamma, delta=epsilon)": "x = call(\n    alpha, beta, **gamma,\n    delta=epsilon\n)",
    "alpha, beta, gamma, delta = tape": "(\n    alpha, beta, gamma, delta\n) = tape",
    "return Y, (alpha, beta, gamma, delta)": "return Y, (\n    alpha, beta, gamma, delta\n)",
    "return Y, (alpha_beta_gamma_delta,)": "return Y, (\n    alpha_beta_gamma_delta,\n)",
    'return dX, {"alpha": one, "beta": two}': 'return dX, {\n    "alpha": one, "beta": two\n}',
    "return alpha, beta, gamma, delta": "return (\n    alpha, beta, gamma, delta\n)",
    "Y = alpha @ beta + gamma - (delta + 1)": "Y = (\n    alpha @ beta\n    + gamma\n    - (delta + 1)\n)",
    "Y = alpha * (beta * gamma + delta / 2)": "Y = alpha * (\n    beta * gamma\n    + delta / 2\n)",
    "Y = (alpha + beta) * (gamma + delta)": "Y = (alpha + beta) * (\n    gamma\n    + delta\n)",
    "Y = (alpha + beta) / (gamma * delta)": "Y = (\n    (alpha + beta)\n    / (gamma * delta)\n)",
    "Y = (alpha * beta / gamma).astype(d)": "Y = (\n    alpha\n    * beta\n    / gamma\n).astype(d)",
    "Y = alpha * beta ** gamma - (x := d)": "Y = (\n    alpha * beta ** gamma\n    - (x := d)\n)",
    "Y = alpha + (beta & gamma) + delta / epsilon": "Y = (\n    alpha\n    + (beta & gamma)\n    + delta / epsilon\n)",
    "alpha, beta = delta(gamma, epsilon)": "alpha, beta = delta(\n    gamma, epsilon\n)",
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_long_line_is_wrapped_where_a_reader_would(line, indent):
    wanted = "\n".join(indent + each for each in LINES[line].splitlines())
    assert wrapped_statement(indent + line, 30 + len(indent)) == wanted
    assert ast.dump(ast.parse(wanted.replace("\n" + indent, "\n").removeprefix(indent))) == ast.dump(ast.parse(line))


@pytest.mark.slow
@pytest.mark.parametrize("width", [20, 50])
@pytest.mark.parametrize("name", NAMES)
def test_wrapping_changes_no_statement(name, width):
    seen = 0
    for function in ast.parse(source(gradient(subjects()[name][0]))).body:
        for statement in function.body if isinstance(function, ast.FunctionDef) else ():
            line = ast.unparse(statement)
            if "\n" not in line:
                again = wrapped_statement(line, width)
                assert ast.dump(ast.parse(again)) == ast.dump(ast.parse(line))
                seen += again != line
    assert seen > 20 or width > 20 or "transformer" not in name


def test_what_no_layout_makes_short_is_left_alone():
    line = "alpha_beta_gamma_delta_epsilon_zeta = eta"
    assert wrapped_statement(line, 20) == line


def test_no_item_of_a_list_is_broken():
    items = ["W_1 (d_model, d_ff)", "a_name_that_is_longer_than_the_line (n,)", "b (n,)"]
    assert wrapped_items(items, "  ", width=24).splitlines() == [
        "  W_1 (d_model, d_ff),",
        "  a_name_that_is_longer_than_the_line (n,),",
        "  b (n,)",
    ]


def test_the_width_is_that_of_the_emitted_lines():
    assert WIDTH <= LONGEST


# Alone


STANDALONE = """
import pickle, sys
sys.modules["derivations"] = sys.modules["numeric"] = sys.modules["sympy"] = None  # importing them would fail
with open(sys.argv[1], "rb") as file:
    cases = pickle.load(file)
results = {}
for key, (text, name, arguments) in cases.items():
    module = {}
    exec(compile(text, key, "exec"), module)
    results[key] = module[name](**arguments)
with open(sys.argv[2], "wb") as file:
    pickle.dump(results, file)
"""


def arguments_of(name, dtype):
    each = case(name, SIZES[0], dtype)
    given = {**each.arguments, **cotangents(each.layer, each.arguments, each.sizes, np.random.default_rng(3))}
    compiled = compile_layer(gradient(each.layer))
    wanted = [*each.inputs, *(key for key in given if key not in each.arguments), *each.weights]
    asked = {size.name: each.sizes[size.name] for size in compiled.sizes}
    scalars = {scalar.name: each.given[scalar.name] for scalar in compiled.layer.scalars if scalar.name in each.given}
    return compiled, {key: given[key] for key in wanted} | asked | scalars


@pytest.mark.slow
def test_the_source_runs_without_the_package_and_gives_the_same_bits(tmp_path):
    """That of every gradient, and of every layer that has one."""
    cases, expected = {}, {}
    for name in NAMES:
        for dtype in DTYPES:
            each = case(name, SIZES[0], dtype)
            for compiled, given in (arguments_of(name, dtype), (compile_layer(each.layer), each.arguments)):
                key = f"{compiled.layer.name} in {name} {dtype}"
                cases[key] = compiled.source, compiled.function.__name__, given
                expected[key] = run(compiled.layer, given, SIZES[0])
    assert len(cases) == 2 * len(NAMES) * len(DTYPES)
    (tmp_path / "cases").write_bytes(pickle.dumps(cases))
    command = [sys.executable, "-c", STANDALONE, str(tmp_path / "cases"), str(tmp_path / "results")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    found = pickle.loads((tmp_path / "results").read_bytes())
    assert found.keys() == expected.keys()
    for key, wanted in expected.items():
        for one, other in zip(results(found[key]), results(wanted), strict=True):
            pairs = zip(leaves(one), leaves(other), strict=True)
            assert all(a == b and (x == y).all() and x.dtype == y.dtype for (a, x), (b, y) in pairs), key
