"""The cross-checks: compiled layers against loops, derivations, samples, counts and an uncompiled float64 route.

Result       `against_reference` for every layer at prime sizes, `gradient_checks` for the gradient of each;
             `property_checks`, `derivative_checks`, `moment_checks` and `count_checks` against the results of the
             catalogue; `base_agreement` and `base_checks` for the base-size model. Each yields numbers with bounds
             that were fixed before the measurement
"""

from numeric.verification.agreement.against_reference import against_reference, agreement
from numeric.verification.agreement.base_model import BASE, Run, base_agreement, base_checks, run
from numeric.verification.agreement.cases import SIZES, case, subjects
from numeric.verification.agreement.counts import count_checks
from numeric.verification.agreement.gradients import gradient_check, gradient_checks
from numeric.verification.agreement.jacobians import derivative_checks
from numeric.verification.agreement.moments import moment_checks, rejections
from numeric.verification.agreement.properties import property_checks
from numeric.verification.agreement.report import Agreement, Check

__all__ = [
    "BASE",
    "SIZES",
    "Agreement",
    "Check",
    "Run",
    "against_reference",
    "agreement",
    "base_agreement",
    "base_checks",
    "case",
    "count_checks",
    "derivative_checks",
    "gradient_check",
    "gradient_checks",
    "moment_checks",
    "property_checks",
    "rejections",
    "run",
    "subjects",
]
