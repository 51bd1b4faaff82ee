r"""Softmax with the index over which it is taken: `\mathrm{softmax}_j(e_{ij})`.

Definition   \mathrm{softmax}_j(e_{ij}) = e^{e_{ij}} / \sum_l e^{e_{il}}
Result       `written_out(node)`: the formula with the quotient in the place of the function, as far as it is one
"""

from __future__ import annotations

from derivations.documents.judge.arrays.arrays import function_word
from derivations.documents.syntax import Aggregate, Call, Name, Node, Quotient, replaced

__all__ = ["written_out"]

LETTERS = "ltrsuvwjikmnp"  # of which one that stands nowhere else goes over all places
EXP = Name("exp")


def written_out(node: Node) -> Node:
    """Return a softmax over an index written out as a quotient, or any other formula unchanged."""
    match node:
        case Call(
            function=Name(subscripts=(Name(base=base, subscripts=()) as index,)) as function, arguments=(scores,)
        ):
            if len(base) == 1 and function_word(function) == "softmax" and index in scores.walk():
                used = {part.base for part in scores.walk() if isinstance(part, Name)}
                other = next((Name(letter) for letter in LETTERS if letter not in used), index)
                weights = Call(EXP, (scores,))
                return Quotient(weights, Aggregate("sum", Call(EXP, (replaced(scores, index, other),)), (other,)))
    return node
