"""Lines of one statement each: what is right is never called wrong, nor what is false right.

`right_formulas.md` and `false_formulas.md` have a line for each; the last formula of a false line is the false one.
"""

from pathlib import Path

import pytest

from derivations.documents.checking import FAILED, check_text
from derivations.documents.verdicts import Claim
from tests.documents.said import ALARMS, in_a_word

pytestmark = pytest.mark.slow  # corpora of formulas are judged

HERE = Path(__file__).parent
FOUND = 0.45  # of what is false: the rest is not decided


def lines(name: str) -> list[str]:
    return [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line]


def claims(line: str) -> tuple[Claim, ...]:
    found = check_text(line, "markdown").claims
    assert not [claim for claim in found if claim.finding.check == FAILED]
    return found


@pytest.mark.parametrize("line", lines("right_formulas.md"))
def test_what_is_right_is_not_called_wrong(line: str) -> None:
    alarms = [claim for claim in claims(line) if in_a_word(claim.finding) in ALARMS]
    assert [(claim.text, claim.finding.reason) for claim in alarms] == []


@pytest.mark.parametrize("line", lines("false_formulas.md"))
def test_what_is_false_is_not_called_right(line: str) -> None:
    assert claims(line)[-1].finding.verdict in ("wrong", "conditional", "unknown")


def test_much_of_what_is_false_is_found() -> None:
    false = lines("false_formulas.md")
    found = [line for line in false if any(in_a_word(claim.finding) in ALARMS for claim in claims(line))]
    assert len(found) / len(false) > FOUND
