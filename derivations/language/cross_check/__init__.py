"""The numerical cross-check: each step of a derivation is evaluated at concrete sizes, without code of the judge."""

from derivations.language.cross_check.comparison import CrossCheck, StepCheck, cross_check

__all__ = ["CrossCheck", "StepCheck", "cross_check"]
