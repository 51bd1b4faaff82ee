"""FLOPs and parameters of the papers on training large models: PaLM, Megatron, activation recomputation.

Definition   N of PaLM includes all learned parameters; Narayanan et al. count a second forward pass of the layers,
             Korthikanti et al. a second one of only the context term
Units        parameters; FLOPs for each token or for one pass over B texts of s positions, a multiply-add being 2
Source       Chowdhery et al. (2022), appendix B; Narayanan et al. (2021), section 5.1; Korthikanti et al. (2022),
             appendix A
"""

from __future__ import annotations

from sympy import Expr, Integer, Rational

from derivations.costs.published.formula import HEADS, WIDTHS, Departure, Published, Reading, letter
from derivations.symbols import N, batch, d_k, d_model, n, vocab

__all__ = ["KORTHIKANTI", "NARAYANAN", "PALM", "model_flops_utilisation"]

PRODUCTS = "matrix products, a multiply-add is 2 FLOPs"
BOTH = "all products of the forward and the backward pass, every pair of positions"

# --- Chowdhery et al. -----------------------------------------------------------------------------------------------

OF_PALM = (
    letter("N", "parameters", lambda s: s.parameters),
    letter("L", "layers", lambda s: s.layers),
    letter("H", "heads", lambda s: s.heads),
    letter("Q", "width of a head", d_k),
    letter("T", "positions", n),
)
parameters, layers, heads, each, length = (entry.symbol for entry in OF_PALM)

PALM: tuple[Published, ...] = (
    Published(
        id="palm.model_flops",
        title="FLOPs of training for each token, as model FLOPs utilisation takes them",
        expression=6 * parameters + 12 * layers * heads * each * length,
        letters=OF_PALM,
        units="FLOPs for each token",
        convention=PRODUCTS,
        source="Chowdhery et al. (2022), appendix B",
        derived=lambda s: s.training / n,
        against=BOTH,
        departures=(
            Departure(Integer(6), "biases", lambda s: s.biases, "added, not multiplied"),
            Departure(Integer(6), "norms", lambda s: s.norms, "applied entry by entry"),
            Departure(Integer(6), "tables of rows", lambda s: s.looked_up, "rows are read, not multiplied"),
        ),
        relations=HEADS,
        any_decoder=True,
    ),
)


def model_flops_utilisation(flops_per_token: Expr, tokens_per_second: Expr | int, peak: Expr | int) -> Expr:
    """Return the share of the peak FLOPs that the products of training use, without recomputation.

    Definition   tokens each second times FLOPs for each token, over the FLOPs of all devices each second
    Source       Chowdhery et al. (2022), section 4.1 and appendix B
    """
    return flops_per_token * tokens_per_second / peak


# --- Narayanan et al. -----------------------------------------------------------------------------------------------

MEGATRON = (
    letter("B", "texts", batch),
    letter("s", "positions", n),
    letter("l", "layers", N),
    letter("h", "width of the model", d_model),
    letter("V", "tokens that there are", vocab),
)
B, s, l, h, V = (entry.symbol for entry in MEGATRON)
rows = letter("s", "rows of the table of positions", lambda subject: subject.position_table / d_model)

NARAYANAN: tuple[Published, ...] = (
    Published(
        id="narayanan.parameters",
        title="Parameters",
        expression=12 * l * h**2 * (1 + Rational(13, 12) / h + (V + s) / (12 * l * h)),
        letters=(MEGATRON[2], MEGATRON[3], MEGATRON[4], rows),
        units="parameters",
        convention="learned numbers, the head tied to the table of tokens",
        source="Narayanan et al. (2021), section 5.1, equation 2",
        derived=lambda subject: subject.parameters,
        against="all parameters",
        departures=(Departure(Integer(-1), "final norm", lambda subject: subject.final_norm, "left out"),),
        relations=WIDTHS,
    ),
    Published(
        id="narayanan.iteration",
        title="FLOPs of training with full recomputation",
        expression=96 * B * s * l * h**2 * (1 + s / (6 * h) + V / (16 * l * h)),
        letters=MEGATRON,
        units="FLOPs for B texts",
        convention=PRODUCTS,
        source="Narayanan et al. (2021), section 5.1, equation 3, and appendix",
        derived=lambda subject: batch * (subject.training + subject.forward - subject.logits),
        against=BOTH + ", and a second forward pass of the layers",
        relations=WIDTHS,
    ),
)

# --- Korthikanti et al. ---------------------------------------------------------------------------------------------

RECOMPUTATION = (
    *(letter(str(old.symbol), old.meaning, old.reading) for old in MEGATRON[:2]),
    letter("L", "layers", N),
    letter("h", "width of the model", d_model),
    letter("v", "tokens that there are", vocab),
)
L, v = RECOMPUTATION[2].symbol, RECOMPUTATION[4].symbol


def selective(id: str, title: str, share: Expr, place: str, *departures: Departure) -> Published:
    """Return a formula of hardware FLOPs, with the share of the context term that the paper prints."""
    return korthikanti(
        id,
        title,
        share,
        place,
        lambda subject: batch * (subject.training + subject.context),
        BOTH + ", and the context term of a second forward pass",
        *departures,
    )


def korthikanti(
    id: str, title: str, share: Expr, place: str, reading: Reading, against: str, *departures: Departure
) -> Published:
    """Return the formula 72 B L s h^2 (1 + share + v / (12 h L))."""
    return Published(
        id=f"korthikanti.{id}",
        title=title,
        expression=72 * B * L * s * h**2 * (1 + share + v / (12 * h * L)),
        letters=RECOMPUTATION,
        units="FLOPs for B texts",
        convention=PRODUCTS,
        source=f"Korthikanti et al. (2022), appendix A, {place}",
        derived=reading,
        against=against,
        departures=departures,
        relations=WIDTHS,
    )


KORTHIKANTI: tuple[Published, ...] = (
    korthikanti(
        "model_flops",
        "Model FLOPs of training",
        s / (6 * h),
        "equation 7",
        lambda subject: batch * subject.training,
        BOTH,
    ),
    selective(
        "hardware_flops",
        "Hardware FLOPs with selective recomputation, as printed",
        s / (3 * h),
        "equation 8 as printed",
        Departure(
            Integer(2), "context", lambda subject: batch * subject.context, "the second context term counted thrice"
        ),
    ),
    selective(
        "hardware_flops_of_text",
        "Hardware FLOPs with selective recomputation, as the text before the equation says",
        2 * s / (9 * h),
        "equation 8 with the 4 B s^2 h more for each layer of the text before it",
    ),
)
