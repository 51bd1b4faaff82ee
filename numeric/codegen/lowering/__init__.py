"""From a flat layer to NumPy code that works in place, tile by tile, on several threads."""
