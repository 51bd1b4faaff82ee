"""Counting: parameters, operations and bytes, read off the equations of a layer."""
