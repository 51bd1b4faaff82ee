"""Texts of different lengths in one batch, padded: each run takes texts of one length, without padding.

Definition   a mask is True (or 1) where a token is real; the real tokens of a text are consecutive, with padding before
             or after them. A text without its padding is the text: positions count from its first real token,
             and windows and causal masks have their usual reach, whatever padding surrounds the text
Shapes       tokens and mask (..., n)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numeric.runtime.checks import InputError

__all__ = ["masks_of", "on_real_tokens", "real_tokens", "written_behind"]


@dataclass(frozen=True)
class _Texts:
    """Texts whose inputs have the same numbers of real tokens: their rows in the batch, and their real positions.

    `columns` are, for each input, the positions (texts, length) of the real tokens.
    """

    rows: Any
    columns: tuple[Any, ...]

    def of(self, number: int, flat: Any) -> Any:
        """Return the entries at real positions of an array (texts of the batch, n), for input number `number`."""
        return flat[self.rows[:, None], self.columns[number]]


def real_tokens(name: str, mask: Any, tokens: Any) -> Any:
    """Return a mask as booleans.

    Raises       InputError where its shape differs from that of the tokens, an entry is not 0 or 1, a text has
                 no real token, or padding occurs between its real tokens
    """
    real = np.asarray(mask)
    if real.shape != tokens.shape:
        raise InputError(f"{name}: the mask has shape {real.shape}, the tokens have {tokens.shape}")
    if not (real.dtype == bool or np.issubdtype(real.dtype, np.integer)) or ((real != 0) & (real != 1)).any():
        raise InputError(f"{name}: a mask of real tokens holds booleans, or 0 and 1, not numbers of type {real.dtype}")
    real = real.astype(bool)
    if not real.any(axis=-1).all():
        raise InputError(f"{name}: a text has no real token; leave it out of the batch")
    # each run of real tokens begins with one step from 0 to 1
    starts = (np.diff(real.astype(np.int8), axis=-1, prepend=0) == 1).sum(axis=-1)
    if (starts > 1).any():
        raise InputError(f"{name}: padding stands among the real tokens of a text; it must stand before or after them")
    return real


def _of_one_length(masks: Sequence[Any]) -> Iterator[_Texts]:
    """Yield the texts of a batch in groups of the same lengths; masks are (texts, n) for each input."""
    lengths = np.stack([mask.sum(axis=-1) for mask in masks], axis=-1)
    for key in np.unique(lengths, axis=0):
        (rows,) = np.nonzero((lengths == key).all(axis=-1))
        # argmax of a mask is the position of its first True, and the real tokens are consecutive
        columns = (mask[rows].argmax(axis=-1)[:, None] + np.arange(size) for mask, size in zip(masks, key, strict=True))
        yield _Texts(rows, tuple(columns))


def masks_of(name: str, mask: Any, inputs: Mapping[str, Any]) -> list[Any]:
    """Return a mask for each input: the single one, or those of a tuple, where None means that all tokens are real.

    Raises       InputError where masks and inputs differ in number, or a mask does not fit
    """
    several = len(inputs) > 1 and isinstance(mask, list | tuple)
    masks = list(mask) if several else [mask]
    if len(masks) != len(inputs):
        raise InputError(f"{name}: give a mask for each of {' and '.join(inputs)}, as a tuple")
    if len({array.shape[:-1] for array in inputs.values()}) > 1:
        raise InputError(f"{name}: {' and '.join(inputs)} must hold as many texts as each other")
    return [
        np.ones(array.shape, bool) if one is None else real_tokens(f"{name}, {each}", one, array)
        for (each, array), one in zip(inputs.items(), masks, strict=True)
    ]


def on_real_tokens(
    run: Callable[[Mapping[str, Any]], Any], arrays: Mapping[str, Any], masks: Sequence[Any], *, of_one_row: bool
) -> Any:
    """Return the results of a function on texts without their padding, in their positions; 0 at padding.

    Definition   `masks` belong to the first arrays, in order; further arrays are aligned with the first. The result
                 has the rows of the last masked array, or one row for each text when `of_one_row`
    """
    around = masks[0].shape[:-1]
    flat = {name: array.reshape(-1, array.shape[-1]) for name, array in arrays.items()}
    real = [mask.reshape(-1, mask.shape[-1]) for mask in masks]
    result = None
    for group in _of_one_length(real):
        own = {
            name: group.of(number if number < len(real) else 0, array)
            for number, (name, array) in enumerate(flat.items())
        }
        rows = run(own)
        if result is None:
            length = 1 if of_one_row else real[-1].shape[-1]
            result = np.zeros((len(real[0]), length, rows.shape[-1]), rows.dtype)
        places = np.zeros((len(group.rows), 1), int) if of_one_row else group.columns[-1]
        result[group.rows[:, None], places] = rows
    assert result is not None  # the batch is not empty
    return result.reshape(*around, *result.shape[1:])


def written_behind(generate: Callable[[Any], Any], tokens: Any, real: Any, filling: int) -> Any:
    """Return the tokens generated after texts of several lengths; shorter results are padded.

    Shapes       tokens and real (..., n) -> (..., length of the longest result)
    """
    flat, mask = (each.reshape(-1, tokens.shape[-1]) for each in (tokens, real))
    groups = list(_of_one_length([mask]))
    parts = [generate(group.of(0, flat)) for group in groups]
    written = np.full((len(flat), max(part.shape[-1] for part in parts)), filling)
    for group, part in zip(groups, parts, strict=True):
        written[group.rows, : part.shape[-1]] = part
    return written.reshape(*tokens.shape[:-1], written.shape[-1])
