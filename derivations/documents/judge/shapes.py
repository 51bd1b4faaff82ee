r"""Shapes: products must be conformable, sums alike, sides alike, and what is declared must be what is computed.

Definition   looks at equations, at declarations (`X \in \mathbb{R}^{n \times d}`, `W1: [512, 2048]`), and at shapes
             that stand beside what they are the shape of
Result       holds where all shapes are known and fit; conditional where they fit under an assumption that is named;
             wrong where two sizes are surely different under every reading; nothing where too little is known
Assumes      see `derivations.documents.scope.inference` for the readings, and `fitting` for who is to blame
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr

from derivations.documents.judge.diagnosis import Diagnosis, diagnose
from derivations.documents.judge.fitting import Fit, fit, fits_with, is_equation
from derivations.documents.judge.networks import inside_out
from derivations.documents.judge.wording import line_of, shape_text, size_text, source
from derivations.documents.scope import Candidate, Scope
from derivations.documents.scope.pieces import Mention
from derivations.documents.scope.shape import Clash, Shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Annotated,
    Call,
    Entry,
    List,
    MatrixLiteral,
    Name,
    Node,
    Space,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_shapes"]

SELF_ATTENTION = "as many keys as queries (self-attention)"


def check_shapes(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what the shapes say of one link of a statement, or of a statement without links."""
    mention = scope.document.mention(statement)
    if mention is not None:
        yield from _of_mention(mention, statement, scope)
    elif link is None:
        yield from _of_expression(statement, scope)
    else:
        relation = statement.chain.relations[link]
        left, right = statement.chain.sides[link : link + 2]
        if relation == "∈" and isinstance(right, Space):
            yield from _of_membership(left, right, statement, scope)
        elif is_equation(relation):
            yield from _of_equation((left, right), link, statement, scope)


# --- equations ---


def _of_equation(sides: Sequence[Node], link: int, statement: Statement, scope: Scope) -> Iterator[Finding]:
    code = statement.passage.syntax == "code"
    found = fit(sides, scope, code)
    if found.clashes:
        if link and fit(sides[:1], scope, code).clashes:
            return  # the link before has said it
        yield _misfit(sides, found, statement, scope, code)
        return
    shape = found.shapes[1]
    tells = found.aside or found.inference.sizes.compared or (found.inference.notes and found.inference.met)
    if _is_computed(sides[1]) and _is_told_by_shapes(sides) and (shape.complete or (shape.complete is None and tells)):
        yield _fitting(found, shape)


def _is_told_by_shapes(sides: Sequence[Node]) -> bool:
    """Say whether fitting shapes say enough: of a naming they do, of an identity or of literal numbers they do not."""
    left = sides[0].of if isinstance(sides[0], Annotated) else sides[0]
    literal = [node for side in sides for node in side.walk() if isinstance(node, List | MatrixLiteral)]
    if literal:
        return any(isinstance(inner, Name) for node in literal for inner in node.walk())
    return isinstance(left, Name | Call | Entry)


def _is_computed(node: Node) -> bool:
    """Say whether a side computes something, so that its shape is a result: a name alone is none."""
    return not isinstance(node, Name)


