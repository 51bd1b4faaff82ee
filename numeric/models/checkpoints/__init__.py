"""Published checkpoints: safe reading of tensors, and their names in each family of models."""
