"""The levels of evidence and what each means, best first."""

from collections.abc import Mapping

__all__ = ["LEVELS"]

LEVELS: Mapping[str, str] = {
    "definition": "a naming; every step puts in what a name stands for",
    "proved": "every step holds for all sizes and values within the stated assumptions",
    "proved for sizes up to N": "exact algebra, entry by entry, at concrete sizes",
    "tested": "exact or high-precision evaluation at points and sizes that are stated, for those alone",
    "refuted": "a counterexample inside the assumptions is printed: sizes, values, both sides as intervals that do not "
    "meet",
    "unknown": "none of these; never shown as a success",
}
