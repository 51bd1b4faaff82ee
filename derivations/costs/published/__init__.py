"""Published formulas of cost as objects, and their differences from the counts of the equations."""
