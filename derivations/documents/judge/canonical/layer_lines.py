r"""Slips in the equations of layers: a formula that is, but for one place, an equation of the catalogue's own.

Definition   left side, letters and order are those of an equation of a layer, and one place differs: a fraction is
             turned, a sum stands where a difference is meant, a transpose is missing at a matrix whose shape is not
             known, or a weight has taken the place of what it multiplies, so that it stands there twice
Result       wrong, with the equation
Assumes      other conventions differ at more than one place (W x for x W), and other letters are no slip
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.canon.differences import difference
from derivations.documents.canon.layer_lines import Line, lines_of
from derivations.documents.formulas import formula_text
from derivations.documents.judge.arrays.formula_letters import names_in
from derivations.documents.judge.arrays.left_sides import plain
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.judge.wording import link_text
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Product, Quotient, Root, Sum, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_layer_lines"]

CHECK = "layers"
MOST_FREE = 2  # X_c = X + \mu may be another sum


def check_layer_lines(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a formula is one slip away from an equation of a layer."""
    if link is None or not is_equation(statement.chain.relations[link]):
        return
    left, right = statement.chain.sides[link], plain(statement.chain.sides[link + 1])
    lines = lines_of(left)
    if any(line.right == right for line in lines):
        return
    for line in lines:
        slip = _slip(right, line, scope)
        if slip:
            reason = f"this is not the equation of {line.title}: {slip}"
            yield Finding("wrong", CHECK, reason, link_text(left, line.right, statement))
            return


def _slip(right: Node, line: Line, scope: Scope) -> str:
    """Say in words what differs at the one place, if it is a certain slip."""
    match difference(right, line.right):
        case Quotient(numerator=above, denominator=below), Quotient(numerator=top, denominator=bottom):
            roots = isinstance(above, Root) and isinstance(bottom, Root)  # of another width, or without its epsilon
            return "the fraction is upside down" if below == top and (above == bottom or roots) else ""
        case Sum(terms=terms, signs=signs), Sum(terms=meant, signs=others) if terms == meant:
            wrong = [term for term, *pair in zip(terms, signs, others, strict=True) if pair == [1, -1]]
            several = len({*names_in(right)}) > MOST_FREE
            return f"{formula_text(wrong[0], 'plain')} must be subtracted" if len(wrong) == 1 and several else ""
        case Name() as written, Transpose(operand=operand) if written == operand:
            known = scope.shape(written) is not None or scope.convention == "columns"
            return "" if known else f"{written.key} must be transposed"
        case Name() as written, Name() as meant if is_weight(written) and _multiplies_itself(written, right, line):
            return f"{meant.key} belongs where {written.key} stands"
    return ""


def _multiplies_itself(name: Name, right: Node, line: Line) -> bool:
    """Say whether a letter stands beside itself in a product, and not so in the equation."""
    return Product((name, name), ("",)) in right.walk() and list(names_in(line.right)).count(name) == 1
