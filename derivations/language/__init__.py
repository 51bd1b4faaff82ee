"""The language of layers and derivations."""
