"""Shapes: what fits, what contradicts a declaration, what a letter is."""
