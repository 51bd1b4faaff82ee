"""Verification: compiled layers against loops, derivations, samples, counts, and other people's functions."""
