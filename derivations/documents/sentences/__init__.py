"""Statements in words: sentences that mix words and formulas, read into the nodes that formulas are read into."""
