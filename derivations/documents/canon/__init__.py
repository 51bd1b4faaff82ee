"""The usual formulas as data: expressions from the catalogue, their usual letters and their common mistakes."""
