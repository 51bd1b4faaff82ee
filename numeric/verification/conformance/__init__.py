"""Conformance: whether somebody's function over arrays is a layer, with the smallest case in which it is not."""

from numeric.verification.conformance.frameworks import FRAMEWORKS
from numeric.verification.conformance.running_error import Bounded, bounded
from numeric.verification.conformance.trial import Conformance, conformance

__all__ = ["FRAMEWORKS", "Bounded", "Conformance", "bounded", "conformance"]
