"""`derivations prove`: exit codes, what is printed, and what is refused."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from derivations.cli import cli

MODEL = """
import numpy as np

number = 5


def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    P = np.exp(S - S.max(-1, keepdims=True))
    return P / P.sum(-1, keepdims=True) @ V


def unscaled(Q, K, V):
    P = np.exp(Q @ K.T)
    return P / P.sum(-1, keepdims=True) @ V


def renamed(keys, values, queries):
    return attention(queries, keys, values)


def by_rows(x):
    return np.apply_along_axis(lambda row: np.exp(row - max(row)) / np.exp(row - max(row)).sum(), -1, x)


def wrong_by_rows(x):
    return np.apply_along_axis(np.exp, -1, x)
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "model_of_mine.py"
    file.write_text(MODEL, encoding="utf-8")
    return str(file)


def prove(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["prove", *arguments])


def test_a_right_function_is_proved(model: str):
    run = prove(f"{model}:attention", "scaled_dot_product_attention")
    assert run.exit_code == 0
    assert run.stdout == "attention is scaled_dot_product_attention: proved (real arithmetic, all sizes >= 1)\n"
    assert run.stderr == f"imported {model}\n"


def test_a_wrong_function_ends_with_1(model: str):
    run = prove(f"{model}:unscaled", "scaled_dot_product_attention")
    assert run.exit_code == 1
    assert run.stdout.startswith("unscaled is not scaled_dot_product_attention: at ")


def test_names(model: str):
    names = ["--names", "keys=K", "--names", "values=V", "--names", "queries=Q"]
    assert prove(f"{model}:renamed", "scaled_dot_product_attention", *names).exit_code == 0


def test_what_is_not_followed_may_be_tested(model: str):
    assert prove(f"{model}:by_rows", "softmax").exit_code == 1
    run = prove(f"{model}:by_rows", "softmax", "--or-tested")
    assert run.exit_code == 0
    assert run.stdout.startswith("by_rows is softmax: tested; not proved: ")
    wrong = prove(f"{model}:wrong_by_rows", "softmax", "--or-tested")
    assert wrong.exit_code == 1


@pytest.mark.skipif("__import__('sys').gettrace() is not None", reason="coverage traces the lines: no names")
def test_json(model: str):
    right = json.loads(prove(f"{model}:attention", "scaled_dot_product_attention", "--json").stdout)
    assert right["level"] == "proved"
    assert right["counterexample"] is None
    assert right["equations"][0].startswith("S = ")
    wrong = json.loads(prove(f"{model}:unscaled", "scaled_dot_product_attention", "--json").stdout)
    assert wrong["level"] == "refuted"
    assert set(wrong["counterexample"]) == {"sizes", "entry", "found", "expected"}


@pytest.mark.skipif("__import__('sys').gettrace() is not None", reason="coverage traces the lines: no names")
def test_equations(model: str):
    shapes = ["--shape", "Q=n,d_k", "--shape", "K=m,d_k", "--shape", "V=m,2*p"]
    run = prove(f"{model}:attention", "--show", *shapes, "--format", "latex")
    assert run.exit_code == 0
    assert run.stdout.splitlines()[1] == r"S &= \frac{Q K^{\top}}{\sqrt{d_{k}}} \\"
    shown = prove(f"{model}:attention", "scaled_dot_product_attention", "--show")
    assert "S = " in shown.stdout
    assert shown.stdout.endswith("all sizes >= 1)\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("{model}:attention",), "name a layer"),
        (("{model}:nothing", "softmax"), "has no 'nothing'"),
        (("{model}:number", "softmax"), "is of type int"),
        (("{model}", "softmax"), "no"),
        (("{model}.missing.py:f", "softmax"), "there is no file"),
        (("{model}:attention", "sofmax"), "softmax"),
        (("{model}:attention", "softmax", "--names", "Q"), "is no pair"),
        (("{model}:attention", "--show"), "--shape"),
        (("{model}:attention", "--show", "--shape", "Q=__import__('os')"), "is no size"),
        (("{model}:attention", "softmax", "--format", "latex"), "--show"),
        (("{model}:attention", "softmax", "--show", "--json"), "choose"),
    ],
)
def test_bad_input_is_one_sentence(model: str, arguments: tuple[str, ...], said: str):
    run = prove(*(each.format(model=model) for each in arguments))
    assert run.exit_code != 0
    assert said in run.stderr


def test_what_a_file_raises_is_told(tmp_path: Path):
    (tmp_path / "broken_of_mine.py").write_text("raise RuntimeError('a fault')\n", encoding="utf-8")
    run = prove(f"{tmp_path}/broken_of_mine.py:f", "softmax")
    assert "RuntimeError: a fault" in run.stderr
