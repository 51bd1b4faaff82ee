"""The catalogue: the judge proves every result of it."""

import pytest

from derivations.catalogue import names
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS


@pytest.mark.parametrize("name", names())
def test_every_result_is_proved(name: str) -> None:
    assert judge(RESULTS[name]()).level in ("definition", "proved")
