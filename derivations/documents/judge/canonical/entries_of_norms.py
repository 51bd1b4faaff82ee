r"""The entries in the last step of a norm, `Y_{ik} = \gamma_k \hat X_{ik} + \beta_k`, at places that are not theirs.

Definition   a matrix has two indices, a scale that of its features; a norm of rows has a mean or a deviation for each
             of them
Result       `doubled_entry(...)`: the right side with the entry of the left side where a diagonal one stands
             `is_told_apart(...)`: whether a scale with the other index is certainly that of the rows
Assumes      of features that are the rows themselves, as of the channels of batch norm, the scale has the index of the
             mean: only layer norm and RMS norm are judged, where the deviation that is divided by has an index
"""

from __future__ import annotations

from dataclasses import replace

from derivations.documents.canon.equations import Equation
from derivations.documents.canon.letter_slips import renamed
from derivations.documents.canon.norm_equations import NORMS
from derivations.documents.judge.canonical.equation_roles import by_spelling, matched, names_of
from derivations.documents.judge.canonical.spellings import running
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node

__all__ = ["doubled_entry", "is_told_apart"]

OF_ROWS = ("layer norm", "layernorm", "layer-norm", "rms", "root mean square", "root-mean-square", "层归一", "層歸一")
OF_COLUMNS = ("batch norm", "batchnorm", "batch-norm", "instance", "group", "批归一", "批次", "批量", "バッチ")


def doubled_entry(
    left: Node, right: Node, names: dict[str, Name], untold: list[str], equation: Equation, scope: Scope
) -> tuple[str, Node] | None:
    """Return the slip and the right side without it, where an entry of a diagonal stands for that of the left side."""
    if not isinstance(left, Name) or equation not in NORMS or len(untold) != 1:
        return None
    places = flat(left.subscripts)
    strange = names[untold[0]]
    meant = replace(strange, subscripts=left.subscripts)
    below = flat(strange.subscripts)
    is_doubled = len(below) == 2 and below[0] == below[1] and below[0] in places
    if len(set(places)) != 2 or not is_doubled or not scope.is_used(meant):
        return None
    mended = renamed(right, {strange: meant})
    if matched(mended, by_spelling(names_of(mended), running(left), equation), equation, scope) is None:
        return None
    return f"{meant.key} belongs where {strange.key} stands", mended


def is_told_apart(left: Node, names: dict[str, Name], untold: list[str], statement: Statement, scope: Scope) -> bool:
    """Say whether a letter with the other index of a matrix is certainly not that of a feature."""
    places = flat(left.subscripts) if isinstance(left, Name) else ()
    single = {key: flat(name.subscripts) for key, name in names.items() if len(flat(name.subscripts)) == 1}
    if len(places) != 2 or len(untold) != 1 or untold[0] not in single:
        return True
    ((index,), last) = single[untold[0]], running(left)
    if any(each == (last,) for each in single.values()):
        return True  # another letter has the index of the features
    words = scope.words(statement).lower()
    if not any(word in words for word in OF_ROWS) or any(word in words for word in OF_COLUMNS):
        return False
    entries = [name for name in names.values() if flat(name.subscripts) == places]
    defined = [meant for meant in map(scope.definition, entries) if meant is not None]
    by_index = {flat(part.subscripts) for each in defined for part in each.walk() if isinstance(part, Name)}
    return (index,) in by_index and (last,) not in by_index
