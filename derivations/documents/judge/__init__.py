"""The checks: what is said of one statement of a document in what is known there, in the order in which they speak."""

from derivations.documents.judge.arithmetic import check_arithmetic
from derivations.documents.judge.canonical import check_canonical
from derivations.documents.judge.chains import check_chains
from derivations.documents.judge.consistency import check_consistency
from derivations.documents.judge.counting import check_counting
from derivations.documents.judge.meanings import check_meanings
from derivations.documents.judge.mentions import check_mentions
from derivations.documents.judge.named_numbers import check_named_numbers
from derivations.documents.judge.namings import check_namings
from derivations.documents.judge.shapes import check_shapes
from derivations.documents.judge.size_maps import check_size_maps

__all__ = ["CHECKS"]

CHECKS = (
    check_shapes,
    check_size_maps,
    check_consistency,
    check_namings,
    check_meanings,
    check_arithmetic,
    check_mentions,
    check_named_numbers,
    check_chains,
    check_counting,
    check_canonical,
)
