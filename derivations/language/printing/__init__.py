"""Printing: notations, LaTeX, text, pages, and the views of results and layers."""
