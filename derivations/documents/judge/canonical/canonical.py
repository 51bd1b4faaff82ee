"""Canonical formulas: what a document writes is compared with what the catalogue proves.

Definition   a link `left = right` is about a concept by a word on its left or by the marks of its right side; its
             letters are given the roles of the concept, in every convention
Result       holds, as the usual formula, where the judge of equality shows the right side equal to a form of the
             concept, conditional where that form has an assumption; wrong where it equals none but one small edit makes
             it equal; else nothing
Assumes      a false alarm is worse than a miss: formulas that are right and other than the usual ones are forms as well
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from derivations.documents.canon.role_letters import KEY_WIDTHS, OTHER_SIZES
from derivations.documents.formulas import formula_text
from derivations.documents.judge.arrays.left_sides import word_of
from derivations.documents.judge.canonical.cancelled import shows_how
from derivations.documents.judge.canonical.comparing_forms import INPUTS, Known, judged
from derivations.documents.judge.canonical.likeness import said_of
from derivations.documents.judge.canonical.mending import Judged
from derivations.documents.judge.canonical.structures import by_structure
from derivations.documents.judge.canonical.surroundings import Compared, in_its_surroundings
from derivations.documents.judge.wording import link_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Chain, Entry, Name, Node, Number, Product
from derivations.documents.verdicts import Finding

__all__ = ["check_canonical"]

CHECK = "canonical"
MOST_PARTS = 200
EQUAL = frozenset({"=", ":=", "≡", "≈", "←"})
MEANINGS = {
    "query": "Q", "key": "K", "value": "V", "key width": "d_k", "head width": "d_k", "model width": "d_model",
    "number of heads": "h", "position": "pos",
}  # fmt: skip


def check_canonical(statement: Statement, link: int | None, scope: Scope) -> Iterable[Finding]:
    """Yield findings from comparing one link with the catalogue."""
    if link is None:
        yield from _alone(statement.chain.sides[0], scope)
        return
    if statement.chain.relations[link] not in EQUAL:
        return
    left, right = statement.chain.sides[link], statement.chain.sides[link + 1]
    if any(map(_is_set, left.walk())):
        return  # an example, PE(k = 3, 2 i = 2)
    if isinstance(right, Name | Number) or sum(1 for _ in right.walk()) > MOST_PARTS or shows_how(statement, link):
        return
    seen = by_structure(left, right, scope)
    if seen is not None:
        shown = None if seen.right is None else link_text(left, seen.right, statement)
        yield Finding(said_of(seen.verdict), CHECK, seen.reason, shown, seen.result, seen.assumed)
        return
    first = statement.chain.sides[0]
    subject = first if link and (isinstance(left, Name) or isinstance(first, Call)) else left
    known = _foreign(scope, right), _said(scope, right), scope.convention
    met = all(scope.is_used(letter) for letter in INPUTS)
    found = judged(left, right, *known, met=met)
    if found is None and subject is not left:
        found = judged(subject, right, *known, met=met)
    if found is not None and found.verdict == "wrong" and link:
        found = _of_named_entry(statement.chain.sides[0], left, right, known) or found
    if found is None:
        yield from _named(statement, link, scope)
        return
    refined = in_its_surroundings(found, Compared(left, right, statement, scope))
    if refined is not None:
        shown = None if refined.mended is None else link_text(left, refined.mended, statement)
        yield Finding(said_of(refined.verdict), CHECK, refined.reason, shown, refined.result, refined.assumed)


def _is_set(part: Node) -> bool:
    """Return whether a part sets something to a number."""
    return isinstance(part, Chain) and part.relations == ("=",) and isinstance(part.sides[1], Number)


def _alone(node: Node, scope: Scope) -> Iterator[Finding]:
    """Yield findings about a formula without a relation, if its structure is known or it is a usual formula."""
    if isinstance(node, Name | Number) or sum(1 for _ in node.walk()) > MOST_PARTS:
        return
    seen = by_structure(None, node, scope)
    if seen is not None:
        yield Finding(said_of(seen.verdict), CHECK, seen.reason, result=seen.result, assumptions=seen.assumed)
    elif any(isinstance(part, Call) and word_of(part) == "softmax" for part in _factors(node)):
        found = judged(Name(""), node, _foreign(scope, node), _said(scope, node), scope.convention)
        if found is not None and found.verdict == "usual":
            yield Finding("holds", CHECK, found.reason, result=found.result, assumptions=found.assumed)


def _factors(node: Node) -> tuple[Node, ...]:
    return node.factors if isinstance(node, Product) else (node,)


def _of_named_entry(name: Node, function: Node, right: Node, known: Known) -> Judged | None:
    """Return the verdict with the function taken at the index of the name y_i, if the formula is then the usual one."""
    if not isinstance(name, Name) or not name.subscripts or not isinstance(function, Entry):
        return None
    found = judged(replace(function, indices=name.subscripts), right, *known)
    return found if found is not None and found.verdict == "usual" else None


def _named(statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    """Yield findings if the first link names a function, `y_i = softmax(x)_i`, that the next link writes out.

    Entry j of the function is not entry i of the name; an entry of it written as softmax(x_i) is meant so.
    """
    sides, relations = statement.chain.sides, statement.chain.relations
    if link or len(relations) < 2 or relations[1] not in EQUAL or not isinstance(sides[0], Name):
        return
    function = sides[1]
    if isinstance(function, Call | Entry) and word_of(function) not in ("", word_of(sides[0])):
        for finding in check_canonical(statement, 1, scope):
            if finding.verdict == "holds":
                yield _name_given(sides[0], function, finding)


def _name_given(name: Name, function: Call | Entry, written: Finding) -> Finding:
    """Return the finding about a name given to a function that the next link writes out."""
    reason = f"a name is given to what the next link writes out: {written.reason}"
    places = name.subscripts
    if isinstance(function, Entry) and places and function.indices != places:
        given, taken = (
            ", ".join(formula_text(each, "plain") for each in indices) for indices in (places, function.indices)
        )
        return Finding("wrong", CHECK, f"entry {given} is named, and entry {taken} is given", result=written.result)
    argument = function.arguments[0] if isinstance(function, Call) and len(function.arguments) == 1 else None
    if places and isinstance(argument, Name) and argument.subscripts == places and word_of(function) == "softmax":
        meant = f"{formula_text(function, 'plain')} is the entry at that place of the softmax of all"
        return Finding("conditional", CHECK, reason, result=written.result, assumptions=(meant,))
    return Finding("holds", CHECK, reason, result=written.result)


def _foreign(scope: Scope, right: Node) -> frozenset[str]:
    """Return the letters of a right side that are known to be another size than the width of the keys."""
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
    """Return the roles that the prose gives to letters of the right side, unless the usual letter stands there too."""
    names = {part.key: part for part in right.walk() if isinstance(part, Name)}
    said = ((key, MEANINGS[word]) for key, name in names.items() for word in scope.meaning(name) if word in MEANINGS)
    return frozenset((key, role) for key, role in said if role == key or role not in names)


def _declares_key_width(scope: Scope) -> bool:
    d_k = Name("d", (Name("k"),))
    return bool(scope.meaning(d_k)) or scope.value(d_k) is not None
