"""Algebra of matrices: identities, and gradients of products."""
