"""The race at drawn shapes: its shapes, its contestants at tiny sizes, and the ratios that it prints."""

import numpy as np
import pytest

from tests.benchmarks import drawn, race
from tests.benchmarks.agreement import Disagreement
from tests.benchmarks.drawn_peers import flat, in_arrays
from tests.benchmarks.drawn_shapes import BOUNDS, NAMED, ROWS, SCORES, TINY, DrawnShape, drawn_shapes, given, layer_of

SECONDS = {"ours": 0.3, "torch eager": 0.2, "torch.compile": 0.4, "jax.jit": 0.6, "onnxruntime": 1.2, "openvino": 0.1}


def test_a_seed_tells_the_shapes() -> None:
    many = drawn_shapes(7, 60)
    assert drawn_shapes(7, 12) == many[:12] != drawn_shapes(8, 12)
    for each in many:
        assert BOUNDS.batch[0] <= each.batch <= BOUNDS.batch[1]
        assert BOUNDS.d_model[0] <= each.d_model <= BOUNDS.d_model[1]
        assert each.d_model % each.h == each.h % each.groups == 0
        assert each.batch * each.n <= ROWS
        assert each.batch * each.h * each.n**2 <= SCORES
    for of, values in (("kind", 3), ("order", 2), ("activation", 3), ("causal", 2)):
        assert len({getattr(each, of) for each in many}) == values
    assert any(1 < each.groups < each.h for each in many)
    assert str(NAMED[0]) == "encoder (1, 128, 512, 8, 2048), post-norm, relu"


@pytest.mark.peers
@pytest.mark.slow
def test_the_command_prints_the_ratios_that_it_measured(monkeypatch, capsys) -> None:
    """Contestants are run and compared; the times are those given here, twice as long in the second round."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("openvino")

    def timed(contestants, rounds, **options):
        return {c.name: [k * SECONDS.get(c.name, 0.8) for k in range(1, rounds + 1)] for c in contestants}

    monkeypatch.setattr(race, "timed", timed)
    monkeypatch.setattr(drawn, "require_all_cores", lambda: None)
    monkeypatch.setattr("torch.compile", lambda forward: forward)  # it takes minutes
    drawn.main(["--seed", "3", "--shapes", "1", "--rounds", "2", "--tiny"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("seed 3, 2 rounds, ")
    head, _, *rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    assert [row[0] for row in rows] == list(map(str, drawn_shapes(3, 1, TINY)))
    for row in rows:  # a column more where the extra `fast` is installed
        assert row[head.index("ours / torch eager")] == "1.50 (1.50 - 1.50)"
        assert row[-2:] == ["openvino", "slower"]
    assert "- jax.jit: median 0.50, worst 0.50" in lines
    assert "- fastest peer: median 3.00, worst 3.00" in lines


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        DrawnShape("encoder", 2, 5, 12, 3, 3, 17, "pre", "gelu", True),
        DrawnShape("decoder", 2, 5, 12, 3, 3, 17),
        DrawnShape("llama", 1, 7, 16, 4, 2, 19, "pre", "swiglu", True),
    ],
    ids=str,
)
def test_ours_is_the_textbook(shape: DrawnShape) -> None:
    from scipy.special import erf

    from numeric.optimize.prepare import prepare

    layer = layer_of(shape)
    weights, rows = given(shape, layer)
    textbook = in_arrays(shape, flat(weights, np.float64), np, erf)
    exact = textbook(*(x.astype(np.float64) for x in rows))
    found = prepare(layer, weights)(*rows)
    assert np.abs(found - exact).max() < 1e-5
    rows[-1][..., 0, 0] += 1
    with pytest.raises(Disagreement):
        race.require_agreement("ours", prepare(layer, weights)(*rows), exact)
