"""Checks of numbers: the value of a numerical formula, and whether the printed number agrees with it."""
