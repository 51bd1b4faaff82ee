"""Findings about shapes that fit or do not fit, each with a reason in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr

from derivations.documents.judge.shapes.diagnosis import diagnose
from derivations.documents.judge.shapes.fitting import Fit
from derivations.documents.judge.wording import line_of, shape_text, size_text, source
from derivations.documents.scope import Candidate, Scope
from derivations.documents.scope.shape import Clash, Shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, List, Name, Node, Number
from derivations.documents.verdicts import Finding, Unproved

__all__ = ["assumptions_of", "fitting", "following", "misfit", "reason_of"]

INDICES = frozenset("abcijklmnpqrstuv")  # by which members of a family are told apart; f and g are functions
STEPS = 2  # from a letter to what defines it


def fitting(found: Fit, shape: Shape) -> Finding:
    """Return the finding that shapes fit, with what must be assumed."""
    assumptions = assumptions_of(found)
    what = "the shapes fit" if shape.last is None else f"the shapes fit: {shape_text(shape.sizes)}"
    if shape.open and shape.last is not None:
        what = f"the shapes fit: the last axis is {size_text(shape.last)}"
    return Finding("conditional" if assumptions else "holds", "shapes.fit", what, assumptions=assumptions)


def following(found: Fit, sizes: Sequence[Expr], what: str, scope: Scope) -> Finding | None:
    """Return the finding that a stated shape follows from the declared shapes of its letters, or None.

    Definition   follows: the operations give every size, no two sizes are taken to be the same, no letter has a
                 supposed shape, and no declaration is set aside
    Assumes      that a vector is added to every row is what gives the sum a meaning, and the reason names it
    """
    shape = found.shapes[0].complete
    is_supposed = found.aside or found.inference.assumed or found.inference.conditions
    if shape is None or len(shape) != len(sizes) or is_supposed:
        return None
    if any(scope.compare(mine, stated).relation != "equal" for mine, stated in zip(shape, sizes, strict=True)):
        return None
    reason = f"{what} is {shape_text(sizes)}, by the shapes declared of its letters"
    return Finding("holds", "shapes.follows", "; ".join((reason, *found.inference.notes)))


def assumptions_of(found: Fit) -> tuple[str, ...]:
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


def misfit(sides: Sequence[Node], found: Fit, statement: Statement, scope: Scope, code: bool) -> Finding:
    """Return the finding that shapes do not fit, with a repair if there is one, or that a declaration is mistaken."""
    clash = found.clashes[0]
    reason = reason_of(clash, statement, scope)
    cause = diagnose(sides, found, statement, scope, code)
    if cause.blamed is not None:
        line = line_of(cause.blamed, scope)
        fits = f"{cause.blamed.key} is {shape_text(cause.sizes or ())}, not as line {line} declares it"
        return Finding("conditional", "shapes.declared", reason, assumptions=(fits,))
    right = None
    if cause.repair is not None:
        start = statement.chain.sides.index(sides[0])
        right = source(cause.repair, statement, statement.chain.relations[start : start + 1])
    said: Unproved = "wrong" if _is_declared_here(sides, found, scope) else "unknown"
    return Finding(said, "shapes.clash", reason, right=right)


def _is_declared_here(sides: Sequence[Node], found: Fit, scope: Scope) -> bool:
    """Return whether the section itself declares every shape in a clash. Inferred shapes are no evidence.

    Assumes      a letter equated with a letter is set to it, in a case of its own
    """
    if len(sides) == 2 and all(isinstance(each, Name) for each in sides):
        return False
    if any(isinstance(each, List) and all(isinstance(item, Number) for item in each.items) for each in sides):
        return False  # an example, which may be of another size
    clash = found.clashes[0]
    if None in (*clash.left_shape.sizes, *clash.right_shape.sizes):
        return False
    letters = [letter for side in (clash.left, clash.right) for letter in _letters(side)]
    shaped = [letter for letter in letters if not found.inference.shape(letter).is_scalar]
    return bool(shaped) and all(_is_of_section(letter, scope, STEPS) for letter in shaped)


def _letters(node: Node) -> Iterator[Name]:
    """Yield the letters of a formula, without those in subscripts, superscripts and function names."""
    parts = list(node.walk_outside_names())
    functions = {id(part.function) for part in parts if isinstance(part, Call)}
    return (part for part in parts if isinstance(part, Name) and id(part) not in functions)


def _is_of_section(name: Name, scope: Scope, steps: int) -> bool:
    """Return whether the section declares the shape of a letter, or those of all letters in its definition."""
    at_place = all(not isinstance(each, Name) or each.base in INDICES for each in name.subscripts)
    family = at_place and any(not each.far for each in scope.family_candidates(name))
    if family or any(scope.document.shapes.nearest(name.key, scope.section, scope.block)):
        return True
    definition = scope.near_definition(name) if steps else None
    parts = list(_letters(definition)) if definition is not None else []
    return bool(parts) and all(_is_of_section(part, scope, steps - 1) for part in parts)


def reason_of(clash: Clash, statement: Statement, scope: Scope) -> str:
    """Return one sentence that explains what does not fit."""
    left, right = (_named(node, shape, statement, scope) for node, shape in _parts(clash))
    a, b = size_text(clash.left_size), size_text(clash.right_size)
    first, second = (source((node,), statement) for node in (clash.left, clash.right))
    match clash.kind:
        case "product":
            entries = "entries" if len(clash.right_shape.sizes) == 1 else "rows"
            return f"{left}, so {first} {second} needs {a} {entries} on the right, but {right}: {a} is not {b}"
        case "quotient":
            return f"{right}, and nothing is divided by a matrix"
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
