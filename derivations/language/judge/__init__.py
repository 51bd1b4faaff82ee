"""The judge: the code that decides whether a step holds; `proof` is its entry point."""
