"""Rows, columns and entries of matrices."""
