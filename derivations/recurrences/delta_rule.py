r"""The gated delta rule: a state stores the difference between a new value and the value that it holds for the key.

Definition   S_t = exp(L_t) (I - beta_t k_t k_t^T) S_{t-1} + beta_t k_t v_t^T, from a state B on, or from 0
Result       with u_t = beta_t (v_t - exp(L_t) S_{t-1}^T k_t) it is the recurrence S_t = exp(L_t) S_{t-1} + k_t u_t^T;
             by induction S_t = exp(G_t) B + sum_{s <= t} exp(G_t - G_s) k_s u_s^T with G_t = sum_{r <= t} L_r, and the
             rows u solve a triangular system in which no state but B occurs: a chunk of positions at a time
Shapes       k (n, d_k), v and u (n, d_v), L and beta (n,), S (n, d_k, d_v), B (d_k, d_v)
Source       Schlag, Irie and Schmidhuber (2021); Yang et al. (2024); Yang, Kautz and
             Hatamizadeh (2025)
"""

from sympy import Eq, Expr, Integer, Sum, Symbol, exp

from derivations.language.arrays.expression import array
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_v, index, n

__all__ = ["corrected_row", "law_of", "rows", "states"]

TOPIC = "recurrence"

SCHLAG = "Schlag, Irie and Schmidhuber (2021)"
WY = "Yang et al. (2024)"
GATED = "Yang, Kautz and Hatamizadeh (2025)"
k, v, u = array("k", n, d_k), array("v", n, d_v), array("u", n, d_v)
L, beta = array("L", n), array("beta", n)
S, B = array("S", n, d_k, d_v), array("B", d_k, d_v)
t, s, r, p, q, j, x, y = (index(letter) for letter in "tsrpqjxy")


def decay(last: Expr, first: Expr | None = None) -> Expr:
    """Return the product of the decays up to position `last`, or, if `first` is given, of those after `first`."""
    whole = Sum(L[r], (r, 0, last))
    return exp(whole if first is None else whole - Sum(L[r], (r, 0, first)))


def states(last: Expr, row: Expr, column: Expr, *, behind: bool) -> Expr:
    """Return a state as a sum over the past, starting from the state B if `behind`, and from 0 otherwise."""
    told = Sum(decay(last, s) * k[s, row] * u[s, column], (s, 0, last))
    return decay(last) * B[row, column] + told if behind else told


def law_of(*, behind: bool) -> list[Assumption]:
    """Return the assumptions that the states follow the linear recurrence, with arbitrary rows u."""
    carried = exp(L[0]) * B[x, y] if behind else Integer(0)
    first = Assumption(Eq(S[0, x, y], carried + k[0, x] * u[0, y]), {x: d_k, y: d_v}, "the law at the first position")
    return [first, Assumption(_later(r), {r: n - 1, x: d_k, y: d_v}, "the law at every later position")]


def _later(place: Expr) -> Eq:
    """Return the recurrence relation from a position to the next one."""
    return Eq(S[place + 1, x, y], exp(L[place + 1]) * S[place, x, y] + k[place + 1, x] * u[place + 1, y])


def corrected_row(place: Expr, column: Expr, said: Expr) -> Expr:
    """Return the row u of a position: beta (v - said), where `said` is the value that the state holds for the key."""
    return beta[place] * (v[place, column] - said)


def rows() -> Assumption:
    """Return the definition of the row u of position t + 1, as an assumption."""
    said = exp(L[t + 1]) * Sum(k[t + 1, j] * S[t, j, y], (j, 0, d_k - 1))
    return Assumption(Eq(u[t + 1, y], corrected_row(t + 1, y, said)), {y: d_v}, "what is told at the position")


def answered(place: Expr, column: Expr, *, behind: bool) -> Expr:
    """Return the row u of a position in terms of the earlier rows and of B, without any other state."""
    agree = Sum(k[place, j] * k[s, j], (j, 0, d_k - 1))
    said = Sum(decay(place, s) * agree * u[s, column], (s, 0, place - 1))
    if behind:
        said += decay(place) * Sum(k[place, j] * B[j, column], (j, 0, d_k - 1))
    return corrected_row(place, column, said)


def parallel(*, behind: bool) -> Assumption:
    """Return the states as sums over the past, as an assumption that is proved by induction."""
    return Assumption(Eq(S[r, x, y], states(r, x, y, behind=behind)), {r: n, x: d_k, y: d_v}, "by induction")


@result
def delta_law() -> Derivation:
    """With rows u the linear recurrence is the delta rule: the value held for a key moves towards the new value."""
    kept = S[t, p, q] - beta[t + 1] * k[t + 1, p] * Sum(k[t + 1, j] * S[t, j, q], (j, 0, d_k - 1))
    return derivation(
        "A linear recurrence that is told corrections follows the gated delta rule",
        claim(
            S[t + 1, p, q],
            step("assumption", exp(L[t + 1]) * kept + beta[t + 1] * k[t + 1, p] * v[t + 1, q]),
        ),
        ranges={t: n - 1, p: d_k, q: d_v},
        assuming=[Assumption(_later(t), {x: d_k, y: d_v}, "the law at the position"), rows()],
        source=SCHLAG,
    )


def _by_induction(title: str, source: str, *, behind: bool) -> Derivation:
    return derivation(
        title,
        claim(S[t, p, q], step("induction", states(t, p, q, behind=behind), "=", t)),
        ranges={t: n, p: d_k, q: d_v},
        assuming=law_of(behind=behind),
        source=source,
    )


@result
def delta_states() -> Derivation:
    """The states of the delta rule are sums over the past, like those of any linear recurrence."""
    return _by_induction("The states of the gated delta rule as sums over the past, by induction", GATED, behind=False)


@result
def delta_chunks() -> Derivation:
    """The states of a chunk of positions depend on the past only through the state just before the chunk."""
    return _by_induction(
        "The states of a chunk of the gated delta rule: the state before it, decayed, and what was told since",
        GATED,
        behind=True,
    )


def _triangular(title: str, *, behind: bool) -> Derivation:
    place: Symbol | Expr = t + 1
    return derivation(
        title,
        claim(u[place, q], step("assumption", answered(place, q, behind=behind))),
        ranges={t: n - 1, q: d_v},
        assuming=[rows(), parallel(behind=behind)],
        source=WY,
    )


@result
def delta_rows() -> Derivation:
    """The rows u of all positions solve one triangular system, whose matrix contains the dot products of the keys."""
    return _triangular("The rows that the gated delta rule tells solve a triangular system", behind=False)


@result
def delta_chunk_rows() -> Derivation:
    """Within a chunk the system has one more term: the values that the state before the chunk holds for the keys."""
    return _triangular(
        "Within a chunk the rows of the gated delta rule solve a triangular system that begins at the state before it",
        behind=True,
    )
