"""The numerical cross-check: each step of a derivation evaluated at concrete sizes, by code apart from the judge."""

from derivations.language.cross_check.comparison import CrossCheck, StepCheck, cross_check

__all__ = ["CrossCheck", "StepCheck", "cross_check"]
