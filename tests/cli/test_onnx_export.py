"""`derivations export LAYER --onnx FILE`: a valid file, sizes that are fixed, rewritings, and what is refused."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from derivations.cli import cli


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["export", *arguments], prog_name="derivations")


@pytest.mark.peers
def test_a_layer_is_written(tmp_path: Path):
    onnx = pytest.importorskip("onnx")
    file = tmp_path / "layer.onnx"
    result = run("feed_forward", "--onnx", str(file))
    assert result.exit_code == 0, result.output
    assert "inputs X, W_1, b_1, W_2, b_2" in result.stderr
    onnx.checker.check_model(str(file), full_check=True)
    assert [node.output[0] for node in onnx.load(file).graph.node][-1] == "Y"


@pytest.mark.peers
def test_an_optimised_stack_is_written_with_its_rewritings(tmp_path: Path):
    file = tmp_path / "encoder.onnx"
    result = run("encoder", "--onnx", str(file), "--set", "N=2", "--optimized", "--explain", "--external-data")
    assert result.exit_code == 0, result.output
    assert "attention.scale_folds_into_queries" in result.stdout
    assert file.is_file()


@pytest.mark.peers
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convolution"], "the equation for Y has no form in ONNX"),
        (["encoder", "--set", "N=two"], "write a size and an integer"),
        (["linear", "--set", "nn=2"], "has no size nn"),
        (["linear", "--explain"], "add --optimized"),
        (["linear", "--operator", "Gelu"], "Gelu is no operator that stands for a layer"),
        (["nosuch"], "there is no layer called 'nosuch'"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_sentence(tmp_path: Path, arguments, message):
    result = run(*arguments, "--onnx", str(tmp_path / "layer.onnx"))
    assert result.exit_code != 0
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "option", [["--set", "n=2"], ["--optimized"], ["--explain"], ["--external-data"], ["--operator", "Attention"]]
)
def test_options_of_graphs_need_a_file(tmp_path: Path, option):
    result = run(str(tmp_path / "pages"), *option)
    assert result.exit_code != 0
    assert f"{option[0]} is about a layer as ONNX: add --onnx FILE" in result.stderr
