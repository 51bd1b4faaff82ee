"""The functions that compiled code calls: array primitives, tiles on threads, checks of arguments."""
