"""A function of a library beside another writing of it: the right one is proved, and no wrong variant is."""

import pytest

from numeric.lifting import prove_same
from tests.numeric.lifting.corpus.pairs import PAIRS, Pair

pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
pytest.importorskip("scipy", reason="the peers tests compare with SciPy")

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_two_writings_are_proved_the_same(pair: Pair) -> None:
    verdict = prove_same(pair.function(), pair.written_otherwise(), **pair.shapes)
    assert verdict.level == "proved", str(verdict)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_no_wrong_variant_is_proved(pair: Pair) -> None:
    """Each differs in one piece; a run of the function itself refutes it."""
    for number in range(len(pair.wrong)):
        verdict = prove_same(pair.function(number), pair.written_otherwise(), **pair.shapes)
        assert verdict.level != "proved", f"{pair.wrong[number]}: {verdict}"
        assert verdict.level == "refuted", f"{pair.wrong[number]}: {verdict}"


def test_the_wrong_variants_are_many() -> None:
    assert sum(len(pair.wrong) for pair in PAIRS) >= 60
    assert len(PAIRS) >= 20
