r"""Declarations of shapes, judged by the formulas that use what they declare.

Definition   a declaration is a membership (`X \in \mathbb{R}^{n \times d}`) or a shape beside what it is the shape of
Result       wrong where no reading of a formula fits with it; conditional where the formula may be the mistaken one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr, Symbol

from derivations.documents.judge.shapes.diagnosis import Diagnosis, diagnose
from derivations.documents.judge.shapes.fitting import Fit, fit, fits_with, is_equation
from derivations.documents.judge.shapes.networks import inside_out
from derivations.documents.judge.shapes.shape_findings import assumptions_of, fitting, following, misfit, reason_of
from derivations.documents.judge.wording import shape_text, size_text, source
from derivations.documents.scope import Candidate, Scope
from derivations.documents.scope.pieces import Mention
from derivations.documents.statements import Statement
from derivations.documents.syntax import List, Name, Node, Product, Space
from derivations.documents.verdicts import Finding

__all__ = ["of_membership", "of_mention"]

MOST_EXPLAINED = 24  # lines of a formula in front of its "where ..."
OTHER_CONVENTION = "the other declaration is of another convention"
SELF_ATTENTION = "as many keys as queries (self-attention)"


def of_membership(left: Node, right: Space, statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Judge a declaration that something belongs to a space of arrays, such as X ∈ R^{n × d}."""
    sizes = scope.written(right)
    if sizes is None:
        return
    if isinstance(left, Name):
        yield _of_declaration(left, sizes, statement, scope)
        return
    if isinstance(left, List) and not left.bracket:
        findings = [_of_declaration(name, sizes, statement, scope) for name in left.items if isinstance(name, Name)]
        yield from sorted(findings, key=lambda finding: finding.verdict != "wrong")[:1]
        return
    found = fit((left,), scope, statement.passage.syntax == "code")
    if found.clashes:
        yield misfit((left,), found, statement, scope, False)
        return
    yield from _declared_against(found, sizes, left, statement, scope)


