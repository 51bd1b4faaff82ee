"""Arrays: what a formula means as an expression of the language."""
