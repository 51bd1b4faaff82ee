"""Reading formulas: from a text in LaTeX, plain characters or code to a tree that says what is written."""

from derivations.documents.formulas.printing import formula_text, statements_text
from derivations.documents.formulas.statements import Reading, Stop, read_formula

__all__ = ["Reading", "Stop", "formula_text", "read_formula", "statements_text"]
