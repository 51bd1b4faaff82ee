"""Memory: Korthikanti et al. (2022) on activations, Rajbhandari et al. (2020) on the state of training.

Definition   activations are the bytes that a pre-norm layer with dropout saves for its backward pass, 2 for a number
             and 1 for an entry of a mask, on each of t devices; these divide heads and hidden columns (tensor
             parallel), and rows (sequence parallel)
Units        bytes
Source       Korthikanti et al. (2022), section 4.1, equation 1, and table 2; Rajbhandari et al. (2020), section 3.1
"""

from __future__ import annotations

from sympy import Expr, Integer

from derivations.costs.memory import pre_norm_layer
from derivations.costs.published.formula import WIDTHS, Departure, Published, letter
from derivations.costs.rank_residuals import residual_bytes
from derivations.language.counting.memory_counts import saved_residuals, training_state_bytes
from derivations.symbols import batch, d_ff, d_model, h, n, size

__all__ = ["ACTIVATIONS", "ZERO", "devices"]

devices = size("t")
LAYER = pre_norm_layer()
ATTENTION = "scaled_dot_product_attention_with_dropout"

LETTERS = (
    letter("s", "positions", n),
    letter("b", "texts", batch),
    letter("h", "width of the model", d_model),
    letter("a", "heads", h),
    letter("t", "devices", devices),
)
s, b, width, a, t = (each.symbol for each in LETTERS)


def saved_residual_bytes(parallel: str, recomputed: tuple[str, ...], *, statistics: bool) -> Expr:
    """Return the bytes that each device saves: the statistics of norms if `statistics`, else all others.

    Parallel     "none"; "tensor": arrays with an axis of heads or of hidden columns are divided; "sequence": all are
    """
    storages = saved_residuals(LAYER, batch=batch, recomputed=recomputed).storages
    shares = {} if parallel == "none" else {h: h / devices, d_ff: d_ff / devices}
    roles = ("statistic",) if statistics else ("input", "activation")
    return residual_bytes(storages, shares, devices if parallel == "sequence" else 1, roles=roles)


def activations(
    id: str, title: str, share: Expr | int, row: str, parallel: str = "none", recomputed: tuple[str, ...] = ()
) -> Published:
    """Return the formula that is s b h times a factor, as in table 2."""
    left_out = saved_residual_bytes(parallel, recomputed, statistics=True)
    statistics = Departure(Integer(-1), "statistics of norms", lambda _: left_out, "left out")
    return Published(
        id=f"korthikanti.{id}",
        title=title,
        expression=s * b * width * share,
        letters=LETTERS,
        units="bytes for each layer and device",
        convention="2 bytes for a number, 1 for an entry of a dropout mask",
        source=f"Korthikanti et al. (2022), {row}",
        derived=lambda _: saved_residual_bytes(parallel, recomputed, statistics=False) + left_out,
        against="what the equations of a pre-norm layer with dropout keep, mean and variance of each row included",
        departures=() if left_out == 0 else (statistics,),
        relations=WIDTHS,
    )


OF_TABLE = "table 2, "

ACTIVATIONS: tuple[Published, ...] = (
    activations("activations", "Activations of a layer", 34 + 5 * a * s / width, "section 4.1, equation 1"),
    activations(
        "tensor_parallel",
        "Activations, tensor parallel",
        10 + 24 / t + 5 * a * s / (width * t),
        OF_TABLE + "tensor parallel",
        "tensor",
    ),
    activations(
        "sequence_parallel",
        "Activations, tensor and sequence parallel",
        34 / t + 5 * a * s / (width * t),
        OF_TABLE + "tensor and sequence parallel",
        "sequence",
    ),
    activations(
        "selective",
        "Activations, tensor parallel, attention recomputed",
        10 + 24 / t,
        OF_TABLE + "tensor parallel and selective recomputation",
        "tensor",
        (ATTENTION,),
    ),
    activations(
        "sequence_selective",
        "Activations, tensor and sequence parallel, attention recomputed",
        34 / t,
        OF_TABLE + "tensor and sequence parallel and selective recomputation",
        "sequence",
        (ATTENTION,),
    ),
    activations("full", "Activations, layers recomputed", 2, OF_TABLE + "full recomputation", recomputed=(LAYER.name,)),
)

# --- Rajbhandari et al. ---------------------------------------------------------------------------------------------

learned = letter("Psi", "parameters", lambda subject: subject.parameters)


def state(id: str, title: str, gradients: int, *departures: Departure) -> Published:
    """Return the formula of 2 + 2 + 12 bytes for each parameter.

    It is compared with a state whose gradients have `gradients` bytes.
    """
    return Published(
        id=f"zero.{id}",
        title=title,
        expression=2 * learned.symbol + 2 * learned.symbol + 12 * learned.symbol,
        letters=(learned,),
        units="bytes",
        convention="a weight and a gradient of 2 bytes; a copy of the weight and two moments of 4 each",
        source="Rajbhandari et al. (2020), section 3.1",
        derived=lambda subject: training_state_bytes(subject.parameters, gradients=gradients),
        against=f"weights, gradients of {gradients} bytes, and the state of Adam, of all parameters",
        departures=departures,
        any_decoder=True,
    )


ZERO: tuple[Published, ...] = (
    state("training_state", "State of training in mixed precision", 2),
    state(
        "training_state_against_18",
        "The same where gradients are added up in 4 bytes",
        4,
        Departure(Integer(-2), "parameters", lambda subject: subject.parameters, "2 bytes of every gradient"),
    ),
)
