"""Conformance: test whether a function over arrays implements a layer, and find the smallest case in which it fails."""

from numeric.verification.conformance.frameworks import FRAMEWORKS
from numeric.verification.conformance.running_error import Bounded, bounded
from numeric.verification.conformance.trial import Conformance, conformance

__all__ = ["FRAMEWORKS", "Bounded", "Conformance", "bounded", "conformance"]
