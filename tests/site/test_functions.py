"""What the page asks of Python about a pasted function, asked here without a browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from derivations import layer
from derivations.cli import cli
from derivations.language import count_flops, prove_gradient
from derivations.language.printing.latex import latex_of
from derivations.site import functions
from derivations.site.functions import SAMPLE, SAMPLE_LAYER, answered

UNSCALED = SAMPLE.replace(" / np.sqrt(Q.shape[-1])", "")
NORM = """import numpy as np

def norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight
"""
SHAPES = "Q: n x d_k\nK: m x d_k\nV: m, 2*p\n"
traced = pytest.mark.skipif("__import__('sys').gettrace() is not None", reason="coverage traces the lines: no names")


def asked(name: str, text: str, shapes: str = "", target: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answered(name, text, shapes, target))
    return found


@traced
@pytest.mark.parametrize(
    ("text", "name", "target"),
    [
        (SAMPLE, "attention", SAMPLE_LAYER),
        (UNSCALED, "attention", SAMPLE_LAYER),
        ("import numpy as np\ndef f(x):\n    return np.linalg.svd(x)[0]\n", "f", "softmax"),
        ("def f(x):\n    raise KeyError('no')\n", "f", "softmax"),
        (NORM, "norm", "rms_norm"),
    ],
)
def test_the_verdict_is_that_of_the_command(tmp_path: Path, text: str, name: str, target: str):
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")
    said = CliRunner().invoke(cli, ["prove", f"{file}:{name}", target]).stdout
    told = CliRunner().invoke(cli, ["prove", f"{file}:{name}", target, "--json"]).stdout
    answer = asked("function", text, target=target)["answer"]
    assert answer["said"] == said.replace("mine.py", "<pasted>").rstrip("\n")
    assert answer["verdict"] == json.loads(told.replace("mine.py", "<pasted>"))
    assert answer["level"] == answer["verdict"]["level"]


@traced
def test_a_function_is_lifted_where_no_layer_is_named():
    answer = asked("function", SAMPLE, SHAPES)["answer"]
    assert answer["level"] == "lifted" and "verdict" not in answer
    assert answer["equations"][0] == r"S = \frac{Q K^{\top}}{\sqrt{d_{k}}}" and len(answer["equations"]) == 4
    assert answer["latex"].startswith(r"\begin{aligned}")


@traced
def test_the_cost_and_the_gradient_are_those_of_the_layer():
    """A softmax that is proved to be one counts, and is differentiated, as the catalogue's."""
    known = layer(SAMPLE_LAYER)
    answer = asked("function", SAMPLE, target=SAMPLE_LAYER)["answer"]
    assert answer["flops"]["latex"] == latex_of(count_flops(known).total)
    backward = asked("gradient", SAMPLE, target=SAMPLE_LAYER)["answer"]
    assert backward["level"] == prove_gradient(known).evidence.level == "proved"
    assert r"\mathrm{d}V = y_{1}^{\top} \mathrm{d}y" in backward["equations"]
    assert backward["notes"] == ["writing quotient(E, rowsum(E)) as softmax(S), which is proved"]


@traced
def test_a_gradient_that_is_not_known_is_not_proved():
    answer = asked("gradient", "def f(x):\n    return np.linalg.svd(x)[0]", target="softmax")["answer"]
    assert answer["level"] == "unknown" and answer["equations"] == []


def test_a_gradient_whose_proof_fails_is_not_called_proved(monkeypatch: pytest.MonkeyPatch):
    def fails(_: object) -> None:
        raise ValueError("claim 1 is unknown")

    monkeypatch.setattr(functions, "prove_gradient", fails)
    answer = asked("gradient", "def f(x):\n    return x * x", "x: n")["answer"]
    assert (answer["level"], answer["reason"]) == ("unknown", "claim 1 is unknown")


@pytest.mark.parametrize(
    ("text", "shapes", "target", "sentence"),
    [
        ("def f(:", "", "softmax", "this is no Python: invalid syntax (line 1)"),
        ("(" * 20_000, "", "softmax", "this is no Python: "),
        ("x = 1", "", "softmax", "there is no function here"),
        ("def f(x): return x\ndef g(x): return x", "", "softmax", "these are 2 functions: f, g;"),
        ("import nothing\ndef f(x): return x", "", "softmax", "the text raises ModuleNotFoundError: "),
        ("raise SystemExit\ndef f(x): return x", "", "softmax", "the text raises SystemExit: "),
        ("def f(x): return x\nf = 1", "", "softmax", "f is of type int"),
        ("x" * 200_000, "", "softmax", "more than 100,000 characters"),
        ("def f(x): return x", "", "", "give the shape of x: write a line such as x: n x d"),
        ("def f(x): return x", "x", "", "'x' gives no shape"),
        ("def f(x): return x", "x: __import__('os')", "", "\"__import__('os')\" is no size"),
        ("def f(x): return x", "y: n", "softmax", "f has no argument y: it has x"),
        ("def f(x): return x", "", "sofmax", "there is no layer called 'sofmax'"),
    ],
)
def test_what_is_no_question_is_refused_in_one_sentence(text: str, shapes: str, target: str, sentence: str):
    assert str(asked("function", text, shapes, target)["refused"]).startswith(sentence)


@traced
@pytest.mark.parametrize("line", ["open('/nowhere/at/all')", "import nothing", "raise RuntimeError('no')"])
def test_a_function_that_raises_is_not_followed(line: str):
    """It is called as any function is; what it may reach is a matter of the worker that runs it."""
    answer = asked("function", f"def f(x):\n    {line}\n    return x", "x: n")["answer"]
    assert answer["level"] == "not followed" and "(line 2 of <pasted>, in f)" in answer["said"]


def test_a_function_may_call_others_and_needs_no_import():
    text = "def rows(x):\n    return np.exp(x)\n\ndef f(x):\n    return rows(x) / rows(x).sum(-1, keepdims=True)\n"
    assert asked("function", text, target="softmax")["answer"]["level"] == "proved"


def test_a_text_is_run_when_a_question_is_asked_and_once(capsys: pytest.CaptureFixture[str]):
    text = "print('run')\ndef f(x):\n    return x + 1\n"
    asked("function", text, "x: n")
    asked("gradient", text, "x: n")
    assert capsys.readouterr().out == "run\n"
