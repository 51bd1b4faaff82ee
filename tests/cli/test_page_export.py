"""What an export writes: the results and layers that are named, and gradients where they are asked for."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from derivations import catalogue
from derivations.catalogue import layer
from derivations.cli import cli
from derivations.cli.page_export import chosen
from derivations.cli.results import FORMATS
from derivations.language import Layer

WITHOUT = "layer positional_encoding has no real input and no parameter, so it has no gradient"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_those_that_are_named_are_written_and_no_others(tmp_path: Path):
    ran = run("export", str(tmp_path), "feed_forward", "softmax.jacobian", "--gradients", "--width", "3.3in")
    assert ran.exit_code == 0, ran.stderr
    stems = {"softmax.jacobian", "layer-feed_forward", "layer-feed_forward_gradient"}
    assert {path.stem for path in (tmp_path / "latex").iterdir()} == stems
    assert {path.stem for path in (tmp_path / "markdown").iterdir()} == stems
    tex = (tmp_path / "latex" / "layer-feed_forward_gradient.tex").read_text(encoding="utf-8")
    assert r"\paragraph{Feed-forward network gradient.}" in tex
    assert r"\begin{alignat*}{2}" in tex  # lines between which a page may end
    assert r"\begin{aligned}" not in tex


def test_results_of_one_topic_stand_together():
    """The book has one section for each topic, whose label is unique."""
    results, layers = chosen(["softmax.jacobian", "linear", "memory.key_value_cache", "softmax.ratio"], gradients=False)
    assert [*results] == ["softmax.jacobian", "softmax.ratio", "memory.key_value_cache"]
    assert [*layers] == ["linear"]


def test_of_all_layers_those_that_have_a_gradient_have_it_beside_them(monkeypatch: pytest.MonkeyPatch):
    some: dict[str, Layer] = {name: layer(name) for name in ("positional_encoding", "linear")}
    monkeypatch.setattr(catalogue, "results", dict)
    monkeypatch.setattr(catalogue, "layers", lambda: some)
    assert [*chosen([], gradients=True)[1]] == ["positional_encoding", "linear", "linear_gradient"]
    assert [*chosen([], gradients=False)[1]] == ["positional_encoding", "linear"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["positional_encoding", "--gradients"], WITHOUT),
        (["softmax.jacobian", "--gradients"], "--gradients is about layers"),
        (["softmax.jacobean"], "the nearest are softmax.jacobian"),
        (["linear", "--onnx", "linear.onnx"], "--onnx writes one layer"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments: list[str], words: str, tmp_path: Path):
    refused = run("export", str(tmp_path / "pages"), *arguments)
    assert refused.exit_code != 0
    assert words in refused.stderr
    assert not (tmp_path / "pages").exists()


@pytest.mark.parametrize("form", FORMATS)
def test_a_gradient_without_equations_is_refused_in_every_format(form: str):
    refused = run("show", "positional_encoding", "--gradient", "--format", form)
    assert refused.exit_code != 0
    assert WITHOUT in refused.stderr
    assert refused.stdout == ""


def test_a_gradient_without_equations_is_refused_in_source_and_in_documents(tmp_path: Path):
    assert WITHOUT in run("code", "positional_encoding", "--gradient").stderr
    document = tmp_path / "paper.tex"
    document.write_text("% layer: positional_encoding gradient\n% end\n", encoding="utf-8")
    assert WITHOUT in run("render", str(document)).stderr
