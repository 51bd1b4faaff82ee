"""Algebra of scalars: chains of equations, means and variances, slips in identities."""
