"""Checkpoints as they are published: safe reading of tensors, and their names in each family of models."""
