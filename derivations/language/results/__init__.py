"""Results: derivations, their claims and steps, and statements about whole matrices."""
