"""Models that run: weights, the Transformer, checkpoints, decoding with a cache, training."""
