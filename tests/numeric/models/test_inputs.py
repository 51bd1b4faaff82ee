"""Pictures as patches, spectra as frames, the end of a text: places by hand, and what does not fit is refused."""

import numpy as np
import pytest

from numeric.models.inputs import frames_of, last_seen, patches_of, place_of_end, places_on_axes
from numeric.runtime.checks import InputError


def test_a_patch_holds_its_pixels_by_channel_row_and_column():
    """Of pictures of 4 by 7 pixels the last column is beyond the patches of 2 by 2."""
    pictures = np.arange(2 * 3 * 4 * 7).reshape(2, 3, 4, 7)
    patches = patches_of("vit", pictures, 3, 2, 6, np.float64)
    assert patches.shape == (2, 6, 12)
    for channel, row, column in np.ndindex(3, 2, 2):
        assert patches[1, 4, 4 * channel + 2 * row + column] == pictures[1, channel, 2 + row, 2 + column]


def test_a_frame_is_a_row():
    spectra = np.arange(10.0).reshape(2, 5)
    np.testing.assert_array_equal(frames_of("whisper", spectra, 2, 5, np.float32), spectra.T)


@pytest.mark.parametrize(
    ("shape", "words"), [((2, 4, 4), r"\(\.\.\., 3, height, width\)"), ((3, 4, 6), "4 by 6 have 6 patches of 2 by 2")]
)
def test_pictures_of_another_size_are_refused(shape, words):
    with pytest.raises(InputError, match=words):
        patches_of("vit", np.zeros(shape), 3, 2, 4, np.float32)


def test_spectra_of_another_length_are_refused():
    with pytest.raises(InputError, match=r"\(\.\.\., 2, 5\), not \(2, 4\)"):
        frames_of("whisper", np.zeros((2, 4)), 2, 5, np.float32)


def test_a_text_ends_at_its_first_end_or_at_its_largest_token():
    texts = np.array([[5, 2, 7, 2], [2, 9, 9, 1]])
    np.testing.assert_array_equal(place_of_end("clip", texts, 2), [[1], [0]])
    np.testing.assert_array_equal(place_of_end("clip", texts, None), [[2], [1]])
    with pytest.raises(InputError, match="a text has no token 7"):
        place_of_end("clip", texts, 7)


def test_a_still_picture_has_its_colours_in_every_frame():
    pictures = np.arange(3 * 4 * 4).reshape(3, 4, 4)
    patches = patches_of("qwen", pictures, 6, 2, 4, np.float64, frames=2)
    for channel, frame, row, column in np.ndindex(3, 2, 2, 2):
        assert patches[3, 8 * channel + 4 * frame + 2 * row + column] == pictures[channel, 2 + row, 2 + column]


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_follow_one_another_are_seen_to_their_end(seed):
    """By the definition: of each position the run of marked positions that it is in."""
    at = np.random.default_rng(seed).random((3, 11)) < 0.6
    for row, (marked, last) in enumerate(zip(at, last_seen(at), strict=True)):
        for position in range(11):
            end = position
            while marked[position] and end + 1 < 11 and marked[end + 1]:
                end += 1
            assert last[position] == end, (row, position)


def test_places_are_counted_on_from_the_largest_of_the_picture():
    """Of 2 tokens, a picture of 2 by 3 rows, and 2 tokens more (Wang et al. 2024, figure 3)."""
    at = np.array([False] * 2 + [True] * 6 + [False] * 2)
    expected = [[0, 1, 2, 2, 2, 2, 2, 2, 5, 6], [0, 1, 2, 2, 2, 3, 3, 3, 5, 6], [0, 1, 2, 3, 4, 2, 3, 4, 5, 6]]
    np.testing.assert_array_equal(places_on_axes("qwen", at, 2, 3), expected)
    assert [each[0, 8] for each in places_on_axes("qwen", at[None], 6, 1)] == [8, 8, 8]
    with pytest.raises(InputError, match="the 6 tokens of a picture must follow one another"):
        places_on_axes("qwen", at[[0, 2, 1, 3, 4, 5, 6, 7, 8]], 2, 3)
