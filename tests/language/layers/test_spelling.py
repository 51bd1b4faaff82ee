"""Names in words: every entry of the list is met, and an id of a user is spelled as well."""

import re

from derivations.catalogue import LAYERS
from derivations.language.layers.spelling import SPELLED, in_words
from derivations.topics import TOPICS


def test_names_have_hyphens_and_capitals():
    assert in_words("masked_scaled_dot_product_attention") == "masked scaled dot-product attention"
    assert in_words("feed_forward_gelu") == "feed-forward network with GELU"  # the longest part that fits
    assert in_words("my_rms_norm") == "my RMS norm"
    assert in_words("terms_of_gelus") == "terms of gelus"  # whole words only


def test_each_spelled_part_is_one_of_a_name():
    names = (*TOPICS, *LAYERS)
    unmet = [part for part in SPELLED if not any(re.search(rf"(?<![^_]){part}(?![^_])", name) for name in names)]
    assert unmet == []
