"""The published formulas by name.

>>> published("palm.model_flops").source
'Chowdhery et al. (2022), appendix B'
"""

from __future__ import annotations

from difflib import get_close_matches

from derivations.costs.published.chinchilla import CHINCHILLA
from derivations.costs.published.formula import Published
from derivations.costs.published.inference import POPE
from derivations.costs.published.kaplan import KAPLAN
from derivations.costs.published.memory_formulas import ACTIVATIONS, ZERO
from derivations.costs.published.training_systems import KORTHIKANTI, NARAYANAN, PALM

__all__ = ["FORMULAS", "published"]

FORMULAS: tuple[Published, ...] = (
    *KAPLAN,
    *CHINCHILLA,
    *PALM,
    *NARAYANAN,
    *KORTHIKANTI,
    *POPE,
    *ACTIVATIONS,
    *ZERO,
)


def published(name: str) -> Published:
    """Return the formula of a name, such as "kaplan.six_n_d".

    Raises       LookupError for an unknown name
    """
    by_name = {formula.id: formula for formula in FORMULAS}
    if name not in by_name:
        near = get_close_matches(name, by_name, 3, 0.4)
        hint = f"did you mean {', '.join(near)}" if near else f"there are {', '.join(by_name)}"
        raise LookupError(f"there is no published formula {name!r}; {hint}")
    return by_name[name]
