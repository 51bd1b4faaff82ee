"""What a letter may be: a number, a vector or a matrix, the likeliest first.

Definition   0, 1 and 2 are the axes of what a letter is at one place: v of `v_j` may be a number or a vector
Assumes      bold and arrows tell arrays from numbers; where nothing tells, capitals are matrices before numbers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr

from derivations.documents.elaborate.letters import Letter, Letters
from derivations.documents.scope import Scope
from derivations.documents.syntax import Name

__all__ = ["UNINTERPRETED", "declared_shape", "declared_sizes", "kinds_of"]

UNINTERPRETED = "uninterpreted"  # the font of a letter that stands for a part without a meaning of its own
VECTORS = frozenset({"vec", "overrightarrow"})
_GREEK_SIZES = frozenset({"epsilon", "eta", "tau", "lambda", "pi"})


def kinds_of(letter: Letter, letters: Letters, scope: Scope) -> Sequence[int]:
    """Return the kinds that a letter may have; what the section transposes is not a number."""
    kinds = _kinds_of(letter, scope)
    if 0 in kinds and any(
        (other := letters.split(name)[0]).key == letter.key and other.places == letter.places for name in _arrays(scope)
    ):
        return tuple(kind for kind in kinds if kind) or (1, 2)
    return kinds


def _arrays(scope: Scope) -> Iterator[Name]:
    for section in scope.reach.sections:
        yield from scope.document.arrays.get(section, ())


def _kinds_of(letter: Letter, scope: Scope) -> Sequence[int]:
    sizes = declared_sizes(letter, scope)
    if sizes is not None:
        return (sizes,) if sizes <= 2 else ()
    name = letter.name
    if name.font == UNINTERPRETED:
        return (0, 1) if name.base[:1].isalpha() and not name.base[:2].isupper() else (1, 2, 0)
    if name.accent in VECTORS:
        return (1,) if not letter.places or not name.base[:1].isupper() else (1, 2)
    if name.font.startswith("bold"):
        first = name.base.removeprefix("grad ")[:1]
        if first.isupper() or first in "ΣΘΛΦΨ":
            return (2,) if not letter.places else (1, 2, 0) if letter.places == 1 else (0, 1, 2)
        return (1,) if not letter.places else (1, 0) if letter.places == 1 else (0, 1)
    if letter.places >= 2:
        return (0, 1, 2)
    if name.base.startswith("grad "):
        return (2, 1, 0)
    if len(name.base) > 1 and name.font != "Greek":
        return (0,)
    if name.font == "Greek" and name.base.islower():
        return (0,) if name.base in _GREEK_SIZES else (0, 1, 2)
    if name.base[:1].isupper():
        return (2, 1, 0) if not letter.places else (1, 0, 2)
    return (0, 1)


def declared_sizes(letter: Letter, scope: Scope) -> int | None:
    """Return the number of axes that the section declares for a letter."""
    sizes = declared_shape(letter, scope)
    return None if sizes is None else max(len(sizes) - letter.places, 0)


def declared_shape(letter: Letter, scope: Scope) -> tuple[Expr | None, ...] | None:
    """Return the shape that the section declares for a letter. Without indices, only the last two axes count."""
    for candidate in scope.shape_candidates(letter.name):
        sizes = candidate.declaration.sizes
        if sizes is not None and not candidate.far:
            return sizes if letter.places else sizes[-2:]
    return None
