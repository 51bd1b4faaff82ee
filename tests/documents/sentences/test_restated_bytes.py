"""Memory that is said again in another unit, behind a formula or behind a number with all its digits."""

import pytest

from derivations.documents.checking import check_text

CACHE = r"$2 \times 32 \times 4096 \times 2 = 524{,}288$"


def said(text: str) -> list[tuple[str, str, str | None]]:
    """Return text, verdict and repair of the claims without a relation."""
    claims = [claim for claim in check_text(text, "markdown").claims if not {"=", "＝"} & set(claim.text)]
    return [(claim.text, claim.finding.verdict, claim.finding.right) for claim in claims]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"共 {CACHE} 字节，即 512 KiB。", ("512 KiB", "holds", None)),
        (f"共 {CACHE} 位元組，即 512 MiB。", ("512 MiB", "wrong", "512 KiB")),
        (f"一つあたり {CACHE} バイト、つまり 0.5 GiB である。", ("0.5 GiB", "wrong", "512.0 KiB")),
        ("That is 6,442,450,944 bytes, i.e. 6 GiB.", ("6 GiB", "holds", None)),
        ("That is 6,442,450,944 bytes (6.44 GiB).", ("6.44 GiB", "wrong", "6.00 GiB")),
        ("That is 6,442,450,944 bytes (6.44 GB).", ("6.44 GB", "holds", None)),
        ("That is 6,442,450,944 bytes, about 6.5 GB.", ("6.5 GB", "conditional", "6.4 GB")),
        ("FP16 权重共 14 GB（13.04 GiB）。", ("13.04 GiB", "holds", None)),
        ("重みは 68 GB、約 73.3 GiB である。", ("73.3 GiB", "wrong", "63.3 GiB")),
        ("That takes 13.4 GB or 13.48 GiB.", ("13.48 GiB", "wrong", "12.48 GiB")),
        (r"That is $2048 \times 512 = 1048576$ KiB, that is 2 GiB.", ("2 GiB", "wrong", "1 GiB")),
        ("每个词元 1024×2＝2048 字节，即 4 KiB。", ("4 KiB", "wrong", "2 KiB")),
    ],
)
def test_memory_is_said_again(text: str, expected: tuple[str, str, str | None]) -> None:
    assert said(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "A card has 16 GB, or 32 GB.",
        "The cache has 512 KB or 1 MB.",
        "Eight cards of 80 GB (0.64 TB).",
        "At least 16 GB (24 GiB recommended).",
        "每个词元 2048 字节（每层），即 4 KiB。",
        "每个元素 2 字节，共 4 GiB。",
        "That is 4096 bytes, i.e. 8 KiB for keys and values.",
        "並非 2048 位元組，即 4 KiB。",
        "Eight times 2048 bytes is 8 × 2048 bytes, that is 16 KiB.",
    ],
)
def test_other_memory_is_none_of_it(text: str) -> None:
    assert not [each for each in said(text) if each[1] == "wrong"]
