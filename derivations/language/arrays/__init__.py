"""Arrays with symbolic shapes: their entries, axes, and every operation on them."""
