"""A right side compared with the forms of the concepts that it is about: equal to one, one slip away, or neither.

Definition   letters are given the roles of a concept, in every convention; its forms are what is right
Result       `judged(left, right, ...)` is the verdict, the reason, what would be right, the result and what is assumed;
             None where nothing is known
Assumes      what stands around is told by the arguments, so that one formula is judged alike wherever it stands
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from derivations.documents.canon.attention_forms import ONE_QUERY
from derivations.documents.canon.concept import Concept
from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.canon.norm_forms import BARE
from derivations.documents.canon.softmax_forms import ENERGIES
from derivations.documents.formulas import formula_text
from derivations.documents.judge.arrays.left_sides import plain, word_of
from derivations.documents.judge.canonical.assigning import Assignment, assignments
from derivations.documents.judge.canonical.labelled_heads import without_labels
from derivations.documents.judge.canonical.likeness import usual_formula
from derivations.documents.judge.canonical.matching import Match, equal_forms
from derivations.documents.judge.canonical.mending import NAMED, Judged, repaired
from derivations.documents.judge.canonical.probabilities import with_entries
from derivations.documents.judge.canonical.reach_of_sums import (
    is_of_another_entry,
    may_be_a_part,
    other_count,
)
from derivations.documents.judge.canonical.recognition import (
    formula_of,
    is_about,
    is_one_formula,
    of_the_same_entry,
    softmax_of_a_score,
    without_parameter,
    words_of,
)
from derivations.documents.judge.canonical.row_statistics import as_written, in_letters
from derivations.documents.judge.canonical.softmax_by_index import written_out
from derivations.documents.syntax import Call, Name, Negative, Node, Quotient
from derivations.language.arrays.expression import Array

__all__ = ["INPUTS", "Known", "judged"]

Known = tuple[frozenset[str], frozenset[tuple[str, str]], str | None]  # other sizes, roles by the prose, the convention
MOST_PARTS, MOST_PAIRS = 3, 24
ATTENTION = "scaled dot-product attention"
INPUTS = (Name("Q"), Name("K"), Name("V"))


@lru_cache(maxsize=4096)
def judged(
    left: Node,
    right: Node,
    foreign: frozenset[str],
    said: frozenset[tuple[str, str]],
    convention: str | None,
    *,
    met: bool = False,
) -> Judged | None:
    """Return the verdict, the reason, the corrected right side, the result and the assumptions, or None.

    `met` says that queries, keys and values are letters of the document, so that attention may lack one of them.
    """
    if any(isinstance(node, Call) and node.function.primes for side in (left, right) for node in side.walk()):
        return None  # the prime of a function is another function, its derivative as a rule
    right = with_entries(written_out(plain(right)))
    entry = without_parameter(left, right)
    if entry is not left:
        found = judged(entry, right, foreign, said, convention, met=met)
        return found if found is None or found.mended is None else _with_parameter(found, left)
    scalar = softmax_of_a_score(right)
    if scalar is not None:
        reason = "the softmax of a single number is 1; it must be taken over the scores of all keys"
        indexed = any(isinstance(part, Name) and part.subscripts for part in left.walk())
        assumed = ("it is taken over an index of the left side",) if indexed else ()
        return Judged("conditional" if indexed else "wrong", reason, None, "attention.scalar_softmax_is_one", assumed)
    of_a_head = without_labels(left, right)
    if of_a_head is not None:
        found = judged(of_a_head.left, of_a_head.right, foreign, said, convention, met=met)
        if found is None or found.mended is None:
            return found
        return found._replace(mended=of_a_head.labelled_again(found.mended))
    other = of_the_same_entry(left, right)
    if other is not None:
        found = judged(left, other, foreign, said, convention)
        if found is None or found.verdict != "usual":
            return None
        return Judged("wrong", "the two sides are of other entries", other, found.result)
    lettered, functions = in_letters(right)
    candidates = [c for c in CONCEPTS if is_about(c, left, right) or (functions and is_about(c, left, lettered))]
    by_word = [concept for concept in candidates if word_of(left) in concept.words and concept.words]
    candidates = by_word or candidates
    right = lettered if candidates else right
    formula, names = formula_of(left, right), words_of(left)
    counts = other_count(right)
    if may_be_a_part(right, formula.indices) or counts is not None:
        return _of_two_widths(*counts, candidates) if counts is not None else None
    if _is_doubled(formula.arguments, right):
        return None
    strays = is_of_another_entry(left, right)
    tried: list[tuple[Concept, Assignment]] = []
    best: tuple[Concept, Match] | None = None
    unsure = False
    for concept in candidates:
        for assignment in islice(assignments(formula, concept, foreign, said), 96):
            if not concept.lenient:
                tried.append((concept, assignment))
            for match in equal_forms(right, assignment):
                if strays and not match.form.places:  # a form that has places was asked for them
                    continue
                if not match.same:
                    unsure = True
                    continue
                if match.form.title in NAMED and names & NAMED and match.form.title not in names:
                    continue  # another activation than the one that is named
                if by_word and ENERGIES in match.form.assumed:
                    continue  # what is named has its argument as it stands
                if best is None or len(match.form.assumed) < len(best[1].form.assumed):
                    best = concept, match
            if best is not None and not best[1].form.assumed:
                return _equal(*best, convention, named=bool(by_word))
    if best is not None:
        return _equal(*best, convention, named=bool(by_word))
    if unsure or not is_one_formula(right):  # it may well be right
        return None
    if not by_word and _is_made_of_a_softmax(right, tried):
        return None
    lacking = (bool(by_word) and isinstance(left, Call)) or (
        met and any(concept.title == ATTENTION for concept in candidates)
    )
    found = repaired(right, tried, formula, convention, names, lacking=lacking)
    if found is None or found.mended is None:
        return found
    if strays and is_of_another_entry(left, found.mended):
        return None
    return found._replace(mended=as_written(found.mended, functions))


def _with_parameter(found: Judged, left: Node) -> Judged:
    """Return the verdict on an entry that depends on a letter. A correction must keep that letter."""
    parameter = left.arguments[0] if isinstance(left, Call) else left
    if found.mended is None or parameter in found.mended.walk():
        return found
    reason = f"{found.reason.partition(':')[0]}: it does not depend on {formula_text(parameter, 'plain')} as it must"
    return found._replace(reason=reason, mended=None)


def _of_two_widths(divisor: Name, last: Name, candidates: list[Concept]) -> Judged | None:
    """Return the finding that a mean or a variance divides by one width and sums to another."""
    concept = next((each for each in candidates if each.left in ("mean", "variance", "deviation")), None)
    if concept is None or not divisor.base == last.base == "d" or not (divisor.subscripts and last.subscripts):
        return None
    reason = f"this is not {concept.title}: {last.key} entries are summed, and divided by {divisor.key}"
    return Judged("wrong", reason, result=concept.forms()[0].result)


def _is_made_of_a_softmax(right: Node, tried: list[tuple[Concept, Assignment]]) -> bool:
    """Return whether a formula is built from a whole softmax, such as the loss -log p or 1 - p.

    Without a name for it, such a formula is not judged as a mistaken softmax.
    """
    inside = [part for part in islice(right.walk(), 1, None) if isinstance(part, Quotient)][:MOST_PARTS]
    parts: dict[str, list[Node]] = {"softmax": [*inside], "log-softmax": [Negative(right)]}
    told = [(concept.title.partition(" of ")[0], assignment) for concept, assignment in tried]
    pairs = ((part, each) for title, each in told for part in parts.get(title, ()))
    return any(match.same for part, each in islice(pairs, MOST_PAIRS) for match in equal_forms(part, each))


def _is_doubled(arguments: tuple[Node, ...], right: Node) -> bool:
    """Return whether one letter is given for two inputs and the right side has others: Attention(K, K, V) of Q, K."""
    given = [each for each in arguments if isinstance(each, Name)]
    return len(set(given)) < len(given) and not {each for each in INPUTS if each in right.walk()} <= {*given}


def _equal(concept: Concept, match: Match, convention: str | None, *, named: bool) -> Judged:
    """Return the verdict that a formula is a form of a concept, with the assumptions."""
    form, reason, assumed = match.form, usual_formula(concept.title), match.form.assumed
    if form.title == BARE and named:
        assumed = ("gamma is 1 and beta is 0", *assumed)
    whole = form.has_matrices and (isinstance(form.value, Array) or bool(form.rows))
    columns = match.assignment.columns and (whole or bool(form.places)) and form.title != ONE_QUERY
    if columns:
        reason += ", with positions as columns"
        assumed = ("positions are columns", *assumed)
    if columns and convention == "rows":
        return Judged("conditional", f"{reason} where the section has rows", None, form.result, assumed)
    if columns and form.places:  # a mean over what stands in the other index is another norm where positions are rows
        return Judged("conditional", reason, None, form.result, assumed)
    if form.assumed or (form.title == BARE and named):
        return Judged("conditional", f"{reason} if {assumed[-1]}", None, form.result, assumed)
    return Judged("usual", reason, None, form.result, assumed)
