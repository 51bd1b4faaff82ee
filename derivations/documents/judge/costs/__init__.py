"""Counts of parameters, operations and bytes, compared with those of the equations and of papers."""
