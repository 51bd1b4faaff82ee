"""Maps of rows: the linear layer, low-rank adaptation, convolution, recurrence, dropout, initialisation."""

from derivations.linear.convolution import convolution, convolution_layer, kernel_of_width_1
from derivations.linear.dropout import dropout, rate
from derivations.linear.linear import linear
from derivations.linear.low_rank_adaptation import low_rank_adaptation
from derivations.linear.recurrent import recurrent_step

__all__ = [
    "convolution",
    "convolution_layer",
    "dropout",
    "kernel_of_width_1",
    "linear",
    "low_rank_adaptation",
    "rate",
    "recurrent_step",
]
