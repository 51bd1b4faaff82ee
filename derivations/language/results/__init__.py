"""Results: derivations, their claims and steps, and the statements that are no entries."""
