"""Gradients: the rules of reverse mode, and the backward pass of every layer."""
