"""Correction of a formula: small edits are tried one after another until one gives a form of a concept.

Definition   an edit changes one place of a formula; it is a slip if the judge of equality then shows a form of the
             concept in which every letter has its usual role
Result       `repaired(right, tried, ...)` is `wrong` with the slip, the repaired right side and the result, or None
Assumes      the number of edits, of readings and of parts that are read is bounded, so that time is
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from derivations.documents.canon.concept import Concept
from derivations.documents.canon.edits import edits
from derivations.documents.canon.norm_forms import FIRST
from derivations.documents.canon.operation_slips import SIGMOID_RATE
from derivations.documents.canon.role_letters import PLACE
from derivations.documents.canon.slips import MISSING, TOO_MANY, Slip, SlipKind
from derivations.documents.judge.arrays.arrays import function_word
from derivations.documents.judge.arrays.formula_letters import Formula, names_in
from derivations.documents.judge.canonical.assigning import Assignment
from derivations.documents.judge.canonical.likeness import Likeness
from derivations.documents.judge.canonical.matching import Filter, equal_forms, reader_of, reads
from derivations.documents.judge.canonical.recognition import ELEMENTARY, marks_of
from derivations.documents.syntax import Aggregate, Call, Name, Node, Number, Quotient, Sum

__all__ = ["NAMED", "Judged", "letter_of", "repaired"]

MOST_EDITS, MOST_READINGS, MOST_WORK = 1500, 1500, 5000
NAMED = frozenset({"swiglu", "geglu", "reglu", "glu", "bilinear"})  # networks that are named after their activation
#: Letters that authors take in either order: two weights of a gate, two distributions.
FREE_PAIRS = ({"W", "V"}, {"p", "q"}, {"W_1", "W_3"}, {"W", "U"}, {"U", "V"})


class Judged(NamedTuple):
    """A verdict on a right side: `mended` is the corrected right side, `slip` what is corrected.

    `result` is a name in the catalogue.
    """

    verdict: Likeness
    reason: str
    mended: Node | None = None
    result: str | None = None
    assumed: tuple[str, ...] = ()
    slip: Slip | None = None

    @property
    def kind(self) -> SlipKind | None:
        """The kind of the slip, if there is one."""
        return self.slip.kind if self.slip else None


def repaired(
    right: Node,
    tried: list[tuple[Concept, Assignment]],
    formula: Formula,
    convention: str | None,
    names: frozenset[str],
    *,
    lacking: bool,
) -> Judged | None:
    """Return the verdict `wrong` with the edit that makes a formula right, or None.

    With `lacking`, the edit may insert a usual letter that the formula does not have.
    """
    if not tried or len(_functions(right)) > 1:  # a canonical right side has one function that is not elementary
        return None
    chosen = _few(tried)
    if not chosen:
        return None
    arguments = (each for each in formula.arguments if isinstance(each, Name))
    letters = tuple(dict.fromkeys((*_whole_names(right), *arguments, *(_unused(right, chosen) if lacking else ()))))
    readers = [(concept, assignment, reader_of(assignment), Filter(assignment)) for concept, assignment in chosen]
    is_read = any(reads(right, reader) for _, _, reader, _ in readers)
    spent = 0
    for edited, slip in islice(edits(right, letters, formula.indices), MOST_EDITS):
        for concept, assignment, reader, likely in readers:
            if not likely.may_equal(edited) or _is_free(slip, right, formula):
                continue
            if slip.kind in TOO_MANY and (not is_read or concept.left == "mean"):
                continue  # a factor in a way that is not read is not too many, and a product has a mean as well
            spent += 1
            if spent > MOST_READINGS or sum(each.work for _, _, each, _ in readers) > MOST_WORK:
                return None
            for match in equal_forms(edited, assignment, reader):
                turns = match.form.has_matrices or bool(match.form.places)
                against = assignment.columns and convention == "rows" and turns
                if not match.same:
                    continue
                if match.form.title in NAMED and names & NAMED and match.form.title not in names:
                    continue
                axis = match.form.assumed == (FIRST,) and slip.kind is SlipKind.LAST
                if (match.form.assumed and not (match.form.condition or axis)) or against:
                    continue
                told = bool(match.form.places) or concept.left == "product entry"
                if slip.kind is SlipKind.INDEX_ORDER and convention != "rows" and not told:
                    continue  # the weights of one query may stand in a column
                # a letter that only divides once may have been left out elsewhere, such as a temperature
                lost = {each.key for each in names_in(right)} - {each.key for each in names_in(edited)}
                mended = None if lost and slip.kind is SlipKind.NO_DIVISION else edited
                reason = f"this is not {concept.title}: {slip}"
                return Judged("wrong", reason, mended, match.form.result, slip=slip)
    return None


def _is_free(slip: Slip, right: Node, formula: Formula) -> bool:
    """Return whether a difference may be the author's choice: other letters, a gain, weights in a named network."""
    letters = {each.key for each in names_in(right)}
    match slip:
        case Slip(SlipKind.LETTER, (new, old)) if old.startswith(f"{new}_"):
            return new != "d"  # q at another time
        case Slip(SlipKind.LETTER, (new, old)) if new.startswith("W") and old.startswith("W"):
            return new not in letters  # which number weights have, their author says
        case Slip(SlipKind.LETTER, (new, old)) if {new, old} <= {*PLACE["pos"]}:
            return True  # a position in fewer letters
        case Slip(SlipKind.EXCHANGED, (one, other)):
            pair = {one, other}
            if len({re.sub(r"\^?\*|'", "", each) for each in pair}) == 1:
                return True  # which of y and y^* is the label, the author says
            return pair in FREE_PAIRS or {each.partition("_")[0].lower() for each in pair} in FREE_PAIRS
        case Slip(SlipKind.DIFFERENCE | SlipKind.SIGN):
            return any({each.base.lower() for each in pair} in FREE_PAIRS for pair in _differences(right))
        case Slip(SlipKind.NUMBER, ("1", _)):
            return True  # a scale that is divided out, as 255 of pixels
        case Slip(SlipKind.NO_DIVISION) if _has_a_scale(right):
            return True  # or a letter outside of exponentials
        case Slip(SlipKind.NUMBER, (new, _)) if (
            Fraction(new) == SIGMOID_RATE
        ):  # 1.7, and 1.6, of which the slope is right
            return any(
                isinstance(each, Number) and Fraction(3, 2) < each.value < Fraction(9, 5) for each in right.walk()
            )
        case Slip(SlipKind.DIVISION, (letter,)):
            return letter in letters  # what is divided out again
        case Slip(SlipKind.ROOT_DIVISION):
            return False
        case Slip(SlipKind.FUNCTION):  # sigma(x) = tanh(x): what an activation is, its author says
            return isinstance(right, Call) and all(isinstance(each, Name) for each in right.arguments)
        case Slip(kind, (what,)) if kind in TOO_MANY:
            return what in ("gamma", "g", "M", "mask", "Mask")  # gains, and masks by which entries are multiplied
        case Slip(SlipKind.FACTOR, ("V",)) if not formula.arguments:
            return True  # the weights of attention may be called so
        case Slip(SlipKind.FACTOR, (factor,)) if factor in {
            each.key for each in _denominators(right) if isinstance(each, Name)
        }:
            return True  # which would only be divided out again
    return slip.kind in MISSING and bool(_functions(right) & NAMED)


