"""Projectors and towers: rows side by side or averaged, rows that are dropped, layers that nothing reads."""

import numpy as np
import pytest
from sympy import Integer

from derivations.architectures.composition import build, tower_layer
from derivations.architectures.description import (
    Architecture,
    Attention,
    Block,
    Cells,
    Embedding,
    FeedForward,
    Grid,
    Head,
    Norm,
    Patches,
    Projector,
    Run,
    Stack,
    Tower,
    of_pictures,
)
from derivations.architectures.projectors import projector_layer
from derivations.language import count_flops, count_parameters
from derivations.language.counting.costs import count_training_flops
from derivations.symbols import N, d_model, h, size
from numeric import compile_layer

ROWS, IN, OUT, JOINED = 6, 5, 7, 3
rng = np.random.default_rng(0)
S, W, b = rng.normal(size=(ROWS, IN)), rng.normal(size=(JOINED * IN, OUT)), rng.normal(size=OUT)


def projected(projector: Projector, **weights: np.ndarray) -> np.ndarray:
    layer = projector_layer(projector, (Integer(ROWS), Integer(IN))).xreplace({d_model: Integer(OUT)})
    return compile_layer(layer)(S, **weights)


def test_rows_side_by_side_are_one_row() -> None:
    found = projected(Projector(joined=Integer(JOINED)), W=W, b=b)
    np.testing.assert_allclose(found, S.reshape(ROWS // JOINED, JOINED * IN) @ W + b)


def test_rows_that_are_averaged_are_normed_behind() -> None:
    projector = Projector(biases=False, norm=Norm("rms"), joined=Integer(JOINED), averaged=True, norm_joined=True)
    means = S.reshape(ROWS // JOINED, JOINED, IN).mean(axis=1)
    normed = means / np.sqrt((means**2).mean(axis=-1, keepdims=True) + 1e-5)
    found = projected(projector, W=W[:IN], norm={"gamma": np.ones(IN)})
    np.testing.assert_allclose(found, normed @ W[:IN])
    assert abs(found - S[::JOINED] @ W[:IN]).max() > 0.1


def test_the_rows_of_a_cell_of_a_picture_become_one() -> None:
    """Of 4 by 6 patches, in cells of 2 by 2."""
    rows = np.arange(24.0)[:, None]
    cells = Cells(Integer(2), Integer(3), Integer(2))
    projector = Projector(biases=False, joined=Integer(4), cells=cells)
    layer = projector_layer(projector, (Integer(24), Integer(1))).xreplace({d_model: Integer(4)})
    found = compile_layer(layer)(rows, W=np.eye(4))
    np.testing.assert_array_equal(
        found, [[6 * (2 * i) + 2 * j + at for at in (0, 1, 6, 7)] for i in (0, 1) for j in range(3)]
    )


@pytest.mark.parametrize(("height", "width"), [(3, 3), (5, 2), (1, 7), (2, 1)])
def test_positions_of_a_grid_lie_between_those_of_a_square(height: int, width: int) -> None:
    """By the definition of interpolation in two directions: corner lies on corner."""
    side, table = 3, rng.normal(size=(9, 2))
    grid = Grid(Integer(height), Integer(width), counted=True)
    block = Block(Attention(h), FeedForward(), Norm())
    stem = Patches(Integer(1), Integer(2), Integer(height * width), tokens=0, biases=False)
    stack = Stack((Run((block,), N),), Embedding(Integer(9), grid=grid, side=Integer(side)), stem=stem)
    layer = build(Architecture("pictures", Head("none"), stack)).until("P_grid").xreplace({d_model: Integer(2)})
    found = compile_layer(layer)(np.zeros((height * width, 2)), P=table)
    for row, column in np.ndindex(height, width):
        y, x = (at * (side - 1) / max(1, count - 1) for at, count in ((row, height), (column, width)))
        shares = [
            (1 - abs(y - i)) * (1 - abs(x - j)) * table[3 * i + j]
            for i, j in np.ndindex(side, side)
            if abs(y - i) < 1 and abs(x - j) < 1
        ]
        np.testing.assert_allclose(found[row * width + column], sum(shares), rtol=0, atol=1e-12)


def tower(read: int | None, first: int = 0) -> Tower:
    block = Block(Attention(h), FeedForward(), Norm())
    runs = (Run((block,), N),) if read is None else (Run((block,), size("N_read")), Run((block,), size("N_rest")))
    patches = Patches(size("p"), size("channels"), size("patches"))
    stack = Stack(runs, Embedding(patches.rows), stem=patches, read=(read,) if read else ())
    return Tower(Architecture("pictures", Head("none"), stack), Projector(), first)


def test_layers_behind_those_that_are_read_are_stored_and_have_no_gradient() -> None:
    whole, part = tower_layer(tower(None)), tower_layer(tower(1))
    read, rest = size("N_read_pictures"), size("N_rest_pictures")
    both = {of_pictures(N): read + rest}
    assert (count_parameters(whole).xreplace(both) - count_parameters(part)).expand() == 0
    assert (count_flops(whole).matmul.xreplace(both) - count_flops(part).matmul).expand() == 0
    backward = count_training_flops(part).matmul - count_flops(part).matmul
    assert rest in count_flops(part).matmul.free_symbols
    assert rest not in backward.expand().free_symbols


def test_rows_before_the_first_are_dropped() -> None:
    without, whole = (tower_layer(tower(None, first)).output.shape[0] for first in (1, 0))
    assert whole - without == 1 == whole - of_pictures(size("patches"))


@pytest.mark.parametrize("scale", [Integer(1), Integer(3)])
def test_the_table_of_tokens_goes_on_with_the_rows_of_a_picture(scale: Integer) -> None:
    block = Block(Attention(h), FeedForward(), Norm())
    texts = Stack((Run((block,), N),), Embedding(scale=scale), causal=True)
    model = build(Architecture("joined", Head("language_model"), decoder=texts, tower=tower(None)))
    assert [each.name for each in model.inputs] == ["tokens", "patches"]
    assert str(model.equation("E_all").value) == ("stacked(E, V)" if scale == 1 else "stacked(3 * E, V)")
    alone = build(Architecture("texts", Head("language_model"), decoder=texts))
    assert {*map(str, model.sizes)} > {*map(str, alone.sizes)}
