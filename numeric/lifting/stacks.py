"""Lists of modules, such as the layers of a model: one verdict for all of them.

Definition   a list of modules is a layer if each of them is, whatever its weights are
Result       each module is lifted and run by itself, so that a member with hidden state of its own (another epsilon,
             another number of heads, a hook) has other equations. Members with equal equations ask the judge the same
             question, which is answered once
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numeric.lifting.verdict import LEVELS, Verdict

__all__ = ["of_members"]


def of_members(name: str, verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict about a list of modules: the weakest about a member, with all evidence if all are proved."""
    weakest = max(verdicts, key=lambda verdict: LEVELS.index(verdict.level))
    kinds = dict.fromkeys(verdict.function for verdict in verdicts)
    text = f"{name} of {len(verdicts)} {', '.join(kinds)}"
    if weakest.level not in LEVELS[:2]:
        place = next(number for number, verdict in enumerate(verdicts) if verdict is weakest)
        reason = f"member {place} of the list: {weakest.reason}".removesuffix(": ")
        return replace(weakest, function=f"{text}, of which member {place}", reason=reason)
    return replace(
        weakest,
        function=text,
        evidence=tuple(dict.fromkeys(each for verdict in verdicts for each in verdict.evidence)),
        readings=tuple(dict.fromkeys(each for verdict in verdicts for each in verdict.readings)),
        conditions=tuple(dict.fromkeys(each for verdict in verdicts for each in verdict.conditions)),
        assumed=tuple(dict.fromkeys(each for verdict in verdicts for each in verdict.assumed)),
        provided=tuple(dict.fromkeys(each for verdict in verdicts for each in verdict.provided)),
        literals=tuple(dict.fromkeys(each for verdict in verdicts for each in verdict.literals)),
    )