def _denominators(right: Node) -> list[Node]:
    """Return what the quotients of a formula divide by."""
    return [part.denominator for part in right.walk() if isinstance(part, Quotient)]


def _has_a_scale(right: Node) -> bool:
    """Return whether something is divided by a number, or by a letter where nothing is an exponential."""
    scales = (Number,) if "exp" in marks_of(right) else (Number, Name)
    return any(isinstance(each, scales) for each in _denominators(right))


def _differences(right: Node) -> Iterator[tuple[Name, Name]]:
    """Yield the two letters of every difference of two letters."""
    for part in right.walk():
        match part:
            case Sum(terms=(Name() as one, Name() as other), signs=(1, -1)):
                yield one, other


def _functions(right: Node) -> set[str]:
    """Return the functions of a right side that are not elementary."""
    functions = (part.function for part in right.walk() if isinstance(part, Call))
    words = {"LN" if function.base == "LN" else function_word(function) for function in functions}  # LN is no ln
    return words - ELEMENTARY


def _few(tried: list[tuple[Concept, Assignment]]) -> list[tuple[Concept, Assignment]]:
    """Return the assignments to try edits with: every letter has its usual role, and none occurs twice."""
    ordered = [each for each in tried if each[1].by_letters]
    kept: dict[tuple[object, ...], tuple[Concept, Assignment]] = {}
    for concept, assignment in ordered:
        kept.setdefault((concept.title, assignment.meaning, assignment.columns), (concept, assignment))
    return list(kept.values())[:6]


def _whole_names(right: Node) -> Iterator[Name]:
    """Yield the names of a formula with their scripts, without bound letters and names of functions."""
    bound = {key.key for part in right.walk() if isinstance(part, Aggregate) for key in part.index}
    functions = {part.function for part in right.walk() if isinstance(part, Call)}
    names = [part for part in right.walk() if isinstance(part, Name)]
    inside = {sub for name in names for each in (*name.subscripts, *name.superscripts) for sub in each.walk()}
    yield from (name for name in names if name not in functions and name not in inside and name.key not in bound)


def _unused(right: Node, chosen: list[tuple[Concept, Assignment]]) -> Iterator[Name]:
    """Yield the usual letters of roles that no letter of the formula plays."""
    present = {part.key for part in right.walk() if isinstance(part, Name)}
    for _, assignment in chosen:
        for key, value in assignment.meaning:
            if (key not in present and key not in assignment.indices and not getattr(value, "is_integer", False)) or (
                key not in present and getattr(value, "is_positive", False)
            ):
                yield letter_of(key)


def letter_of(key: str) -> Name:
    """Return the letter that has a key: `W_1`, `W^O`, `epsilon`."""
    above = "^" in key
    base, _, label = key.partition("^" if above else "_")
    small = Number(label, Fraction(label)) if label.isdigit() else Name(label)
    parts = (small,) if label else ()
    return Name(base, superscripts=parts) if above else Name(base, parts)
