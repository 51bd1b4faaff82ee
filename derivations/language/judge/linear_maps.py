"""Null space, rank and norm of a matrix given by its entries, each by a certificate of equalities.

null space   A B = 0 and L A + B C = I: then A v = 0 gives v = B (C v), so the null space is the span of B's columns
rank         A L A = A: then L A is idempotent with the null space of A, so rank(A) = trace(L A)
norm         A symmetric and -c v^T v <= v^T A v <= c v^T v for all v: then ||A|| <= c, the largest |eigenvalue|
"""

from __future__ import annotations

from sympy import Basic, Expr, Integer, KroneckerDelta

from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.shapes import flat, same_size, shape_text, sum_along, total
from derivations.language.judge.certificates import nonnegative
from derivations.language.judge.goal import Goal, places_of
from derivations.language.results.statements import NullSpace, Rank, Span, SpectralNorm

__all__ = ["TACTICS", "by_null_space", "by_quadratic_form", "by_trace"]


def by_null_space(goal: Goal) -> str | None:
    """Prove that a null space is a span; the certificate is L and one C for each array B of the span."""
    null, span = goal.previous, goal.step.expression
    if not isinstance(null, NullSpace) or not isinstance(span, Span) or goal.step.relation != "=":
        return "this rule states that the null space of a matrix is a span"
    A, given = null.args[0], goal.step.certificate
    if len(given) != 1 + len(span.args) or not all(isinstance(each, Array) for each in given):
        return f"the certificate is a matrix L and {len(span.args)} arrays C with L A + B C = I"
    left, *factors = given
    if not same_size(left.shape[0], A.shape[1]):
        return f"L of shape {shape_text(left.shape)} gives no square L A"
    for array in (A, *span.args, *given):
        goal.require_sizes(*map(total, array.shape))
        goal.keep_domains(array)
    for B, C in zip(span.args, factors, strict=True):
        # a vector b counts as a matrix of one column, and its c as a matrix of one row
        if len(C.shape) != len(B.shape) or not same_size(C.shape[-1], A.shape[1]):
            return f"B of shape {shape_text(B.shape)} and C of shape {shape_text(C.shape)} do not multiply"
        # A B = 0: the span lies in the null space
        image = A @ B
        if not goal.equal(image.entry(*places_of(goal, *image.shape)), Integer(0)):
            return f"{A} @ {B} is not proved to be 0"
    # I = L A + sum B C: a v with A v = 0 is sum B (C v), so that the null space lies in the span
    inverse = left @ A
    row, column = places_of(goal, *inverse.shape)
    parts = sum((_outer(B, C, row, column) for B, C in zip(span.args, factors, strict=True)), Integer(0))
    whole = goal.equal(inverse.entry(row, column) + parts, KroneckerDelta(flat(row), flat(column)))
    return None if whole else "L A + B C is not proved to be the identity"


def _outer(B: Array, C: Array, row: object, column: object) -> Expr:
    return B.entry(row) * C.entry(column) if len(B.shape) == 1 else (B @ C).entry(row, column)


def by_trace(goal: Goal) -> str | None:
    """Prove that the rank of A is the trace of L A, by a certificate L with A L A = A."""
    rank, value = goal.previous, goal.step.expression
    if not isinstance(rank, Rank) or goal.step.relation != "=":
        return "this rule states the rank of a matrix"
    A, given = rank.args[0], goal.step.certificate
    if len(given) != 1 or not isinstance(given[0], Array):
        return "the certificate is a matrix L with A L A = A"
    (left,) = given
    # A = A L A gives rank(A) <= rank(L A) <= rank(A); L A is idempotent, and the rank of such a matrix is its trace
    goal.require_sizes(*map(total, A.shape))
    goal.keep_domains(A)
    goal.keep_domains(left)
    inverse = left @ A
    whole = A @ inverse
    places = places_of(goal, *whole.shape)
    if not goal.equal(whole.entry(*places), A.entry(*places)):
        return "A L A is not proved to be A"
    trace = sum_along(A.shape[1], lambda p: inverse.entry(p, p), set(inverse.free_symbols))
    return None if goal.equal(trace, value) else f"{value} is not proved to be the trace of L A"


def by_quadratic_form(goal: Goal) -> str | None:
    """Prove that the norm of a symmetric matrix A is at most c.

    The certificate is a free vector v, and forms of c v^T v - v^T A v and c v^T v + v^T A v that show their signs.
    """
    norm, bound = goal.previous, goal.step.expression
    if not isinstance(norm, SpectralNorm) or goal.step.relation != "<=":
        return "this rule states that the norm of a matrix is at most a number"
    A, given = norm.args[0], goal.step.certificate
    if len(given) != 3 or not _is_vector(given[0]):
        return "the certificate is a vector v and the forms of c v^T v - v^T A v and c v^T v + v^T A v"
    v, *forms = given
    assert isinstance(v, Variable)
    if _spoken_of(v, (A, bound), goal):
        # the inequality is needed for every v
        return f"{v} must be free, but the matrix, the bound, a definition or an assumption mentions it"
    goal.require_sizes(*map(total, A.shape))
    goal.keep_domains(A)
    row, column = places_of(goal, *A.shape)
    if not goal.equal(A.entry(row, column), A.entry(column, row)):
        # the form bounds the norm only then: [[0, 1], [0, 0]] has |v^T A v| <= v^T v / 2, and norm 1
        return f"{A} is not proved to be symmetric"
    quadratic, squares = (v @ (A @ v)).entry(), (v @ v).entry()
    for form, difference in zip(forms, (bound * squares - quadratic, bound * squares + quadratic), strict=True):
        if not goal.equal(difference, form):
            return f"{form} is not proved to equal c v^T v -+ v^T A v"
        if not nonnegative(form, goal.inequalities):
            return f"the form of {form} does not show its sign"
    return None


def _is_vector(v: Basic) -> bool:
    return isinstance(v, Variable) and v.kind == "real" and len(v.shape) == 1


def _spoken_of(v: Variable, parts: tuple[Basic, ...], goal: Goal) -> bool:
    everything = (*parts, *goal.derivation.definitions, *(a.statement for a in goal.assumptions))
    names = {s.name for part in everything for s in part.free_symbols} | {
        each.name for part in everything for each in part.atoms(Variable)
    }
    return v.name in names


TACTICS = {
    "null space": by_null_space,
    "trace": by_trace,
    "quadratic form": by_quadratic_form,
}
