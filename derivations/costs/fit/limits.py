r"""Three limits that a plan meets: the longest context, the batch that fills the arithmetic, the interleaved pipeline.

Result       a memory of M bytes holds at most (M - w) / (batch c) positions beside w bytes that do not grow; products
             for more than F b / (2 beta) texts take longer than reading their weights; v chunks for each of s stages
             keep 1 + (s - 1) / (s v) times the activations of all layers on the first stage
Assumes      every position adds c bytes; weights of b bytes, read once for the batch, and nothing else; enough
             micro-batches to fill the pipeline
Units        positions; texts; a ratio
Source       Pope et al. (2022), section 2; Williams, Waterman and Patterson (2009); Korthikanti et al. (2022), section
             4.2.3
"""

from sympy import Ge, Gt, Lt

from derivations.costs.parameters import equal
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import N, batch, n, scalar, size

__all__: list[str] = []

M, w, c, b, F, beta = (scalar(name, positive=True) for name in ("M", "w", "c", "b", "F", "beta"))
stages, chunks = size("s"), size("v")


@result(topic="memory")
def longest_context() -> Derivation:
    """At most (M - w) / (batch c) positions fit, and that many fill the memory."""
    fits = Assumption(Ge(M, w + batch * c * n), {}, "weights and cache fit")
    most = (M - w) / (batch * c)
    return derivation(
        "A memory of $M$ bytes holds at most $(M - w) / (batch c)$ positions beside $w$ bytes that do not grow",
        claim(most, step("bound", n, ">=", (M - w - batch * c * n) / (batch * c)), given=(fits,)),
        claim(w + batch * c * n, step("assumption", M), given=(equal(n, most),)),
        source="Pope et al. (2022), section 2",
    )


@result(topic="flops")
def batch_that_fills_the_arithmetic() -> Derivation:
    """Moving weights of b bytes bounds decoding up to F b / (2 beta) texts, and computing bounds it above that.

    Two operations for each weight and text at F a second, against b bytes of each weight at beta a second.
    """
    share, balance = (2 * batch / F) / (b / beta), F * b / (2 * beta)
    ahead = 2 * beta / (b * F) * (batch - balance)
    more, fewer = Assumption(Gt(batch, balance)), Assumption(Lt(batch, balance))
    return derivation(
        "Products of weights of $b$ bytes at $F$ FLOPs a second against reading them at $beta$ bytes a second",
        claim(share, step("bound", 1, ">", ahead), given=(more,)),
        claim(share, step("bound", 1, "<", -ahead), given=(fewer,)),
        claim(share, step("assumption", 1), given=(equal(batch, balance),)),
        source="Williams, Waterman and Patterson (2009); Pope et al. (2022), section 2",
    )


@result(topic="memory")
def interleaved_pipeline() -> Derivation:
    """The first stage holds the activations of 2 (s - 1) + (v - 1) s + 1 chunks, each of N / (s v) layers."""
    under_way = 2 * (stages - 1) + (chunks - 1) * stages + 1
    return derivation(
        "Layers whose activations the first of $s$ stages keeps, each stage in $v$ chunks",
        claim(
            under_way * N / (stages * chunks),
            step("algebra", N * (1 + (stages - 1) / (stages * chunks))),
        ),
        source="Korthikanti et al. (2022), section 4.2.3",
    )
