"""The normal form: an exact calculus of polynomials in symbols, entries, indicators, functions and sums."""
