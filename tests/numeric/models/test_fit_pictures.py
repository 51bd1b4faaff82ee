"""Pictures of budgets: they are written, the axis covers what is asked, bad names are refused."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from sympy import Integer, Rational

from derivations.cli import cli
from derivations.costs.fit.budget import Budget, Part
from derivations.symbols import n
from numeric.models.fit_pictures import lengths_of, plot_fit
from numeric.runtime.checks import InputError

BUDGET = Budget((Part("weights", Integer(700), ""), Part("cache", 3 * n, "")), {n: Integer(1000)})


def test_the_axis_reaches_beyond_the_asked_and_the_longest():
    for longest in (None, 0, 500, 90000):
        lengths = lengths_of(BUDGET, longest)
        assert lengths == sorted(lengths) and lengths[0] == 128 and lengths[-1] >= max(1000, longest or 0)


@pytest.mark.parametrize("arguments", [["llama-3-8b"], ["llama-3-8b", "--train", "--lora", "8"], ["vit-b-16"]])
def test_a_picture_is_written_and_the_same_again(arguments: list[str], tmp_path: Path):
    pytest.importorskip("matplotlib")
    files = [tmp_path / name for name in ("a.svg", "b.svg")]
    for file in files:
        run = CliRunner().invoke(cli, ["fit", *arguments, "--plot", str(file)])
        assert run.exit_code == 0, run.output
    first, second = (file.read_text(encoding="utf-8") for file in files)
    assert first == second and first.startswith("<?xml") and len(first) > 5000


def test_a_name_that_cannot_be_written_is_refused(tmp_path: Path):
    for name in ("a.bmp", "nowhere/a.svg"):
        with pytest.raises(InputError, match=r"the picture .* has no known ending|there is no folder"):
            plot_fit("", BUDGET, Rational(5000), tmp_path / name, None)
