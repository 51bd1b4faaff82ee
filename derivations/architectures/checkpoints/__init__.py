"""The names of the weights in published checkpoints, and which weights share a tensor, as data."""
