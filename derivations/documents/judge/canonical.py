"""Canonical formulas: what a document writes is compared with what the catalogue proves.

Definition   a link `left = right` is about a concept by a word on its left or by the marks of its right side; its
             letters are given the roles of the concept, in every convention
Result       proved where the judge of equality shows the right side equal to a form of the concept, conditional where
             that form has an assumption; wrong where it equals none but one small edit makes it equal; else nothing
Assumes      a false alarm is worse than a miss: formulas that are right and other than the usual ones are forms as well
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from derivations.documents.canon.concepts import CONCEPTS, KEY_WIDTHS, OTHER_SIZES, Concept
from derivations.documents.canon.edits import edits
from derivations.documents.formulas import formula_text
from derivations.documents.judge.matching import (
    Assignment,
    Formula,
    Match,
    assignments,
    equal_forms,
    reader_of,
)
from derivations.documents.judge.recognition import (
    formula_of,
    is_about,
    is_one_formula,
    plain,
    softmax_of_a_score,
    word_of,
    words_of,
)
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Name,
    Node,
    Number,
)
from derivations.documents.verdicts import Finding, Verdict
from derivations.language.expression import Array

__all__ = ["check_canonical"]

CHECK = "canonical"
MOST_EDITS, MOST_READINGS = 1500, 1500
EQUAL = frozenset({"=", ":=", "≡", "≈", "←"})
MEANINGS = {
    "query": "Q", "key": "K", "value": "V", "key width": "d_k", "head width": "d_k", "model width": "d_model",
    "number of heads": "h", "position": "pos",
}  # fmt: skip
NAMED = frozenset({"swiglu", "geglu", "reglu", "glu", "bilinear"})  # networks that are named after their activation


def check_canonical(statement: Statement, link: int | None, scope: object) -> Iterable[Finding]:
    """Yield what the catalogue says of one link."""
    if link is None or statement.chain.relations[link] not in EQUAL:
        return
    left, right = statement.chain.sides[link], statement.chain.sides[link + 1]
    if isinstance(right, Name | Number) or sum(1 for _ in right.walk()) > 200:
        return
    subject = statement.chain.sides[0] if link and isinstance(left, Name) else left
    known = _foreign(scope, right), _said(scope, right), getattr(scope, "convention", None)
    found = judged(left, right, *known)
    if found is None and subject is not left:
        found = judged(subject, right, *known)
    if found is None:
        return
    verdict, reason, repaired, result, assumed = found
    shown = None
    if repaired is not None:
        text = formula_text(repaired, "latex" if statement.passage.syntax == "latex" else "plain")
        shown = f"{statement.text(left.start, left.end)} = {text}"
    yield Finding(verdict, CHECK, reason, shown, result, assumed)


def _foreign(scope: object, right: Node) -> frozenset[str]:
    """Return the letters of a right side that stand for another size than the width of the keys, as far as is known."""
    names = [part for part in right.walk() if isinstance(part, Name)]
    suspects = {name.key for name in names if name.key in OTHER_SIZES}
    if not suspects:
        return frozenset()
    keys = next((name for name in names if name.base in ("K", "k")), None)
    shape = getattr(scope, "shape", None)
    widths = shape(keys) if shape is not None and keys is not None else None
    width = str(widths[-1]) if widths else None
    known = width in KEY_WIDTHS.split() or (width is None and _declares_key_width(scope))
    return frozenset(suspects - {width}) if known else frozenset()


def _said(scope: object, right: Node) -> frozenset[tuple[str, str]]:
    """Return the roles that the prose gives to letters of the right side."""
    meaning = getattr(scope, "meaning", None)
    if meaning is None:
        return frozenset()
    names = {part.key: part for part in right.walk() if isinstance(part, Name)}
    return frozenset((key, MEANINGS[word]) for key, name in names.items() for word in meaning(name) if word in MEANINGS)


def _declares_key_width(scope: object) -> bool:
    d_k = Name("d", (Name("k"),))
    meaning, value = getattr(scope, "meaning", None), getattr(scope, "value", None)
    return bool((meaning and meaning(d_k)) or (value and value(d_k) is not None))


Judged = tuple[Verdict, str, Node | None, str | None, tuple[str, ...]]


@lru_cache(maxsize=4096)
def judged(
    left: Node, right: Node, foreign: frozenset[str], said: frozenset[tuple[str, str]], convention: str | None
) -> Judged | None:
    """Return the verdict, the reason, the repaired right side, the result and the assumptions; None for nothing."""
    right = plain(right)
    scalar = softmax_of_a_score(right)
    if scalar is not None:
        reason = "the softmax of a single number is 1; it must be taken over the scores of all keys"
        return "wrong", reason, None, "attention.scalar_softmax_is_one", ()
    candidates = [concept for concept in CONCEPTS if is_about(concept, left, right)]
    by_word = [concept for concept in candidates if word_of(left) in concept.words and concept.words]
    candidates = by_word or candidates
    formula, names = formula_of(left, right), words_of(left)
    tried: list[tuple[Concept, Assignment]] = []
    best: tuple[Concept, Match] | None = None
    unproved = False
    for concept in candidates:
        for assignment in islice(assignments(formula, concept, foreign, said), 96):
            tried.append((concept, assignment))
            for match in equal_forms(right, assignment):
                if not match.proved:
                    unproved = True
                    continue
                if assignment.columns and convention == "rows" and isinstance(match.form.value, Array):
                    continue
                if match.form.title in NAMED and names & NAMED and match.form.title not in names:
                    continue  # another activation than the one that is named
                if best is None or len(match.form.assumed) < len(best[1].form.assumed):
                    best = concept, match
            if best is not None and not best[1].form.assumed:
                return _equal(*best, formula)
    if best is not None:
        return _equal(*best, formula)
    if unproved or not is_one_formula(right):  # it may well be right
        return None
    return _repaired(right, tried, formula, convention, names, lacking=bool(by_word))


def _equal(concept: Concept, match: Match, formula: Formula) -> Judged:
    form, assumed = match.form, list(match.form.assumed)
    if match.assignment.columns and any(True for _ in match.form.rows):
        assumed.append("positions are columns")
        return (
            "proved",
            f"this is {concept.title}, with positions as columns",
            None,
            form.result,
            ("positions are columns",),
        )
    if assumed:
        return "conditional", f"this is {concept.title} if {assumed[0]}", None, form.result, tuple(assumed)
    return "proved", f"this is {concept.title}", None, form.result, ()


def _repaired(
    right: Node,
    tried: list[tuple[Concept, Assignment]],
    formula: Formula,
    convention: str | None,
    names: frozenset[str],
    *,
    lacking: bool,
) -> Judged | None:
    """Return `wrong` with the edit that makes a formula right; with `lacking` a letter may be missing in it."""
    if not tried:
        return None
    chosen = _few(tried)
    if not chosen:
        return None
    arguments = (each for each in formula.arguments if isinstance(each, Name))
    letters = tuple(dict.fromkeys((*_whole_names(right), *arguments, *(_unused(right, chosen) if lacking else ()))))
    readers = [(concept, assignment, reader_of(assignment)) for concept, assignment in chosen]
    spent = 0
    for edited, slip in islice(edits(right, letters, formula.indices), MOST_EDITS):
        for concept, assignment, reader in readers:
            spent += 1
            if spent > MOST_READINGS:
                return None
            for match in equal_forms(edited, assignment, reader):
                if not match.proved:
                    continue
                if match.form.title in NAMED and names & NAMED and match.form.title not in names:
                    continue
                if (match.form.assumed and not match.form.condition) or (assignment.columns and convention == "rows"):
                    continue
                return "wrong", f"this is not {concept.title}: {slip}", edited, match.form.result, ()
    return None


def _few(tried: list[tuple[Concept, Assignment]]) -> list[tuple[Concept, Assignment]]:
    """Return the assignments that edits are tried with: those in which every letter has its usual role, no doubles."""
    ordered = [each for each in tried if each[1].by_letters]
    kept: dict[tuple[object, ...], tuple[Concept, Assignment]] = {}
    for concept, assignment in ordered:
        kept.setdefault((concept.title, assignment.meaning, assignment.columns), (concept, assignment))
    return list(kept.values())[:6]


def _whole_names(right: Node) -> Iterator[Name]:
    """Yield the names of a formula as they stand, without bound letters and names of functions."""
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
                yield _letter(key)


def _letter(key: str) -> Name:
    base, _, label = key.partition("_")
    small = Number(label, Fraction(label)) if label.isdigit() else Name(label)
    return Name(base, (small,) if label else ())
