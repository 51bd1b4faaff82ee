"""`derivations code --optimized`: the source, the list of rewritings, and options that do not go together."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from derivations.catalogue import names
from derivations.cli import cli

PROGRAM = """
import sys
sys.modules["derivations"] = sys.modules["numeric"] = None
sys.path.insert(0, ".")
import numpy as np
from attention import packed, multi_head_attention
X = np.arange(15.0).reshape(5, 3)
weights = packed(np.zeros((2, 3, 7)), np.zeros((2, 3, 7)), np.ones((2, 3, 11)), np.ones((22, 3)))
Y = multi_head_attention(X, X, X, **weights, threads=2)
print(np.array_equal(Y, np.full((5, 3), 22 * X.mean() * 3)))
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["code", *arguments], prog_name="derivations")


def printed(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_source_runs_in_an_empty_folder(tmp_path: Path):
    """Every query sees every key alike: attention is the mean of the values."""
    (tmp_path / "attention.py").write_text(printed("multi_head_attention", "--optimized"), encoding="utf-8")
    ran = subprocess.run([sys.executable, "-I", "-c", PROGRAM], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "True\n"


def test_the_gradient_is_optimised_as_well():
    source = printed("feed_forward", "--optimized", "--gradient")
    assert "def feed_forward_gradient(X, dY, W_1, b_1, W_2, b_2, threads=1):" in source


def test_the_gradient_of_groups_of_heads_calls_that_of_one_group():
    source = printed("masked_grouped_query_attention", "--optimized", "--gradient")
    assert source.count("masked_query_group_gradient(") == 2  # written once, called once


def test_the_rewritings_are_explained():
    text = " ".join(printed("encoder_layer", "--optimized", "--explain").split())
    assert "wide_projections, by multi_head.fused_projection: proved" in text
    assert "attention.K[i] = X @ attention.W_K[i] for i < h" in text
    assert "def " not in text


def test_the_rewritings_as_json_cite_results_and_hold_equations():
    found = json.loads(printed("encoder", "--optimized", "--explain", "--json"))
    assert {each["pass"] for each in found} >= {"deferred_normalisation", "scaled_queries", "wide_projections"}
    for each in found:
        assert each["part"] == "layers"
        assert each["theorem"] in names() and each["evidence"] == "proved" and each["reason"] == ""
        assert each["before"] and each["after"]
    (wide,) = (each for each in found if each["pass"] == "wide_projections")
    assert wide["weights"][0].startswith("attention.W_QKV = ColumnConcat(")


def test_the_fields_of_the_json_are_those_documented(repository: Path):
    text = (repository / "docs" / "json.md").read_text(encoding="utf-8")
    section = text.partition("## code")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \| ([a-z]+)", section, re.M)
    for each in json.loads(printed("encoder_layer", "--optimized", "--explain", "--json")):
        assert [(key, {str: "text", list: "list"}[type(value)]) for key, value in each.items()] == documented


def test_a_pass_may_be_left_out():
    arguments = ["encoder_layer", "--optimized", "--explain", "--json"]
    every, fewer = (
        {each["pass"] for each in json.loads(printed(*arguments, *more))}
        for more in ([], ["--without", "base_two", "--without", "wide_projections"])
    )
    assert every - fewer == {"base_two", "wide_projections"}
    assert "exp2" not in printed("encoder_layer", "--optimized", "--without", "base_two")


def test_nothing_to_rewrite_is_said():
    assert json.loads(printed("linear", "--optimized", "--explain", "--json")) == []
    assert "0 rewritings" in printed("linear", "--optimized", "--explain")


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["--explain"], "add --optimized"),
        (["--without", "base_two"], "add --optimized"),
        (["--json"], "add --optimized"),
        (["--optimized", "--json"], "add --explain"),
        (["--optimized", "--backend", "jax"], "leave out --backend"),
        (["--optimized", "--without", "base_three"], "base_two"),
    ],
)
def test_options_that_do_not_go_together_are_answered_by_one_sentence(arguments: list[str], advice: str):
    result = run("linear", *arguments)
    assert result.exit_code != 0 and result.stdout == ""
    assert advice in result.stderr and "Traceback" not in result.stderr
