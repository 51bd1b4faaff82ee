"""Costs: counts of parameters, operations and bytes, beside those of the equations and of papers."""
