"""Checks of shapes: whether formulas fit, and whether they agree with declarations."""
