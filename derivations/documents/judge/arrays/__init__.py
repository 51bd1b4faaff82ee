"""Translation of formulas into array expressions of the core language."""
