"""Layers: ordered lists of named equations, their parts, and repetitions of them."""
