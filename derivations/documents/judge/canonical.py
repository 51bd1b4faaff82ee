"""Canonical formulas: what a document writes is compared with what the catalogue proves.

Definition   a link `left = right` is about a concept by a word on its left or by the marks of its right side; its
             letters are given the roles of the concept, in every convention
Result       proved where the judge of equality shows the right side equal to a form of the concept, conditional where
             that form has an assumption; wrong where it equals none but one small edit makes it equal; else nothing
Assumes      a false alarm is worse than a miss: formulas that are right and other than the usual ones are forms as well
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

from derivations.documents.canon.attention_forms import UNSCALED
from derivations.documents.canon.concept import Concept
from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.canon.norm_forms import BARE
from derivations.documents.canon.role_letters import KEY_WIDTHS, OTHER_SIZES
from derivations.documents.formulas import formula_text
from derivations.documents.judge.assigning import Assignment, assignments
from derivations.documents.judge.inputs_of_heads import other_inputs
from derivations.documents.judge.left_sides import plain, word_of
from derivations.documents.judge.matching import Match, equal_forms
from derivations.documents.judge.mending import NAMED, Judged, letter_of, repaired
from derivations.documents.judge.probabilities import with_entries
from derivations.documents.judge.recognition import (
    formula_of,
    is_about,
    is_one_formula,
    of_the_same_entry,
    softmax_of_a_score,
    words_of,
)
from derivations.documents.judge.row_statistics import as_written, in_letters
from derivations.documents.judge.structures import by_structure
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Call,
    Entry,
    Name,
    Node,
    Number,
    Product,
    Quotient,
    Root,
    rebuilt,
)
from derivations.documents.verdicts import Finding
from derivations.language.expression import Array

__all__ = ["check_canonical"]

CHECK = "canonical"
ATTENTION = "scaled dot-product attention"
INPUTS = (Name("Q"), Name("K"), Name("V"))
MOST_PARTS = 200
EQUAL = frozenset({"=", ":=", "≡", "≈", "←"})
MEANINGS = {
    "query": "Q", "key": "K", "value": "V", "key width": "d_k", "head width": "d_k", "model width": "d_model",
    "number of heads": "h", "position": "pos",
}  # fmt: skip


def check_canonical(statement: Statement, link: int | None, scope: Scope) -> Iterable[Finding]:
    """Yield what the catalogue says of one link."""
    if link is None:
        yield from _alone(statement.chain.sides[0], scope)
        return
    if statement.chain.relations[link] not in EQUAL:
        return
    left, right = statement.chain.sides[link], statement.chain.sides[link + 1]
    if isinstance(right, Name | Number) or sum(1 for _ in right.walk()) > MOST_PARTS:
        return
    seen = by_structure(left, right, scope)
    if seen is not None:
        yield Finding(seen.verdict, CHECK, seen.reason, result=seen.result, assumptions=seen.assumed)
        return
    subject = statement.chain.sides[0] if link and isinstance(left, Name) else left
    known = _foreign(scope, right), _said(scope, right), scope.convention
    met = all(scope.is_used(letter) for letter in INPUTS)
    found = judged(left, right, *known, met=met)
    if found is None and subject is not left:
        found = judged(subject, right, *known, met=met)
    if found is None:
        yield from _named(statement, link, scope)
        return
    verdict, reason, mended, result, assumed = found
    if verdict == "proved" and result in ("multi_head.definition", "multi_head.one_head"):
        inputs = other_inputs(statement, left, plain(right), scope)
        verdict, assumed = "conditional" if inputs else verdict, (*assumed, *inputs)
    if verdict == "conditional" and UNSCALED in assumed:
        width = _width_left_out(right, scope)
        if width is not None:
            verdict, assumed, mended = "wrong", (), _scaled(right, width)
            reason = f"the scores are not divided by the root of {width.key}, which is explained behind the formula"
    shown = None
    if mended is not None:
        text = formula_text(mended, "latex" if statement.passage.syntax == "latex" else "plain")
        shown = f"{statement.text(left.start, left.end)} = {text}"
    yield Finding(verdict, CHECK, reason, shown, result, assumed)


def _width_left_out(right: Node, scope: Scope) -> Name | None:
    """Return the width of the keys where the text explains it behind a formula in which it does not stand."""
    letters = {part.key for part in right.walk() if isinstance(part, Name)}
    widths = (letter_of(key) for key in KEY_WIDTHS.split())
    return next((each for each in widths if each.key not in letters and scope.is_explained_behind(each)), None)


def _scaled(node: Any, width: Name) -> Any:
    """Return a formula with the scores under its softmax divided by the root of a width."""
    if isinstance(node, Call) and word_of(node) == "softmax":
        return replace(node, arguments=(Quotient(node.arguments[0], Root(width)), *node.arguments[1:]))
    return rebuilt(node, lambda part: _scaled(part, width))


def _alone(node: Node, scope: Scope) -> Iterator[Finding]:
    """Yield what is said of a formula that stands without a relation: it must be canonical, or a slip of it."""
    if isinstance(node, Name | Number) or sum(1 for _ in node.walk()) > MOST_PARTS:
        return
    seen = by_structure(None, node, scope)
    if seen is not None:
        yield Finding(seen.verdict, CHECK, seen.reason, result=seen.result, assumptions=seen.assumed)
    elif any(isinstance(part, Call) and word_of(part) == "softmax" for part in _factors(node)):
        found = judged(Name(""), node, _foreign(scope, node), _said(scope, node), scope.convention)
        if found is not None and found[0] == "proved":
            yield Finding("proved", CHECK, found[1], result=found[3], assumptions=found[4])


def _factors(node: Node) -> tuple[Node, ...]:
    return node.factors if isinstance(node, Product) else (node,)


def _named(statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    """Yield that a first link gives a name to a function, `y_i = softmax(x)_i`, of which the next link is proved.

    Entry j of the function is no entry i of the name; an entry of it written as softmax(x_i) is meant so.
    """
    sides, relations = statement.chain.sides, statement.chain.relations
    if link or len(relations) < 2 or relations[1] not in EQUAL or not isinstance(sides[0], Name):
        return
    function = sides[1]
    if isinstance(function, Call | Entry) and word_of(function) not in ("", word_of(sides[0])):
        for finding in check_canonical(statement, 1, scope):
            if finding.verdict == "proved":
                yield _name_given(sides[0], function, finding)


def _name_given(name: Name, function: Call | Entry, proved: Finding) -> Finding:
    """Say that a name is given to a function of which the next link is proved."""
    reason = f"a name is given to what the next link is proved of: {proved.reason}"
    places = name.subscripts
    if isinstance(function, Entry) and places and function.indices != places:
        given, taken = (
            ", ".join(formula_text(each, "plain") for each in indices) for indices in (places, function.indices)
        )
        return Finding("wrong", CHECK, f"entry {given} is named, and entry {taken} is given", result=proved.result)
    argument = function.arguments[0] if isinstance(function, Call) and len(function.arguments) == 1 else None
    if places and isinstance(argument, Name) and argument.subscripts == places and word_of(function) == "softmax":
        meant = f"{formula_text(function, 'plain')} is the entry at that place of the softmax of all"
        return Finding("conditional", CHECK, reason, result=proved.result, assumptions=(meant,))
    return Finding("holds", CHECK, reason, result=proved.result)


def _foreign(scope: Scope, right: Node) -> frozenset[str]:
    """Return the letters of a right side that stand for another size than the width of the keys, as far as is known."""
    names = [part for part in right.walk() if isinstance(part, Name)]
    suspects = {name.key for name in names if name.key in OTHER_SIZES}
    if not suspects:
        return frozenset()
    keys = next((name for name in names if name.base in ("K", "k")), None)
    widths = scope.shape(keys) if keys is not None else None
    width = str(widths[-1]) if widths else None
    known = width in KEY_WIDTHS.split() or (width is None and _declares_key_width(scope))
    return frozenset(suspects - {width}) if known else frozenset()


def _said(scope: Scope, right: Node) -> frozenset[tuple[str, str]]:
    """Return the roles that the prose gives to letters of the right side."""
    names = {part.key: part for part in right.walk() if isinstance(part, Name)}
    return frozenset(
        (key, MEANINGS[word]) for key, name in names.items() for word in scope.meaning(name) if word in MEANINGS
    )


def _declares_key_width(scope: Scope) -> bool:
    d_k = Name("d", (Name("k"),))
    return bool(scope.meaning(d_k)) or scope.value(d_k) is not None


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
    """Return the verdict, the reason, the repaired right side, the result and the assumptions; None for nothing.

    `met` says that queries, keys and values are letters of the document, so that attention may lack one of them.
    """
    if any(isinstance(node, Call) and node.function.primes for side in (left, right) for node in side.walk()):
        return None  # the prime of a function is another function, its derivative as a rule
    right = with_entries(plain(right))
    scalar = softmax_of_a_score(right)
    if scalar is not None:
        reason = "the softmax of a single number is 1; it must be taken over the scores of all keys"
        return "wrong", reason, None, "attention.scalar_softmax_is_one", ()
    other = of_the_same_entry(left, right)
    if other is not None:
        found = judged(left, other, foreign, said, convention)
        if found is None or found[0] != "proved":
            return None
        return "wrong", "the two sides are of other entries", other, found[3], ()
    candidates = [concept for concept in CONCEPTS if is_about(concept, left, right)]
    by_word = [concept for concept in candidates if word_of(left) in concept.words and concept.words]
    candidates = by_word or candidates
    right, functions = in_letters(right) if candidates else (right, {})
    formula, names = formula_of(left, right), words_of(left)
    tried: list[tuple[Concept, Assignment]] = []
    best: tuple[Concept, Match] | None = None
    unproved = False
    for concept in candidates:
        for assignment in islice(assignments(formula, concept, foreign, said), 96):
            if not concept.lenient:
                tried.append((concept, assignment))
            for match in equal_forms(right, assignment):
                if not match.proved:
                    unproved = True
                    continue
                if match.form.title in NAMED and names & NAMED and match.form.title not in names:
                    continue  # another activation than the one that is named
                if best is None or len(match.form.assumed) < len(best[1].form.assumed):
                    best = concept, match
            if best is not None and not best[1].form.assumed:
                return _equal(*best, convention, named=bool(by_word))
    if best is not None:
        return _equal(*best, convention, named=bool(by_word))
    if unproved or not is_one_formula(right):  # it may well be right
        return None
    lacking = bool(by_word) or (met and any(concept.title == ATTENTION for concept in candidates))
    found = repaired(right, tried, formula, convention, names, lacking=lacking)
    if found is None or found[2] is None or not functions:
        return found
    return found[0], found[1], as_written(found[2], functions), *found[3:]


def _equal(concept: Concept, match: Match, convention: str | None, *, named: bool) -> Judged:
    """Say that a formula is a form of a concept, with what is assumed."""
    form, reason, assumed = match.form, f"this is {concept.title}", match.form.assumed
    if form.title == BARE and named:
        assumed = ("gamma is 1 and beta is 0", *assumed)
    columns = match.assignment.columns and form.has_matrices and (isinstance(form.value, Array) or bool(form.rows))
    if columns:
        reason += ", with positions as columns"
        assumed = ("positions are columns", *assumed)
    if columns and convention == "rows":
        return "conditional", reason + " where the section has rows", None, form.result, assumed
    if form.assumed or (form.title == BARE and named):
        return "conditional", f"{reason} if {assumed[-1]}", None, form.result, assumed
    return "proved", reason, None, form.result, assumed