def of_mention(mention: Mention, statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Judge a shape that is written beside a letter or a formula."""
    if isinstance(mention.subject, Name):
        yield _of_declaration(mention.subject, mention.sizes, statement, scope)
    elif mention.subject is not None:
        found = fit((mention.subject,), scope, statement.passage.syntax == "code")
        if not found.clashes and not _may_be_a_name(mention.subject, statement, scope):
            yield from _declared_against(found, mention.sizes, mention.subject, statement, scope)
    elif mention.example_of is not None:
        yield Finding("holds", "shapes.declared", f"an example of {shape_text(mention.example_of)}")
    elif scope.is_declared_shape(mention):
        yield Finding("holds", "shapes.declared", f"{shape_text(mention.sizes)}, as declared in this section")


def _may_be_a_name(subject: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether adjacent letters in a table cell may form one name, such as FC_1. One has no known shape."""
    if statement.block.kind != "row" or not isinstance(subject, Product) or any(subject.operators):
        return False
    return any(isinstance(each, Name) and scope.shape(each) is None for each in subject.factors)


def _of_declaration(name: Name, sizes: tuple[Expr, ...], statement: Statement, scope: Scope) -> Finding:
    """Judge a declaration by the formulas that use it."""
    better = _better(name, sizes, statement, scope)
    if better is not None:
        reason = f"the formulas fit with {shape_text(better)}, as {name.key} is also declared, and not with this"
        return Finding("wrong", "shapes.declared", reason, right=f"{name.key}: {shape_text(better)}")
    for other in _explained(name, scope):
        elsewhere = _set_aside(name, other, statement, scope)
        if elsewhere is not None:
            line, there = other.passage.place(other.chain.start).line, elsewhere.declaration.place.line
            reason = f"line {line}, which this explains, fits with {name.key} of line {there}, and not with this"
            right = f"{name.key}: {shape_text(elsewhere.declaration.sizes or ())}"
            return Finding("wrong", "shapes.declared", reason, right=right)
    for other in _users(name, statement, scope) if name.base else ():
        theirs = scope.at(other)
        candidates = theirs.shape_candidates(name)
        if (
            not candidates
            or candidates[0].far
            or candidates[0].declaration.sizes != sizes
            or not _is_here(candidates[0], statement)
        ):
            continue
        line = other.passage.place(other.chain.start).line
        cause, reason = _blame(other, theirs)
        if cause is None and any(inside_out(other, link, theirs) for link in other.links):
            fits = f"line {line} is mistaken and not this declaration"
            reason = f"the products of line {line} need it transposed"
            return Finding("conditional", "shapes.declared", reason, assumptions=(fits,))
        if cause is not None and cause.blamed is not None and cause.blamed.key == name.key:
            right = f"{name.key}: {shape_text(cause.sizes or ())}"
            return Finding("wrong", "shapes.declared", f"line {line} does not fit with it: {reason}", right=right)
        if cause is not None and cause.contested is not None and cause.contested.key == name.key:
            fits = f"line {line} is mistaken and not this declaration"
            return Finding(
                "conditional", "shapes.declared", f"it contradicts line {line}: {reason}", assumptions=(fits,)
            )
    turned = next((each for each in scope.other_shapes(name, sizes) if _is_other_order(each, sizes)), None)
    if turned is not None:
        said = f"{name.key} is also declared {shape_text(turned)}, and no formula decides between them"
        return Finding("conditional", "shapes.declared", said, assumptions=(OTHER_CONVENTION,))
    followed = _of_definition(name, sizes, statement, scope)
    if followed is not None:
        return followed
    reason = f"{name.key or 'it'} is {shape_text(sizes)}, and nothing contradicts it"
    if _are_keys_as_queries(name, sizes, scope):
        return Finding("conditional", "shapes.declared", reason, assumptions=(SELF_ATTENTION,))
    return Finding("holds", "shapes.declared", reason)


def _of_definition(name: Name, sizes: tuple[Expr, ...], statement: Statement, scope: Scope) -> Finding | None:
    """Return a finding if a shape follows from the definition of its letter."""
    right = scope.near_definition(name)
    if right is None or isinstance(right, Name) or any(part == name for part in right.walk()):
        return None  # another name for it, which may have its shape from here
    return following(fit((right,), scope, statement.passage.syntax == "code"), sizes, name.key, scope)


def _is_other_order(sizes: tuple[Expr | None, ...], others: tuple[Expr, ...]) -> bool:
    """Return whether two shapes have the same two axes in opposite order."""
    return len(sizes) == len(others) == 2 and sizes == others[::-1]


def _are_keys_as_queries(name: Name, sizes: tuple[Expr, ...], scope: Scope) -> bool:
    """Return whether keys without a definition are declared with as many rows as queries."""
    if "key" not in scope.meaning(name) or len(sizes) != 2 or sizes[0].is_number or scope.near_definition(name):
        return False
    return sizes[0] in scope.rows_of("query")


def _better(name: Name, sizes: tuple[Expr, ...], statement: Statement, scope: Scope) -> tuple[Expr | None, ...] | None:
    """Return another declared shape of a name with which formulas fit, if none fits with the given one.

    Assumes      other sizes than these in another order are those of another setting, and more than two axes are
                 split, moved and joined one after another
    """
    others = scope.other_shapes(name, sizes)
    others = tuple(each for each in others if len(each) == len(sizes) == 2 and set(each) == set(sizes))
    pairs = [
        (other.chain.sides[link : link + 2], scope.at(other))
        for other in (_users(name, statement, scope) if others else ())
        for link, relation in enumerate(other.chain.relations)
        if is_equation(relation)
    ]
    if any(fits_with(sides, theirs, name, sizes) for sides, theirs in pairs):
        return None
    return next((each for each in others if any(fits_with(s, theirs, name, each) for s, theirs in pairs)), None)


def _users(name: Name, statement: Statement, scope: Scope) -> Iterator[Statement]:
    """Yield the statements that use a name: first those that this block explains, then those around."""
    explained = {id(other): other for other in _explained(name, scope)}
    yield from explained.values()
    yield from (other for other in scope.document.used_in(name, statement) if id(other) not in explained)


def _explained(name: Name, scope: Scope) -> Iterator[Statement]:
    """Yield the statements that use a name in the formula that this block explains."""
    explained = scope.document.in_block.get(scope.block - 1, ()) if scope.block in scope.document.explaining else ()
    for other in explained[:MOST_EXPLAINED]:
        if any(part == name for side in other.chain.sides for part in side.walk()):
            yield other


def _set_aside(name: Name, other: Statement, statement: Statement, scope: Scope) -> Candidate | None:
    """Return another declaration of a name that fits a statement, if the first one does not fit it."""
    theirs = scope.at(other)
    candidates = theirs.shape_candidates(name)
    if len(candidates) < 2 or not _is_here(candidates[0], statement) or candidates[1].far:
        return None
    for link, relation in enumerate(other.chain.relations):
        if is_equation(relation):
            found = fit(other.chain.sides[link : link + 2], theirs, other.passage.syntax == "code")
            if found.aside == candidates[:1]:
                return candidates[1]
    return None


def _is_here(candidate: Candidate, statement: Statement) -> bool:
    """Return whether a declaration is on the line of a statement."""
    here, there = statement.passage.place(statement.chain.start), candidate.declaration.place
    return (here.line, here.cell) == (there.line, there.cell)


def _blame(other: Statement, scope: Scope) -> tuple[Diagnosis | None, str]:
    """Return the diagnosis and the reason why a statement does not fit, or None and "" if it fits."""
    memory = scope.document.blames
    key = id(other.chain)
    if key not in memory:
        memory[key] = (None, "")
        code = other.passage.syntax == "code"
        for link, relation in enumerate(other.chain.relations):
            sides = other.chain.sides[link : link + 2]
            if is_equation(relation):
                found = fit(sides, scope, code)
                if found.clashes:
                    reason = reason_of(found.clashes[0], other, scope)
                    memory[key] = (diagnose(sides, found, other, scope, code), reason)
                    break
    cause, reason = memory[key]
    return (cause if isinstance(cause, Diagnosis) else None), reason


def _is_turned(pairs: Sequence[tuple[Expr, Expr]], scope: Scope) -> bool:
    """Return whether the sizes n, m are declared in the order m, n, where both letters occur in declared shapes."""
    if len(pairs) != 2 or pairs[0] != pairs[1][::-1] or pairs[0][0] == pairs[0][1]:
        return False
    return all(isinstance(size, Symbol) and scope.is_declared_size(size.name) for size in pairs[0])


def _declared_against(
    found: Fit, sizes: tuple[Expr, ...], subject: Node, statement: Statement, scope: Scope
) -> Iterator[Finding]:
    """Compare the declared shape of an expression with the shape that follows from its letters."""
    mine = found.shapes[0].sizes[-len(sizes) :]
    if not mine or (len(mine) != len(sizes) and not found.shapes[0].open) or mine[-1] is None:
        return
    pairs = [(a, b) for a, b in zip(reversed(mine), reversed(sizes), strict=False) if a is not None]
    relations = [scope.compare(a, b).relation for a, b in pairs]
    what = source((subject,), statement)
    if "different" in relations or _is_turned(pairs, scope):
        reason = f"{what} is {shape_text(mine)}, not {shape_text(sizes)}"
        yield Finding("wrong", "shapes.declared", reason, right=shape_text(mine))
    elif "unsure" in relations:
        unsure = [pair for pair, relation in zip(pairs, relations, strict=True) if relation == "unsure"]
        extra = tuple(f"{size_text(a)} = {size_text(b)}" for a, b in unsure)
        reason = f"{what} is {shape_text(mine)}"
        yield Finding("conditional", "shapes.declared", reason, assumptions=(*assumptions_of(found), *extra))
    else:
        yield following(found, sizes, what, scope) or fitting(found, found.shapes[0])
