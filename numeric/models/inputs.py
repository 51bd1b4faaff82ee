"""What a model reads, as the arrays of its equations: tokens as they are, pictures as patches, spectra as frames.

Definition   a picture is cut into squares, row by row; the pixels of a patch stand in one row, in the order of the
             kernel: channel, row, column. Pixels beyond the last whole patch are not read
Shapes       pictures (..., channels, height, width) -> (..., patches, channels p^2); spectra (..., mel, frames) ->
             (..., frames, mel)
Source       Dosovitskiy et al. (2021), section 3.1; Radford et al. (2023), section 2.2
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from numeric.runtime.checks import InputError

__all__ = ["frames_of", "patches_of", "place_of_end", "places_of_rows"]


def patches_of(name: str, pictures: Any, channels: int, patch: int, count: int, dtype: DTypeLike) -> Any:
    """Return the patches of pictures.

    Raises       InputError where the pictures have other channels, or another number of patches
    """
    pixels = np.asarray(pictures, dtype=dtype)
    if pixels.ndim < 3 or pixels.shape[-3] != channels:
        raise InputError(f"{name}: pictures must have shape (..., {channels}, height, width), not {pixels.shape}")
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
    """Return tokens in which those that hold the place of a picture's rows are the numbers of these rows, in order.

    Definition   the k-th token equal to `place` becomes `first` + k
    Shapes       tokens (..., n), result (..., n)
    Raises       InputError where a text has not one place for each of `count` rows
    """
    at = tokens == place
    if (at.sum(axis=-1) != count).any():
        raise InputError(f"{name}: a text has one token {place} for each row of its picture, {count} in all")
    return np.where(at, first + np.cumsum(at, axis=-1) - 1, tokens)


def place_of_end(name: str, tokens: Any, end: int | None) -> Any:
    """Return the place of the first token equal to `end`, or to the largest of the text if that is None.

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
