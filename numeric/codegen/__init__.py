"""Code generation: from the equations of a layer to functions over arrays, and to source."""
