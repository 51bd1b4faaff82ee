"""Canonical formulas: the concepts of the catalogue, recognised, compared and mended."""
