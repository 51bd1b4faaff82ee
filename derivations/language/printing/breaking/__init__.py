"""Breaking printed formulas into lines: LaTeX is read into atoms, measured, and split where it is too wide."""
