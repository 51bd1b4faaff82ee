"""Counting: parameters, operations and bytes, computed from the equations of a layer."""
