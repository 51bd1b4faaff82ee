"""Numbers for sizes."""

import pytest

from derivations.documents.choices import size_of


@pytest.mark.parametrize("setting", ["d_k", "d_k=", "=64", "d_k=0", "d_k=-1", "d_k=6.4", "d_k=" + "9" * 19])
def test_a_size_that_is_none_is_refused(setting: str):
    with pytest.raises(ValueError, match="write a size and an integer >= 1"):
        size_of(setting)
