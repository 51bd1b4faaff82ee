"""How a function is read as a layer: which of its arguments and weights are which arrays, and how they are stored."""
