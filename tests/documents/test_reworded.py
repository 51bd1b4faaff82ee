r"""The harness of reworded documents: what it changes, that it sees what turns, and the five documents under it."""

import random
from dataclasses import replace

import pytest

from derivations.documents.checking import check_file, check_text
from tests.documents.gold import DOCUMENTS
from tests.documents.reworded import SEED, changes
from tests.documents.rewording import SIZES, Version, in_formulas, renaming, versions

TEXT = r"""# Heads

假設 $d_{\text{model}} = 512$，$h = 8$，則 $d_k = d_{\text{model}} / h = 64$。

$$\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V$$
"""


def test_widths_are_renamed_as_a_whole() -> None:
    renamed = in_formulas(TEXT, renaming(SIZES))
    assert "$D = 512$" in renamed
    assert "$m = 8$" in renamed
    assert r"\frac{QK^T}{\sqrt{r}}" in renamed
    assert "softmax" in renamed
    assert "# Heads" in renamed


@pytest.mark.slow
def test_every_version_has_a_line_for_each_of_its_lines() -> None:
    for version in versions(TEXT, SEED):
        if version.form != "notebook":
            assert len(version.lines) == version.text.count("\n") + 1
        assert check_text(version.text, version.form).claims


def test_what_turns_is_seen() -> None:
    """The harness is checked: a version with a slip in it is not the same."""
    claims = check_text(TEXT, "markdown").claims
    lines = tuple(range(1, TEXT.count("\n") + 2))
    same = Version("same", TEXT, lines)
    assert {change.kind for change in changes(claims, same)} == {"same"}
    slipped = replace(same, text=TEXT.replace("= 64", "= 32").replace("K^T", "K"))
    assert [change.kind for change in changes(claims, slipped)].count("made wrong") == 2
    lost = replace(same, text=TEXT.replace("$$", ""))
    assert "lost" in {change.kind for change in changes(claims, lost)}


@pytest.mark.slow
@pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the five documents lie in a folder `shared` beside the checkout")
def test_nothing_right_in_the_five_documents_becomes_wrong() -> None:
    chance = random.Random(SEED)
    for path in sorted(DOCUMENTS.glob("*.txt")):
        claims = check_file(path).claims
        for version in chance.sample([*versions(path.read_text(encoding="utf-8"), SEED)], 5):
            turned = [change for change in changes(claims, version) if change.kind in ("made wrong", "made right")]
            assert [(version.name, change.before.text, change.after) for change in turned] == []
