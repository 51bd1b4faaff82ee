"""Published formulas of cost as objects, and how they differ from what the equations give."""
