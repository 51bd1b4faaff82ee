"""Checks in which the judge decides an equation, or a formula is compared with others of its document."""
