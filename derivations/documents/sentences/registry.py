"""The readers of phrases, in the order in which they are asked."""

from derivations.documents.sentences.applied import softmax_phrases, transpose_phrases
from derivations.documents.sentences.phrases import Reader
from derivations.documents.sentences.products import dot_phrases, named_phrases, sum_phrases
from derivations.documents.sentences.rows import entry_phrases, row_phrases
from derivations.documents.sentences.tokens import token_phrases

__all__ = ["READERS"]

READERS: tuple[Reader, ...] = (
    entry_phrases,
    row_phrases,
    token_phrases,
    transpose_phrases,
    softmax_phrases,
    dot_phrases,
    sum_phrases,
    named_phrases,
)
