"""Fills marked blocks of a document with formulas of the package.

Definition   a block stands between a mark, `<!-- derivation: softmax.jacobian -->`, and its end, `<!-- end -->`
Result       `rendered(file, options)` says what must stand in the blocks of a file and which of them are stale
"""

from derivations.documents.rendering.emitting import emitted
from derivations.documents.rendering.filling import Rendered, rendered
from derivations.documents.rendering.marks import MarkedBlock, MarkError, blocks_of
from derivations.documents.rendering.options import Options

__all__ = ["MarkError", "MarkedBlock", "Options", "Rendered", "blocks_of", "emitted", "rendered"]
