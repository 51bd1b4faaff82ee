"""The judge: everything that decides whether a step holds; `proof` is where it begins."""
