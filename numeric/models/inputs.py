"""The conversion of inputs to the arrays of a model's equations: tokens, pictures, spectra and sounds.

Definition   a picture is cut into squares, row by row; the pixels of a patch stand in one row, in the order of the
             kernel: channel, row, column. Pixels beyond the last whole patch are not read, nor samples beyond the last
             window of a convolution
Shapes       pictures (..., channels, height, width) -> (..., patches, channels p^2); spectra (..., mel, frames) ->
             (..., frames, mel); sounds (..., samples) -> (..., samples that are read, 1)
Source       Dosovitskiy et al. (2021), section 3.1; Radford et al. (2023), section 2.2; Baevski et al. (2020), section
             2; Wang et al. (2024), Qwen2-VL, section 2.1, for three axes of positions; Gemma Team (2025), Gemma 3, for
             rows of a picture that see one another
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from numeric.runtime.checks import InputError

__all__ = [
    "frames_of",
    "last_seen",
    "patches_of",
    "place_of_end",
    "places_of_rows",
    "places_on_axes",
    "rows_of_samples",
    "samples_of",
]


def patches_of(
    name: str, pictures: Any, channels: int, patch: int, count: int, dtype: DTypeLike, frames: int = 1
) -> Any:
    """Return the patches of pictures, one in each row. Each colour channel is repeated `frames` times.

    Raises       InputError where the pictures have other channels, or another number of patches
    """
    pixels, colours = np.asarray(pictures, dtype=dtype), channels // frames
    if pixels.ndim < 3 or pixels.shape[-3] != colours:
        raise InputError(f"{name}: pictures must have shape (..., {colours}, height, width), not {pixels.shape}")
    pixels = np.repeat(pixels, frames, axis=-3)
    height, width = (side // patch for side in pixels.shape[-2:])
    if height * width != count:
        raise InputError(
            f"{name}: pictures of {pixels.shape[-2]} by {pixels.shape[-1]} have {height * width} patches of {patch} by "
            f"{patch}; the model reads {count}"
        )
    whole = pixels[..., : height * patch, : width * patch]
    squares = whole.reshape(*pixels.shape[:-2], height, patch, width, patch)
    # (..., channel, row of patches, row, column of patches, column): the two axes of patches go to the front
    return np.moveaxis(squares, (-4, -2), (-5, -4)).reshape(*pixels.shape[:-3], count, channels * patch**2)


def places_of_rows(name: str, tokens: Any, place: int, first: int, count: int) -> Any:
    """Return tokens with the placeholders for the rows of a picture replaced by the numbers of these rows, in order.

    Definition   the k-th token equal to `place` becomes `first` + k
    Shapes       tokens (..., n), result (..., n)
    Raises       InputError where a text has not one place for each of `count` rows
    """
    at = tokens == place
    if (at.sum(axis=-1) != count).any():
        raise InputError(f"{name}: a text has one token {place} for each row of its picture, {count} in all")
    return np.where(at, first + np.cumsum(at, axis=-1) - 1, tokens)


def last_seen(at: Any) -> Any:
    """Return the last position that each position sees, if consecutive rows of a picture see one another.

    Definition   the end of the run of positions with `at` that a position is in; without `at` its own number
    Shapes       at (..., n), result (..., n)
    """
    own = np.broadcast_to(np.arange(at.shape[-1]), at.shape)
    followed = at & np.concatenate([at[..., 1:], np.zeros_like(at[..., :1])], axis=-1)
    ends = np.where(followed, at.shape[-1], own)  # then the least end from here on is that of the own run
    return np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]


def places_on_axes(name: str, at: Any, rows: int, columns: int) -> tuple[Any, Any, Any]:
    """Return the positions of a text with one picture on the axes of time, height and width.

    Definition   tokens before the picture have their number on all axes; its rows the number of the first of them, and
                 on the two other axes row and column are added to it; the tokens after count on from the largest place
    Shapes       at (..., n), true at the rows of the picture; each result (..., n)
    Raises       InputError where other tokens stand between the rows of the picture
    """
    first, count = at.argmax(axis=-1)[..., None], rows * columns
    number = np.arange(at.shape[-1])
    inside = number - first
    if (at != ((inside >= 0) & (inside < count))).any():
        raise InputError(
            f"{name}: the {count} tokens of a picture must follow one another: their places are those of it"
        )
    behind = number - count + max(rows, columns)
    of_text = np.where(inside < 0, number, behind)
    time, height, width = (
        np.where(at, first + each, of_text) for each in (0 * inside, inside // columns, inside % columns)
    )
    return time, height, width


def place_of_end(name: str, tokens: Any, end: int | None) -> Any:
    """Return the index of the first token equal to `end`, or to the largest token of the text if `end` is None.

    Shapes       tokens (..., n), result (..., 1)
    Raises       InputError where a text has no such token
    """
    at = tokens == (tokens.max(axis=-1, keepdims=True) if end is None else end)
    if not at.any(axis=-1).all():
        raise InputError(f"{name}: a text has no token {end}, at which its row is read")
    return at.argmax(axis=-1, keepdims=True)


def frames_of(name: str, spectra: Any, mel: int, frames: int, dtype: DTypeLike) -> Any:
    """Return the frames of spectra, one in each row.

    Raises       InputError where the spectra have another size
    """
    numbers = np.asarray(spectra, dtype=dtype)
    if numbers.shape[-2:] != (mel, frames):
        raise InputError(f"{name}: spectra must have shape (..., {mel}, {frames}), not {numbers.shape}")
    return np.ascontiguousarray(np.swapaxes(numbers, -1, -2))


def rows_of_samples(samples: int, windows: Sequence[tuple[int, int]]) -> list[int]:
    """Return the number of rows after each convolution. `windows` has the width and the stride of each."""
    return list(accumulate(windows, lambda rows, each: (rows - each[0]) // each[1] + 1, initial=samples))[1:]


def samples_of(name: str, sounds: Any, windows: Sequence[tuple[int, int]], over_time: bool, dtype: DTypeLike) -> Any:
    """Return the samples of sounds that a model reads, one in each row. With a norm over time it reads more of them.

    Raises       InputError where there is none, or less than one row of the last convolution
    """
    numbers = np.asarray(sounds, dtype=dtype)
    rows = rows_of_samples(numbers.shape[-1] if numbers.ndim else 0, windows)
    if min(rows) < 1:
        raise InputError(f"{name}: sounds must have shape (..., samples) with enough for one row, not {numbers.shape}")
    needed = rows[0] if over_time else rows[-1]
    for width, stride in windows[:1] if over_time else windows[::-1]:
        needed = stride * (needed - 1) + width
    return numbers[..., :needed, None]
