"""Costs: parameters, FLOPs and bytes of layers and models, published formulas, questions about them."""
