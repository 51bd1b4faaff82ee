r"""A norm that is written out divides deviations by the root of their own mean square."""

import pytest

from tests.documents.judge.claims import last

DEVIATIONS = r"Z - \operatorname{mean}(Z) \mathbf{1}^{\top}"
TURNED = r"Z - \mathbf{1} \operatorname{mean}(Z)^{\top}"
MOVED = r"Z - \operatorname{mean}(Z)^{\top} \mathbf{1}"


def norm(above: str, below: str) -> str:
    return rf"N = g \odot \frac{{{above}}}{{\sqrt{{\operatorname{{mean}}(({below})^2) + \epsilon}}}} + b"


@pytest.mark.parametrize(
    ("above", "below"), [(TURNED, DEVIATIONS), (DEVIATIONS, TURNED), (MOVED, DEVIATIONS), (DEVIATIONS, MOVED)]
)
def test_other_deviations_below_the_line_are_wrong(above: str, below: str) -> None:
    found = last(norm(above, below))
    assert found.verdict == "wrong"
    assert found.result == "layer_norm.definition"


@pytest.mark.parametrize(
    "formula",
    [
        norm(DEVIATIONS, DEVIATIONS),
        norm(DEVIATIONS, r"\operatorname{mean}(Z) \mathbf{1}^{\top} - Z"),  # the square is the same
        norm(r"-\operatorname{mean}(Z) \mathbf{1}^{\top} + Z", DEVIATIONS),
        norm(r"Z - M", DEVIATIONS),  # M may be another name
        norm(r"Z - \mu", r"\mu - Z"),
        norm(r"Z - a b", r"Z - b a"),  # numbers
        norm(r"Z - (m \mathbf{1}^{\top})", r"Z - (\mathbf{1} m^{\top})^{\top}"),
        r"Z = N \sqrt{\operatorname{mean}(D^2) + \epsilon} + M",  # the way back
        r"L = D \sqrt{\operatorname{mean}(D^2)}",
        r"N = \frac{D \sqrt{\operatorname{mean}(D^2) + \epsilon}}{\operatorname{mean}(D^2) + \epsilon}",
    ],
)
def test_norms_and_ways_back_are_left_alone(formula: str) -> None:
    assert last(formula).verdict != "wrong"


@pytest.mark.parametrize("sign", ["", r"\cdot", r"\odot"])
def test_deviations_are_not_multiplied_by_the_root_of_their_mean_square(sign: str) -> None:
    root = rf"\sqrt{{\operatorname{{mean}}(({DEVIATIONS})^2) + \epsilon}}"
    assert last(rf"N = ({DEVIATIONS}) {sign} {root}").verdict == "wrong"
