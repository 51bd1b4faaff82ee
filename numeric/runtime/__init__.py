"""What compiled code calls: array primitives, tiles on threads, checks of what it is given."""