def _of_expression(statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Judge a formula that stands alone: nothing is said where it fits, but a product may be impossible."""
    side = statement.chain.sides[0]
    code = statement.passage.syntax == "code"
    found = fit((side,), scope, code)
    if found.clashes:
        yield _misfit((side,), found, statement, scope, code)
    elif isinstance(side, Annotated) and found.shapes[0].complete:
        yield _fitting(found, found.shapes[0])


def _fitting(found: Fit, shape: Shape) -> Finding:
    assumptions = _assumptions(found)
    what = "the shapes fit" if shape.last is None else f"the shapes fit: {shape_text(shape.sizes)}"
    if shape.open and shape.last is not None:
        what = f"the shapes fit: the last axis is {size_text(shape.last)}"
    return Finding("conditional" if assumptions else "holds", "shapes.fit", what, assumptions=assumptions)


def _assumptions(found: Fit) -> tuple[str, ...]:
    """Return what must be assumed so that a formula fits."""
    notes = list(found.inference.notes)
    for pair in found.inference.conditions:
        first, second = map(found.inference.found, pair)
        if first is not None and second is not None:
            notes.append(f"{size_text(first)} = {size_text(second)}")
    notes += [_set_aside(candidate) for candidate in found.aside]
    return tuple(dict.fromkeys(notes))


def _set_aside(candidate: Candidate) -> str:
    declared = candidate.declaration
    sizes = "" if declared.sizes is None else f", which is {shape_text(declared.sizes)}"
    return f"{declared.key} is not the {declared.key} of line {declared.place.line}{sizes}"


def _misfit(sides: Sequence[Node], found: Fit, statement: Statement, scope: Scope, code: bool) -> Finding:
    clash = found.clashes[0]
    reason = _reason(clash, statement, scope)
    cause = diagnose(sides, found, statement, scope, code)
    if cause.blamed is not None:
        line = line_of(cause.blamed, scope)
        fits = f"{cause.blamed.key} is {shape_text(cause.sizes or ())}, not as line {line} declares it"
        return Finding("conditional", "shapes.declared", reason, assumptions=(fits,))
    right = None
    if cause.repair is not None:
        start = statement.chain.sides.index(sides[0])
        right = source(cause.repair, statement, statement.chain.relations[start : start + 1])
    return Finding("wrong", "shapes.clash", reason, right=right)


def _reason(clash: Clash, statement: Statement, scope: Scope) -> str:
    """Say in one sentence what does not fit, as a teacher would."""
    left, right = (_named(node, shape, statement, scope) for node, shape in _parts(clash))
    a, b = size_text(clash.left_size), size_text(clash.right_size)
    first, second = (source((node,), statement) for node in (clash.left, clash.right))
    match clash.kind:
        case "product":
            entries = "entries" if len(clash.right_shape.sizes) == 1 else "rows"
            return f"{left}, so {first} {second} needs {a} {entries} on the right, and {right}, which has {b}"
        case "sum":
            return f"{left} and {right}, so they cannot be added: {a} is not {b}"
        case "keys":
            return f"{left} and {right}, but queries and keys must be equally wide: {a} is not {b}"
        case "values":
            return f"{left} and {right}, but there must be one value for each key: {a} is not {b}"
        case "note":
            return f"{left}, and the note says {shape_text(clash.right_shape.sizes)}"
    return f"{left}, but {right}: {a} is not {b}"


def _parts(clash: Clash) -> tuple[tuple[Node, Shape], tuple[Node, Shape]]:
    return (clash.left, clash.left_shape), (clash.right, clash.right_shape)


def _named(node: Node, shape: Shape, statement: Statement, scope: Scope) -> str:
    line = line_of(node, scope)
    place = f" (line {line})" if line is not None else ""
    return f"{source((node,), statement)} is {shape_text(shape.sizes)}{place}"


# --- declarations ---


def _of_membership(left: Node, right: Space, statement: Statement, scope: Scope) -> Iterator[Finding]:
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
        yield _misfit((left,), found, statement, scope, False)
        return
    yield from _declared_against(found, sizes, left, statement, scope)


def _of_mention(mention: Mention, statement: Statement, scope: Scope) -> Iterator[Finding]:
    if isinstance(mention.subject, Name):
        yield _of_declaration(mention.subject, mention.sizes, statement, scope)
    elif mention.subject is not None:
        found = fit((mention.subject,), scope, statement.passage.syntax == "code")
        if not found.clashes:
            yield from _declared_against(found, mention.sizes, mention.subject, statement, scope)
    elif mention.example_of is not None:
        yield Finding("holds", "shapes.declared", f"an example of {shape_text(mention.example_of)}")
    elif scope.is_declared_shape(mention):
        yield Finding("holds", "shapes.declared", f"{shape_text(mention.sizes)}, as declared in this section")


def _of_declaration(name: Name, sizes: tuple[Expr, ...], statement: Statement, scope: Scope) -> Finding:
    """Judge a declaration by the formulas that use it."""
    better = _better(name, sizes, statement, scope)
    if better is not None:
        reason = f"the formulas fit with {shape_text(better)}, as {name.key} is also declared, and not with this"
        return Finding("wrong", "shapes.declared", reason, right=f"{name.key}: {shape_text(better)}")
    for other in scope.document.used_in(name, statement) if name.base else ():
        theirs = scope.document.at(other)
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
    reason = f"{name.key or 'it'} is {shape_text(sizes)}, and nothing contradicts it"
    if _are_keys_as_queries(name, sizes, scope):
        return Finding("conditional", "shapes.declared", reason, assumptions=(SELF_ATTENTION,))
    return Finding("holds", "shapes.declared", reason)


def _are_keys_as_queries(name: Name, sizes: tuple[Expr, ...], scope: Scope) -> bool:
    """Say whether keys are declared with the letter that counts the queries, and nothing makes both of one input."""
    if "key" not in scope.meaning(name) or len(sizes) != 2 or sizes[0].is_number or scope.near_definition(name):
        return False
    return sizes[0] in scope.rows_of("query")


def _better(name: Name, sizes: tuple[Expr, ...], statement: Statement, scope: Scope) -> tuple[Expr | None, ...] | None:
    """Return another shape that the section declares of a name, where formulas fit with that one and none with this.

    Assumes      other sizes than these in another order are those of another setting, and more than two axes are
                 split, moved and joined one after another
    """
    others = scope.other_shapes(name, sizes)
    others = tuple(each for each in others if len(each) == len(sizes) == 2 and set(each) == set(sizes))
    pairs = [
        (other.chain.sides[link : link + 2], scope.document.at(other))
        for other in (scope.document.used_in(name, statement) if others else ())
        for link, relation in enumerate(other.chain.relations)
        if is_equation(relation)
    ]
    if any(fits_with(sides, theirs, name, sizes) for sides, theirs in pairs):
        return None
    return next((each for each in others if any(fits_with(s, theirs, name, each) for s, theirs in pairs)), None)


def _is_here(candidate: Candidate, statement: Statement) -> bool:
    """Say whether a declaration is the one of a statement."""
    here, there = statement.passage.place(statement.chain.start), candidate.declaration.place
    return (here.line, here.cell) == (there.line, there.cell)


def _blame(other: Statement, scope: Scope) -> tuple[Diagnosis | None, str]:
    """Return why another statement does not fit, and the reason; None where it fits."""
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
                    reason = _reason(found.clashes[0], other, scope)
                    memory[key] = (diagnose(sides, found, other, scope, code), reason)
                    break
    cause, reason = memory[key]
    return (cause if isinstance(cause, Diagnosis) else None), reason


def _declared_against(
    found: Fit, sizes: tuple[Expr, ...], subject: Node, statement: Statement, scope: Scope
) -> Iterator[Finding]:
    """Compare what is declared of an expression with what its letters give."""
    mine = found.shapes[0].sizes[-len(sizes) :]
    if not mine or (len(mine) != len(sizes) and not found.shapes[0].open) or mine[-1] is None:
        return
    pairs = [(a, b) for a, b in zip(reversed(mine), reversed(sizes), strict=False) if a is not None]
    relations = [scope.compare(a, b).relation for a, b in pairs]
    what = source((subject,), statement)
    if "different" in relations:
        reason = f"{what} is {shape_text(mine)}, not {shape_text(sizes)}"
        yield Finding("wrong", "shapes.declared", reason, right=shape_text(mine))
    elif "unsure" in relations:
        unsure = [pair for pair, relation in zip(pairs, relations, strict=True) if relation == "unsure"]
        extra = tuple(f"{size_text(a)} = {size_text(b)}" for a, b in unsure)
        reason = f"{what} is {shape_text(mine)}"
        yield Finding("conditional", "shapes.declared", reason, assumptions=(*_assumptions(found), *extra))
    else:
        yield _fitting(found, found.shapes[0])
