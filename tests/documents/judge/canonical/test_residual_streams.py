r"""Residual sums that are taken of one stream and added to an earlier one."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import verdicts

PAIRS = [
    (r"U' = U + \mathrm{MHA}(\mathrm{LN}(U))", r"U'' = {} + \mathrm{FFN}(\mathrm{LN}(U'))", "U", "U'"),
    (r"h = x + \mathrm{Attn}(\mathrm{LN}(x))", r"y = {} + \mathrm{MLP}(\mathrm{LN}(h))", "x", "h"),
    (r"x_1 = \mathrm{LN}(x + \mathrm{Attn}(x))", r"x_2 = \mathrm{LN}({} + \mathrm{FFN}(x_1))", "x", "x_1"),
    (
        r"z'_\ell = \mathrm{MSA}(\mathrm{LN}(z_{\ell-1})) + z_{\ell-1}",
        r"z_\ell = \mathrm{MLP}(\mathrm{LN}(z'_\ell)) + {}",
        r"z_{\ell-1}",
        r"z'_\ell",
    ),
    (
        r"z'_\ell = \mathrm{MSA}(\mathrm{LN}(z_{\ell-1})) + z_{\ell-1}",
        r"z_\ell = \mathrm{MLP}(\mathrm{LN}(z'_\ell)) + {}",
        r"z'_{\ell-1}",
        r"z'_\ell",
    ),
]


@pytest.mark.parametrize(("first", "second", "earlier", "taken"), PAIRS)
def test_the_stream_is_that_of_which_the_sublayer_is_taken(first: str, second: str, earlier: str, taken: str) -> None:
    """The earlier one leaves out what the first sub-layer added."""
    assert verdicts(f"${first}$ and ${second.replace('{}', earlier)}$")[-1] == "wrong"
    assert verdicts(f"${first}$ and ${second.replace('{}', taken)}$")[-1] != "wrong"


@pytest.mark.parametrize(
    "text",
    [
        r"$h = \mathrm{Attn}(\mathrm{LN}(x))$ and $y = x + \mathrm{FFN}(\mathrm{LN}(h))$",
        r"$y = x + \mathrm{FFN}(\mathrm{LN}(h))$",
        r"$h = x + \mathrm{Attn}(x)$ and $y = x + f(h)$",
        r"$h = x + \mathrm{Attn}(x)$ and $y = c + \mathrm{FFN}(h)$",
        r"$h = x + \mathrm{Attn}(x)$ or $h = \mathrm{Attn}(x)$, and $y = x + \mathrm{FFN}(h)$",
    ],
)
def test_other_sums_may_be_meant(text: str) -> None:
    assert verdicts(text)[-1] != "wrong"
