"""Translation of a formula of a document into statements of the core language. Nothing is decided here.

Definition   a kind says whether a letter is a number, a vector or a matrix; a typing gives every letter of a statement
             a kind and every axis a size, so that each operation is one of arrays that fit
Result       `elaborated(sides, context)` yields, typing by typing, the entries of all sides as expressions in which
             nothing is cancelled, with the ranges of their free indices
Raises       NotElaborated, with the part that was not understood, where no typing exists

where           what
sizes           sizes of axes, unified
kinds           what a letter may be, by its spelling and by what its section declares
letters         names, taken apart into letters and places
functions       known functions, as data
values          the meaning of each kind of part: its type and its entries
uninterpreted   parts without a meaning of their own, as letters
typings         the search for typings
"""

from derivations.documents.elaborate.typings import Elaborated, Misfit, elaborated
from derivations.documents.elaborate.uninterpreted import letters_for
from derivations.documents.elaborate.values import NotElaborated

__all__ = ["Elaborated", "Misfit", "NotElaborated", "elaborated", "letters_for"]
