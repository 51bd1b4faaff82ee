"""Patches, class token and stem: results proved, broken ones refused; the layers are loops over pixels and frames."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import erf
from sympy import Basic

from derivations.architectures import patches
from derivations.architectures.patches import (
    audio_stem,
    channels,
    class_token,
    class_token_above,
    class_token_gradient,
    frames,
    mel,
    p,
    patch_costs,
    patch_embedding,
    pixels,
    stem_costs,
    stride_of_the_width,
)
from derivations.language.arrays.shapes import shape_text
from derivations.language.counting.costs import count_flops, count_parameters
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.convolution import convolution_layer
from derivations.symbols import d_in, d_model, d_out, i, j, k, n
from numeric import compile_layer
from numeric.runtime.checks import InputError
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == patches.__name__)
RANDOM = np.random.default_rng(53)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


def test_all_results_of_the_module_are_judged() -> None:
    assert len(NAMES) == 10


_, PRODUCT = stride_of_the_width().claims
Z, X = class_token().output, class_token().inputs[0]
VALUE, OTHERS = class_token_gradient().claims


@broken_steps(
    [
        ("windows that overlap", stride_of_the_width, 0, 0, PRODUCT.lhs[i, 0]),
        ("the bias left out", stride_of_the_width, 1, 0, PRODUCT.rhs.args[0]),
        ("a patch of one channel", patch_costs, 0, 0, p**2 * d_model + d_model),
        ("a product for each parameter", patch_costs, 1, 0, 2 * n * (channels * p**2 * d_model + d_model)),
        ("the token below", class_token_above, 0, 0, X[0, k]),
        ("no row moved", class_token_above, 1, 0, X[j + 1, k]),
        ("a token for each row", class_token_above, 2, 0, n * d_model),
        ("the gradients swapped", class_token_gradient, 0, 0, -1 * VALUE.rhs),
        ("twice the others", class_token_gradient, 1, 0, 2 * OTHERS.rhs),
        ("one bias", stem_costs, 0, 0, 3 * mel * d_model + d_model + 3 * d_model**2),
        ("no stride", stem_costs, 1, 0, 2 * frames * 3 * mel * d_model + 2 * frames * 3 * d_model**2),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


# --- counts and shapes ----------------------------------------------------------------------------------------------


def test_counts_and_shapes() -> None:
    stem, token, patch = audio_stem(), class_token(), patch_embedding()
    assert shape_text(stem.output.shape) == "(frames/2, d_model)"
    assert shape_text(token.output.shape) == "(n + 1, d_model)"
    assert count_parameters(patch) == pixels * d_model + d_model
    assert count_flops(token).total == 0
    whisper = stem.at(frames=3000, mel=80, d_model=384)
    assert count_parameters(whisper) == 3 * 80 * 384 + 384 + 3 * 384**2 + 384
    assert count_flops(whisper).matmul == 2 * 3000 * 3 * 80 * 384 + 2 * 1500 * 3 * 384**2
    assert count_flops(convolution_layer(3, stride=2, padding=1)).matmul == 2 * (n / 2) * 3 * d_in * d_out


# --- values ---------------------------------------------------------------------------------------------------------


def gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + erf(x / np.sqrt(2))) / 2


def slid(rows: np.ndarray, kernel: np.ndarray, bias: np.ndarray, stride: int) -> np.ndarray:
    """A convolution with one row of zeros on either side, in loops; the kernel is (width, channels, filters)."""
    output = []
    for start in range(-1, len(rows) - 1, stride):
        row = bias.copy()
        for offset, matrix in enumerate(kernel):
            if 0 <= start + offset < len(rows):
                row += rows[start + offset] @ matrix
        output.append(row)
    return np.array(output)


def drawn_stem(bands: int, width: int) -> tuple[np.ndarray, ...]:
    shapes = [(3, bands, width), (width,), (3, width, width), (width,)]
    return tuple(RANDOM.normal(size=shape) for shape in shapes)


def given_to(weights: tuple[np.ndarray, ...]) -> dict[str, dict[str, np.ndarray]]:
    """The weights under the names of the layer, the slices of a kernel one below the other."""
    K, b, L, c = weights
    return {
        "conv_1": {"W": K.reshape(-1, K.shape[2]), "b": b},
        "conv_2": {"W": L.reshape(-1, L.shape[2]), "b": c},
    }


def stem_in_loops(spectra: np.ndarray, weights: tuple[np.ndarray, ...]) -> np.ndarray:
    K, b, L, c = weights
    return gelu(slid(gelu(slid(spectra, K, b, 1)), L, c, 2))


def test_the_stem_is_the_loop_for_a_batch() -> None:
    spectra, weights = RANDOM.normal(size=(2, 14, 3)), drawn_stem(3, 5)
    output = compile_layer(audio_stem())(spectra, **given_to(weights))
    assert output.shape == (2, 7, 5)
    for one, item in zip(spectra, output, strict=True):
        np.testing.assert_allclose(item, stem_in_loops(one, weights), rtol=1e-12, atol=1e-13)


def test_the_gradient_of_the_stem_agrees_with_differences() -> None:
    spectra, weights = RANDOM.normal(size=(14, 3)), drawn_stem(3, 5)
    cotangent, step = RANDOM.normal(size=(7, 5)), 1e-6
    found = compile_layer(gradient(audio_stem()))(spectra, cotangent, **given_to(weights))
    direction = RANDOM.normal(size=spectra.shape)
    ahead, behind = (stem_in_loops(spectra + sign * step * direction, weights) for sign in (1, -1))
    slope = (cotangent * (ahead - behind)).sum() / (2 * step)
    dX = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose((dX * direction).sum(), slope, rtol=1e-7)


def test_an_odd_number_of_frames_is_refused() -> None:
    with pytest.raises(InputError, match="must be whole"):
        compile_layer(audio_stem())(RANDOM.normal(size=(13, 3)), **given_to(drawn_stem(3, 5)))


def test_patches_are_a_convolution_of_the_image() -> None:
    """Two channels, patches of 3 x 3, an image of 15 x 21: each patch times the kernel, in loops over pixels."""
    image, kernel, bias = RANDOM.normal(size=(2, 15, 21)), RANDOM.normal(size=(2, 3, 3, 7)), RANDOM.normal(size=7)
    cut = np.array(
        [image[:, row : row + 3, column : column + 3].ravel() for row in range(0, 15, 3) for column in range(0, 21, 3)]
    )
    output = compile_layer(patch_embedding())(cut, W=kernel.reshape(18, 7), b=bias)
    for place, found in enumerate(output):
        row, column = divmod(place, 7)
        expected = bias.copy()
        for (channel, down, right), pixel in np.ndenumerate(
            image[:, 3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
        ):
            expected += pixel * kernel[channel, down, right]
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_the_class_token_stands_above_every_item_of_a_batch() -> None:
    rows, token = RANDOM.normal(size=(2, 5, 3)), RANDOM.normal(size=(1, 3))
    output = compile_layer(class_token())(rows, c=token)
    np.testing.assert_array_equal(output, [[*token, *item] for item in rows])
    cotangent = RANDOM.normal(size=(2, 6, 3))
    dX, dc = compile_layer(gradient(class_token()))(rows, cotangent, c=token)
    np.testing.assert_array_equal(dX, cotangent[:, 1:])
    np.testing.assert_allclose(dc, cotangent[:, :1].sum(axis=0), rtol=1e-14)


@pytest.mark.peers
@pytest.mark.parametrize("stride", [1, 2])
def test_the_convolution_is_that_of_another_implementation(stride: int) -> None:
    torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
    rows, kernel, bias = RANDOM.normal(size=(14, 3)), RANDOM.normal(size=(5, 3, 3)), RANDOM.normal(size=5)
    layer = compile_layer(convolution_layer(3, stride=stride, padding=1))
    found = layer(rows, W=kernel.transpose(2, 1, 0).reshape(9, 5), b=bias)
    given = (torch.from_numpy(each) for each in (np.ascontiguousarray(rows.T), kernel, bias))
    expected = torch.nn.functional.conv1d(*given, stride=stride, padding=1)
    np.testing.assert_allclose(found, expected.numpy().T, rtol=1e-12, atol=1e-13)
