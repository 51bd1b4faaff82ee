"""Documents written for these tests: what is right in them is never called wrong, nor what is wrong right."""

import pickle
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from derivations.documents.checking import FAILED, check_file
from derivations.documents.verdicts import Claim
from tests.documents.reworded import changes
from tests.documents.rewording import versions
from tests.documents.said import ALARMS, DECIDED, in_a_word
from tests.once import once

pytestmark = pytest.mark.slow  # a corpus of documents is judged

CORPUS = Path(__file__).parent / "corpus"
DOCUMENTS = sorted(path.name for path in CORPUS.iterdir() if path.is_file())

#: What is mistaken in a document: a piece of each claim that is. Everything else is right.
MISTAKES = {
    "attention_mistakes.md": (
        "Q K}{", "W_Q X", r"\frac{x_i}{\sum_j", "= 32", "[0.5, 0.3, 0.1]", "0.2 + 0.3 + 0.4", "1000^", r"\sigma^4",
    ),
    "zh_errors.md": (
        "W_1 X", "= 96", r"QK^T}{d_k}", r"\delta_{ij} + y_j", "7.29", "22.36", "{,}269", r"(x_i - \mu)",
        r"W^O \in",
    ),
    "exam_mistakes.md": (
        r"\exp(S_{kj})", r"x_i - \mu", r"+ M) /", r"(1 - \beta_2)^t", r"= \frac{1}{\sqrt{x}}", "0.639",
    ),
    "training_notes.md": (
        r"\log p_k", "H(q)", r"O \in", "U''", "103,222,592", "620 s", r"\beta_2 v_{t-1} + (1 - \beta_1)",
    ),
    "worked_example.md": (r"QK'^\top = ", "1.289"),
    "zh_training.md": (r"\prod_{t} \log", "x_{max} + x_{min}"),
    "ja_parameters.tex": (
        "582{,}921", r"\approx6.04", "327万", "10^{20}", "3600=24", "2048^2=2", "079{,}152", r"\cos\pi=1",
    ),
    "zh_hant_vision.py": (
        "= 198", "= 186", "= 590582", "= 3027", "= 85045464", "12 = 46", "sqrt(64) = 0.25", "= 59601224",
    ),
    "zh_hans_decoding.rst": (
        "0.876", "z_i T", "2^3 = 9", "12 / 6 = 3", r"\prod", "0.335", "983{,}040{,}000",
    ),
    "zh_hans_grouped_queries.md": (
        "V_r=C_rZ", "291{,}546", "33.8", "45.3 亿", "4 KiB", r"\approx0.656", "0.5+0.3+0.1=1",
    ),
    "ja_mistakes.rst": ("16{,}834{,}000", "= 46", r"{d_v \times d}", "KQ^", "2{,}097{,}152"),
}  # fmt: skip
CAUGHT = 59  # of the mistakes; those that are not are unknown


def _is_mistaken(name: str, claim: Claim) -> bool:
    return any(piece in claim.text for piece in MISTAKES.get(name, ()))


class _Judged(Mapping[str, tuple[Claim, ...]]):
    """The claims of each document by its name, judged when they are first asked for, once in a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def __getitem__(self, name: str) -> tuple[Claim, ...]:
        def judge(path: Path) -> None:
            path.write_bytes(pickle.dumps(check_file(CORPUS / name).claims))

        return pickle.loads(once(self.folder, name, judge).read_bytes())

    def __iter__(self) -> Iterator[str]:
        return iter(DOCUMENTS)

    def __len__(self) -> int:
        return len(list(self))


@pytest.fixture(scope="module")
def claims(run_folder: Path) -> _Judged:
    return _Judged(run_folder / "corpus")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_nothing_right_is_called_wrong(claims: _Judged, name: str) -> None:
    assert claims[name]
    alarms = [claim for claim in claims[name] if in_a_word(claim.finding) in ALARMS and not _is_mistaken(name, claim)]
    assert [(claim.start.line, claim.text, claim.finding.reason) for claim in alarms] == []
    assert not any(claim.finding.check == FAILED for claim in claims[name])


def test_the_mistakes_are_found_or_left_open(claims: _Judged) -> None:
    mistaken = [claim for name in MISTAKES for claim in claims[name] if _is_mistaken(name, claim)]
    found = [claim.text for claim in mistaken if in_a_word(claim.finding) in ALARMS]
    assert [c.text for c in mistaken if c.finding.verdict not in ("wrong", "conditional", "unknown")] == []
    assert len(found) >= CAUGHT


def test_most_of_what_is_right_is_decided(claims: _Judged) -> None:
    right = [claim for name in claims for claim in claims[name] if not _is_mistaken(name, claim)]
    said = Counter(in_a_word(claim.finding) for claim in right)
    assert (said.total() - said["unknown"]) / len(right) > 0.64  # decided, or seen to fit
    assert sum(said[each] for each in DECIDED) / len(right) > 0.4


@pytest.mark.parametrize("name", ["attention_chapter.md", "zh_hant.md", "columns.md", "zh_errors.md"])
def test_in_other_letters_words_and_notations_nothing_right_becomes_wrong(claims: _Judged, name: str) -> None:
    text = (CORPUS / name).read_text(encoding="utf-8")
    for version in random.Random(name).sample([*versions(text, seed=3)], 5):
        found = changes(claims[name], version)
        turned = [each for each in found if each.kind in ("made wrong", "made right")]
        assert [(version.name, each.before.text, each.after) for each in turned] == []
        assert sum(each.kind in ("same", "other positive") for each in found) / len(found) > 0.7
