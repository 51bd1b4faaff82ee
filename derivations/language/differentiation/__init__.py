"""Reverse-mode differentiation of layers: an adjoint rule for each kind of node, and the chain rule for layers."""
