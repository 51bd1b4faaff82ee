"""The verdict that each kind of finding is reported with. Every finding of a document passes through this table.

Definition   the kind of a finding is the id of its check; `canonical.unnamed` is a formula that was compared with a
             usual one though nothing on its left names that one, `chain.alone` an equation that nothing but its sides
             tells to be an identity, `arithmetic.far` a number that no usual slip explains
Result       `in_policy(finding)`: what was merely seen to fit, or to contradict nothing, is unknown, and the remark
             says what was seen; what differs from the usual is conditional on something else being meant
Assumes      measured on public pages that no check was developed on: of the alarms of the kinds in `DIFFERS` hardly any
             was right, and what the kinds in `FITS` called right said nothing of the formula
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.conditions import is_conclusion
from derivations.documents.judge.arrays.left_sides import left_fits, word_of
from derivations.documents.judge.canonical.losses import LOSSES, PERPLEXITY
from derivations.documents.judge.canonical.recognition import ELEMENTARY
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number, Transpose
from derivations.documents.verdicts import ALONE, Finding

__all__ = ["DIFFERS", "FITS", "FROM_THE_USUAL", "UNNAMED", "in_policy", "of_its_kind"]

UNNAMED = "canonical.unnamed"
FROM_THE_USUAL = "differs from the usual: "  # in front of the reason
FITS = frozenset({"shapes.fit", "shapes.declared"})
_ANOTHER_FORMULA = "another formula is meant than the usual one"
_A_CONDITION = "the equation is a condition, which holds for some values only"
_ANOTHER_ARRAY = "a letter stands for arrays of different shapes"
DIFFERS: Mapping[str, str] = {  # with what makes such a formula right
    UNNAMED: _ANOTHER_FORMULA,
    f"chain{ALONE}": _A_CONDITION,
    f"identity{ALONE}": _A_CONDITION,
    f"derivative{ALONE}": "the derivative is meant in another sense",
    "gradient": "another letter or another sense is meant",
    "arithmetic.far": "the number is not meant as the value of the other side",
    "arithmetic.truncated": "digits are cut off, not rounded",
    "consistency.setting": "another setting is meant here",
    "pattern": _ANOTHER_FORMULA,
    "shapes.clash": _ANOTHER_ARRAY,
    "shapes.declared": _ANOTHER_ARRAY,
}
OF_EQUATIONS = ("chain", "identity", "derivative")
FEWEST = 3  # letters and numbers of a side, below which an equation is as often a condition as an identity
_WORDS = frozenset(word for concept in CONCEPTS for word in concept.words) | PERPLEXITY
_WORDS = (_WORDS | {word for word in LOSSES if len(word) > 1}) - ELEMENTARY - {""}
_SYMBOLS = ("mean", "variance", "deviation", "rms", "width")  # of which one letter is the name: mu, sigma, d_k


def in_policy(finding: Finding) -> Finding:
    """Return a finding with the verdict, the reason and the assumptions that are reported."""
    match finding.verdict:
        case "holds" | "conditional" if finding.check == "shapes.fit" or (
            finding.verdict == "holds" and finding.check in FITS
        ):
            return replace(finding, said="unknown")
        case "wrong" if finding.check in DIFFERS:
            assumptions = (*finding.assumptions, DIFFERS[finding.check])
            reason = FROM_THE_USUAL + finding.reason
            return replace(finding, said="conditional", reason=reason, assumptions=assumptions, repair=None)
    return finding


def of_its_kind(finding: Finding, statement: Statement, link: int | None, scope: Scope) -> Finding:
    """Return a finding. A wrong one without a second witness gets an id of its own.

    Result       UNNAMED for a usual formula that the left side does not name; ALONE for an equation that is solved for
                 0, and for one of which one side has hardly any letters, so that it may be a condition, unless a word
                 says that it follows
    """
    if finding.verdict != "wrong":
        return finding
    if finding.check == "canonical" and not _is_named(statement, link, scope):
        return replace(finding, check=UNNAMED)
    is_alone = finding.check in OF_EQUATIONS and _is_solved(statement)
    if finding.check in ("chain", "identity") and not is_conclusion(statement):
        is_alone |= not _is_identity(statement, link, scope)
    return replace(finding, check=finding.check + ALONE) if is_alone else finding


def _is_solved(statement: Statement) -> bool:
    """Return whether a chain ends in 0: a sign or a factor is then divided out."""
    last = statement.chain.sides[-1]
    return isinstance(last, Number) and last.value == 0


def _is_identity(statement: Statement, link: int | None, scope: Scope) -> bool:
    """Return whether both sides have at least three letters and numbers, or are of arrays whose shapes are declared.

    A name in front of a chain is no side of an identity: the others are.
    """
    if link is None:
        return False
    named = link == 0 and isinstance(statement.chain.sides[0], Name)
    sides = statement.chain.sides[1:] if named else statement.chain.sides[link : link + 2]
    names = [part for side in sides for part in side.walk() if isinstance(part, Name)]
    return min(map(_leaves, sides)) >= FEWEST or all(scope.shape_candidates(each) for each in names)


def _leaves(node: Node) -> int:
    """Count the letters, numbers and transposes of a formula."""
    return sum(isinstance(part, Name | Number | Transpose) for part in node.walk_outside_names())


def _is_named(statement: Statement, link: int | None, scope: Scope) -> bool:
    """Return whether the first side, or the left side of the link, names a usual formula."""
    if link is None:
        return False
    sides = statement.chain.sides
    return any(_names(left, sides[link + 1], scope) for left in (sides[0], sides[link]))


def _names(left: Node, right: Node, scope: Scope) -> bool:
    """Return whether a side names a usual formula by a word, by its letter, or by the definition of its letter.

    After `y = softmax(x)` the derivative of y is that of softmax.
    """
    if isinstance(left, Call) and left.function.base == "H" and any(word_of(part) == "log" for part in right.walk()):
        return True  # the entropy of p, and the cross-entropy of p and q
    letters = [part for part in left.walk() if isinstance(part, Name)]
    wholes = (Name(each.base) for each in letters if each.subscripts)
    made = [each for each in map(scope.definition, (*letters, *wholes)) if each is not None]
    if any(word_of(part) in _WORDS for side in (left, *made) for part in side.walk()):
        return True
    kinds = (*_SYMBOLS, "even", "odd") if word_of(left) else _SYMBOLS  # PE
    return any(concept.left in kinds and left_fits(concept, left, right) for concept in CONCEPTS)
