"""The mathematics of the Transformer, held once as equations."""

__version__ = "0.1.0"
